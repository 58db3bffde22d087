//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stage 5, last step: from a program and its kernels to the LLVM dialect.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERSION_PROGRAMTOLLVM_H
#define LLMIR_CONVERSION_PROGRAMTOLLVM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace llmir {

#define GEN_PASS_DECL_CONVERTPROGRAMTOLLVM
#include "llmir/Conversion/Passes.h.inc"

} // namespace llmir

#endif // LLMIR_CONVERSION_PROGRAMTOLLVM_H

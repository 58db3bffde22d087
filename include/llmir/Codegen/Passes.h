//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes of stage 5 that turn a program's kernels into vector code.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CODEGEN_PASSES_H
#define LLMIR_CODEGEN_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace llmir {

#define GEN_PASS_DECL
#include "llmir/Codegen/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "llmir/Codegen/Passes.h.inc"

} // namespace llmir

#endif // LLMIR_CODEGEN_PASSES_H

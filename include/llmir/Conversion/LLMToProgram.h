//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stage 5, first half: from the optimized `llm` step to a program.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERSION_LLMTOPROGRAM_H
#define LLMIR_CONVERSION_LLMTOPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace llmir {

#define GEN_PASS_DECL_CONVERTLLMTOPROGRAM
#include "llmir/Conversion/Passes.h.inc"

} // namespace llmir

#endif // LLMIR_CONVERSION_LLMTOPROGRAM_H

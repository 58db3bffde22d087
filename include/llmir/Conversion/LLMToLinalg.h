//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowering of the `llm` dialect to linalg, tensor, arith and math, for other
// backends. Passes.td describes the pass.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERSION_LLMTOLINALG_H
#define LLMIR_CONVERSION_LLMTOLINALG_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace llmir {

#define GEN_PASS_DECL_CONVERTLLMTOLINALG
#include "llmir/Conversion/Passes.h.inc"

} // namespace llmir

#endif // LLMIR_CONVERSION_LLMTOLINALG_H

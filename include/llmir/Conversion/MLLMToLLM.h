//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the `mllm` dialect (what the model is) to the `llm` dialect (how
// inference runs it). Passes.td says what the pass does.
//
//   ConvertMLLMToLLMOptions options;
//   options.kvElementType = "bf16";
//   pm.addPass(createConvertMLLMToLLM(options));
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERSION_MLLMTOLLM_H
#define LLMIR_CONVERSION_MLLMTOLLM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace llmir {

#define GEN_PASS_DECL_CONVERTMLLMTOLLM
#include "llmir/Conversion/Passes.h.inc"

} // namespace llmir

#endif // LLMIR_CONVERSION_MLLMTOLLM_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion passes; Passes.td describes them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERSION_PASSES_H
#define LLMIR_CONVERSION_PASSES_H

#include "llmir/Conversion/LLMToLinalg.h"
#include "llmir/Conversion/LLMToProgram.h"
#include "llmir/Conversion/MLLMToLLM.h"
#include "llmir/Conversion/ProgramToLLVM.h"

namespace llmir {

/// Registers all conversion passes (registerConversionPasses).
#define GEN_PASS_REGISTRATION
#include "llmir/Conversion/Passes.h.inc"

} // namespace llmir

#endif // LLMIR_CONVERSION_PASSES_H

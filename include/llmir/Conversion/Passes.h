//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes from one dialect to another; Passes.td says what each does.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERSION_PASSES_H
#define LLMIR_CONVERSION_PASSES_H

#include "llmir/Conversion/LLMToLinalg.h"
#include "llmir/Conversion/LLMToProgram.h"
#include "llmir/Conversion/MLLMToLLM.h"
#include "llmir/Conversion/ProgramToLLVM.h"

namespace llmir {

/// Registers all passes of this folder by their flags
/// (registerConversionPasses).
#define GEN_PASS_REGISTRATION
#include "llmir/Conversion/Passes.h.inc"

} // namespace llmir

#endif // LLMIR_CONVERSION_PASSES_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of the attributes that say how an op's matrix is to be quantized.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_QUANTATTRS_H
#define LLMIR_DIALECT_MLLM_QUANTATTRS_H

#include "llvm/ADT/StringRef.h"

namespace llmir::mllm {

/// How the matrix is to be stored, a #mllm.quant.
constexpr llvm::StringLiteral kQuantWeightsAttr = "mllm.quant.weights";
/// Bits of the integers that it is multiplied by, 8; absent: floats.
constexpr llvm::StringLiteral kQuantInputsAttr = "mllm.quant.inputs";

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_QUANTATTRS_H

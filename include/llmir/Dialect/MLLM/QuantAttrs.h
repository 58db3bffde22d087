//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of the attributes that specify the quantization of an op's matrix.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_QUANTATTRS_H
#define LLMIR_DIALECT_MLLM_QUANTATTRS_H

#include "llvm/ADT/StringRef.h"

namespace llmir::mllm {

/// Storage of the matrix, a #mllm.quant; of experts, an array of those of the
/// gate, up and down projections.
constexpr llvm::StringLiteral kQuantWeightsAttr = "mllm.quant.weights";
/// Bits of integer inputs (8); absent for floating-point inputs.
constexpr llvm::StringLiteral kQuantInputsAttr = "mllm.quant.inputs";

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_QUANTATTRS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gathers, scatters, sorts and reductions.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMINDEXOPS_H
#define LLMIR_DIALECT_MLLM_MLLMINDEXOPS_H

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

namespace llmir::mllm::detail {
/// The result types of a reduction along `dim`, or of all dimensions.
Expected<ResultTypes> reductionOf(mlir::Value x, std::optional<int64_t> dim,
                                  bool keepDim);
} // namespace llmir::mllm::detail

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMIndexOps.h.inc"

#endif // LLMIR_DIALECT_MLLM_MLLMINDEXOPS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The embedding of a text, from the last hidden states of its tokens.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_EMBEDDING_H
#define MLLM_MODELS_EMBEDDING_H

#include "llmir/Support/Pooling.h"
#include "mllm/Tensor.h"

namespace mllm::models {

/// The row of a text by `pooling`, which is not None: the tokens' rows
/// x [T, hidden] -> [1, hidden]
Tensor pooled(const Tensor &x, llmir::Pooling pooling);

/// x / |x| for each row, or zeros for one of zeros: x [rows, columns] -> same
/// shape
Tensor ofUnitLength(const Tensor &x);

} // namespace mllm::models

#endif // MLLM_MODELS_EMBEDDING_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Masks computed from the positions of query and key by comparing sums of
// indices and constants, in linalg bodies, in arith on tensors, or in mllm.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_POSITIONMASKS_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_POSITIONMASKS_H

#include "WrittenAttention.h"

namespace mlir::llm {

/// The loops over queries and keys. The last query and the last key are the
/// same token, as for llm.attention.
struct QueryAndKey {
  unsigned query, key;
  int64_t numQueries, numKeys;
};

/// Matches a condition that is true for visible keys (or, with `hides`, for
/// hidden ones); nullopt if it cannot be proved to be causal, a window, or
/// both. Sizes must be static, since the position of the last query is the
/// number of keys minus 1.
std::optional<PositionMask> matchPositionMask(ElementView condition, bool hides,
                                              const QueryAndKey &loops);

/// The same for an additive mask: 0 for visible keys and a hiding value for
/// others.
std::optional<PositionMask> matchAddedPositionMask(ElementView mask,
                                                   const QueryAndKey &loops);

/// Whether adding this value hides a score from a softmax: -inf, or, if every
/// query has a visible key, a value less than any finite score of the element
/// type.
bool hidesBy(double number, Type element, bool everyQuerySees);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_POSITIONMASKS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Masks that follow from the positions of query and key: comparisons of sums of
// indices and constants, in linalg bodies, on tensors of arith, or in mllm.
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

/// The keys that a condition leaves, or with `hides` those that it takes away;
/// nothing where it is not shown to be causal, a window, or both. Sizes must be
/// static, since the last query's position is the number of keys less 1.
std::optional<PositionMask> matchPositionMask(ElementView condition, bool hides,
                                              const QueryAndKey &loops);

/// The same for numbers that are added: 0 where a key is seen and one that
/// hides elsewhere.
std::optional<PositionMask> matchAddedPositionMask(ElementView mask,
                                                   const QueryAndKey &loops);

/// Whether a score of this number has no share in a softmax: -inf, or, where
/// every query sees a key, a number below any score of the element type that
/// did not overflow.
bool hidesBy(double number, Type element, bool everyQuerySees);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_POSITIONMASKS_H

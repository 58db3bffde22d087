//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matching of the ops between the two products of attention.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_WRITTENSCORES_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_WRITTENSCORES_H

#include "PositionMasks.h"

#include <vector>

namespace mlir::llm {

/// The computation from the first product to the probabilities.
struct WrittenScores {
  double scale = 1.0;
  bool isScaled = false; ///< A factor was found; no mask may precede it.
  PositionMask positions;
  ElementViews masks;     ///< Views of the mask, each closer to its origin.
  bool maskHides = false; ///< An i1 mask is true for hidden keys.
  Contraction product;    ///< The first product.
  Axes productAxes;       ///< Indices of its result.
  /// Indices of the intermediate values, from the probabilities on.
  std::vector<Axes> passed;
};

/// Matches from the probabilities, which have all indices, down to the first
/// product. See matchWrittenAttention() for the supported ops.
std::optional<WrittenScores>
matchWrittenScores(const ElementView &probabilities, const QueryAndKey &loops);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_WRITTENSCORES_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is between the two products of attention that is written out.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_WRITTENSCORES_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_WRITTENSCORES_H

#include "PositionMasks.h"

#include <vector>

namespace mlir::llm {

/// The scores from the first product to the probabilities.
struct WrittenScores {
  double scale = 1.0;
  bool isScaled = false; ///< A factor was found, before which no mask may be.
  PositionMask positions;
  ElementViews masks;     ///< One mask, nearer to its origin each.
  bool maskHides = false; ///< An i1 mask says which keys do not count.
  Contraction product;    ///< The first one.
  Axes productAxes;       ///< Indices of its result.
  /// Indices of the values on the way, the probabilities' first.
  std::vector<Axes> passed;
};

/// From the probabilities, which have all indices, down to the first product.
/// See matchWrittenAttention() for what may stand between.
std::optional<WrittenScores>
matchWrittenScores(const ElementView &probabilities, const QueryAndKey &loops);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_WRITTENSCORES_H

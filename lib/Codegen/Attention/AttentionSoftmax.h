//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From dot products to weights: what attention may be told about scores, and
// one step of the online softmax for one row.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_ATTENTIONSOFTMAX_H
#define LLMIR_LIB_CODEGEN_ATTENTIONSOFTMAX_H

#include "AttentionWork.h"

#include <limits>

namespace llmir {

/// One query head of one token.
struct QueryRow {
  mlir::Value token; ///< Of the step.
  mlir::Value head;
  mlir::Value position;         ///< In its sequence; may be negative.
  mlir::Value keyBegin, keyEnd; ///< What it sees, but for the mask.
  mlir::Value maskOffset;       ///< Of the row in the mask, in elements.
  mlir::Value slope;            ///< Of ALiBi, in the unit of scores.
};

/// The state of a softmax in memory, behind the sums of a row: 16 sums of
/// weights, and the greatest score.
struct SoftmaxState {
  int64_t valueDim; ///< Padded.

  int64_t sumBytes() const { return valueDim * 4; }
  int64_t maximumBytes() const { return sumBytes() + kLanes * 4; }
  int64_t bytes() const { return maximumBytes() + kLanes * 4; }
};

class AttentionSoftmax {
public:
  /// `mask` and `sinks` are null where there are none.
  AttentionSoftmax(KernelBuilder &kb, const AttentionOptions &options,
                   mlir::Value mask, mlir::Value sinks);

  /// What queries are multiplied by, so that scores come out in their unit: the
  /// exponent of 2, or that of e where a mask is added.
  double queryFactor() const { return options.scale * unit; }
  bool hasMask() const { return static_cast<bool>(mask); }

  /// Row `row` of an item.
  QueryRow queryRow(const AttentionItem &item, int64_t itemHeads,
                    mlir::Value row);
  /// The greatest score and the sum before the first key: the sink's.
  std::pair<mlir::Value, mlir::Value> initialState(mlir::Value head);

  /// Scores of a span become weights, as `products` prepare them at `weights`;
  /// `state` is brought up to date and the factor of earlier sums stored.
  /// Without `seen`, the row sees all keys.
  void attendSpan(const QueryRow &row, mlir::Value firstKey,
                  const KeySpan &span, mlir::Value scores,
                  const SoftmaxState &layout, mlir::Value state,
                  mlir::Value rescale, AttentionProducts &products,
                  mlir::Value weights, mlir::Value seen);

  /// The weight of a score's distance from the greatest, which is not positive:
  /// relative error 2^-22, and 0 where the result would be denormal.
  mlir::Value exponential(mlir::Value difference);

  static constexpr double kLowestScore = -std::numeric_limits<float>::max();

private:
  struct Scores {
    mlir::Value values, seen; ///< f32 and i1 of 16 keys.
  };
  mlir::Value withBias(const QueryRow &row, mlir::Value firstKey,
                       mlir::Value scores);
  mlir::Value visible(const QueryRow &row, mlir::Value firstKey);
  Scores masked(const QueryRow &row, mlir::Value firstKey, Scores tile);
  /// key - firstKey, as i32 in every lane.
  mlir::Value relative(mlir::Value key, mlir::Value firstKey);

  KernelBuilder &kb;
  const AttentionOptions &options;
  mlir::Value mask, sinks;
  double unit; ///< Of scores.
  mlir::Value laneNumbers, lowest;
};

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_ATTENTIONSOFTMAX_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns dot products into weights: the attributes of attention that modify
// scores, and one iteration of the online softmax for one row.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_ATTENTIONSOFTMAX_H
#define LLMIR_LIB_CODEGEN_ATTENTIONSOFTMAX_H

#include "AttentionWork.h"

#include <limits>

namespace llmir {

/// One query head of one token.
struct QueryRow {
  mlir::Value token; ///< Index in the step.
  mlir::Value head;
  mlir::Value position;         ///< In its sequence; may be negative.
  mlir::Value keyBegin, keyEnd; ///< Visible keys, not counting the mask.
  mlir::Value maskOffset;       ///< Offset of its row in the mask, in elements.
  mlir::Value slope;            ///< ALiBi slope, in the unit of scores.
};

/// The state of a softmax in memory, after the sums of a row: 16 sums of
/// weights, and the greatest score.
struct SoftmaxState {
  int64_t valueDim; ///< Padded.

  int64_t sumBytes() const { return valueDim * 4; }
  int64_t maximumBytes() const { return sumBytes() + kLanes * 4; }
  int64_t bytes() const { return maximumBytes() + kLanes * 4; }
};

class AttentionSoftmax {
public:
  /// `mask` and `sinks` may be null.
  AttentionSoftmax(KernelBuilder &kb, const AttentionOptions &options,
                   mlir::Value mask, mlir::Value sinks);

  /// The factor applied to queries, which scales scores to the unit of the
  /// exponential: base 2, or base e if a mask is added.
  double queryFactor() const { return options.scale * unit; }
  bool hasMask() const { return static_cast<bool>(mask); }

  /// Row `row` of an item.
  QueryRow queryRow(const AttentionItem &item, int64_t itemHeads,
                    mlir::Value row);
  /// The greatest score and the sum before the first key, which are those of
  /// the sink.
  std::pair<mlir::Value, mlir::Value> initialState(mlir::Value head);

  /// Turns the scores of a span into weights, which `products` prepares at
  /// `weights`; updates `state` and stores the factor for the earlier sums to
  /// `rescale`. Without `seen`, the row sees all keys.
  void attendSpan(const QueryRow &row, mlir::Value firstKey,
                  const KeySpan &span, mlir::Value scores,
                  const SoftmaxState &layout, mlir::Value state,
                  mlir::Value rescale, AttentionProducts &products,
                  mlir::Value weights, mlir::Value seen);

  /// The exponential of a score minus the maximum, which is not positive:
  /// relative error 2^-22, and 0 if the result would be denormal.
  mlir::Value exponential(mlir::Value difference);

  static constexpr double kLowestScore = -std::numeric_limits<float>::max();

private:
  struct Scores {
    mlir::Value values, seen; ///< f32 and i1 for 16 keys.
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
  double unit; ///< Unit of scores.
  mlir::Value laneNumbers, lowest;
};

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_ATTENTIONSOFTMAX_H

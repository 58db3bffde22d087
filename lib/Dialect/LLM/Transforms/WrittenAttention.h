//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention that is written out as softmax(q kᵀ · scale + mask) v, found from
// its second product. What the ops between the products may be, and which
// dimensions the operands have in which order, is said at
// matchWrittenAttention().
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_WRITTENATTENTION_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_WRITTENATTENTION_H

#include "ElementView.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::llm {

/// Sums of products of two tensors into zeros, whichever op they are written
/// with. For each dimension the loop that counts along it, or -1 where only
/// index 0 is read.
struct Contraction {
  Value lhs, rhs, result;
  SmallVector<int> lhsLoops, rhsLoops, resultLoops;
  unsigned numLoops = 0;
};

/// A linalg op of any rank, or mllm.linalg.matmul.
std::optional<Contraction> matchContraction(Operation *op);

/// Keys that a query may see by their positions.
struct PositionMask {
  bool causal = false;
  int64_t window = 0; ///< 0: none.
  /// Hidden by a finite number, which counts where all other keys are hidden.
  bool isFinite = false;
};

/// The operands and attributes of the llm.attention that means the same.
struct WrittenAttention {
  Value result; ///< What llm.attention replaces.
  Axes resultAxes;
  /// Indices of [B, T, H, D]; `heads` is nothing where the op has rank 3.
  Digits batch, queries, keys, headDim, valueDim, kvHeads;
  std::optional<Digits> heads;
  ElementView query, key, value;
  std::optional<ElementView> mask; ///< Added, or which keys count (i1).
  bool maskHides = false;          ///< An i1 mask says which do not.
  PositionMask positions;
  double scale = 1.0;

  /// [B, T, H, size], or [B, T, size] where there are no heads.
  Axes axesOf(const Digits &tokens, const Digits &heads,
              const Digits &size) const;
  /// The mask's indices in the order [B, H, Tq, Tk], those it has.
  Axes maskAxes() const;
};

/// The attention whose second product `op` is.
///
/// Products: sums into zeros, of any ranks, that share all dimensions but one
/// of each operand and the one that is summed over; broadcast dimensions of K
/// and V are heads that several query heads share, in order.
/// Between them, each with one use: one softmax over the keys; factors that are
/// one positive number, before the mask; casts between floating-point types;
/// transposes, reshapes and broadcasts that keep the keys together; at most one
/// mask that is added, or that selects the scores or -inf; and masks of
/// positions, added or selecting, that are shown to be causal or a window.
/// A mask of positions may hide with a finite number of at most -1e9 (f16:
/// -6e4) where every query sees a key, and no other mask could hide that.
///
/// Fails, with a reason, for anything else, for element types that
/// llm.attention does not have, for tensors with an encoding, and where only
/// some of the types know a size.
FailureOr<WrittenAttention> matchWrittenAttention(Operation *op,
                                                  PatternRewriter &rewriter);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_WRITTENATTENTION_H

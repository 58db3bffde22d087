//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matching of attention spelled out as softmax(q kᵀ · scale + mask) v, starting
// at its second product. See matchWrittenAttention() for the supported ops and
// layouts.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_WRITTENATTENTION_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_WRITTENATTENTION_H

#include "ElementView.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::llm {

/// A contraction of two tensors into zeros, independent of the op. Holds the
/// loop of each dimension, or -1 if only index 0 is read.
struct Contraction {
  Value lhs, rhs, result;
  SmallVector<int> lhsLoops, rhsLoops, resultLoops;
  unsigned numLoops = 0;
};

/// A linalg op of any rank, or mllm.linalg.matmul.
std::optional<Contraction> matchContraction(Operation *op);

/// A mask determined by positions.
struct PositionMask {
  bool causal = false;
  int64_t window = 0; ///< 0: none.
  /// True if keys are hidden by a finite value, which has an effect if all
  /// other keys are hidden.
  bool isFinite = false;
};

/// The operands and attributes of the equivalent llm.attention.
struct WrittenAttention {
  Value result; ///< The value that llm.attention replaces.
  Axes resultAxes;
  /// Indices of [B, T, H, D]; `heads` is nullopt for rank 3.
  Digits batch, queries, keys, headDim, valueDim, kvHeads;
  std::optional<Digits> heads;
  ElementView query, key, value;
  std::optional<ElementView> mask; ///< Additive or boolean (i1).
  bool maskHides = false;          ///< An i1 mask is true for hidden keys.
  PositionMask positions;
  double scale = 1.0;

  /// [B, T, H, size], or [B, T, size] without heads.
  Axes axesOf(const Digits &tokens, const Digits &heads,
              const Digits &size) const;
  /// The indices of the mask in the order [B, H, Tq, Tk], without missing ones.
  Axes maskAxes() const;
};

/// Matches the attention whose second product is `op`.
///
/// Products are contractions into zeros, of any rank, that share all dimensions
/// but one of each operand and the reduction dimension; broadcast dimensions of
/// K and V are KV heads shared by consecutive query heads.
/// Between the products, each with a single use: one softmax over the keys;
/// positive constant factors, before the mask; casts between floating-point
/// types; transposes, reshapes and broadcasts that keep the keys together; at
/// most one mask that is additive or selects between the scores and -inf; and
/// position masks, additive or selecting, that can be proved to be causal or a
/// window. A position mask may hide by a finite value of at most -1e9 (f16:
/// -6e4) if every query has a visible key that no other mask can hide.
///
/// Fails, with a reason, for anything else, for element types that
/// llm.attention does not support, for tensors with an encoding, and if a size
/// is static in some of the types only.
FailureOr<WrittenAttention> matchWrittenAttention(Operation *op,
                                                  PatternRewriter &rewriter);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_WRITTENATTENTION_H

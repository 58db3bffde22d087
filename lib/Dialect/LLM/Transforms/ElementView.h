//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One element of a tensor as a function of the loops around it, followed from
// op to op through transposes, reshapes and broadcasts, whichever dialect they
// were written in. Patterns that look for a computation, and not for one way to
// write it, match these views.
//
//   ElementView view{value, axes};
//   while (auto op = getElementOp(view); op && op->kind == ElementOpKind::Move)
//     view = op->operands[0];
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_ELEMENTVIEW_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_ELEMENTVIEW_H

#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace mlir::llm {

/// A digit of a loop's index: `index / weight % size`. A dynamic size belongs
/// to a whole loop, whose weight is 1.
struct Digit {
  unsigned loop;
  int64_t weight, size;

  bool operator==(const Digit &other) const {
    return loop == other.loop && weight == other.weight && size == other.size;
  }
};

/// An index in mixed radix, the most significant digit first. A digit of size 1
/// is left out; without digits the index is 0.
using Digits = SmallVector<Digit, 2>;

/// All of a loop's index.
Digits wholeLoop(unsigned loop, int64_t size);
/// Digits of one loop that continue each other become one.
Digits merged(ArrayRef<Digit> digits);

/// The index in each dimension.
using Axes = SmallVector<Digits, 4>;

/// An element of a tensor, or a scalar in the body of a structured op.
struct ElementView {
  Value value;
  /// The index in each dimension of the tensor, or of each loop of the op in
  /// whose body the scalar is.
  Axes axes;

  bool isTensor() const { return isa<RankedTensorType>(value.getType()); }
};

using ElementViews = SmallVector<ElementView, 1>;

enum class ElementOpKind {
  Move, ///< The same value of another tensor.
  Cast, ///< The same value, rounded to another floating-point type.
  Add,
  Mul,
  Div,
  Select,     ///< Condition, value if true, value if false.
  CausalMask, ///< mllm.linalg.causal_mask.
};

/// How an element follows from elements of other values.
struct ElementOp {
  ElementOpKind kind;
  ElementViews operands;
};

/// What computes the element; nothing for ops that are not element by element.
std::optional<ElementOp> getElementOp(const ElementView &view);

/// The operands of an op of mllm, whose dimensions of size 1 repeat; nothing
/// where a dynamic size might.
std::optional<ElementViews> getBroadcastOperands(Operation *op,
                                                 const ElementView &view);

/// The tensors that hold the same elements as the view, the view itself first.
/// With `throughWidening` also in a narrower floating-point type.
ElementViews originsOf(ElementView view, bool throughWidening = false);

/// The one number that the element is whatever the indices are.
std::optional<double> getUniformNumber(ElementView view);

/// The number that an element was multiplied by, or the inverse of the one that
/// it was divided by, and what was scaled.
std::optional<std::pair<double, ElementView>>
getScaled(const ElementView &view);

/// `sum of factors[loop] * index(loop) + constant`.
struct LinearIndex {
  llvm::SmallDenseMap<unsigned, int64_t> factors;
  int64_t constant = 0;
};

/// `a - b`.
LinearIndex difference(LinearIndex a, const LinearIndex &b);

/// An integer element that is linear in the indices of whole loops.
std::optional<LinearIndex> getLinearIndex(const ElementView &view);

/// How the indices of a view become those of a tensor with other dimensions.
enum class LayoutChange { None, Transpose, Reshape };

/// What it takes to make a tensor whose dimensions have these indices; nothing
/// where the view has other digits, or a reshape would meet a dynamic size.
std::optional<LayoutChange> layoutChangeOf(const ElementView &view,
                                           ArrayRef<Digits> axes);

/// That tensor; layoutChangeOf() must have a value.
Value createTensor(OpBuilder &builder, Location loc, const ElementView &view,
                   ArrayRef<Digits> axes);

/// `digits` cut wherever one of the others begins or ends.
Digits refined(ArrayRef<Digit> digits, ArrayRef<Digit> others);

/// All digits of a view, dimension by dimension.
Digits digitsOf(ArrayRef<Digits> axes);

/// The size that an index of these digits counts up to, or kDynamic.
int64_t sizeOf(ArrayRef<Digit> digits);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_ELEMENTVIEW_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element of a tensor as a function of the surrounding loops, tracked
// through transposes, reshapes and broadcasts of any dialect. Patterns that
// match a computation independent of its spelling match these views.
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

/// A digit of a loop index: `index / weight % size`. A digit of dynamic size is
/// a whole loop and has weight 1.
struct Digit {
  unsigned loop;
  int64_t weight, size;

  bool operator==(const Digit &other) const {
    return loop == other.loop && weight == other.weight && size == other.size;
  }
};

/// An index in mixed radix, the most significant digit first. Digits of size 1
/// are omitted; without digits, the index is 0.
using Digits = SmallVector<Digit, 2>;

/// Returns the whole index of a loop.
Digits wholeLoop(unsigned loop, int64_t size);
/// Merges adjacent digits of one loop.
Digits merged(ArrayRef<Digit> digits);

/// One index per dimension.
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
  Move, ///< The same value, in another tensor.
  Cast, ///< The same value, rounded to another floating-point type.
  Add,
  Mul,
  Div,
  Select,     ///< Condition, value if true, value if false.
  CausalMask, ///< mllm.linalg.causal_mask.
};

/// The op that computes an element, with its operand elements.
struct ElementOp {
  ElementOpKind kind;
  ElementViews operands;
};

/// Returns the op that computes the element, or nullopt if it is not
/// element-wise.
std::optional<ElementOp> getElementOp(const ElementView &view);

/// Returns the broadcast operands of an mllm op; nullopt if a dynamic size
/// might be 1.
std::optional<ElementViews> getBroadcastOperands(Operation *op,
                                                 const ElementView &view);

/// Returns the tensors that hold the same elements as the view, starting with
/// the view itself; with `throughWidening`, also those of a narrower
/// floating-point type.
ElementViews originsOf(ElementView view, bool throughWidening = false);

/// Returns the constant value of the element, if it does not depend on the
/// indices.
std::optional<double> getUniformNumber(ElementView view);

/// Returns the constant factor (or inverse divisor) of an element and the
/// scaled element.
std::optional<std::pair<double, ElementView>>
getScaled(const ElementView &view);

/// `sum of factors[loop] * index(loop) + constant`.
struct LinearIndex {
  llvm::SmallDenseMap<unsigned, int64_t> factors;
  int64_t constant = 0;
};

/// `a - b`.
LinearIndex difference(LinearIndex a, const LinearIndex &b);

/// Returns an integer element as a linear function of whole loop indices.
std::optional<LinearIndex> getLinearIndex(const ElementView &view);

/// The ops needed to turn a view into a tensor with other dimensions.
enum class LayoutChange { None, Transpose, Reshape };

/// Returns the ops needed to create a tensor with the given indices; nullopt if
/// the view has other digits, or if a reshape would involve a dynamic size.
std::optional<LayoutChange> layoutChangeOf(const ElementView &view,
                                           ArrayRef<Digits> axes);

/// Creates that tensor; layoutChangeOf() must have a value.
Value createTensor(OpBuilder &builder, Location loc, const ElementView &view,
                   ArrayRef<Digits> axes);

/// Splits `digits` at the boundaries of the others.
Digits refined(ArrayRef<Digit> digits, ArrayRef<Digit> others);

/// Returns all digits of a view, dimension by dimension.
Digits digitsOf(ArrayRef<Digits> axes);

/// Returns the size of the range of an index with these digits, or kDynamic.
int64_t sizeOf(ArrayRef<Digit> digits);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_ELEMENTVIEW_H

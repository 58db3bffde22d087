//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Creating tensors with given loops as dimensions from a view of another
// tensor.
//
//===----------------------------------------------------------------------===//

#include "ElementView.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mlir::llm;

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

Digits mlir::llm::refined(ArrayRef<Digit> digits, ArrayRef<Digit> others) {
  Digits result(digits);
  for (const Digit &other : others) {
    if (ShapedType::isDynamic(other.size))
      continue;
    for (int64_t cut : {other.weight, other.weight * other.size})
      for (size_t i = 0; i < result.size(); ++i) {
        Digit &digit = result[i];
        if (digit.loop != other.loop || ShapedType::isDynamic(digit.size) ||
            cut <= digit.weight || cut >= digit.weight * digit.size ||
            cut % digit.weight != 0 || (digit.weight * digit.size) % cut != 0)
          continue;
        Digit low = digit;
        low.size = cut / digit.weight;
        digit.size /= low.size;
        digit.weight = cut;
        result.insert(result.begin() + i + 1, low);
      }
  }
  return result;
}

namespace {
/// Split both sides at each other's boundaries.
struct Refinement {
  Axes from, to;

  Refinement(ArrayRef<Digits> view, ArrayRef<Digits> axes) {
    const Digits all = digitsOf(view), wanted = digitsOf(axes);
    for (const Digits &axis : view)
      from.push_back(refined(axis, wanted));
    for (const Digits &axis : axes)
      to.push_back(refined(axis, all));
  }
};
} // namespace

/// The positions of the dimensions of one list in the other.
static std::optional<SmallVector<int64_t>>
findPermutation(ArrayRef<Digits> from, ArrayRef<Digits> to) {
  if (from.size() != to.size())
    return std::nullopt;
  SmallVector<int64_t> permutation;
  for (const Digits &axis : to) {
    int64_t d = 0, end = int64_t(from.size());
    while (d < end && (from[d] != axis || llvm::is_contained(permutation, d)))
      ++d;
    if (d == end)
      return std::nullopt;
    permutation.push_back(d);
  }
  return permutation;
}

/// True if the sizes of the tensor are those of its indices.
static bool hasSizesOf(Value value, ArrayRef<Digits> axes) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  return llvm::all_of(llvm::zip_equal(shape, axes), [](auto pair) {
    return std::get<0>(pair) == sizeOf(std::get<1>(pair));
  });
}

std::optional<LayoutChange> mlir::llm::layoutChangeOf(const ElementView &view,
                                                      ArrayRef<Digits> axes) {
  if (!hasSizesOf(view.value, view.axes))
    return std::nullopt;
  Refinement parts(view.axes, axes);
  if (ArrayRef(parts.from) == ArrayRef(parts.to))
    return LayoutChange::None;
  if (findPermutation(parts.from, parts.to))
    return LayoutChange::Transpose;
  const Digits from = digitsOf(parts.from), to = digitsOf(parts.to);
  const bool areSame =
      from.size() == to.size() && llvm::all_of(from, [&](const Digit &digit) {
        return !ShapedType::isDynamic(digit.size) &&
               llvm::count(from, digit) == 1 && llvm::is_contained(to, digit);
      });
  return areSame ? std::optional(LayoutChange::Reshape) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Creating
//===----------------------------------------------------------------------===//

static Value transposed(OpBuilder &b, Location loc, Value x,
                        ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<OpFoldResult> sizes;
  for (int64_t d : permutation)
    sizes.push_back(tensor::getMixedSize(b, loc, x, d));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  return linalg::TransposeOp::create(b, loc, x, empty, permutation)
      ->getResult(0);
}

/// The same elements in row-major order; sizes are static.
static Value reshaped(OpBuilder &b, Location loc, Value x,
                      ArrayRef<int64_t> shape) {
  auto from = cast<RankedTensorType>(x.getType());
  if (from.getShape() == shape)
    return x;
  auto to = RankedTensorType::get(shape, from.getElementType());
  if (auto groups = getReassociationIndicesForReshape(from, to)) {
    if (from.getRank() > to.getRank())
      return tensor::CollapseShapeOp::create(b, loc, to, x, *groups);
    return tensor::ExpandShapeOp::create(b, loc, to, x, *groups);
  }
  auto whole = [](int64_t rank) {
    return SmallVector<ReassociationIndices>{
        llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))};
  };
  auto flat =
      RankedTensorType::get({from.getNumElements()}, from.getElementType());
  Value row =
      tensor::CollapseShapeOp::create(b, loc, flat, x, whole(from.getRank()));
  return tensor::ExpandShapeOp::create(b, loc, to, row, whole(to.getRank()));
}

static SmallVector<int64_t> sizesOf(ArrayRef<Digits> axes) {
  return llvm::map_to_vector(
      axes, [](const Digits &digits) { return sizeOf(digits); });
}

Value mlir::llm::createTensor(OpBuilder &b, Location loc,
                              const ElementView &view, ArrayRef<Digits> axes) {
  Refinement parts(view.axes, axes);
  if (ArrayRef(parts.from) == ArrayRef(parts.to))
    return view.value;
  if (auto permutation = findPermutation(parts.from, parts.to))
    return transposed(b, loc, view.value, *permutation);
  // Expand to one dimension per digit, transpose, and collapse.
  Axes from, to;
  for (const Digit &digit : digitsOf(parts.from))
    from.push_back({digit});
  for (const Digit &digit : digitsOf(parts.to))
    to.push_back({digit});
  Value x = view.value;
  if (from != to)
    x = transposed(b, loc, reshaped(b, loc, x, sizesOf(from)),
                   *findPermutation(from, to));
  return reshaped(b, loc, x, sizesOf(axes));
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tracking an element from op to op.
//
//===----------------------------------------------------------------------===//

#include "ElementView.h"

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::llm;
namespace mllm = llmir::mllm;

using MaybeOp = std::optional<ElementOp>;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static ElementOp movedFrom(Value from, Axes axes) {
  return {ElementOpKind::Move, {ElementView{from, std::move(axes)}}};
}

//===----------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------===//

Digits mlir::llm::wholeLoop(unsigned loop, int64_t size) {
  return size == 1 ? Digits() : Digits{{loop, 1, size}};
}

Digits mlir::llm::merged(ArrayRef<Digit> digits) {
  Digits result;
  for (const Digit &digit : digits) {
    Digit *last = result.empty() ? nullptr : &result.back();
    if (last && last->loop == digit.loop &&
        last->weight == digit.weight * digit.size) {
      last->weight = digit.weight;
      last->size *= digit.size;
    } else {
      result.push_back(digit);
    }
  }
  return result;
}

/// Removes an index of `size` from the least or the most significant end.
static bool takeDigits(Digits &digits, int64_t size, bool fromEnd,
                       Digits &taken) {
  while (size > 1) {
    if (digits.empty())
      return false;
    Digit digit = fromEnd ? digits.back() : digits.front();
    if (ShapedType::isDynamic(digit.size))
      return false;
    Digit part = digit;
    if (size % digit.size == 0) {
      digits.erase(fromEnd ? std::prev(digits.end()) : digits.begin());
    } else if (digit.size % size == 0) {
      const int64_t rest = digit.size / size;
      part.size = size;
      (fromEnd ? digit : part).weight *= fromEnd ? size : rest;
      digit.size = rest;
      (fromEnd ? digits.back() : digits.front()) = digit;
    } else {
      return false;
    }
    taken.insert(fromEnd ? taken.begin() : taken.end(), part);
    size /= part.size;
  }
  return size == 1;
}

/// Splits an index among dimensions of these sizes, one of which may be dynamic
/// and gets the rest.
static bool distribute(Digits digits, ArrayRef<int64_t> sizes, Axes &axes) {
  if (sizes.size() == 1) {
    axes.push_back(merged(digits));
    return true;
  }
  const size_t base = axes.size();
  axes.resize(base + sizes.size());
  size_t end = sizes.size();
  for (; end > 0 && !ShapedType::isDynamic(sizes[end - 1]); --end)
    if (!takeDigits(digits, sizes[end - 1], /*fromEnd=*/true,
                    axes[base + end - 1]))
      return false;
  auto mergeAll = [&] {
    for (Digits &axis : MutableArrayRef(axes).drop_front(base))
      axis = merged(axis);
    return true;
  };
  if (end == 0)
    return digits.empty() && mergeAll();
  for (size_t d = 0; d + 1 < end; ++d)
    if (ShapedType::isDynamic(sizes[d]) ||
        !takeDigits(digits, sizes[d], /*fromEnd=*/false, axes[base + d]))
      return false;
  axes[base + end - 1] = digits;
  return mergeAll();
}

Digits mlir::llm::digitsOf(ArrayRef<Digits> axes) {
  Digits all;
  for (const Digits &axis : axes)
    llvm::append_range(all, axis);
  return all;
}

int64_t mlir::llm::sizeOf(ArrayRef<Digit> digits) {
  int64_t size = 1;
  for (const Digit &digit : digits) {
    if (ShapedType::isDynamic(digit.size))
      return ShapedType::kDynamic;
    size *= digit.size;
  }
  return size;
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

/// The operand of a structured op that corresponds to a body argument.
static MaybeOp getOperandOfBody(BlockArgument argument, const Axes &loops) {
  Block *body = argument.getOwner();
  auto op = dyn_cast_or_null<linalg::LinalgOp>(body->getParentOp());
  if (!op || op.getBlock() != body || !op.hasPureTensorSemantics() ||
      argument.getArgNumber() >= unsigned(op.getNumDpsInputs()))
    return std::nullopt;
  OpOperand *operand = op.getMatchingOpOperand(argument);
  Axes axes;
  for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      axes.push_back(loops[dim.getPosition()]);
    else if (auto at = dyn_cast<AffineConstantExpr>(expr);
             at && at.getValue() == 0)
      axes.emplace_back();
    else
      return std::nullopt;
  }
  return movedFrom(operand->get(), std::move(axes));
}

/// The value that the body of an op without reductions yields for the element.
static MaybeOp getYieldOfBody(linalg::LinalgOp op, const Axes &axes) {
  if (op->getNumResults() != 1 || !op.hasPureTensorSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops())
    return std::nullopt;
  AffineMap map =
      op.getIndexingMapMatchingResult(cast<OpResult>(op->getResult(0)));
  if (!map.isPermutation())
    return std::nullopt;
  Axes loops(op.getNumLoops());
  for (auto [d, expr] : llvm::enumerate(map.getResults()))
    loops[cast<AffineDimExpr>(expr).getPosition()] = axes[d];
  return movedFrom(op.getBlock()->getTerminator()->getOperand(0),
                   std::move(loops));
}

/// All operands at the element's indices: `arith` ops, on tensors or in a body,
/// and `llm` ops.
static MaybeOp sameIndices(ElementOpKind kind, Operation *op,
                           const ElementView &view) {
  if (!view.isTensor() && !isa<linalg::LinalgOp>(op->getParentOp()))
    return std::nullopt;
  ElementOp result{kind, {}};
  for (Value operand : op->getOperands()) {
    if (isa<ShapedType>(operand.getType()) != view.isTensor())
      return std::nullopt;
    result.operands.push_back({operand, view.axes});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

static MaybeOp beforeCollapse(tensor::CollapseShapeOp op, const Axes &axes) {
  Axes source;
  for (auto [axis, group] :
       llvm::zip_equal(axes, op.getReassociationIndices())) {
    SmallVector<int64_t> sizes;
    for (int64_t d : group)
      sizes.push_back(op.getSrcType().getDimSize(d));
    if (!distribute(axis, sizes, source))
      return std::nullopt;
  }
  // All sizes of a collapse to rank 0 are 1.
  source.resize(size_t(op.getSrcType().getRank()));
  return movedFrom(op.getSrc(), std::move(source));
}

static MaybeOp beforeExpand(tensor::ExpandShapeOp op, const Axes &axes) {
  Axes source;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    Digits index;
    for (int64_t d : group)
      llvm::append_range(index, axes[size_t(d)]);
    source.push_back(merged(index));
  }
  return movedFrom(op.getSrc(), std::move(source));
}

/// Elements keep their row-major order.
static MaybeOp beforeReshape(Value source, const Axes &axes) {
  Axes before;
  ArrayRef<int64_t> sizes = typeOf(source).getShape();
  if (!sizes.empty() && !distribute(digitsOf(axes), sizes, before))
    return std::nullopt;
  return movedFrom(source, std::move(before));
}

//===----------------------------------------------------------------------===//
// mllm ops
//===----------------------------------------------------------------------===//

static size_t axisOf(int64_t axis, const Axes &axes) {
  return size_t(axis < 0 ? axis + int64_t(axes.size()) : axis);
}

std::optional<ElementViews>
mlir::llm::getBroadcastOperands(Operation *op, const ElementView &view) {
  ElementViews result;
  ArrayRef<int64_t> sizes = typeOf(view.value).getShape();
  for (Value operand : op->getOperands()) {
    ArrayRef<int64_t> own = typeOf(operand).getShape();
    Axes axes;
    for (auto [d, size] : llvm::enumerate(own)) {
      const size_t place = sizes.size() - own.size() + d;
      if (size == sizes[place])
        axes.push_back(view.axes[place]);
      else if (size == 1)
        axes.emplace_back();
      else
        return std::nullopt; // A dynamic size may be 1.
    }
    result.push_back({operand, std::move(axes)});
  }
  return result;
}

static MaybeOp broadcasting(ElementOpKind kind, Operation *op,
                            const ElementView &view) {
  auto operands = getBroadcastOperands(op, view);
  return operands ? MaybeOp({kind, std::move(*operands)}) : std::nullopt;
}

/// Arithmetic of two tensors; getScaled() handles scalars.
template <typename OpT>
static MaybeOp arithmetic(ElementOpKind kind, OpT op, const ElementView &view) {
  return op.getRhs() ? broadcasting(kind, op, view) : std::nullopt;
}

static MaybeOp beforeRepeat(mllm::RepeatOp op, Axes axes) {
  const size_t d = axisOf(op.getDim(), axes);
  Axes parts;
  const int64_t size = typeOf(op.getX()).getDimSize(int64_t(d));
  if (!distribute(axes[d], {size, int64_t(op.getTimes())}, parts))
    return std::nullopt;
  axes[d] = parts[0];
  return movedFrom(op.getX(), std::move(axes));
}

static MaybeOp getMLLMOp(Operation *op, const ElementView &view) {
  using Kind = ElementOpKind;
  return llvm::TypeSwitch<Operation *, MaybeOp>(op)
      .Case([&](mllm::TransposeOp transpose) -> MaybeOp {
        Axes axes = view.axes;
        std::swap(axes[axisOf(transpose.getDim0(), axes)],
                  axes[axisOf(transpose.getDim1(), axes)]);
        return movedFrom(transpose.getX(), std::move(axes));
      })
      .Case([&](mllm::PermuteOp permute) -> MaybeOp {
        Axes axes(view.axes.size());
        for (auto [d, from] : llvm::enumerate(permute.getAxes()))
          axes[axisOf(from, axes)] = view.axes[d];
        return movedFrom(permute.getX(), std::move(axes));
      })
      .Case<mllm::ViewOp, mllm::ReshapeOp>([&](auto reshape) -> MaybeOp {
        return beforeReshape(reshape.getX(), view.axes);
      })
      .Case<mllm::ContiguousOp, mllm::CloneOp>([&](auto same) -> MaybeOp {
        return movedFrom(same.getX(), view.axes);
      })
      .Case([&](mllm::RepeatOp repeat) {
        return beforeRepeat(repeat, view.axes);
      })
      .Case([&](mllm::CastTypeOp cast) -> MaybeOp {
        if (!isa<FloatType>(getElementTypeOrSelf(cast.getX().getType())) ||
            !isa<FloatType>(cast.getDtype()))
          return std::nullopt;
        return ElementOp{Kind::Cast, {{cast.getX(), view.axes}}};
      })
      .Case([&](mllm::AddOp add) { return arithmetic(Kind::Add, add, view); })
      .Case([&](mllm::MulOp mul) { return arithmetic(Kind::Mul, mul, view); })
      .Case([&](mllm::DivOp div) { return arithmetic(Kind::Div, div, view); })
      .Case([&](mllm::WhereOp where) {
        return broadcasting(Kind::Select, where, view);
      })
      .Case([&](mllm::CausalMaskOp mask) -> MaybeOp {
        return ElementOp{Kind::CausalMask, {{mask.getX(), view.axes}}};
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Any op
//===----------------------------------------------------------------------===//

MaybeOp mlir::llm::getElementOp(const ElementView &view) {
  using Kind = ElementOpKind;
  if (auto argument = dyn_cast<BlockArgument>(view.value))
    return getOperandOfBody(argument, view.axes);
  Operation *op = view.value.getDefiningOp();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return getYieldOfBody(structured, view.axes);
  if (isa<mllm::MLLMDialect>(op->getDialect()))
    return getMLLMOp(op, view);
  return llvm::TypeSwitch<Operation *, MaybeOp>(op)
      .Case([&](tensor::CollapseShapeOp collapse) {
        return beforeCollapse(collapse, view.axes);
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        return beforeExpand(expand, view.axes);
      })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [&](Operation *) { return sameIndices(Kind::Cast, op, view); })
      .Case<AddOp, arith::AddFOp>(
          [&](Operation *) { return sameIndices(Kind::Add, op, view); })
      .Case<MulOp, arith::MulFOp>(
          [&](Operation *) { return sameIndices(Kind::Mul, op, view); })
      .Case([&](arith::DivFOp) { return sameIndices(Kind::Div, op, view); })
      .Case(
          [&](arith::SelectOp) { return sameIndices(Kind::Select, op, view); })
      .Default([](Operation *) { return std::nullopt; });
}

/// A cast that preserves every value.
static bool isWidening(const ElementView &from, const ElementView &to) {
  auto bits = [](const ElementView &view) {
    return getElementTypeOrSelf(view.value.getType()).getIntOrFloatBitWidth();
  };
  return bits(from) < bits(to);
}

ElementViews mlir::llm::originsOf(ElementView view, bool throughWidening) {
  ElementViews origins;
  while (true) {
    if (view.isTensor())
      origins.push_back(view);
    std::optional<ElementOp> from = getElementOp(view);
    if (!from)
      return origins;
    const bool isSame = from->kind == ElementOpKind::Move ||
                        (throughWidening && from->kind == ElementOpKind::Cast &&
                         isWidening(from->operands[0], view));
    if (!isSame)
      return origins;
    view = from->operands[0];
  }
}

std::optional<double> mlir::llm::getUniformNumber(ElementView view) {
  while (true) {
    Attribute constant;
    if (matchPattern(view.value, m_Constant(&constant))) {
      if (auto number = dyn_cast<FloatAttr>(constant))
        return number.getValueAsDouble();
      auto elements = dyn_cast<DenseFPElementsAttr>(constant);
      if (!elements || !elements.isSplat())
        return std::nullopt;
      return elements.getSplatValue<APFloat>().convertToDouble();
    }
    if (auto fill = view.value.getDefiningOp<mllm::FillOp>()) {
      if (fill.getKind() == mllm::FillKind::Specific)
        return fill.getValue()->convertToDouble();
      if (fill.getKind() == mllm::FillKind::Zeros)
        return 0.0;
      if (fill.getKind() == mllm::FillKind::Ones)
        return 1.0;
      return std::nullopt;
    }
    MaybeOp op = getElementOp(view);
    if (!op ||
        (op->kind != ElementOpKind::Move && op->kind != ElementOpKind::Cast))
      return std::nullopt;
    view = op->operands[0];
  }
}

std::optional<std::pair<double, ElementView>>
mlir::llm::getScaled(const ElementView &view) {
  Operation *op = view.value.getDefiningOp();
  if (auto mul = dyn_cast_or_null<mllm::MulOp>(op); mul && mul.getScalar())
    return std::pair(mul.getScalar()->convertToDouble(),
                     ElementView{mul.getLhs(), view.axes});
  if (auto div = dyn_cast_or_null<mllm::DivOp>(op); div && div.getScalar())
    return std::pair(1.0 / div.getScalar()->convertToDouble(),
                     ElementView{div.getLhs(), view.axes});
  MaybeOp from = getElementOp(view);
  if (!from ||
      (from->kind != ElementOpKind::Mul && from->kind != ElementOpKind::Div))
    return std::nullopt;
  const auto &[lhs, rhs] = std::pair(from->operands[0], from->operands[1]);
  if (std::optional<double> number = getUniformNumber(rhs))
    return std::pair(from->kind == ElementOpKind::Mul ? *number : 1.0 / *number,
                     lhs);
  if (std::optional<double> number = getUniformNumber(lhs);
      number && from->kind == ElementOpKind::Mul)
    return std::pair(*number, rhs);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Indices as values
//===----------------------------------------------------------------------===//

static LinearIndex constantIndex(int64_t number) {
  LinearIndex result;
  result.constant = number;
  return result;
}

/// The index itself if it is a whole loop, or 0.
static std::optional<LinearIndex> linearIn(ArrayRef<Digit> digits) {
  if (digits.empty())
    return LinearIndex();
  if (digits.size() > 1 || digits[0].weight != 1)
    return std::nullopt;
  LinearIndex result;
  result.factors[digits[0].loop] = 1;
  return result;
}

static LinearIndex combined(LinearIndex a, int64_t times, const LinearIndex &b,
                            int64_t timesB) {
  a.constant = a.constant * times + b.constant * timesB;
  for (auto &[loop, factor] : a.factors)
    factor *= times;
  for (auto [loop, factor] : b.factors)
    a.factors[loop] += factor * timesB;
  return a;
}

LinearIndex mlir::llm::difference(LinearIndex a, const LinearIndex &b) {
  return combined(std::move(a), 1, b, -1);
}

static std::optional<int64_t> getUniformInteger(Value value) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  APInt number;
  if (auto scalar = dyn_cast<IntegerAttr>(constant))
    number = scalar.getValue();
  else if (auto elements = dyn_cast<DenseIntElementsAttr>(constant);
           elements && elements.isSplat())
    number = elements.getSplatValue<APInt>();
  else
    return std::nullopt;
  // No position exceeds this, and sums of smaller values do not overflow.
  const int64_t most = int64_t(1) << 40;
  std::optional<int64_t> result = number.trySExtValue();
  return result && std::abs(*result) < most ? result : std::nullopt;
}

/// 0, 1, 2, … along one dimension.
static std::optional<LinearIndex> getRange(mllm::FillOp fill,
                                           const Axes &axes) {
  if (fill.getKind() != mllm::FillKind::Arange ||
      fill.getStart()->convertToDouble() != 0 ||
      fill.getStep()->convertToDouble() != 1)
    return std::nullopt;
  return linearIn(digitsOf(axes));
}

std::optional<LinearIndex> mlir::llm::getLinearIndex(const ElementView &view) {
  if (std::optional<int64_t> number = getUniformInteger(view.value))
    return constantIndex(*number);
  Operation *op = view.value.getDefiningOp();
  if (auto index = dyn_cast_or_null<linalg::IndexOp>(op))
    return linearIn(view.axes[index.getDim()]);
  if (auto fill = dyn_cast_or_null<mllm::FillOp>(op))
    return getRange(fill, view.axes);
  if (isa_and_nonnull<arith::IndexCastOp, arith::ExtSIOp>(op))
    return getLinearIndex({op->getOperand(0), view.axes});
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    auto a = getLinearIndex({op->getOperand(0), view.axes});
    auto b = getLinearIndex({op->getOperand(1), view.axes});
    if (!a || !b)
      return std::nullopt;
    return combined(*a, 1, *b, isa<arith::AddIOp>(op) ? 1 : -1);
  }
  std::optional<ElementOp> from = getElementOp(view);
  if (from && from->kind == ElementOpKind::Move)
    return getLinearIndex(from->operands[0]);
  // An integer sum of mllm.
  if (from && from->kind == ElementOpKind::Add &&
      isa<IntegerType>(getElementTypeOrSelf(view.value.getType()))) {
    auto a = getLinearIndex(from->operands[0]);
    auto b = getLinearIndex(from->operands[1]);
    if (a && b)
      return combined(*a, 1, *b, 1);
  }
  if (auto add = dyn_cast_or_null<mllm::AddOp>(op); add && add.getScalar()) {
    auto a = getLinearIndex({add.getLhs(), view.axes});
    const double number = add.getScalar()->convertToDouble();
    if (a && std::abs(number) < 1e12)
      return combined(*a, 1, constantIndex(int64_t(number)), 1);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules for ops of arith, math, linalg and tensor on tensors with padding.
//
//===----------------------------------------------------------------------===//

#include "SizeBounder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;

namespace llmir {

using shapes::DimExpr;
using shapes::Shape;

//===----------------------------------------------------------------------===//
// arith and math
//===----------------------------------------------------------------------===//

/// The value of a scalar as an expression of sizes, if known.
static void boundScalar(SizeBounder &s, Operation *op) {
  SmallVector<DimExpr> x;
  for (Value operand : op->getOperands()) {
    std::optional<DimExpr> number = s.numberOf(getAsOpFoldResult(operand));
    if (!number)
      return;
    x.push_back(*number);
  }
  Value result = op->getResult(0);
  if (isa<arith::AddIOp>(op))
    s.setNumber(result, x[0] + x[1]);
  else if (isa<arith::SubIOp>(op))
    s.setNumber(result, x[0] - x[1]);
  else if (isa<arith::MulIOp>(op))
    s.setNumber(result, x[0] * x[1]);
}

/// Element-wise ops: the results for padding are padding.
static LogicalResult boundElementwise(SizeBounder &s, Operation *op) {
  Value first;
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    if (first && s.sizesOf(first) != s.sizesOf(operand))
      return s.refuse(op) << "it combines the sizes "
                          << shapes::str(s.sizesOf(first)) << " and "
                          << shapes::str(s.sizesOf(operand))
                          << ", which may differ";
    first = operand;
  }
  if (!first) {
    if (op->getNumResults() == 1 && op->getResult(0).getType().isIndex())
      boundScalar(s, op);
    return success();
  }
  for (Value result : op->getResults())
    s.setSizes(result, s.sizesOf(first));
  return success();
}

//===----------------------------------------------------------------------===//
// linalg
//===----------------------------------------------------------------------===//

/// The neutral element of a reduction, if the op's region is a known reduction.
static std::optional<double> neutralNumber(linalg::LinalgOp op) {
  if (linalg::isaContractionOpInterface(op))
    return 0.0;
  Block *block = op.getBlock();
  if (!isa<linalg::ReduceOp>(op) || block->getOperations().size() != 2)
    return std::nullopt;
  Operation &combines = block->front();
  // The element and the accumulator must be its operands.
  if (combines.getNumOperands() != 2 || block->getNumArguments() != 2 ||
      !llvm::is_contained(combines.getOperands(), block->getArgument(0)) ||
      !llvm::is_contained(combines.getOperands(), block->getArgument(1)) ||
      block->getTerminator()->getOperand(0).getDefiningOp() != &combines)
    return std::nullopt;
  if (isa<arith::AddFOp, arith::AddIOp>(combines))
    return 0.0;
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(combines))
    return -INFINITY;
  if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(combines))
    return INFINITY;
  return std::nullopt;
}

namespace {
/// The sizes of an op's loops.
struct LoopSizes {
  SmallVector<std::optional<DimExpr>> sizes;

  LogicalResult collect(SizeBounder &s, linalg::LinalgOp op) {
    sizes.resize(op.getNumLoops());
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      Shape shape = s.sizesOf(operand.get());
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [expr, size] : llvm::zip_equal(map.getResults(), shape)) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!dim && !size.isConstant())
          return s.refuse(op)
                 << "it reads a tensor of the sizes " << shapes::str(shape)
                 << " at " << AffineMapAttr::get(map)
                 << "; a dynamic dimension must be indexed by a loop";
        if (!dim)
          continue;
        std::optional<DimExpr> &known = sizes[dim.getPosition()];
        if (known && *known != size)
          return s.refuse(op) << "its loop " << dim.getPosition()
                              << " has the sizes " << known->str() << " and "
                              << size.str() << ", which may differ";
        known = size;
      }
    }
    return success();
  }
};
} // namespace

/// Reductions require neutral elements in the padding.
static LogicalResult boundStructured(SizeBounder &s, Operation *operation) {
  auto op = cast<linalg::LinalgOp>(operation);
  LoopSizes loops;
  if (failed(loops.collect(s, op)))
    return failure();
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction || !loops.sizes[loop] ||
        loops.sizes[loop]->isConstant())
      continue;
    std::optional<double> neutral = neutralNumber(op);
    if (!neutral)
      return s.refuse(op) << "it reduces a dimension of size "
                          << loops.sizes[loop]->str()
                          << " with an unsupported operation; use "
                             "linalg.reduce with a sum, a maximum or a minimum";
    for (OpOperand *input : op.getDpsInputOperands())
      for (auto [dim, expr] :
           llvm::enumerate(op.getMatchingIndexingMap(input).getResults()))
        if (expr == getAffineDimExpr(loop, op.getContext()))
          s.maskOperand(*input, static_cast<int64_t>(dim), *neutral);
  }
  for (auto [init, result] :
       llvm::zip_equal(op.getDpsInits(), op->getResults()))
    s.setSizes(result, s.sizesOf(init));
  return success();
}

//===----------------------------------------------------------------------===//
// tensor
//===----------------------------------------------------------------------===//

static FailureOr<Shape> numbersOf(SizeBounder &s, Operation *op,
                                  ArrayRef<OpFoldResult> mixed) {
  Shape shape;
  for (OpFoldResult entry : mixed) {
    std::optional<DimExpr> number = s.numberOf(entry);
    if (!number)
      return s.refuse(op)
                 << "it has a size that is not a function of the sizes of "
                    "the arguments",
             failure();
    if (failed(s.checkSize(op, *number)))
      return failure();
    shape.push_back(*number);
  }
  return shape;
}

static SmallVector<OpFoldResult> boundsOf(SizeBounder &s, OpBuilder &b,
                                          const Shape &shape) {
  SmallVector<OpFoldResult> bounds;
  for (const DimExpr &size : shape)
    bounds.push_back(b.getIndexAttr(s.greatest(size)));
  return bounds;
}

/// Replaces the op by a value of static shape.
static LogicalResult replace(SizeBounder &s, Operation *op, Value with,
                             const Shape &shape) {
  s.setSizes(with, shape);
  op->getResult(0).replaceAllUsesWith(with);
  op->erase();
  return success();
}

static LogicalResult bound(SizeBounder &s, tensor::EmptyOp op) {
  FailureOr<Shape> shape = numbersOf(s, op, op.getMixedSizes());
  if (failed(shape))
    return failure();
  OpBuilder b(op);
  return replace(s, op,
                 tensor::EmptyOp::create(b, op.getLoc(), boundsOf(s, b, *shape),
                                         op.getType().getElementType()),
                 *shape);
}

static LogicalResult bound(SizeBounder &s, tensor::SplatOp op) {
  SmallVector<OpFoldResult> mixed;
  OpBuilder b(op);
  auto size = op.getDynamicSizes().begin();
  for (int64_t entry : op.getType().getShape()) {
    if (ShapedType::isDynamic(entry))
      mixed.push_back(getAsOpFoldResult(*size++));
    else
      mixed.push_back(b.getIndexAttr(entry));
  }
  FailureOr<Shape> shape = numbersOf(s, op, mixed);
  if (failed(shape))
    return failure();
  SmallVector<int64_t> bounds;
  for (const DimExpr &entry : *shape)
    bounds.push_back(s.greatest(entry));
  return replace(
      s, op,
      tensor::SplatOp::create(
          b, op.getLoc(),
          RankedTensorType::get(bounds, op.getType().getElementType()),
          op.getInput(), ValueRange()),
      *shape);
}

static LogicalResult bound(SizeBounder &, tensor::ExtractOp) {
  return success();
}

static LogicalResult bound(SizeBounder &s, tensor::InsertOp op) {
  s.setSizes(op.getResult(), s.sizesOf(op.getDest()));
  return success();
}

static LogicalResult bound(SizeBounder &s, tensor::DimOp op) {
  std::optional<int64_t> index = op.getConstantIndex();
  Shape shape = s.sizesOf(op.getSource());
  if (!index || *index < 0 || *index >= static_cast<int64_t>(shape.size()))
    return s.refuse(op) << "the index of its dimension is not a valid constant";
  const DimExpr &size = shape[static_cast<size_t>(*index)];
  Value number = s.numberFor(size);
  s.setNumber(number, size);
  op->replaceAllUsesWith(ValueRange{number});
  op.erase();
  return success();
}

static LogicalResult bound(SizeBounder &s, tensor::CastOp op) {
  Shape shape = s.sizesOf(op.getSource());
  for (auto [declared, size] :
       llvm::zip_equal(cast<RankedTensorType>(op.getType()).getShape(), shape))
    if (!ShapedType::isDynamic(declared) && size.constant() != declared)
      return s.refuse(op) << "it casts the size " << size.str() << " to "
                          << declared;
  op->replaceAllUsesWith(ValueRange{op.getSource()});
  op.erase();
  return success();
}

static LogicalResult boundView(SizeBounder &s, Operation *op, Value source,
                               const Shape &shape) {
  if (!keepsPositions(s.sizesOf(source), shape))
    return s.refuse(op) << "it reshapes " << shapes::str(s.sizesOf(source))
                        << " to " << shapes::str(shape)
                        << ", which moves elements; keep dynamic sizes in "
                           "separate dimensions";
  return success();
}

static LogicalResult bound(SizeBounder &s, tensor::ExpandShapeOp op) {
  FailureOr<Shape> shape = numbersOf(s, op, op.getMixedOutputShape());
  if (failed(shape) || failed(boundView(s, op, op.getSrc(), *shape)))
    return failure();
  OpBuilder b(op);
  SmallVector<int64_t> bounds;
  for (const DimExpr &size : *shape)
    bounds.push_back(s.greatest(size));
  auto type = RankedTensorType::get(bounds, op.getType().getElementType());
  return replace(s, op,
                 tensor::ExpandShapeOp::create(b, op.getLoc(), type,
                                               op.getSrc(),
                                               op.getReassociationIndices()),
                 *shape);
}

static LogicalResult bound(SizeBounder &s, tensor::CollapseShapeOp op) {
  Shape from = s.sizesOf(op.getSrc()), shape;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    DimExpr size(1);
    for (int64_t dim : group)
      size = size * from[static_cast<size_t>(dim)];
    if (!size.isKnown())
      return s.refuse(op) << "it multiplies two dynamic sizes";
    shape.push_back(size);
  }
  if (failed(boundView(s, op, op.getSrc(), shape)))
    return failure();
  s.setSizes(op.getResult(), shape);
  return success();
}

/// A slice of dynamic size must have a static offset.
static LogicalResult checkSlice(SizeBounder &s,
                                OffsetSizeAndStrideOpInterface op,
                                const Shape &sizes) {
  for (auto [d, offset] : llvm::enumerate(op.getMixedOffsets()))
    if (!sizes[d].isConstant() && !getConstantIntValue(offset))
      return s.refuse(op) << "its slice of dimension " << d
                          << " has neither a constant offset nor a constant "
                             "size";
  return success();
}

static Shape withoutDims(const Shape &shape, const llvm::SmallBitVector &gone) {
  Shape kept;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!gone.test(static_cast<unsigned>(d)))
      kept.push_back(shape[d]);
  return kept;
}

static LogicalResult bound(SizeBounder &s, tensor::ExtractSliceOp op) {
  FailureOr<Shape> sizes = numbersOf(s, op, op.getMixedSizes());
  if (failed(sizes) || failed(checkSlice(s, op, *sizes)))
    return failure();
  OpBuilder b(op);
  Shape kept = withoutDims(*sizes, op.getDroppedDims());
  SmallVector<int64_t> bounds;
  for (const DimExpr &size : kept)
    bounds.push_back(s.greatest(size));
  auto type = RankedTensorType::get(bounds, op.getType().getElementType());
  return replace(s, op,
                 tensor::ExtractSliceOp::create(
                     b, op.getLoc(), type, op.getSource(), op.getMixedOffsets(),
                     boundsOf(s, b, *sizes), op.getMixedStrides()),
                 kept);
}

/// The padding of the inserted tensor must not overwrite elements.
static LogicalResult bound(SizeBounder &s, tensor::InsertSliceOp op) {
  FailureOr<Shape> sizes = numbersOf(s, op, op.getMixedSizes());
  if (failed(sizes) || failed(checkSlice(s, op, *sizes)))
    return failure();
  Shape whole = s.sizesOf(op.getDest());
  for (auto [d, offset] : llvm::enumerate(op.getMixedOffsets())) {
    if ((*sizes)[d].isConstant())
      continue;
    if (getConstantIntValue(op.getMixedStrides()[d]) != 1 ||
        (*sizes)[d] + DimExpr(*getConstantIntValue(offset)) != whole[d])
      return s.refuse(op) << "its slice of size " << (*sizes)[d].str()
                          << " does not end at the end of dimension " << d
                          << ", which has the size " << whole[d].str();
  }
  OpBuilder b(op);
  return replace(s, op,
                 tensor::InsertSliceOp::create(
                     b, op.getLoc(), op.getSource(), op.getDest(),
                     op.getMixedOffsets(), boundsOf(s, b, *sizes),
                     op.getMixedStrides()),
                 whole);
}

LogicalResult boundConcat(SizeBounder &s, Operation *op, ValueRange parts,
                          int64_t dim) {
  Shape shape = s.sizesOf(parts.front());
  DimExpr &sum = shape[static_cast<size_t>(dim)];
  bool isStatic = true;
  for (auto [i, part] : llvm::enumerate(parts)) {
    Shape own = s.sizesOf(part);
    for (size_t d = 0; d < own.size(); ++d)
      if (static_cast<int64_t>(d) != dim && own[d] != shape[d])
        return s.refuse(op) << "it combines the sizes " << shape[d].str()
                            << " and " << own[d].str() << ", which may differ";
    if (i > 0)
      sum = sum + own[static_cast<size_t>(dim)];
    isStatic &= s.isStatic(part, dim);
  }
  if (isStatic) {
    s.setSizes(op->getResult(0), shape);
    return success();
  }
  // Inserts the operands in order, each over the padding of the previous one.
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto element =
      cast<RankedTensorType>(parts.front().getType()).getElementType();
  SmallVector<OpFoldResult> strides(shape.size(), b.getIndexAttr(1));
  Value whole = tensor::EmptyOp::create(b, loc, boundsOf(s, b, shape), element);
  DimExpr begin(0);
  for (Value part : parts) {
    SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0));
    if (begin.isConstant())
      offsets[dim] = b.getIndexAttr(*begin.constant());
    else
      offsets[dim] = s.numberFor(begin);
    Shape own = s.sizesOf(part);
    whole = tensor::InsertSliceOp::create(b, loc, part, whole, offsets,
                                          boundsOf(s, b, own), strides);
    begin = begin + own[static_cast<size_t>(dim)];
  }
  return replace(s, op, whole, shape);
}

static LogicalResult bound(SizeBounder &s, tensor::ConcatOp op) {
  return boundConcat(s, op, op.getInputs(), static_cast<int64_t>(op.getDim()));
}

static LogicalResult bound(SizeBounder &s, tensor::PadOp op) {
  Shape shape = s.sizesOf(op.getSource());
  for (auto [d, low, high] :
       llvm::enumerate(op.getStaticLow(), op.getStaticHigh())) {
    if (low == 0 && high == 0)
      continue;
    if (failed(s.needStatic(op, op.getSource(), static_cast<int64_t>(d))))
      return failure();
    if (ShapedType::isDynamic(low) || ShapedType::isDynamic(high))
      return s.refuse(op) << "its padding is not constant";
    shape[d] = shape[d] + DimExpr(low + high);
  }
  s.setSizes(op.getResult(), shape);
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

SizeRules::SizeRules()
    : elementwise(boundElementwise), structured(boundStructured) {
  add<tensor::EmptyOp>(bound);
  add<tensor::SplatOp>(bound);
  add<tensor::ExtractOp>(bound);
  add<tensor::InsertOp>(bound);
  add<tensor::DimOp>(bound);
  add<tensor::CastOp>(bound);
  add<tensor::ExpandShapeOp>(bound);
  add<tensor::CollapseShapeOp>(bound);
  add<tensor::ExtractSliceOp>(bound);
  add<tensor::InsertSliceOp>(bound);
  add<tensor::ConcatOp>(bound);
  add<tensor::PadOp>(bound);
  addSizeRulesOfModels(*this);
}

const SizeRules &SizeRules::get() {
  static const SizeRules rules;
  return rules;
}

const SizeRule *SizeRules::find(Operation *op) const {
  auto known = rules.find(op->getName().getStringRef());
  if (known != rules.end())
    return &known->second;
  if (isa<linalg::LinalgOp>(op))
    return &structured;
  return isa_and_present<arith::ArithDialect, math::MathDialect>(
             op->getDialect())
             ? &elementwise
             : nullptr;
}

} // namespace llmir

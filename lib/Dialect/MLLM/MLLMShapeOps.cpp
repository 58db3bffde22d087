//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data movement ops: views, permutations, concatenations and splits.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMShapeOps.h"
#include "llmir/Dialect/MLLM/PlannedMemory.h"

#include "LinalgHelpers.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

//===----------------------------------------------------------------------===//
// Assembly of ranges
//===----------------------------------------------------------------------===//

/// `[:, 0:4, -1:]`: one range per dimension.
static ParseResult parseRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts,
                               DenseI64ArrayAttr &ends,
                               DenseI64ArrayAttr &steps) {
  RangeLists lists;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     [&] { return lists.parseNext(parser); }))
    return failure();
  lists.get(parser.getContext(), starts, ends, steps);
  return success();
}

static void printRanges(OpAsmPrinter &printer, Operation *,
                        DenseI64ArrayAttr starts, DenseI64ArrayAttr ends,
                        DenseI64ArrayAttr steps) {
  printer << "[";
  llvm::interleaveComma(
      llvm::seq<int64_t>(0, starts.size()), printer,
      [&](int64_t d) { printRange(printer, starts[d], ends[d], steps[d]); });
  printer << "]";
}

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMShapeOps.cpp.inc"

void MLLMDialect::addShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMShapeOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The dynamic sizes in order.
static shapes::Shape dynamicSizes(Value value) {
  shapes::Shape result;
  for (const shapes::DimExpr &size : shapeOf(value))
    if (!size.isConstant())
      result.push_back(size);
  return result;
}

/// The product of the static sizes; nullopt on overflow.
static std::optional<int64_t> staticValues(Value value) {
  int64_t product = 1;
  for (int64_t size : tensorType(value).getShape())
    if (!ShapedType::isDynamic(size) &&
        llvm::MulOverflow(product, size, product))
      return std::nullopt;
  return product;
}

Value llmir::mllm::viewedOperand(Operation *op) {
  return isa<ViewOp, ReshapeOp>(op) ? op->getOperand(0) : Value();
}

LogicalResult ViewOp::verify() {
  shapes::Shape from = dynamicSizes(getX()), to = dynamicSizes(getResult());
  if (from.size() != to.size() || !shapes::sameShape(from, to)) // c1
    return emitOpError() << "operand has the dynamic sizes "
                         << shapes::str(from) << ", but result has "
                         << shapes::str(to);
  std::optional<int64_t> have = staticValues(getX());
  std::optional<int64_t> want = staticValues(getResult());
  if (!have || !want || *have != *want) // c2
    return emitOpError() << "operand's static sizes have "
                         << (have ? "the product " + std::to_string(*have)
                                  : "an overflowing product")
                         << ", but result's have "
                         << (want ? std::to_string(*want)
                                  : "one that overflows");
  RankedTensorType x = tensorType(getX()), result = tensorType(getResult());
  if (x.getElementType() != result.getElementType() ||
      deviceOf(x) != deviceOf(result)) // c3
    return emitOpError() << "yields " << result << " for " << x
                         << ", expected the same element type and device";
  return success();
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

Expected<ResultTypes> TransposeOp::inferResults(Adaptor op) {
  // c1, c2
  return shaped(
      shapes::transpose(shapeOf(op.getX()), op.getDim0(), op.getDim1()),
      op.getX());
}

//===----------------------------------------------------------------------===//
// Ops that preserve values
//===----------------------------------------------------------------------===//

OpFoldResult ContiguousOp::fold(FoldAdaptor) {
  return ifSameType(*this, getX());
}

OpFoldResult CloneOp::fold(FoldAdaptor) { return ifSameType(*this, getX()); }

Expected<ResultTypes> CopyOp::inferResults(Adaptor op) {
  // c1
  LLMIR_RETURN_IF_ERROR(checkSameElements(op.getOperands()));
  LLMIR_RETURN_IF_ERROR(checkSameDevice(op.getOperands()));
  // c2, c3
  return shaped(shapes::sameShape(shapeOf(op.getDst()), shapeOf(op.getSrc())),
                op.getSrc());
}

Expected<ResultTypes> X2XOp::inferResults(Adaptor op) {
  // c1
  return ResultTypes{makeTensorType(shapeOf(op.getX()),
                                    tensorType(op.getX()).getElementType(),
                                    op.getDevice())};
}

OpFoldResult X2XOp::fold(FoldAdaptor) {
  // A transfer back to the original device, over any number of devices.
  Value origin = getX();
  llvm::SmallPtrSet<Operation *, 4> seen; // A graph region may have a cycle.
  while (origin.getType() != getType()) {
    auto before = origin.getDefiningOp<X2XOp>();
    if (!before || !seen.insert(before).second)
      return {};
    origin = before.getX();
  }
  return origin == getResult() ? OpFoldResult() : origin;
}

Expected<ResultTypes> CastTypeOp::inferResults(Adaptor op) {
  // c1
  Type dtype = op.getDtype();
  const bool isInteger = dtype.isSignlessInteger() &&
                         llvm::is_contained({1u, 8u, 16u, 32u, 64u},
                                            dtype.getIntOrFloatBitWidth());
  if (!isInteger && !dtype.isF32() && !dtype.isF16() && !dtype.isBF16()) {
    std::string text;
    llvm::raw_string_ostream(text) << "casts to " << dtype;
    return shapes::shapeError(
        text + ", expected f32, f16, bf16, i64, i32, i16, i8 or i1");
  }
  return shaped(shapeOf(op.getX()), op.getX(), dtype); // c2
}

OpFoldResult CastTypeOp::fold(FoldAdaptor) { return ifSameType(*this, getX()); }

OpFoldResult ViewOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto before = getX().getDefiningOp<ViewOp>()) {
    getXMutable().assign(before.getX());
    return getResult();
  }
  return {};
}

Expected<ResultTypes> ReshapeOp::inferResults(Adaptor op) {
  // c1, c2, c3
  return shaped(shapes::reshape(shapeOf(op.getX()),
                                std::vector<int64_t>(op.getShape().begin(),
                                                     op.getShape().end())),
                op.getX());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) { return ifSameType(*this, getX()); }

namespace {
/// A reshape that preserves the dynamic sizes in order is a view.
struct ReshapeToView : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    // If the products of static sizes are equal, a single dynamic size is the
    // same on both sides.
    const size_t have = dynamicSizes(op.getX()).size();
    std::optional<int64_t> from = staticValues(op.getX());
    std::optional<int64_t> to = staticValues(op.getResult());
    if (have > 1 || dynamicSizes(op.getResult()).size() != have || !from ||
        from != to)
      return failure();
    rewriter.replaceOpWithNewOp<ViewOp>(op, op.getType(), op.getX());
    return success();
  }
};
} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ReshapeToView>(context);
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  const int64_t rank = tensorType(getX()).getRank();
  auto pair = [&](TransposeOp op) {
    return std::minmax(
        {axisFromStart(op.getDim0(), rank), axisFromStart(op.getDim1(), rank)});
  };
  if (pair(*this).first == pair(*this).second)
    return ifSameType(*this, getX());
  auto before = getX().getDefiningOp<TransposeOp>();
  if (before && pair(before) == pair(*this))
    return ifSameType(*this, before.getX());
  return {};
}

Expected<ResultTypes> PermuteOp::inferResults(Adaptor op) {
  // c1, c2
  return shaped(shapes::permute(shapeOf(op.getX()), toVector(op.getAxes())),
                op.getX());
}

OpFoldResult PermuteOp::fold(FoldAdaptor) {
  const int64_t rank = tensorType(getX()).getRank();
  auto axes = [&](PermuteOp op) {
    return llvm::map_to_vector(
        op.getAxes(), [&](int64_t axis) { return axisFromStart(axis, rank); });
  };
  SmallVector<int64_t> own = axes(*this);
  if (llvm::equal(own, llvm::seq<int64_t>(0, rank)))
    return ifSameType(*this, getX());
  auto before = getX().getDefiningOp<PermuteOp>();
  if (!before)
    return {};
  SmallVector<int64_t> inner = axes(before);
  for (int64_t &axis : own)
    axis = inner[axis];
  setAxes(own);
  getXMutable().assign(before.getX());
  return getResult();
}

//===----------------------------------------------------------------------===//
// Concatenation and splitting
//===----------------------------------------------------------------------===//

Expected<ResultTypes> SplitOp::inferResults(Adaptor op) {
  // c1 to c5
  Expected<std::vector<shapes::Shape>> parts = shapes::split(
      shapeOf(op.getX()), op.getDim(), toVector(op.getSections()));
  if (!parts)
    return parts.takeStatus();
  ResultTypes types;
  for (const shapes::Shape &part : *parts)
    types.append(shaped(part, op.getX()));
  return types;
}

LogicalResult SplitOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &parts) {
  if (getNumResults() != 1 || getX().getType() != getResult(0).getType())
    return failure();
  parts.push_back(getX());
  return success();
}

/// The shapes of operands with equal element types and devices.
static Expected<std::vector<shapes::Shape>> shapesOfParts(ValueRange parts) {
  LLMIR_RETURN_IF_ERROR(checkSameElements(parts));
  LLMIR_RETURN_IF_ERROR(checkSameDevice(parts));
  std::vector<shapes::Shape> result;
  for (Value part : parts)
    result.push_back(shapeOf(part));
  return result;
}

Expected<ResultTypes> ConcatOp::inferResults(Adaptor op) {
  Expected<std::vector<shapes::Shape>> parts =
      shapesOfParts(op.getParts()); // c3
  if (!parts)
    return parts.takeStatus();
  Expected<shapes::Shape> shape = shapes::concat(*parts, op.getDim());
  if (!shape) // c1, c2
    return shape.takeStatus();
  return shaped(*shape, op.getParts().front()); // c4
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getParts().size() == 1 ? ifSameType(*this, getParts().front())
                                : OpFoldResult();
}

Expected<ResultTypes> StackOp::inferResults(Adaptor op) {
  Expected<std::vector<shapes::Shape>> parts =
      shapesOfParts(op.getParts()); // c3
  if (!parts)
    return parts.takeStatus();
  Expected<shapes::Shape> shape = shapes::stack(*parts, op.getDim());
  if (!shape) // c1, c2
    return shape.takeStatus();
  return shaped(*shape, op.getParts().front()); // c4
}

Expected<ResultTypes> RepeatOp::inferResults(Adaptor op) {
  // c1, c2, c3
  return shaped(shapes::repeat(shapeOf(op.getX()), op.getDim(), op.getTimes()),
                op.getX());
}

OpFoldResult RepeatOp::fold(FoldAdaptor) {
  return getTimes() == 1 ? ifSameType(*this, getX()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Slices and padding
//===----------------------------------------------------------------------===//

Expected<ResultTypes> SliceOp::inferResults(Adaptor op) {
  Expected<std::vector<shapes::Range>> ranges =
      makeRanges(op.getStarts(), op.getEnds(), op.getSteps()); // c1
  if (!ranges)
    return ranges.takeStatus();
  // c1, c2, c3
  return shaped(shapes::slice(shapeOf(op.getX()), *ranges), op.getX());
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  auto all = [](ArrayRef<int64_t> numbers, int64_t number) {
    return llvm::all_of(numbers, [&](int64_t n) { return n == number; });
  };
  return all(getStarts(), 0) && all(getEnds(), ShapedType::kDynamic) &&
                 all(getSteps(), 1)
             ? ifSameType(*this, getX())
             : OpFoldResult();
}

/// The maximum padding that a mode supports for a dimension of `size`.
static int64_t mostPadding(PadMode mode, int64_t size) {
  switch (mode) {
  case PadMode::Reflect:
    return std::max<int64_t>(size - 1, 0);
  case PadMode::Circular:
    return size;
  case PadMode::Replicate:
    return size == 0 ? 0 : std::numeric_limits<int64_t>::max();
  case PadMode::Constant:
    break;
  }
  return std::numeric_limits<int64_t>::max();
}

Expected<ResultTypes> PadOp::inferResults(Adaptor op) {
  shapes::Shape shape = shapeOf(op.getX());
  // c1
  for (ArrayRef<int64_t> pads : {op.getLow(), op.getHigh()})
    if (pads.size() != shape.size())
      return shapes::shapeError("pads " + std::to_string(pads.size()) +
                                " dimensions of a tensor of rank " +
                                std::to_string(shape.size()));
  for (size_t d = 0; d < shape.size(); ++d) {
    for (int64_t padding : {op.getLow()[d], op.getHigh()[d]}) {
      if (padding < 0)
        return shapes::shapeError("pads dimension " + std::to_string(d) +
                                  " by " + std::to_string(padding) +
                                  ", expected 0 or more");
      // c2
      std::optional<int64_t> size = shape[d].constant();
      if (size && padding > mostPadding(op.getMode(), *size))
        return shapes::shapeError(
            "pads " + std::to_string(*size) + " elements by " +
            std::to_string(padding) + " in mode " +
            stringifyPadMode(op.getMode()).str() + ", expected at most " +
            std::to_string(mostPadding(op.getMode(), *size)));
    }
    shape[d] = shape[d] + op.getLow()[d] + op.getHigh()[d];
  }
  return shaped(shape, op.getX()); // c5
}

LogicalResult PadOp::verify() {
  if (!getValue())
    return success();
  // c3
  if (getMode() != PadMode::Constant)
    return emitOpError() << "has a 'value' in mode "
                         << stringifyPadMode(getMode())
                         << ", which does not use it";
  // c4
  return report(*this, checkNumber(getValueAttr(), "value",
                                   tensorType(getX()).getElementType()));
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t padding) { return padding == 0; };
  return llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero)
             ? ifSameType(*this, getX())
             : OpFoldResult();
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of the tensor dialect on single elements, and on slices with dynamic
// offsets. As in gathers, positions out of range are clamped to the first or
// last element or slice.
//
//===----------------------------------------------------------------------===//

#include "FunctionConversion.h"
#include "Places.h"
#include "ScalarRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// One number in many elements
//===----------------------------------------------------------------------===//

LogicalResult fillWithScalar(ProgramConversion &c, Operation *op, Value scalar,
                             const RowsValue &out, ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return success();
  MLIRContext *context = op->getContext();
  LoopNest nest;
  SmallVector<unsigned> order = loopOrder(shape);
  SmallVector<AffineExpr> all = loopDims(order, context);
  nest.sizes = loopSizes(c, shape, order, out.over);
  nest.parallel = nest.sizes.size();
  nest.over = nestRows(context, shape, out.over);
  bool isConstant = static_cast<bool>(constantNumber(scalar));
  if (!isConstant) {
    FailureOr<RowsValue> number = c.lookup(op, scalar);
    if (failed(number))
      return failure();
    nest.addInput(number->buffer,
                  placeMap(*number, {}, {}, shape.size(), 0, context));
  }
  nest.append(c, op->getLoc(), kernelName("splat", nest.sizes), out,
              placeMap(out, shape, all, shape.size(), 0, context),
              [&](OpBuilder &b, Block &block) {
                RegionWriter writer(b, block, op->getLoc(), order);
                if (!isConstant)
                  writer.addElement(scalar);
                writer.yield(scalar);
              });
  return success();
}

static LogicalResult convert(FunctionConversion &c, tensor::SplatOp op) {
  RowsValue out = c.createResult(op.getResult());
  return fillWithScalar(c, op, op.getInput(), out, op.getType().getShape());
}

/// Copies every element to its position.
static LogicalResult convert(FunctionConversion &c, tensor::FromElementsOp op) {
  RowsValue out = c.createResult(op.getResult());
  for (auto [i, element] : llvm::enumerate(op.getElements())) {
    FailureOr<RowsValue> number = c.lookup(op, element);
    if (failed(number))
      return failure();
    ElementBox box; // One element.
    box.to = static_cast<int64_t>(i);
    c.copyBox(op.getLoc(), *number, out, box);
  }
  return success();
}

static LogicalResult convert(FunctionConversion &c, tensor::PadOp op) {
  auto isStatic = [](ArrayRef<int64_t> numbers) {
    return llvm::none_of(numbers, ShapedType::isDynamic);
  };
  if (!isStatic(op.getStaticLow()) || !isStatic(op.getStaticHigh()))
    return op.emitOpError("has padding sizes that are not constants; use "
                          "constants, or tensor.insert_slice");
  Value padding = op.getConstantPaddingValue();
  if (!padding)
    return op.emitOpError("computes the padding values in its region; use one "
                          "value from outside of it");
  FailureOr<RowsValue> x = c.lookup(op, op.getSource());
  if (failed(x))
    return failure();
  RowsValue out = c.createResult(op.getResult());
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  if (failed(fillWithScalar(c, op, padding, out, shape)))
    return failure();
  ElementBox box;
  ArrayRef<int64_t> sizes = op.getSourceType().getShape();
  box.sizes.assign(sizes.begin(), sizes.end());
  box.fromStrides = rowMajorStrides(box.sizes);
  box.toStrides = rowMajorStrides(shape);
  for (auto [low, stride] : llvm::zip(op.getStaticLow(), box.toStrides))
    box.to += low * stride;
  c.copyBox(op.getLoc(), *x, out, box);
  return success();
}

//===----------------------------------------------------------------------===//
// Computed indices
//===----------------------------------------------------------------------===//

namespace {
/// The linear index of an element of a tensor, part of which is computed at run
/// time.
struct ElementNumber {
  int64_t known = 0, greatest = 0; ///< The static part; the maximum.
  RowsValue computed; ///< The index, as i32; without a buffer if it is static.
};

/// One of several indices: its maximum, and its stride.
struct IndexPart {
  OpFoldResult index;
  int64_t greatest, stride;
};
} // namespace

/// The sum of the indices, clamped to their ranges, times their strides.
static FailureOr<ElementNumber>
numberElement(ProgramConversion &c, Operation *op, ArrayRef<IndexPart> parts) {
  ElementNumber number;
  SmallVector<IndexPart> unknown;
  for (const IndexPart &part : parts) {
    std::optional<int64_t> index = getConstantIntValue(part.index);
    if (!index) {
      unknown.push_back(part);
      number.greatest += part.greatest * part.stride;
      continue;
    }
    if (*index < 0 || *index > part.greatest)
      return op->emitOpError("has the index ")
             << *index << ", expected 0 to " << part.greatest;
    number.known += *index * part.stride;
  }
  number.greatest += number.known;
  if (unknown.empty())
    return number;
  MLIRContext *context = op->getContext();
  number.computed =
      c.createScratch(op->getLoc(), /*rows=*/1, /*columns=*/1, c.i32());
  LoopNest nest;
  for (const IndexPart &part : unknown) {
    FailureOr<RowsValue> index = c.lookup(op, cast<Value>(part.index));
    if (failed(index))
      return failure();
    nest.addInput(index->buffer, placeMap(*index, {}, {}, 0, 0, context));
  }
  Location loc = op->getLoc();
  nest.append(
      c, loc, "element_number", number.computed,
      placeMap(number.computed, {}, {}, 0, 0, context),
      [&](OpBuilder &b, Block &block) {
        RegionWriter writer(b, block, loc, {});
        auto constant = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(b, loc, value);
        };
        Value sum = constant(number.known);
        for (const IndexPart &part : unknown) {
          Value index = writer.addElement(cast<Value>(part.index));
          if (!index.getType().isIndex())
            index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
          index = arith::MaxSIOp::create(b, loc, index, constant(0));
          index =
              arith::MinSIOp::create(b, loc, index, constant(part.greatest));
          sum = arith::AddIOp::create(
              b, loc, sum,
              arith::MulIOp::create(b, loc, index, constant(part.stride)));
        }
        YieldOp::create(
            b, loc, arith::IndexCastOp::create(b, loc, b.getI32Type(), sum));
      });
  return number;
}

/// The position of the element with linear index `flat`.
static AffineMap placeOfElement(const RowsValue &rows, AffineExpr flat,
                                unsigned numDims, unsigned numSymbols) {
  return AffineMap::get(numDims, numSymbols,
                        {flat.floorDiv(rows.columns), flat % rows.columns},
                        flat.getContext());
}

/// sum(i_d * strides_d) over the loops.
static AffineExpr sumOfLoops(ArrayRef<int64_t> strides, MLIRContext *context) {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (auto [d, stride] : llvm::enumerate(strides))
    sum = sum + getAffineDimExpr(d, context) * stride;
  return sum;
}

/// Reads the box of elements of x that starts at `start`, in order.
static void gatherBox(ProgramConversion &c, Location loc, const RowsValue &x,
                      const ElementNumber &start, ArrayRef<int64_t> sizes,
                      ArrayRef<int64_t> strides, const RowsValue &out) {
  MLIRContext *context = loc.getContext();
  unsigned rank = sizes.size();
  ArrayAttr maps = Builder(context).getAffineMapArrayAttr(
      {placeMap(start.computed, {}, {}, rank, 0, context),
       placeOfElement(
           x, getAffineSymbolExpr(0, context) + sumOfLoops(strides, context),
           rank, 1),
       placeOfElement(out, sumOfLoops(rowMajorStrides(sizes), context), rank,
                      0)});
  c.fixedKernel<kernel::GatherOp>(loc, kernelName("gather_box", sizes),
                                  start.computed.buffer, x.buffer, out.buffer,
                                  sizes, start.greatest + 1, maps, out.columns,
                                  /*over=*/kernel::RowSpaceAttr());
}

/// Writes the elements of x into the box of `out` that starts at `start`.
static void scatterBox(ProgramConversion &c, Location loc, const RowsValue &x,
                       const ElementNumber &start, ArrayRef<int64_t> sizes,
                       ArrayRef<int64_t> strides, const RowsValue &out) {
  MLIRContext *context = loc.getContext();
  unsigned rank = sizes.size();
  ArrayAttr maps = Builder(context).getAffineMapArrayAttr(
      {placeMap(start.computed, {}, {}, rank, 0, context),
       placeOfElement(x, sumOfLoops(rowMajorStrides(sizes), context), rank, 0),
       placeOfElement(
           out, getAffineSymbolExpr(0, context) + sumOfLoops(strides, context),
           rank, 1)});
  c.fixedKernel<kernel::ScatterOp>(
      loc, kernelName("scatter_box", sizes), start.computed.buffer, x.buffer,
      out.buffer, sizes, /*indexed=*/0, start.greatest + 1, maps,
      /*over=*/kernel::RowSpaceAttr());
}

/// The stride of each index of an element.
static SmallVector<IndexPart> partsOf(ValueRange indices,
                                      ArrayRef<int64_t> shape) {
  SmallVector<IndexPart> parts;
  for (auto [index, size, stride] :
       llvm::zip_equal(indices, shape, rowMajorStrides(shape)))
    parts.push_back({getAsOpFoldResult(index), size - 1, stride});
  return parts;
}

static LogicalResult convert(FunctionConversion &c, tensor::ExtractOp op) {
  ArrayRef<int64_t> shape = op.getTensor().getType().getShape();
  FailureOr<RowsValue> x = c.lookup(op, op.getTensor());
  if (failed(x))
    return failure();
  if (llvm::is_contained(shape, 0))
    return op.emitOpError("extracts an element of an empty tensor");
  if (shape.empty()) { // The same linear index.
    c.bind(op.getResult(), *x);
    return success();
  }
  FailureOr<ElementNumber> place =
      numberElement(c, op, partsOf(op.getIndices(), shape));
  if (failed(place))
    return failure();
  RowsValue out = c.createResult(op.getResult());
  if (place->computed.buffer) {
    gatherBox(c, op.getLoc(), *x, *place, {}, {}, out);
    return success();
  }
  ElementBox box; // One element.
  box.from = place->known;
  c.copyBox(op.getLoc(), *x, out, box);
  return success();
}

static LogicalResult convert(FunctionConversion &c, tensor::InsertOp op) {
  ArrayRef<int64_t> shape = op.getType().getShape();
  FailureOr<RowsValue> number = c.lookup(op, op.getScalar());
  FailureOr<RowsValue> before = c.lookup(op, op.getDest());
  if (failed(number) || failed(before))
    return failure();
  if (llvm::is_contained(shape, 0))
    return op.emitOpError("inserts an element into an empty tensor");
  FailureOr<ElementNumber> place =
      numberElement(c, op, partsOf(op.getIndices(), shape));
  if (failed(place))
    return failure();
  RowsValue out = c.createResult(op.getResult());
  copyAll(c, op.getLoc(), *before, out, shape);
  if (place->computed.buffer) {
    scatterBox(c, op.getLoc(), *number, *place, {}, {}, out);
    return success();
  }
  ElementBox box; // One element.
  box.to = place->known;
  c.copyBox(op.getLoc(), *number, out, box);
  return success();
}

//===----------------------------------------------------------------------===//
// Slices at computed offsets
//===----------------------------------------------------------------------===//

/// The offset of the slice in a tensor of this shape; `strides` are set to
/// those of its elements.
static FailureOr<ElementNumber> numberSlice(ProgramConversion &c,
                                            OffsetSizeAndStrideOpInterface op,
                                            ArrayRef<int64_t> shape,
                                            SmallVectorImpl<int64_t> &strides) {
  SmallVector<IndexPart> parts;
  for (auto [offset, size, step, whole, stride] :
       llvm::zip_equal(op.getMixedOffsets(), op.getStaticSizes(),
                       op.getStaticStrides(), shape, rowMajorStrides(shape))) {
    int64_t last = whole - 1 - (size - 1) * step;
    if (size > 0 && last < 0)
      return op->emitOpError("extracts or inserts ")
             << size << " elements, " << step
             << " apart, in a dimension of size " << whole;
    parts.push_back({offset, last, stride});
    strides.push_back(size > 1 ? step * stride : 0);
  }
  return numberElement(c, op, parts);
}

LogicalResult extractComputedSlice(ProgramConversion &c,
                                   tensor::ExtractSliceOp op,
                                   const RowsValue &x, const RowsValue &out) {
  SmallVector<int64_t> strides;
  FailureOr<ElementNumber> start =
      numberSlice(c, op, op.getSourceType().getShape(), strides);
  if (failed(start))
    return failure();
  gatherBox(c, op.getLoc(), x, *start, op.getStaticSizes(), strides, out);
  return success();
}

LogicalResult insertComputedSlice(ProgramConversion &c,
                                  tensor::InsertSliceOp op, const RowsValue &x,
                                  const RowsValue &out) {
  SmallVector<int64_t> strides;
  FailureOr<ElementNumber> start =
      numberSlice(c, op, op.getDestType().getShape(), strides);
  if (failed(start))
    return failure();
  scatterBox(c, op.getLoc(), x, *start, op.getStaticSizes(), strides, out);
  return success();
}

void addElementConversions(ConversionTable &table) {
  constexpr llvm::StringLiteral kNotInSteps =
      "has no kernel in a step; functions of static shapes have one";
  table.addForFunctions<tensor::SplatOp>(convert, kNotInSteps, OpForm::Exact);
  table.addForFunctions<tensor::FromElementsOp>(convert, kNotInSteps,
                                                OpForm::Exact);
  table.addForFunctions<tensor::PadOp>(convert, kNotInSteps, OpForm::Exact);
  table.addForFunctions<tensor::ExtractOp>(convert, kNotInSteps, OpForm::Exact);
  table.addForFunctions<tensor::InsertOp>(convert, kNotInSteps, OpForm::Exact);
}

} // namespace llmir

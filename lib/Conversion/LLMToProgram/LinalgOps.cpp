//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structured ops of linalg, and ops of arith and math on tensors or scalars:
// each becomes a loop nest with a scalar region.
//
//===----------------------------------------------------------------------===//

#include "ElementwiseChain.h"
#include "Places.h"
#include "ScalarRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cmath>

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Positions of elements
//===----------------------------------------------------------------------===//

AffineMap placeMap(const RowsValue &rows, ArrayRef<int64_t> shape,
                   ArrayRef<AffineExpr> index, unsigned numDims,
                   unsigned numSymbols, MLIRContext *context) {
  auto join = [&](size_t from) {
    AffineExpr flat = getAffineConstantExpr(0, context);
    for (size_t d = from; d < shape.size(); ++d)
      flat = flat * shape[d] + index[d];
    return flat;
  };
  AffineExpr zero = getAffineConstantExpr(0, context), row, column;
  if (std::optional<int64_t> dynamic = rowDimension(shape)) {
    SmallVector<AffineExpr> columns(index);
    columns.erase(columns.begin() + *dynamic);
    SmallVector<int64_t> sizes(shape);
    sizes.erase(sizes.begin() + *dynamic);
    column = zero;
    for (auto [size, expr] : llvm::zip_equal(sizes, columns))
      column = column * size + expr;
    return AffineMap::get(numDims, numSymbols, {index[*dynamic], column},
                          context);
  }
  int64_t rest = 1;
  for (int64_t size : shape.drop_front(shape.size() > 1 ? 1 : 0))
    rest *= size;
  if (rows.columns == rest) { // One row per index of the first dimension.
    row = shape.size() > 1 ? index[0] : zero;
    column = join(shape.size() > 1 ? 1 : 0);
  } else {
    row = join(0).floorDiv(rows.columns);
    column = join(0) % rows.columns;
  }
  return AffineMap::get(numDims, numSymbols, {row, column}, context);
}

void LoopNest::append(ProgramConversion &c, Location loc, StringRef label,
                      const RowsValue &out, AffineMap map,
                      ProgramConversion::BodyBuilder body) const {
  SmallVector<AffineMap> all(maps);
  all.push_back(map);
  auto loops = c.fixedKernel<kernel::LoopsOp>(
      loc, label, inputs, out.buffer, sizes, parallel,
      Builder(loc.getContext()).getAffineMapArrayAttr(all), out.columns, over);
  writeBody(loops.getBody(), body);
}

SmallVector<unsigned> loopOrder(ArrayRef<int64_t> shape) {
  std::optional<int64_t> row = rowDimension(shape);
  SmallVector<unsigned> order(shape.size());
  unsigned next = row ? 1 : 0;
  for (auto [d, loop] : llvm::enumerate(order))
    loop = static_cast<int64_t>(d) == row ? 0 : next++;
  return order;
}

SmallVector<AffineExpr> loopDims(ArrayRef<unsigned> order,
                                 MLIRContext *context) {
  return llvm::map_to_vector(
      order, [&](unsigned loop) { return getAffineDimExpr(loop, context); });
}

SmallVector<int64_t> loopSizes(ProgramConversion &c, ArrayRef<int64_t> shape,
                               ArrayRef<unsigned> order, RowSpace over) {
  SmallVector<int64_t> sizes(shape.size());
  for (auto [size, loop] : llvm::zip_equal(shape, order))
    sizes[loop] = ShapedType::isDynamic(size) ? c.maxRows(over) : size;
  return sizes;
}

kernel::RowSpaceAttr nestRows(MLIRContext *context, ArrayRef<int64_t> shape,
                              RowSpace over) {
  if (!rowDimension(shape))
    return {};
  return kernel::RowSpaceAttr::get(context, over);
}

void copyAll(ProgramConversion &c, Location loc, const RowsValue &from,
             const RowsValue &to, ArrayRef<int64_t> shape) {
  ElementBox box;
  if (rowDimension(shape)) {
    box.sizes = {ShapedType::kDynamic, from.columns};
    box.fromStrides = {from.columns, 1};
    box.toStrides = {to.columns, 1};
  } else {
    box.sizes = {1};
    for (int64_t size : shape)
      box.sizes[0] *= size;
    box.fromStrides = {1};
    box.toStrides = {1};
  }
  c.copyBox(loc, from, to, box);
}

void convertToIntegers(ProgramConversion &c, Location loc,
                       const RowsValue &from, const RowsValue &to,
                       Type element) {
  AffineMap identity = AffineMap::getMultiDimIdentityMap(2, loc.getContext());
  LoopNest nest;
  nest.sizes = {from.rows, from.columns};
  nest.parallel = 2;
  nest.addInput(from.buffer, identity);
  nest.append(c, loc, kernelName("to_integers", nest.sizes), to, identity,
              [&](OpBuilder &b, Block &block) {
                for (int i = 0; i < 2; ++i)
                  block.addArgument(b.getIndexType(), loc);
                Value x = block.addArgument(b.getF32Type(), loc);
                YieldOp::create(b, loc,
                                arith::FPToSIOp::create(b, loc, element, x));
              });
}

RowsValue maskRows(ProgramConversion &c, Location loc, const RowsValue &rows) {
  RowsValue mask = c.createScratch(loc, rows.rows, rows.columns);
  if (rows.rows == 0 || rows.columns == 0)
    return mask;
  AffineMap identity = AffineMap::getMultiDimIdentityMap(2, loc.getContext());
  LoopNest nest;
  nest.sizes = {rows.rows, rows.columns};
  nest.parallel = 2;
  nest.addInput(rows.buffer, identity);
  nest.append(
      c, loc, kernelName("mask", nest.sizes), mask, identity,
      [&](OpBuilder &b, Block &block) {
        for (int i = 0; i < 2; ++i)
          block.addArgument(b.getIndexType(), loc);
        Value seen = block.addArgument(b.getI32Type(), loc);
        Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
        Value isSeen =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, seen, zero);
        auto number = [&](float value) -> Value {
          return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
        };
        YieldOp::create(b, loc,
                        arith::SelectOp::create(b, loc, isSeen, number(0),
                                                number(-INFINITY)));
      });
  return mask;
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

namespace {
/// Converts one structured op of one result. In a step, the loop over the rows
/// of the step is the first one of the kernel.
class LoopsConversion {
public:
  LoopsConversion(ProgramConversion &c, linalg::LinalgOp op)
      : c(c), op(op), loc(op.getLoc()) {}

  LogicalResult convert();

private:
  LogicalResult check();
  /// Finds the loop over rows of the step and their kind; fails if the op
  /// reduces over tokens or uses their indices in the batch.
  LogicalResult findRows();
  bool isRowWise(OpOperand &operand);
  /// Orders parallel loops before reductions.
  void orderLoops();
  /// The positions of the operand's elements, as functions of the kernel's
  /// loops.
  AffineMap mapOf(OpOperand &operand, const RowsValue &rows);
  LogicalResult addInput(OpOperand &operand);
  /// A scalar from outside of the op, `name` in the region.
  LogicalResult addScalar(Value name, Value scalar);
  LogicalResult addScalarsFromOutside();
  void writeRegion(OpBuilder &b, Block &block);

  bool reduces() const {
    return nest.parallel < static_cast<int64_t>(nest.sizes.size());
  }
  OpOperand &init() { return *op.getDpsInitOperand(0); }

  ProgramConversion &c;
  linalg::LinalgOp op;
  Location loc;
  LoopNest nest;
  std::optional<int64_t> rowLoop; ///< Of the op's loops, over rows of the step.
  RowSpace over = RowSpace::Tokens;
  SmallVector<unsigned>
      order; ///< The loop of the kernel for each loop of the op.
  SmallVector<Value>
      elements; ///< The arguments of the op's region for elements of inputs.
};
} // namespace

LogicalResult LoopsConversion::check() {
  if (op->getNumResults() != 1)
    return op->emitOpError("has ")
           << op->getNumResults()
           << " results; in a program, a loop nest has one";
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (inner.getNumResults() != 1 || inner.getNumRegions() != 0)
      return inner.emitOpError("is not supported in a loop nest of a program");
    if (isScalarComputation(&inner) && failed(checkHasScalarKernel(inner)))
      return failure();
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != op.getBlock() &&
          !operand.getType().isIntOrIndexOrFloat())
        return inner.emitOpError(
            "captures a value that is not a scalar; make it "
            "an operand of the linalg op");
  }
  return success();
}

/// Whether a point of the loop over rows accesses only this row of the operand.
bool LoopsConversion::isRowWise(OpOperand &operand) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return true;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  std::optional<int64_t> row = rowDimension(type.getShape());
  if (!row) // Only values that are common to all rows.
    return !map.isFunctionOfDim(*rowLoop);
  auto dim = dyn_cast<AffineDimExpr>(map.getResult(*row));
  if (!dim || dim.getPosition() != *rowLoop)
    return false;
  for (auto [d, expr] : llvm::enumerate(map.getResults()))
    if (static_cast<int64_t>(d) != *row && expr.isFunctionOfDim(*rowLoop))
      return false;
  return true;
}

/// Whether the rows of an empty tensor are those of the logits.
static bool hasLogitRows(ProgramConversion &c, Value tensor) {
  auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
  if (!empty || empty.getDynamicSizes().empty())
    return false;
  auto size = empty.getDynamicSizes().front().getDefiningOp<tensor::DimOp>();
  return size && c.areLogitRows(size.getSource());
}

LogicalResult LoopsConversion::findRows() {
  rowLoop = rowDimension(op.getStaticLoopRanges());
  auto hasRows = [](Value operand) {
    return isa<RankedTensorType>(operand.getType()) &&
           rowDimension(tensorShape(operand.getType()));
  };
  if (!rowLoop && llvm::any_of(op->getOperands(), hasRows))
    return op->emitOpError("uses only the first tokens of a step, which may "
                           "belong to different sequences");
  if (!rowLoop)
    return success();
  FailureOr<RowSpace> rows = commonRows(c, op, op.getDpsInputs());
  if (failed(rows))
    return failure();
  over = *rows;
  if (llvm::none_of(op.getDpsInputs(), hasRows) &&
      hasLogitRows(c, init().get()))
    over = RowSpace::LogitRows;
  if (!llvm::all_of(op->getOpOperands(),
                    [&](OpOperand &operand) { return isRowWise(operand); }))
    return op->emitOpError("combines different tokens of a step, which may "
                           "belong to different sequences");
  for (auto index : op.getBlock()->getOps<linalg::IndexOp>())
    if (static_cast<int64_t>(index.getDim()) == *rowLoop)
      return index.emitOpError("is the index of a token in the step, which "
                               "depends on other sequences");
  return success();
}

void LoopsConversion::orderLoops() {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  order.resize(kinds.size());
  auto append = [&](unsigned d) {
    order[d] = static_cast<unsigned>(nest.sizes.size());
    nest.sizes.push_back(ShapedType::isDynamic(sizes[d]) ? c.maxRows(over)
                                                         : sizes[d]);
    nest.parallel += kinds[d] == utils::IteratorType::parallel;
  };
  if (rowLoop) {
    append(static_cast<unsigned>(*rowLoop));
    nest.over = kernel::RowSpaceAttr::get(op.getContext(), over);
  }
  for (auto kind :
       {utils::IteratorType::parallel, utils::IteratorType::reduction})
    for (unsigned d = 0; d < kinds.size(); ++d)
      if (kinds[d] == kind && static_cast<int64_t>(d) != rowLoop)
        append(d);
}

AffineMap LoopsConversion::mapOf(OpOperand &operand, const RowsValue &rows) {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> dims;
  for (unsigned d : order)
    dims.push_back(getAffineDimExpr(d, context));
  SmallVector<AffineExpr> index;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    index.push_back(expr.replaceDims(dims));
  return placeMap(rows, tensorShape(operand.get().getType()), index,
                  order.size(), 0, context);
}

LogicalResult LoopsConversion::addScalar(Value name, Value scalar) {
  if (constantNumber(scalar))
    return success(); // A constant in the region.
  FailureOr<RowsValue> rows = c.lookup(op, scalar);
  if (failed(rows))
    return failure();
  nest.addInput(rows->buffer,
                placeMap(*rows, {}, {}, order.size(), 0, op.getContext()));
  elements.push_back(name);
  return success();
}

LogicalResult LoopsConversion::addScalarsFromOutside() {
  SetVector<Value> scalars;
  for (Operation &inner : *op.getBlock())
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != op.getBlock())
        scalars.insert(operand);
  for (Value scalar : scalars)
    if (failed(addScalar(scalar, scalar)))
      return failure();
  return success();
}

LogicalResult LoopsConversion::addInput(OpOperand &operand) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return addScalar(op.getMatchingBlockArgument(&operand), operand.get());
  FailureOr<RowsValue> rows = c.lookup(op, operand.get());
  if (failed(rows))
    return failure();
  nest.addInput(rows->buffer, mapOf(operand, *rows));
  elements.push_back(op.getMatchingBlockArgument(&operand));
  return success();
}

void LoopsConversion::writeRegion(OpBuilder &b, Block &block) {
  RegionWriter writer(b, block, loc, order);
  for (Value element : elements)
    writer.addElement(element);
  for (OpOperand *input : op.getDpsInputOperands())
    if (!isa<RankedTensorType>(input->get().getType()) &&
        constantNumber(input->get()))
      writer.addConstant(op.getMatchingBlockArgument(input), input->get());
  for (Operation &inner : op.getBlock()->without_terminator())
    writer.clone(inner);
  writer.yield(op.getBlock()->getTerminator()->getOperand(0));
}

LogicalResult LoopsConversion::convert() {
  if (failed(check()) || failed(findRows()))
    return failure();
  orderLoops();
  bool isEmpty =
      llvm::is_contained(ArrayRef(nest.sizes).take_front(nest.parallel), 0);
  bool reducesNothing =
      llvm::is_contained(ArrayRef(nest.sizes).drop_front(nest.parallel), 0);
  FailureOr<RowsValue> before;
  if (!isEmpty && reducesNothing) { // The result is the initial values.
    before = c.lookup(op, init().get());
    if (failed(before))
      return failure();
    RowsValue out = c.createResult(op->getResult(0), over);
    copyAll(c, loc, *before, out, tensorShape(op->getResult(0).getType()));
    return success();
  }
  if (!isEmpty) {
    for (OpOperand *input : op.getDpsInputOperands())
      if (failed(addInput(*input)))
        return failure();
    if (failed(addScalarsFromOutside()))
      return failure();
    bool isRead = !op.getMatchingBlockArgument(&init()).use_empty();
    if ((reduces() || isRead) && failed(addInput(init())))
      return failure();
  }
  RowsValue out = c.createResult(op->getResult(0), over);
  if (isEmpty)
    return success();
  StringRef name = op->getName().stripDialect();
  nest.append(c, loc,
              kernelName(name == "generic" ? "loops" : name, nest.sizes), out,
              mapOf(init(), out),
              [&](OpBuilder &b, Block &block) { writeRegion(b, block); });
  return success();
}

LogicalResult convertStructured(ProgramConversion &c, Operation *op) {
  return LoopsConversion(c, cast<linalg::LinalgOp>(op)).convert();
}

//===----------------------------------------------------------------------===//
// Ops of arith and math
//===----------------------------------------------------------------------===//

/// Adds the ops that are part of the kernel of `op`, operands before users.
static void collectChain(Operation *op, SmallVectorImpl<Operation *> &chain) {
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (producer && isScalarComputation(producer) &&
        kernelRoot(producer) != producer)
      collectChain(producer, chain);
  }
  chain.push_back(op);
}

/// The op and its operands that have no other use, as one loop nest.
LogicalResult convertScalarComputation(ProgramConversion &c, Operation *root) {
  if (isElementwise(root))
    return convertElementwise(c, root);
  SmallVector<Operation *> chain;
  collectChain(root, chain);
  SetVector<Value> inputs;
  for (Operation *op : chain) {
    if (failed(checkHasScalarKernel(*op)))
      return failure();
    for (Value operand : op->getOperands())
      if (!constantNumber(operand) &&
          !llvm::is_contained(chain, operand.getDefiningOp()))
        inputs.insert(operand);
  }
  Value result = root->getResult(0);
  ArrayRef<int64_t> shape = tensorShape(result.getType());
  FailureOr<RowSpace> over = commonRows(c, root, inputs.getArrayRef());
  if (failed(over))
    return failure();
  LoopNest nest;
  SmallVector<unsigned> order = loopOrder(shape);
  SmallVector<AffineExpr> all = loopDims(order, root->getContext());
  nest.sizes = loopSizes(c, shape, order, *over);
  nest.parallel = nest.sizes.size();
  nest.over = nestRows(root->getContext(), shape, *over);
  auto mapOf = [&](Value tensor, const RowsValue &rows) {
    ArrayRef<int64_t> own = tensorShape(tensor.getType());
    return placeMap(rows, own, ArrayRef(all).take_front(own.size()),
                    shape.size(), 0, root->getContext());
  };
  for (Value input : inputs) {
    FailureOr<RowsValue> rows = c.lookup(root, input);
    if (failed(rows))
      return failure();
    nest.addInput(rows->buffer, mapOf(input, *rows));
  }
  RowsValue out = c.createResult(result, *over);
  if (llvm::is_contained(shape, 0))
    return success();
  Location loc = root->getLoc();
  nest.append(c, loc, kernelName(root->getName().stripDialect(), nest.sizes),
              out, mapOf(result, out), [&](OpBuilder &b, Block &block) {
                RegionWriter writer(b, block, loc, order);
                for (Value input : inputs)
                  writer.addElement(input);
                for (Operation *op : chain)
                  writer.clone(*op);
                writer.yield(result);
              });
  return success();
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structured ops of linalg on tensors: a nest of loops with a scalar region
// each. The region's numbers become those that buffers hold: floats of 16 bits
// are f32, rounded where an op makes one; i1 and i64 are i32.
//
//===----------------------------------------------------------------------===//

#include "Places.h"

#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Places
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
  int64_t rest = 1;
  for (int64_t size : shape.drop_front(shape.size() > 1 ? 1 : 0))
    rest *= size;
  if (rows.columns == rest) { // A row for each index of the first dimension.
    row = shape.size() > 1 ? index[0] : zero;
    column = join(shape.size() > 1 ? 1 : 0);
  } else {
    row = join(0).floorDiv(rows.columns);
    column = join(0) % rows.columns;
  }
  return AffineMap::get(numDims, numSymbols, {row, column}, context);
}

void copyAll(ProgramConversion &c, Location loc, const RowsValue &from,
             const RowsValue &to, ArrayRef<int64_t> shape) {
  CopyBoxSpec box;
  box.sizes = {1};
  for (int64_t size : shape)
    box.sizes[0] *= size;
  box.fromStrides = {1};
  box.toStrides = {1};
  c.copyBox(loc, from, to, box);
}

RowsValue maskRows(ProgramConversion &c, Location loc, const RowsValue &rows) {
  RowsValue mask = c.createScratch(loc, rows.rows, rows.columns);
  if (rows.rows == 0 || rows.columns == 0)
    return mask;
  LoopsSpec spec;
  spec.sizes = {rows.rows, rows.columns};
  spec.parallel = 2;
  spec.maps.assign(2, AffineMap::getMultiDimIdentityMap(2, loc.getContext()));
  spec.columns = rows.columns;
  c.call(
      loc, kernelName("mask", spec.sizes), spec, {},
      {{rows.buffer, false, std::nullopt}, {mask.buffer, true, std::nullopt}},
      std::nullopt, [&](OpBuilder &b, Block &block) {
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
// The scalar region
//===----------------------------------------------------------------------===//

namespace {
/// Writes the region of a kernel from that of a structured op.
class RegionWriter {
public:
  /// Loop d of the op is loop `order[d]` of the kernel.
  RegionWriter(OpBuilder &b, Block &block, Location loc,
               ArrayRef<unsigned> order)
      : b(b), block(block), loc(loc), order(order) {
    for (size_t i = 0; i < order.size(); ++i)
      block.addArgument(b.getIndexType(), loc);
  }

  /// An element of a buffer, as `name` in the op's region.
  void addElement(Value name);
  /// The same of a constant from outside.
  void addConstant(Value name, Value constant) {
    values.map(name, get(constant));
  }
  void clone(Operation &op);
  /// Ends the region with the op's result of that name.
  void yield(Value name);

private:
  /// What stands for a value: of the region, or a constant from outside.
  Value get(Value name);
  static bool isSmallFloat(Type type) { return type.isF16() || type.isBF16(); }
  Type typeFor(Type type) { return isSmallFloat(type) ? b.getF32Type() : type; }

  OpBuilder &b;
  Block &block;
  Location loc;
  ArrayRef<unsigned> order;
  IRMapping values;
};
} // namespace

void RegionWriter::addElement(Value name) {
  Type type = name.getType();
  bool isInteger = holdsIntegers(type);
  Value element =
      block.addArgument(isInteger ? Type(b.getI32Type()) : b.getF32Type(), loc);
  Value value = element;
  if (type.isInteger(1))
    value = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::ne, element,
        arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0)));
  else if (type.isInteger(64))
    value = arith::ExtSIOp::create(b, loc, type, element);
  else if (isa<IntegerType>(type) && !isInteger)
    value = arith::FPToSIOp::create(b, loc, type, element);
  values.map(name, value);
}

Value RegionWriter::get(Value name) {
  if (Value known = values.lookupOrNull(name))
    return known;
  // LoopsConversion::check() has seen that it is a constant.
  auto constant = name.getDefiningOp<arith::ConstantOp>();
  TypedAttr value = constant.getValue();
  if (auto number = dyn_cast<FloatAttr>(value);
      number && isSmallFloat(number.getType()))
    value = b.getF32FloatAttr(static_cast<float>(number.getValueAsDouble()));
  Value copy = arith::ConstantOp::create(b, loc, value);
  values.map(name, copy);
  return copy;
}

void RegionWriter::clone(Operation &op) {
  Value result = op.getResult(0);
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return values.map(result, block.getArgument(order[index.getDim()]));
  if (isa<arith::ConstantOp>(op))
    return; // Made where it is used.
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(get(operand));
  Type type = typeFor(result.getType());
  Value value;
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) && operands[0].getType() == type)
    value = operands[0];
  else {
    OperationState state(loc, op.getName(), operands, type);
    state.propertiesAttr = op.getPropertiesAsAttribute();
    value = b.create(state)->getResult(0);
  }
  values.map(result, mllm::program::emitRound(b, loc, value, result.getType()));
}

void RegionWriter::yield(Value name) {
  Value value = get(name);
  Type type = name.getType();
  if (type.isInteger(1))
    value = arith::ExtUIOp::create(b, loc, b.getI32Type(), value);
  else if (type.isInteger(64))
    value = arith::TruncIOp::create(b, loc, b.getI32Type(), value);
  else if (isa<IntegerType>(type) && !holdsIntegers(type))
    value = arith::SIToFPOp::create(b, loc, b.getF32Type(), value);
  YieldOp::create(b, loc, value);
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

namespace {
/// Converts one structured op of one result.
class LoopsConversion {
public:
  LoopsConversion(ProgramConversion &c, linalg::LinalgOp op)
      : c(c), op(op), loc(op.getLoc()) {}

  LogicalResult convert();

private:
  LogicalResult check();
  /// Puts parallel loops before those that reduce.
  void orderLoops();
  /// Where the operand's elements are, as functions of the kernel's loops.
  AffineMap mapOf(OpOperand &operand, const RowsValue &rows);
  LogicalResult addInput(OpOperand &operand);
  void writeRegion(OpBuilder &b, Block &block);

  bool reduces() const {
    return spec.parallel < static_cast<int64_t>(spec.sizes.size());
  }
  OpOperand &init() { return *op.getDpsInitOperand(0); }

  ProgramConversion &c;
  linalg::LinalgOp op;
  Location loc;
  LoopsSpec spec;
  SmallVector<unsigned> order; ///< The kernel's loop of each of the op's.
  SmallVector<BufferAccess> accesses;
  SmallVector<Value> elements; ///< What the op's region calls inputs' elements.
};
} // namespace

LogicalResult LoopsConversion::check() {
  if (!c.hasStaticRows())
    return op->emitOpError("is a nest of loops, which a step has no kernel "
                           "for; functions of static shapes have");
  if (op->getNumResults() != 1)
    return op->emitOpError("has ")
           << op->getNumResults() << " results; a program's loops give one";
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (inner.getNumResults() != 1 || inner.getNumRegions() != 0 ||
        isa<arith::BitcastOp>(inner))
      return inner.emitOpError("cannot stand in the loops of a program");
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != op.getBlock() &&
          !operand.getDefiningOp<arith::ConstantOp>())
        return inner.emitOpError("uses a value from outside of its loops that "
                                 "is no constant");
  }
  return success();
}

void LoopsConversion::orderLoops() {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  order.resize(kinds.size());
  for (bool reducing : {false, true})
    for (auto [d, kind] : llvm::enumerate(kinds)) {
      if ((kind == utils::IteratorType::reduction) != reducing)
        continue;
      order[d] = static_cast<unsigned>(spec.sizes.size());
      spec.sizes.push_back(sizes[d]);
      spec.parallel += !reducing;
    }
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

LogicalResult LoopsConversion::addInput(OpOperand &operand) {
  if (!isa<RankedTensorType>(operand.get().getType())) {
    if (operand.get().getDefiningOp<arith::ConstantOp>())
      return success(); // Stands in the region.
    return op->emitOpError("takes a scalar that is no constant");
  }
  FailureOr<RowsValue> rows = c.lookup(op, operand.get());
  if (failed(rows))
    return failure();
  spec.maps.push_back(mapOf(operand, *rows));
  accesses.push_back({rows->buffer, false, std::nullopt});
  elements.push_back(op.getMatchingBlockArgument(&operand));
  return success();
}

void LoopsConversion::writeRegion(OpBuilder &b, Block &block) {
  RegionWriter writer(b, block, loc, order);
  for (Value element : elements)
    writer.addElement(element);
  for (OpOperand *input : op.getDpsInputOperands())
    if (!isa<RankedTensorType>(input->get().getType()))
      writer.addConstant(op.getMatchingBlockArgument(input), input->get());
  for (Operation &inner : op.getBlock()->without_terminator())
    writer.clone(inner);
  writer.yield(op.getBlock()->getTerminator()->getOperand(0));
}

LogicalResult LoopsConversion::convert() {
  if (failed(check()))
    return failure();
  orderLoops();
  bool isEmpty =
      llvm::is_contained(ArrayRef(spec.sizes).take_front(spec.parallel), 0);
  bool reducesNothing =
      llvm::is_contained(ArrayRef(spec.sizes).drop_front(spec.parallel), 0);
  FailureOr<RowsValue> before;
  if (!isEmpty && reducesNothing) { // The initial values are the result.
    before = c.lookup(op, init().get());
    if (failed(before))
      return failure();
    RowsValue out = c.createResult(op->getResult(0));
    copyAll(c, loc, *before, out, tensorShape(op->getResult(0).getType()));
    return success();
  }
  if (!isEmpty) {
    for (OpOperand *input : op.getDpsInputOperands())
      if (failed(addInput(*input)))
        return failure();
    bool isRead = !op.getMatchingBlockArgument(&init()).use_empty();
    if ((reduces() || isRead) && failed(addInput(init())))
      return failure();
  }
  RowsValue out = c.createResult(op->getResult(0));
  if (isEmpty)
    return success();
  spec.columns = out.columns;
  spec.maps.push_back(mapOf(init(), out));
  accesses.push_back({out.buffer, true, std::nullopt});
  StringRef name = op->getName().stripDialect();
  c.call(loc, kernelName(name == "generic" ? "loops" : name, spec.sizes), spec,
         {}, accesses, std::nullopt,
         [&](OpBuilder &b, Block &block) { writeRegion(b, block); });
  return success();
}

template <typename OpTy>
static LogicalResult convertLoops(ProgramConversion &c, OpTy op) {
  return LoopsConversion(c, cast<linalg::LinalgOp>(op.getOperation()))
      .convert();
}

template <typename... Ops> static void addLoops(ConversionTable &table) {
  // Regions round what they make.
  (table.add<Ops>(convertLoops<Ops>, OpForm::Exact), ...);
}

void addLinalgConversions(ConversionTable &table) {
  addLoops<linalg::GenericOp, linalg::FillOp, linalg::MatmulOp,
           linalg::BatchMatmulOp, linalg::MatvecOp, linalg::VecmatOp,
           linalg::TransposeOp, linalg::BroadcastOp, linalg::MapOp,
           linalg::ReduceOp>(table);
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramConversion.h"
#include "ElementwiseChain.h"
#include "ScalarRegion.h"

#include "llmir/Dialect/MLLM/ScalarFunctions.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "llmir/Support/PackedLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

//===----------------------------------------------------------------------===//
// Shapes and uses
//===----------------------------------------------------------------------===//

int64_t grainOfHeads(Value tensor) {
  auto headDim = [](Value heads) -> int64_t {
    auto type = dyn_cast<RankedTensorType>(heads.getType());
    if (!type || type.getRank() != 3 || type.isDynamicDim(1) ||
        type.isDynamicDim(2))
      return 0;
    return type.getDimSize(2);
  };
  int64_t columns = headDim(tensor);
  for (Operation *user : tensor.getUsers())
    if (columns == 0 && isa<tensor::ExpandShapeOp>(user))
      columns = headDim(user->getResult(0));
  return columns == 0 ? 1 : kernel::tilesPerGrain(columns);
}

ArrayRef<int64_t> tensorShape(Type type) {
  if (type.isIntOrIndexOrFloat())
    return {};
  if (auto quantized = dyn_cast<ll::QuantizedTensorType>(type))
    return quantized.getShape();
  if (auto sharded = dyn_cast<ll::ShardedTensorType>(type))
    type = sharded.getShardType();
  return cast<RankedTensorType>(type).getShape();
}

Type bufferElement(Type element) {
  if (element.isSignlessInteger(64) || element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  if (element.isSignlessInteger(1) || element.isSignlessInteger(32))
    return IntegerType::get(element.getContext(), 32);
  return Float32Type::get(element.getContext());
}

Type bufferElementOf(Type tensor) {
  return bufferElement(getElementTypeOrSelf(tensor));
}

FailureOr<RowSpace> commonRows(ProgramConversion &c, Operation *op,
                               ValueRange tensors) {
  std::optional<RowSpace> over;
  for (Value tensor : tensors) {
    if (!rowDimension(tensorShape(tensor.getType())))
      continue;
    FailureOr<RowsValue> rows = c.lookup(op, tensor);
    if (failed(rows))
      return failure();
    if (over && *over != rows->over)
      return op->emitOpError("combines rows of all tokens with rows that were "
                             "selected");
    over = rows->over;
  }
  return over.value_or(RowSpace::Tokens);
}

int64_t rowColumns(Value tensor) {
  ArrayRef<int64_t> shape = tensorShape(tensor.getType());
  std::optional<int64_t> row = rowDimension(shape);
  // One row per index of the first dimension; a vector is one row.
  if (!row && shape.size() > 1)
    row = 0;
  int64_t columns = 1;
  for (auto [d, size] : llvm::enumerate(shape))
    if (static_cast<int64_t>(d) != row)
      columns *= size;
  return columns;
}

bool endsAt(Value tensor, Operation *op) {
  for (Operation *user : tensor.getUsers()) {
    // Ops nested in a branch or a loop read at the position of the latter.
    Operation *reader =
        op->getBlock()->findAncestorOpInBlock(*kernelRoot(user));
    if (!reader || (reader != op && !reader->isBeforeInBlock(op)))
      return false;
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) &&
        !endsAt(user->getResult(0), op))
      return false;
  }
  return true;
}

Value withoutReshapes(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    tensor = op->getOperand(0);
    op = tensor.getDefiningOp();
  }
  return tensor;
}

RowsValue defaultRows(Value tensor) {
  ArrayRef<int64_t> shape = tensorShape(tensor.getType());
  RowsValue rows;
  rows.columns = rowColumns(tensor);
  if (!rowDimension(shape))
    rows.rows = shape.size() <= 1 ? 1 : shape.front();
  return rows;
}

ElementsAttr constantElements(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return {};
  if (auto elements = dyn_cast<ElementsAttr>(attribute))
    return elements;
  auto number = dyn_cast<TypedAttr>(attribute);
  if (!number || !number.getType().isIntOrIndexOrFloat())
    return {};
  return DenseElementsAttr::get(RankedTensorType::get({}, number.getType()),
                                Attribute(number));
}

std::string kernelName(const Twine &base, ArrayRef<int64_t> sizes) {
  std::string name = (base + "_").str();
  llvm::raw_string_ostream stream(name);
  llvm::interleave(sizes, stream, "x");
  return name;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

FailureOr<RowsValue> ProgramConversion::materialize(Operation *op,
                                                    Value tensor) {
  return op->emitOpError("uses a value of type ")
         << tensor.getType() << " that no kernel has computed";
}

FailureOr<RowsValue> ProgramConversion::lookup(Operation *op, Value tensor) {
  auto known = values().find(tensor);
  if (known != values().end())
    return known->second;
  return materialize(op, tensor);
}

FailureOr<RowsValue> ProgramConversion::lookup(Operation *op, Value tensor,
                                               int64_t columns) {
  FailureOr<RowsValue> known = lookup(op, tensor);
  if (failed(known) || known->columns == columns)
    return known;
  return rearrange(op, tensor, *known, columns);
}

FailureOr<RowsValue> ProgramConversion::lookupTokens(Operation *op,
                                                     Value tensor) {
  return lookupTokens(op, tensor, rowColumns(tensor));
}

FailureOr<RowsValue>
ProgramConversion::lookupTokens(Operation *op, Value tensor, int64_t columns) {
  FailureOr<RowsValue> known = lookup(op, tensor, columns);
  return failed(known) ? known : checkTokens(op, *known);
}

RowsValue ProgramConversion::createScratch(Location loc, int64_t rows,
                                           int64_t columns, Type element) {
  RowsValue scratch;
  scratch.rows = rows;
  scratch.columns = columns;
  scratch.buffer = program.createBuffer(loc, rows, columns, element);
  return scratch;
}

RowsValue ProgramConversion::reuseOrCreate(Operation *op,
                                           ArrayRef<Value> operands,
                                           Value result,
                                           const RowsValue &like) {
  if (hasPlace(result))
    return createResult(result, like, like.columns);
  // A loop-carried value remains in its buffer if possible, to avoid a copy.
  std::optional<RowsValue> chosen;
  for (Value operand : operands) {
    auto known = values().find(operand);
    if (known == values().end())
      continue;
    const RowsValue &value = known->second;
    bool carried = loopValues.contains(value.buffer);
    // Values from outside of a layer are also used by the other layers.
    Value origin = withoutReshapes(operand);
    if (isa<BlockArgument>(origin) && !carried)
      continue;
    if (!mayOverwrite(origin) || sharedBuffers.contains(value.buffer))
      continue;
    if (value.columns != like.columns || value.rows != like.rows ||
        !endsAt(origin, op))
      continue;
    if (!chosen || carried)
      chosen = value;
  }
  if (!chosen)
    return createResult(result, like, like.columns);
  RowsValue where = like;
  where.buffer = chosen->buffer;
  where.grain = grainOfHeads(result);
  return values()[result] = where;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

Value ProgramConversion::packWeight(Location loc, RowsValue matrix,
                                    ArrayRef<int64_t> shape) {
  int64_t columns = shape.back(), rows = shape[shape.size() - 2];
  int64_t experts = shape.size() == 3 ? shape[0] : 1;
  // Each expert's matrix begins with a tile of its own.
  int64_t whole = experts == 1 ? rows : roundUpTo(rows, kTileRows);
  if (whole != rows) {
    RowsValue padded = createScratch(loc, experts * whole, columns);
    fill(loc, padded, 0.0);
    ElementBox box;
    box.sizes = {experts, rows * columns};
    box.fromStrides = {rows * columns, 1};
    box.toStrides = {whole * columns, 1};
    copyBox(loc, matrix, padded, box);
    matrix = padded;
  }
  return packMatrix(loc, matrix, experts * whole, columns, columns, 1);
}

FailureOr<KernelWeights> ProgramConversion::weights(Operation *op,
                                                    ArrayRef<Value> tensors) {
  auto isMatrix = [](Value tensor) {
    return tensorShape(tensor.getType()).size() > 1;
  };
  SmallVector<std::optional<KernelWeight>> given;
  bool givesMatrices = true;
  for (Value tensor : tensors) {
    given.push_back(givenWeight(tensor));
    givesMatrices &= given.back() || !isMatrix(tensor);
  }
  KernelWeights result;
  result.format = "f32";
  if (givesMatrices && !tensors.empty() &&
      mllm::storedFormat(tensors.front().getType()))
    result.format = mllm::packedFormatName(tensors.front().getType());
  for (auto [tensor, weight] : llvm::zip_equal(tensors, given)) {
    if (weight && (givesMatrices || !isMatrix(tensor))) {
      result.all.push_back(*weight);
      continue;
    }
    ArrayRef<int64_t> shape = tensorShape(tensor.getType());
    FailureOr<RowsValue> rows = lookup(op, tensor, shape.back());
    if (failed(rows))
      return failure();
    result.all.push_back(isMatrix(tensor)
                             ? packWeight(op->getLoc(), *rows, shape)
                             : rows->buffer);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Element-wise kernels
//===----------------------------------------------------------------------===//

void writeBody(Region &region, ProgramConversion::BodyBuilder body) {
  Block &block = region.empty() ? region.emplaceBlock() : region.front();
  OpBuilder b = OpBuilder::atBlockEnd(&block);
  body(b, block);
}

void ProgramConversion::elementwise(Location loc, StringRef label,
                                    ArrayRef<Value> inputs,
                                    const RowsValue &out, BodyBuilder body) {
  auto op = kernel<kernel::ElementwiseOp>(loc, label, out, inputs, out.buffer,
                                          out.columns, out.grain, out.over);
  writeBody(op.getBody(), body);
}

void ProgramConversion::copyRows(Location loc, const RowsValue &from,
                                 const RowsValue &to) {
  if (from.buffer == to.buffer || to.columns == 0)
    return;
  if (!canIterateOver(to)) {
    ElementBox box;
    box.sizes = {to.rows, to.columns};
    box.fromStrides = {from.columns, 1};
    box.toStrides = {to.columns, 1};
    copyBox(loc, from, to, box);
    return;
  }
  elementwise(loc, kernelName("copy", {to.columns}), from.buffer, to,
              [&](OpBuilder &b, Block &block) {
                Value element = block.addArgument(b.getF32Type(), loc);
                YieldOp::create(b, loc, element);
              });
}

void ProgramConversion::fill(Location loc, const RowsValue &rows,
                             double value) {
  if (rows.columns == 0)
    return;
  elementwise(loc, kernelName("fill", {rows.columns}), {}, rows,
              [&](OpBuilder &b, Block &) {
                Value element =
                    arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
                YieldOp::create(b, loc, element);
              });
}

void ProgramConversion::roundRows(Location loc, const RowsValue &rows,
                                  Type element) {
  if (rows.columns == 0 || (!element.isF16() && !element.isBF16()))
    return;
  elementwise(
      loc,
      kernelName(element.isF16() ? "round_f16" : "round_bf16", {rows.columns}),
      rows.buffer, rows, [&](OpBuilder &b, Block &block) {
        Value x = block.addArgument(b.getF32Type(), loc);
        YieldOp::create(b, loc, emitRound(b, loc, x, element));
      });
}

RowsValue ProgramConversion::matmulInput(Location loc, Value tensor,
                                         const RowsValue &x, Type weight,
                                         StringRef format) {
  if (!getElementTypeOrSelf(weight).isBF16() || x.columns == 0)
    return x;
  Builder b(module.getContext());
  if (format != "bf16") { // Packed as f32: f32 rows with bf16 values.
    if (getElementTypeOrSelf(tensor.getType()).isBF16())
      return x;
    RowsValue rounded = createRowsLike(loc, x, x.columns);
    copyRows(loc, x, rounded);
    roundRows(loc, rounded, b.getBF16Type());
    return rounded;
  }
  RowsValue &known = quantizedRows(tensor, b.getStringAttr("bf16"));
  if (known.buffer)
    return known;
  known = createRowsLike(loc, x, kernel::RoundRowsOp::words(x.columns));
  kernel<kernel::RoundRowsOp>(loc, kernelName("round_rows", {x.columns}), x,
                              x.buffer, known.buffer, x.columns, x.over);
  return known;
}

//===----------------------------------------------------------------------===//
// Boxes of elements
//===----------------------------------------------------------------------===//

/// Makes the dynamic dimension of the box the first one, with the maximum
/// number of rows as its size; returns the attribute for the kind of rows.
static kernel::RowSpaceAttr putRowsFirst(ProgramConversion &c, Location loc,
                                         ElementBox &box, RowSpace over) {
  std::optional<int64_t> row = rowDimension(box.sizes);
  if (!row)
    return {};
  box.sizes[*row] = c.maxRows(over);
  for (SmallVector<int64_t> *each :
       {&box.sizes, &box.fromStrides, &box.toStrides})
    std::rotate(each->begin(), each->begin() + *row, each->begin() + *row + 1);
  return kernel::RowSpaceAttr::get(loc.getContext(), over);
}

void ProgramConversion::copyBox(Location loc, const RowsValue &from,
                                const RowsValue &to, ElementBox box) {
  if (llvm::is_contained(box.sizes, 0))
    return;
  if (box.sizes.empty()) { // One element.
    box.sizes = {1};
    box.fromStrides = {1};
    box.toStrides = {1};
  }
  kernel::RowSpaceAttr over = putRowsFirst(*this, loc, box, to.over);
  fixedKernel<kernel::CopyBoxOp>(
      loc, "copy_box", from.buffer, to.buffer, box.sizes, from.columns,
      box.from, box.fromStrides, to.columns, box.to, box.toStrides, over);
}

Value ProgramConversion::packMatrix(Location loc, const RowsValue &from,
                                    int64_t rows, int64_t columns,
                                    int64_t rowStride, int64_t columnStride,
                                    int64_t start) {
  // PackedMatrixLayout of f32: a line has the elements of one column in 16
  // rows.
  int64_t tiles = rows / kTileRows, rest = rows % kTileRows;
  RowsValue packed =
      createScratch(loc, (tiles + (rest > 0)) * columns, kTileRows);
  if (rest > 0)
    fill(loc, packed, 0.0);
  int64_t tileElements = kTileRows * columns;
  ElementBox whole;
  whole.sizes = {tiles, columns, kTileRows};
  whole.from = start;
  whole.fromStrides = {kTileRows * rowStride, columnStride, rowStride};
  whole.toStrides = {tileElements, kTileRows, 1};
  copyBox(loc, from, packed, whole);
  ElementBox last;
  last.sizes = {columns, rest};
  last.from = start + tiles * kTileRows * rowStride;
  last.fromStrides = {columnStride, rowStride};
  last.to = tiles * tileElements;
  last.toStrides = {kTileRows, 1};
  copyBox(loc, from, packed, last);
  return packed.buffer;
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

// Regions round their own results.
ConversionTable::ConversionTable()
    : structured{convertStructured, OpForm::Exact, /*once=*/false},
      scalar{convertScalarComputation, OpForm::Exact, /*once=*/false} {
  addRowConversions(*this);
  addCacheConversions(*this);
  addTensorConversions(*this);
  addQuantConversions(*this);
  addMoEConversions(*this);
  addStateConversions(*this);
  addCollectiveConversions(*this);
  addDenseAttentionConversion(*this);
  addRuntimeConversions(*this);
  addIndexConversions(*this);
  addElementConversions(*this);
}

const ConversionTable &ConversionTable::get() {
  static const ConversionTable table;
  return table;
}

const ConversionTable::Entry *ConversionTable::find(Operation *op) const {
  auto known = entries.find(op->getName().getStringRef());
  if (known != entries.end())
    return &known->second;
  if (isa<linalg::LinalgOp>(op))
    return &structured;
  return isScalarComputation(op) ? &scalar : nullptr;
}

static bool isEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && llvm::is_contained(type.getShape(), 0);
}

/// Kernels of `llm` process at least one element. Returns whether the op is
/// converted; fails if it computes values from empty operands.
static FailureOr<bool> convertNothing(ProgramConversion &c, Operation *op) {
  if (!isa_and_present<ll::LLMDialect>(op->getDialect()))
    return false;
  if (op->getNumResults() > 0 && llvm::all_of(op->getResults(), isEmpty)) {
    for (int64_t r = 0; r < c.numRanks(); ++r) {
      c.selectRank(r);
      for (Value result : op->getResults())
        c.createResult(result);
    }
    return true;
  }
  if (isa<ll::AttentionOp>(op))
    return false; // Without keys its kernel yields zeros.
  for (Value operand : op->getOperands())
    if (isEmpty(operand))
      return op->emitOpError("has an operand of type ")
             << operand.getType()
             << ", which is empty; compiled code needs at least one element";
  return false;
}

LogicalResult ProgramConversion::convertOp(Operation *op) {
  if (isComputedByUser(op))
    return success(); // Converted as a part of its user's kernel.
  FailureOr<bool> isDone = convertNothing(*this, op);
  if (failed(isDone) || *isDone)
    return failure(failed(isDone));
  const ConversionTable::Entry *entry = ConversionTable::get().find(op);
  if (!entry)
    return op->emitOpError("has no kernel in a program");
  for (int64_t r = 0; r < numRanks(); ++r) {
    selectRank(r);
    if ((r == 0 || !entry->once) && failed(entry->convert(*this, op)))
      return failure();
  }
  if (entry->form == OpForm::Exact)
    return success();
  for (int64_t r = 0; r < numRanks(); ++r) {
    selectRank(r);
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        if (auto where = values().find(result); where != values().end())
          roundRows(op->getLoc(), RowsValue(where->second),
                    type.getElementType());
  }
  return success();
}

} // namespace llmir

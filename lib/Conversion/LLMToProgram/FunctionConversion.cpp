//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionConversion.h"
#include "LayerRuns.h"
#include "ScalarRegion.h"

#include "llmir/Dialect/MLLM/ProgramAttrs.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "llmir/Support/PackedLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

//===----------------------------------------------------------------------===//
// Supported functions
//===----------------------------------------------------------------------===//

static bool hasStaticShape(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return !shaped || shaped.hasStaticShape();
}

static bool isTensorOrScalar(Type type) {
  return isa<RankedTensorType>(type) || type.isIntOrIndexOrFloat();
}

/// Whether buffers can store values of this type.
static bool hasRows(Type type) {
  Type element = getElementTypeOrSelf(type);
  return !isTensorOrScalar(type) || mllm::storedFormat(element) ||
         !bufferElement(element).isF32() ||
         (element.isSignlessInteger() && element.getIntOrFloatBitWidth() <= 16);
}

/// Whether buffers store values of this type dequantized.
static bool hasPackedBlocks(Type type) {
  auto quantized = dyn_cast<ll::QuantizedTensorType>(type);
  return quantized && !quantized.getFormat().empty();
}

/// Whether the regions of the op are part of the program.
static bool isControlFlow(Operation &op) {
  return isa<mllm::IfOp, mllm::WhileOp, scf::IfOp, scf::WhileOp>(op);
}

/// Whether the value is a new cache, unlike those forwarded by branches and
/// loops.
static bool createsCache(Value value) {
  if (!isa<ll::PagedKVCacheType>(value.getType()))
    return false;
  Operation *op = value.getDefiningOp();
  if (!op)
    return isa<func::FuncOp>(value.getParentBlock()->getParentOp());
  return !isControlFlow(*op) &&
         llvm::none_of(op->getOperandTypes(),
                       llvm::IsaPred<ll::PagedKVCacheType>);
}

/// The values of a program: those of the block and of nested branches and
/// loops.
static void collectValues(Block &block, SmallVectorImpl<Value> &values) {
  llvm::append_range(values, block.getArguments());
  for (Operation &op : block) {
    llvm::append_range(values, op.getResults());
    if (isControlFlow(op))
      for (Region &region : op.getRegions())
        collectValues(region.front(), values);
  }
}

/// There is one pool for the entire run.
static LogicalResult checkCreatedOutside(func::FuncOp function, Value cache) {
  if (cache.getParentRegion() == &function.getBody())
    return success();
  return mlir::emitError(cache.getLoc(),
                         "is a cache created in a branch or a loop; create "
                         "it before and pass it as an operand");
}

/// Control flow that is not supported by programs.
static LogicalResult checkControlFlow(func::FuncOp function) {
  WalkResult walk = function.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (op->getNumRegions() == 0 || isControlFlow(*op) ||
        !isa_and_present<scf::SCFDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("is control flow that a program does not support; write it "
                    "as scf.if, scf.for or scf.while");
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult FunctionConversion::check(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitOpError(
        "must have a body of one block to be converted to a program");
  if (failed(checkControlFlow(function)))
    return failure();
  SmallVector<Value> defined;
  collectValues(function.getBody().front(), defined);
  Value cache;
  for (Value value : defined) {
    if (!hasStaticShape(value.getType()))
      return mlir::emitError(value.getLoc(), "has the type ")
             << value.getType()
             << "; the program of a function requires static sizes";
    if (!hasRows(value.getType()) && !constantNumber(value))
      return mlir::emitError(value.getLoc(), "has the type ")
             << value.getType()
             << "; a program supports f32, f16, bf16, i32, i64 and integers of "
                "at most 16 bits";
    if (!createsCache(value))
      continue;
    if (failed(checkCreatedOutside(function, value)))
      return failure();
    if (cache) {
      InFlightDiagnostic diag = mlir::emitError(
          value.getLoc(),
          "is a second cache in the function; a program has only one pool");
      diag.attachNote(cache.getLoc()) << "the first one is here";
      return diag;
    }
    cache = value;
  }
  return success();
}

LogicalResult FunctionConversion::convert() {
  if (failed(check(function)) ||
      failed(convertBlock(function.getBody().front())) ||
      failed(writeOutputs()))
    return failure();
  if (cacheType)
    program.setCache(cacheType, numRanks());
  program.finish(function.getLoc());
  for (auto other : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    other.erase();
  return success();
}

LogicalResult FunctionConversion::writeOutputs() {
  Operation *end = function.getBody().front().getTerminator();
  for (int64_t r = 0; r < numRanks(); ++r) {
    selectRank(r);
    for (auto [index, value] : llvm::enumerate(end->getOperands())) {
      if (isa<ll::PagedKVCacheType>(value.getType()))
        continue;
      if (!(isTensorOrScalar(value.getType()) ||
            isa<ll::QuantizedTensorType, ll::ShardedTensorType>(
                value.getType())) ||
          hasPackedBlocks(value.getType()))
        return end->emitOpError("returns a value of type ")
               << value.getType() << "; a program can only return tensors";
      FailureOr<RowsValue> rows = lookup(end, value);
      if (failed(rows))
        return failure();
      program.output(end->getLoc(), ofRank("result" + Twine(index)),
                     rows->buffer, rows->columns);
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::string FunctionConversion::ofRank(const Twine &name) const {
  return numRanks() == 1 ? name.str() : (name + ".rank" + Twine(rank())).str();
}

std::string FunctionConversion::sourceOf(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return argument.getOwner() == &function.getBody().front()
               ? ofRank("arg" + Twine(argument.getArgNumber()))
               : "";
  ElementsAttr value = constantElements(tensor);
  if (!value)
    return "";
  std::string &name = constants[tensor];
  if (name.empty())
    name = program.declareConstant(tensor.getLoc(), value);
  return name;
}

FailureOr<RowsValue> FunctionConversion::materialize(Operation *op,
                                                     Value tensor) {
  std::string source;
  if (isTensorOrScalar(tensor.getType()) ||
      isa<ll::QuantizedTensorType, ll::ShardedTensorType>(tensor.getType()))
    source = sourceOf(tensor);
  if (source.empty())
    return ProgramConversion::materialize(op, tensor);
  RowsValue rows = defaultRows(tensor);
  rows.buffer = program.createBuffer(tensor.getLoc(), rows.rows, rows.columns,
                                     bufferElementOf(tensor.getType()));
  program.input(tensor.getLoc(), source, rows.buffer, rows.columns);
  bind(tensor, rows);
  return rows;
}

FailureOr<RowsValue> FunctionConversion::rearrange(Operation *op, Value tensor,
                                                   const RowsValue &now,
                                                   int64_t columns) {
  auto known = rearranged.find({now.buffer, columns});
  if (known != rearranged.end())
    return known->second;
  int64_t elements = now.rows * now.columns;
  RowsValue rows =
      createScratch(op->getLoc(), columns == 0 ? 0 : elements / columns,
                    columns, bufferElementOf(tensor.getType()));
  ElementBox box;
  box.sizes = {elements};
  box.fromStrides = {1};
  box.toStrides = {1};
  copyBox(op->getLoc(), now, rows, box);
  return rearranged[{now.buffer, columns}] = rows;
}

RowsValue FunctionConversion::createResult(Value result, const RowsValue &like,
                                           int64_t columns) {
  RowsValue rows = like;
  rows.columns = columns;
  rows.grain = grainOfHeads(result);
  rows.buffer = program.createBuffer(result.getLoc(), rows.rows, columns,
                                     bufferElementOf(result.getType()));
  bind(result, rows);
  return rows;
}

RowsValue FunctionConversion::createResult(Value result, RowSpace) {
  return createResult(result, defaultRows(result), rowColumns(result));
}

RowsValue FunctionConversion::createRowsLike(Location loc,
                                             const RowsValue &like,
                                             int64_t columns, Type element) {
  RowsValue rows = like;
  rows.columns = columns;
  rows.grain = 1;
  rows.buffer = program.createBuffer(loc, rows.rows, columns, element);
  return rows;
}

bool FunctionConversion::mayOverwrite(Value origin) {
  // A copy in rows of another length would become stale.
  auto isCopied = [&](const auto &entry) {
    return entry.first.first == values().lookup(origin).buffer;
  };
  // Values from outside of a region may be used by its next iteration, or by
  // another branch.
  return origin.getParentBlock() == currentBlock &&
         !matchPattern(origin, m_Constant()) &&
         llvm::none_of(rearranged, isCopied);
}

RowsValue FunctionConversion::constantRows(Location loc,
                                           ArrayRef<int32_t> numbers) {
  RowsValue rows;
  rows.rows = 1;
  rows.columns = numbers.size();
  Value &buffer = integerConstants[std::vector<int32_t>(numbers)];
  if (!buffer) {
    Builder b(module.getContext());
    auto type = RankedTensorType::get({rows.columns}, b.getI32Type());
    buffer = program.createBuffer(loc, 1, rows.columns, i32());
    program.input(
        loc,
        program.declareConstant(loc, DenseElementsAttr::get(type, numbers)),
        buffer, rows.columns);
  }
  rows.buffer = buffer;
  return rows;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

std::optional<KernelWeight> FunctionConversion::givenWeight(Value tensor) {
  if (!mllm::storedFormat(tensor.getType()))
    return std::nullopt;
  std::string source = sourceOf(tensor);
  if (source.empty())
    return std::nullopt;
  return program.declareWeight(tensor.getLoc(), source, tensor.getType());
}

//===----------------------------------------------------------------------===//
// The step context
//===----------------------------------------------------------------------===//

void FunctionConversion::setPointer(Location loc, StepField field,
                                    Value buffer) {
  Value &known = pointers[static_cast<int>(field)];
  if (known == buffer)
    return;
  known = buffer;
  program.setPointer(loc, field, buffer);
}

void FunctionConversion::bindCount(Location loc, StepField field,
                                   int64_t count) {
  std::optional<int64_t> &known = counts[static_cast<int>(field)];
  if (known == count)
    return;
  known = count;
  program.setCount(loc, field, count);
}

void FunctionConversion::bindRows(Location loc, const RowsValue &rows) {
  if (!ShapedType::isDynamic(rows.rows))
    bindCount(loc,
              rows.over == RowSpace::Tokens ? StepField::num_tokens
                                            : StepField::num_logit_rows,
              rows.rows);
}

LogicalResult FunctionConversion::bindField(Operation *op, Value operand,
                                            StepField field) {
  ArrayRef<int64_t> shape = tensorShape(operand.getType());
  FailureOr<RowsValue> rows =
      lookup(op, operand, shape.empty() ? 1 : shape.back());
  if (failed(rows))
    return failure();
  setPointer(op->getLoc(), field, rows->buffer);
  // A vector contains one block per sequence.
  if (field == StepField::block_tables)
    bindCount(op->getLoc(), StepField::block_table_stride,
              shape.size() < 2 ? 1 : roundUpTo(shape.back(), kTileRows));
  return success();
}

LogicalResult FunctionConversion::bindLayer(Operation *op, Value layer) {
  FailureOr<int64_t> wanted = constantLayer(op, layer);
  if (failed(wanted))
    return failure();
  int64_t numLayers = cacheType ? cacheType.getNumLayers() : 1;
  if (*wanted < 0 || *wanted >= numLayers)
    return op->emitOpError("accesses layer ")
           << *wanted << " of a cache with " << numLayers << " layers";
  // Each rank has separate layers in the pool.
  int64_t number = rank() * numLayers + *wanted;
  if (currentLayer != number)
    program.setLayer(op->getLoc(), number);
  currentLayer = number;
  return success();
}

LogicalResult FunctionConversion::bindCache(Operation *op,
                                            ll::PagedKVCacheType type) {
  cacheType = type;
  for (StepField field : {StepField::kv_pool, StepField::kv_layer_stride})
    if (pointers.erase(static_cast<int>(field)) ||
        counts.erase(static_cast<int>(field)))
      program.restoreField(op->getLoc(), field);
  return success();
}

void FunctionConversion::bindScratchCache(Location loc, Value pool) {
  setPointer(loc, StepField::kv_pool, pool);
  bindCount(loc, StepField::kv_layer_stride, 0);
}

FailureOr<RopeTable> FunctionConversion::ropeTable(ll::RopeOp op) {
  ArrayRef<double> frequencies = op.getFrequencies();
  double scaling = op.getScaling().convertToDouble();
  RowsValue like;
  like.rows = tensorShape(op.getPositions().getType())[0];
  FailureOr<RowsValue> positions = lookup(op, op.getPositions(), like.rows);
  if (failed(positions))
    return failure();
  for (auto &[known, table] : ropeTables)
    if (known == positions->buffer && table.frequencies == frequencies &&
        table.scaling == scaling)
      return table;
  if (failed(bindField(op, op.getPositions(), StepField::positions)))
    return failure();
  int64_t half = frequencies.size();
  RopeTable table{frequencies, scaling,
                  program.createBuffer(op.getLoc(), like.rows, half),
                  program.createBuffer(op.getLoc(), like.rows, half)};
  kernel<kernel::RopeAnglesOp>(op.getLoc(), "rope_angles", like, table.cosines,
                               table.sines, frequencies, APFloat(scaling));
  ropeTables.push_back({positions->buffer, table});
  return table;
}

} // namespace llmir

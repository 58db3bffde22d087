//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepConversion.h"

#include "llmir/Dialect/MLLM/StoredFormat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

//===----------------------------------------------------------------------===//
// Services
//===----------------------------------------------------------------------===//

LogicalResult StepConversion::bindField(Operation *op, Value operand,
                                        StepField field) {
  auto known = fields.find(operand);
  if (known != fields.end() && known->second == field)
    return success();
  return op->emitOpError("reads a ")
         << operand.getType() << " that is not the step's own '"
         << stepFieldName(field) << "'; a program can only read the step's";
}

bool StepConversion::arePositions(Value ids) {
  auto known = fields.find(ids);
  return known != fields.end() && known->second == StepField::positions;
}

FailureOr<RowsValue> StepConversion::rearrange(Operation *op, Value tensor,
                                               const RowsValue &now,
                                               int64_t columns) {
  return op->emitOpError("needs rows of ")
         << columns << " numbers, not parts of rows of " << now.columns
         << "; a step keeps each token's numbers in one row";
}

FailureOr<RowsValue> StepConversion::checkTokens(Operation *op,
                                                 RowsValue rows) {
  if (rows.over == RowSpace::Tokens)
    return rows;
  return op->emitOpError("works on every token of the step, not on rows that "
                         "were selected");
}

LogicalResult StepConversion::bindLayer(Operation *op, Value layer) {
  if (layer && layerNumbers.contains(layer))
    return success();
  std::optional<int64_t> wanted = layer ? constantIndex(layer) : 0;
  if (wanted && currentLayer == wanted)
    return success();
  if (!wanted || op->getParentOp() != step)
    return op->emitOpError("needs the layer number that its function is called "
                           "with");
  program.setLayer(op->getLoc(), *wanted);
  currentLayer = wanted;
  return success();
}

FailureOr<KernelWeights> StepConversion::weights(Operation *op,
                                                 ArrayRef<Value> tensors) {
  KernelWeights result;
  for (Value tensor : tensors) {
    auto known = parameters.find(tensor);
    if (known == parameters.end())
      return op->emitOpError("needs a parameter of the model as a weight, not "
                             "a computed value of type ")
             << tensor.getType();
    if (result.all.empty())
      result.format = mllm::packedFormatName(tensor.getType());
    result.all.push_back(known->second);
  }
  return result;
}

FailureOr<KernelWeight>
StepConversion::quantizedParameter(Operation *op, Value parameter,
                                   const IntegerFormat &format) {
  auto known = quantized.find(parameter);
  if (known == quantized.end())
    return op->emitOpError("needs a parameter of the model as a weight, not a "
                           "computed value of type ")
           << parameter.getType();
  const auto &[registered, firstLayer] = known->second;
  return program.declareWeight(registered, firstLayer, format);
}

bool StepConversion::isLogits(Value result) {
  Operation *end = step.getBody().front().getTerminator();
  return end->getNumOperands() > 0 && end->getOperand(0) == result;
}

Value StepConversion::createRows(Location loc, RowSpace over, int64_t columns,
                                 Type element) {
  return program.createBuffer(
      loc, over == RowSpace::Tokens ? tokenBudget : maxLogitRows, columns,
      element);
}

RowsValue StepConversion::createResult(Value result, const RowsValue &like,
                                       int64_t columns) {
  RowsValue where = like;
  where.columns = columns;
  where.grain = grainOfHeads(result);
  where.buffer =
      isLogits(result) && like.over == RowSpace::LogitRows
          ? program.createLogits(result.getLoc(), maxLogitRows, columns)
          : createRows(result.getLoc(), like.over, columns,
                       bufferElementOf(result.getType()));
  return values()[result] = where;
}

RowsValue StepConversion::createRowsLike(Location loc, const RowsValue &like,
                                         int64_t columns) {
  RowsValue rows = like;
  rows.columns = columns;
  rows.grain = 1;
  rows.buffer = createRows(loc, like.over, columns);
  return rows;
}

RowsValue StepConversion::createResult(Value result, RowSpace over) {
  RowsValue like;
  like.over = over;
  return createResult(result, like, rowColumns(result));
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

LogicalResult StepConversion::bindStepArguments() {
  if (step.isExternal())
    return step.emitOpError("has no body to make a program of");
  // The signature that convert-mllm-to-llm gives the step.
  static constexpr StepField order[] = {
      StepField::token_ids, StepField::positions,    StepField::query_offsets,
      StepField::seq_lens,  StepField::slot_mapping, StepField::block_tables,
      StepField::logit_rows};
  if (step.getNumArguments() != std::size(order) + 1 ||
      !isa<ll::PagedKVCacheType>(step.getArgumentTypes().back()))
    return step.emitOpError("is not a step: it takes ")
           << step.getNumArguments() << " operands, expected the "
           << std::size(order) << " arrays of a ragged batch and a cache";
  for (auto [argument, field] : llvm::zip(step.getArguments(), order))
    fields[argument] = field;
  return success();
}

static RopeTable *findTable(MutableArrayRef<RopeTable> tables, ll::RopeOp op) {
  RopeTable *table = llvm::find_if(tables, [&](const RopeTable &t) {
    return t.frequencies == op.getFrequencies() &&
           t.scaling == op.getScaling().convertToDouble();
  });
  return table == tables.end() ? nullptr : table;
}

LogicalResult StepConversion::emitRopeTables() {
  module.walk([&](ll::RopeOp op) {
    if (findTable(ropeTables, op))
      return;
    double scaling = op.getScaling().convertToDouble();
    ArrayRef<double> frequencies = op.getFrequencies();
    RowsValue like;
    like.columns = frequencies.size();
    RopeTable table{frequencies, scaling,
                    createRows(op.getLoc(), RowSpace::Tokens, like.columns),
                    createRows(op.getLoc(), RowSpace::Tokens, like.columns)};
    kernel<kernel::RopeAnglesOp>(op.getLoc(), "rope_angles", like,
                                 table.cosines, table.sines, frequencies,
                                 APFloat(scaling));
    ropeTables.push_back(table);
  });
  return success();
}

FailureOr<RopeTable> StepConversion::ropeTable(ll::RopeOp op) {
  if (failed(bindField(op, op.getPositions(), StepField::positions)))
    return failure();
  return *findTable(ropeTables, op);
}

LogicalResult StepConversion::convert() {
  if (failed(bindStepArguments()) || failed(emitRopeTables()) ||
      failed(convertBlock(step.getBody().front())) || failed(checkLogits()))
    return failure();
  program.finish(step.getLoc());
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    function.erase();
  return success();
}

LogicalResult StepConversion::checkLogits() {
  Operation *end = step.getBody().front().getTerminator();
  if (end->getNumOperands() > 0 &&
      values().lookup(end->getOperand(0)).buffer.getDefiningOp<LogitsOp>())
    return success();
  return end->emitOpError(
      "must return logits first, made in @step for the rows "
      "that llm.select_rows chose");
}

LogicalResult StepConversion::declareWeight(ll::WeightOp op) {
  auto parameter = module.lookupSymbol<mllm::RegisterOp>(op.getNameAttr());
  if (!parameter)
    return op.emitOpError("has no mllm.tensor.register");
  // Layers' weights are declared with their run.
  if (llvm::all_of(op->getUsers(),
                   [](Operation *user) { return isa<func::CallOp>(user); }))
    return success();
  return bindParameter(op.getResult(), parameter, /*firstLayer=*/0);
}

LogicalResult StepConversion::bindParameter(
    Value value, ArrayRef<mllm::RegisterOp> registered, int64_t firstLayer) {
  auto quantizes = llvm::IsaPred<ll::QuantizeOp, ll::QuantParamsOp>;
  if (llvm::any_of(value.getUsers(), quantizes))
    quantized[value] = {SmallVector<mllm::RegisterOp>(registered), firstLayer};
  if (!value.use_empty() && llvm::all_of(value.getUsers(), quantizes))
    return success(); // Declared as what it becomes.
  FailureOr<KernelWeight> weight =
      program.declareWeight(registered, firstLayer);
  if (succeeded(weight))
    parameters[value] = *weight;
  return LogicalResult(weight);
}

LogicalResult StepConversion::convertBlock(Block &block) {
  for (auto it = block.begin(); it != block.end();) {
    Operation *op = &*it;
    if (auto call = dyn_cast<func::CallOp>(op)) {
      FailureOr<LayerRun> run = LayerRun::startingAt(module, call);
      if (failed(run) || failed(convertRun(*run)))
        return failure();
      it = std::next(run->calls.back()->getIterator());
      continue;
    }
    ++it;
    if (auto weight = dyn_cast<ll::WeightOp>(op)) {
      if (failed(declareWeight(weight)))
        return failure();
    } else if (!isa<arith::ConstantOp, func::ReturnOp>(op) &&
               failed(convertOp(op))) {
      return failure();
    }
  }
  return success();
}

} // namespace llmir

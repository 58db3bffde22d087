//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepConversion.h"

#include "Places.h"

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
  return op->emitOpError("has an operand of type ")
         << operand.getType() << " that is not the argument '"
         << stepFieldName(field) << "' of the step; pass that argument";
}

LogicalResult StepConversion::bindSequences(Operation *op,
                                            const SequenceOperands &operands) {
  if (!operands.offsets)
    return op->emitOpError("is batched; a step is a ragged batch: run "
                           "-llm-lower-kv-cache-ops first");
  return failure(
      failed(bindField(op, operands.blocks, StepField::block_tables)) ||
      failed(bindField(op, operands.lengths, StepField::seq_lens)) ||
      failed(bindField(op, operands.offsets, StepField::query_offsets)));
}

bool StepConversion::arePositions(Value ids) {
  auto known = fields.find(ids);
  return known != fields.end() && known->second == StepField::positions;
}

bool StepConversion::areLogitRows(Value rows) {
  auto known = fields.find(rows);
  return known != fields.end() && known->second == StepField::logit_rows;
}

FailureOr<RowsValue> StepConversion::rearrange(Operation *op, Value tensor,
                                               const RowsValue &now,
                                               int64_t columns) {
  if (!ShapedType::isDynamic(now.rows))
    return op->emitOpError("requires rows of ")
           << columns << " elements of a value of type " << tensor.getType()
           << ", which is the same for all tokens and is in rows of "
           << now.columns;
  return op->emitOpError("requires rows of ")
         << columns << " elements, but the operand has " << now.columns
         << " elements per token; in a step, a row has all elements of a "
            "token";
}

FailureOr<RowsValue> StepConversion::checkTokens(Operation *op,
                                                 RowsValue rows) {
  if (!ShapedType::isDynamic(rows.rows))
    return op->emitOpError(
        "requires an operand with a row per token, not a value "
        "that is the same for all tokens");
  if (rows.over == RowSpace::Tokens)
    return rows;
  return op->emitOpError(
      "requires an operand with a row per token, not the rows "
      "that llm.select_rows selects");
}

LogicalResult StepConversion::bindLayer(Operation *op, Value layer) {
  if (layer && layerNumbers.contains(layer))
    return success();
  std::optional<int64_t> wanted = layer ? constantIndex(layer) : 0;
  if (wanted && currentLayer == wanted)
    return success();
  if (!wanted || op->getParentOp() != step)
    return op->emitOpError(
        "requires the layer number argument of its function");
  program.setLayer(op->getLoc(), *wanted);
  currentLayer = wanted;
  return success();
}

std::optional<KernelWeight> StepConversion::givenWeight(Value tensor) {
  auto known = parameters.find(tensor);
  if (known == parameters.end())
    return std::nullopt;
  return known->second;
}

FailureOr<KernelWeight>
StepConversion::quantizedParameter(Operation *op, Value parameter,
                                   const IntegerFormat &format) {
  auto known = quantized.find(parameter);
  if (known == quantized.end())
    return op->emitOpError(
               "requires a parameter of the model as its weight, not "
               "a computed value of type ")
           << parameter.getType();
  const auto &[registered, firstLayer] = known->second;
  return program.declareWeight(registered, firstLayer, format);
}

FailureOr<RowsValue> StepConversion::unpack(Operation *op, Value tensor,
                                            const KernelWeight &weight) {
  ArrayRef<int64_t> shape = tensorShape(tensor.getType());
  if (shape.size() > 2)
    return op->emitOpError("reads the elements of a parameter of type ")
           << tensor.getType()
           << ", which is packed for matrix products; a step can only read "
              "vectors and matrices";
  RowsValue rows = defaultRows(tensor);
  rows.buffer = createRows(op->getLoc(), rows);
  StringAttr format;
  if (shape.size() == 2)
    format = StringAttr::get(op->getContext(),
                             mllm::packedFormatName(tensor.getType()));
  fixedKernel<kernel::UnpackWeightOp>(
      op->getLoc(), kernelName("unpack_weight", shape), weight, rows.buffer,
      format, rows.rows, rows.columns);
  return rows;
}

/// The elements as f32; nullopt if one of them is not representable.
static std::optional<SmallVector<float>> exactFloats(ElementsAttr values) {
  SmallVector<float> result;
  constexpr int64_t limit = int64_t(1) << 24;
  if (auto floats = values.tryGetValues<APFloat>()) {
    for (APFloat value : *floats) {
      bool changes;
      value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                    &changes);
      if (changes)
        return std::nullopt;
      result.push_back(value.convertToFloat());
    }
    return result;
  }
  auto integers = values.tryGetValues<APInt>();
  if (!integers)
    return std::nullopt;
  for (const APInt &value : *integers) {
    int64_t number =
        value.getBitWidth() == 1 ? value.getZExtValue() : value.getSExtValue();
    if (number < -limit || number > limit)
      return std::nullopt;
    result.push_back(static_cast<float>(number));
  }
  return result;
}

FailureOr<RowsValue> StepConversion::unpackConstant(Operation *op, Value tensor,
                                                    ElementsAttr values) {
  std::optional<SmallVector<float>> floats = exactFloats(values);
  if (!floats)
    return op->emitOpError("reads a constant of type ")
           << tensor.getType()
           << " that f32 cannot represent exactly; a step stores constants as "
              "f32";
  RowsValue rows = defaultRows(tensor);
  SmallVector<int64_t> shape{rows.rows, rows.columns};
  if (rows.rows == 1)
    shape.erase(shape.begin());
  Builder b(op->getContext());
  auto type = RankedTensorType::get(shape, b.getF32Type());
  KernelWeight weight = program.declareConstantWeight(
      tensor.getLoc(), DenseElementsAttr::get(type, ArrayRef(*floats)));
  StringAttr format;
  if (shape.size() == 2)
    format = b.getStringAttr("f32");
  Location loc = op->getLoc();
  RowsValue stored = rows;
  stored.buffer = createRows(loc, rows);
  fixedKernel<kernel::UnpackWeightOp>(loc, kernelName("constant", shape),
                                      weight, stored.buffer, format, rows.rows,
                                      rows.columns);
  Type element = bufferElementOf(tensor.getType());
  if (element.isF32())
    return stored;
  rows.buffer = createRows(loc, rows, element);
  convertToIntegers(*this, loc, stored, rows, element);
  return rows;
}

FailureOr<RowsValue> StepConversion::materialize(Operation *op, Value tensor) {
  FailureOr<RowsValue> rows;
  if (auto known = parameters.find(tensor); known != parameters.end()) {
    rows = unpack(op, tensor, known->second);
  } else if (ElementsAttr values = constantElements(tensor)) {
    rows = unpackConstant(op, tensor, values);
  } else if (auto field = fields.find(tensor);
             field != fields.end() && (field->second == StepField::token_ids ||
                                       field->second == StepField::positions)) {
    rows = defaultRows(tensor);
    rows->buffer = createRows(op->getLoc(), *rows, i32());
    kernel<kernel::TokenIdsOp>(op->getLoc(), stepFieldName(field->second),
                               *rows, rows->buffer,
                               field->second == StepField::positions);
  } else {
    return ProgramConversion::materialize(op, tensor);
  }
  if (succeeded(rows))
    bind(tensor, *rows);
  return rows;
}

bool StepConversion::isLogits(Value result) {
  Operation *end = step.getBody().front().getTerminator();
  return end->getNumOperands() > 0 && end->getOperand(0) == result;
}

Value StepConversion::createRows(Location loc, const RowsValue &value,
                                 Type element) {
  int64_t rows = value.rows;
  return program.createBuffer(
      loc, ShapedType::isDynamic(rows) ? maxRows(value.over) : rows,
      value.columns, element);
}

RowsValue StepConversion::createResult(Value result, const RowsValue &like,
                                       int64_t columns) {
  RowsValue where = like;
  where.columns = columns;
  where.grain = grainOfHeads(result);
  where.buffer =
      isLogits(result) && like.over == RowSpace::LogitRows
          ? program.createLogits(result.getLoc(), maxLogitRows, columns)
          : createRows(result.getLoc(), where,
                       bufferElementOf(result.getType()));
  return values()[result] = where;
}

RowsValue StepConversion::createRowsLike(Location loc, const RowsValue &like,
                                         int64_t columns, Type element) {
  RowsValue rows = like;
  rows.columns = columns;
  rows.grain = 1;
  rows.buffer = createRows(loc, rows, element);
  return rows;
}

RowsValue StepConversion::createResult(Value result, RowSpace over) {
  RowsValue like = defaultRows(result);
  like.over = over;
  return createResult(result, like, like.columns);
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

LogicalResult StepConversion::bindStepArguments() {
  if (step.isExternal())
    return step.emitOpError("has no body, but is to be converted to a program");
  // The signature of steps created by convert-mllm-to-llm.
  SmallVector<StepField> order = {
      StepField::token_ids, StepField::positions,    StepField::query_offsets,
      StepField::seq_lens,  StepField::slot_mapping, StepField::block_tables,
      StepField::logit_rows};
  // Of models with layers that keep a state.
  if (step.getNumArguments() == order.size() + 2 &&
      isa<RankedTensorType>(step.getArgumentTypes()[order.size()]))
    order.insert(order.end() - 1, StepField::state_slots);
  if (step.getNumArguments() != order.size() + 1 ||
      !isa<ll::PagedKVCacheType>(step.getArgumentTypes().back()))
    return step.emitOpError("is not a step: it takes ")
           << step.getNumArguments() << " operands, expected the "
           << order.size() << " arrays of a ragged batch and a cache";
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
    RopeTable table{frequencies, scaling, createRows(op.getLoc(), like),
                    createRows(op.getLoc(), like)};
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
      "must return logits as the first result, computed in @step for the "
      "rows that llm.select_rows selects");
}

LogicalResult StepConversion::declareWeight(ll::WeightOp op) {
  auto parameter = module.lookupSymbol<mllm::RegisterOp>(op.getNameAttr());
  if (!parameter)
    return op.emitOpError("has no mllm.tensor.register");
  // Weights of layers are declared with their run.
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
    return success(); // Declared as its quantized form.
  FailureOr<KernelWeight> weight =
      program.declareWeight(registered, firstLayer);
  if (succeeded(weight))
    parameters[value] = *weight;
  return LogicalResult(weight);
}

/// Fails if a result is neither one row per token nor the same for all tokens,
/// or if an llm op, whose kernels iterate over rows of the step, has other
/// rows.
static LogicalResult checkRows(Operation *op) {
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    if (type.getNumDynamicDims() > 1)
      return op->emitOpError("has a result of type ")
             << type << "; in a step, only the number of tokens may be dynamic";
    bool hasRows = rowDimension(type.getShape()).has_value();
    if (!hasRows && isa<ll::LLMDialect>(op->getDialect()) &&
        isa<FloatType>(type.getElementType()) &&
        !isa<ll::QuantParamsOp, ll::QuantizeOp>(op))
      return op->emitOpError("computes a value of type ")
             << type
             << ", which is the same for all tokens; in a step, use linalg "
                "ops for such values";
  }
  return success();
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
               (failed(checkRows(op)) || failed(convertOp(op)))) {
      return failure();
    }
  }
  return success();
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Conversion/LLMToProgram.h"
#include "ElementwiseChain.h"
#include "StepConversion.h"

#include "llmir/Support/PackedLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

#define GEN_PASS_DEF_CONVERTLLMTOPROGRAM
#include "llmir/Conversion/Passes.h.inc"

static int64_t rowColumns(Value tensor) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  int64_t columns = 1;
  for (int64_t size : shape.drop_front())
    columns *= size;
  return columns;
}

WorkShare columnShare(RowSpace over, int64_t columns) {
  return {WorkSplit::Columns, over, ceilDiv(columns, kTileRows)};
}

static WorkShare rowShare(RowSpace over) { return {WorkSplit::Rows, over, 1}; }

static WorkShare headShare(int64_t heads) {
  return {WorkSplit::Heads, RowSpace::Tokens, heads};
}

bool endsAt(Value tensor, Operation *op) {
  for (Operation *user : tensor.getUsers()) {
    Operation *reader = kernelRoot(user);
    if (reader != op && !reader->isBeforeInBlock(op))
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

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

LogicalResult StepConversion::expectField(Operation *op, Value operand,
                                          StepField field) {
  auto known = fields.find(operand);
  if (known != fields.end() && known->second == field)
    return success();
  return op->emitOpError("reads a ")
         << operand.getType() << " that is not the step's own '"
         << stepFieldName(field) << "'; a program can only read the step's";
}

FailureOr<RowsValue> StepConversion::lookup(Operation *op, Value tensor) {
  auto known = rows.find(tensor);
  if (known != rows.end())
    return known->second;
  return op->emitOpError("uses a value of type ")
         << tensor.getType() << " that no kernel has made";
}

FailureOr<RowsValue> StepConversion::lookupTokens(Operation *op, Value tensor) {
  FailureOr<RowsValue> known = lookup(op, tensor);
  if (succeeded(known) && known->over != RowSpace::Tokens)
    return op->emitOpError("works on every token of the step, not on rows that "
                           "were selected");
  return known;
}

LogicalResult StepConversion::expectLayer(Operation *op, Value layer) {
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

FailureOr<Attribute> StepConversion::weight(Operation *op, Value tensor) {
  auto known = weights.find(tensor);
  if (known != weights.end())
    return known->second;
  return op->emitOpError("needs a parameter of the model as a weight, not a "
                         "computed value of type ")
         << tensor.getType();
}

/// Storage format of a weight or a cache, by name.
static std::string formatName(Type type) {
  if (auto quantized = dyn_cast<ll::QuantizedTensorType>(type))
    return quantized.getFormat().str();
  Type element = getElementTypeOrSelf(type);
  return element.isF32() ? "f32" : element.isF16() ? "f16" : "bf16";
}

bool StepConversion::isLogits(Value result) {
  Operation *end = step.getBody().front().getTerminator();
  return end->getNumOperands() > 0 && end->getOperand(0) == result;
}

Value StepConversion::createRows(Location loc, RowSpace over, int64_t columns) {
  return program.createBuffer(
      loc, over == RowSpace::Tokens ? tokenBudget : maxLogitRows, columns);
}

RowsValue StepConversion::createResult(Value result, RowSpace over) {
  int64_t columns = rowColumns(result);
  Value buffer =
      isLogits(result) && over == RowSpace::LogitRows
          ? program.createLogits(result.getLoc(), maxLogitRows, columns)
          : createRows(result.getLoc(), over, columns);
  return rows[result] = {buffer, over, columns};
}

RowsValue StepConversion::reuseOrCreate(Operation *op, ArrayRef<Value> operands,
                                        Value result, RowSpace over) {
  if (isLogits(result))
    return createResult(result, over);
  int64_t columns = rowColumns(result);
  // A loop's value stays in its buffer when it can: then nothing is copied.
  Value chosen;
  for (Value operand : operands) {
    bool carried = loopValues.contains(rows[operand].buffer);
    // What comes into a layer from outside belongs to the other layers too.
    Value origin = withoutReshapes(operand);
    if (isa<BlockArgument>(origin) && !carried)
      continue;
    if (rowColumns(operand) != columns || !endsAt(origin, op))
      continue;
    if (!chosen || carried)
      chosen = operand;
  }
  if (!chosen)
    return createResult(result, over);
  return rows[result] = {rows[chosen].buffer, over, columns};
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

LogicalResult StepConversion::emitRopeTables() {
  module.walk([&](ll::RopeOp op) {
    double scaling = op.getScaling().convertToDouble();
    ArrayRef<double> frequencies = op.getFrequencies();
    for (const RopeTable &table : ropeTables)
      if (table.frequencies == frequencies && table.scaling == scaling)
        return;
    int64_t half = frequencies.size();
    RopeTable table{frequencies, scaling,
                    program.createBuffer(op.getLoc(), tokenBudget, half),
                    program.createBuffer(op.getLoc(), tokenBudget, half)};
    RopeAnglesSpec spec;
    spec.frequencies.assign(frequencies.begin(), frequencies.end());
    spec.scaling = scaling;
    WorkShare share = rowShare(RowSpace::Tokens);
    program.call(op.getLoc(), "rope_angles", spec, {},
                 {{table.cosines, true, share}, {table.sines, true, share}});
    ropeTables.push_back(table);
  });
  return success();
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
      rows.lookup(end->getOperand(0)).buffer.getDefiningOp<LogitsOp>())
    return success();
  return end->emitOpError(
      "must return logits first, made in @step for the rows "
      "that llm.select_rows chose");
}

LogicalResult StepConversion::convertBlock(Block &block) {
  for (auto it = block.begin(); it != block.end();) {
    if (auto call = dyn_cast<func::CallOp>(*it)) {
      FailureOr<LayerRun> run = LayerRun::startingAt(module, call);
      if (failed(run) || failed(convertRun(*run)))
        return failure();
      it = std::next(run->calls.back()->getIterator());
      continue;
    }
    if (failed(convertOp(&*it)))
      return failure();
    ++it;
  }
  return success();
}

LogicalResult StepConversion::convertOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ll::EmbeddingOp, ll::LinearOp, ll::RMSNormOp, ll::RopeOp,
            ll::AppendKVOp, ll::PagedAttentionOp, ll::SelectRowsOp>(
          [&](auto typed) { return convert(typed); })
      .Case<ll::SiluOp, ll::AddOp, ll::MulOp>([&](Operation *elementwise) {
        return feedsElementwiseOnly(elementwise)
                   ? success() // Part of its user's kernel.
                   : convertElementwise(elementwise);
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
          [&](Operation *reshape) { return convertReshape(reshape); })
      .Case<ll::WeightOp>([&](ll::WeightOp weightOp) -> LogicalResult {
        auto parameter =
            module.lookupSymbol<mllm::RegisterOp>(weightOp.getNameAttr());
        if (!parameter)
          return weightOp.emitOpError("has no mllm.tensor.register");
        // Layers' weights are declared with their run.
        if (llvm::all_of(weightOp->getUsers(),
                         [](Operation *u) { return isa<func::CallOp>(u); }))
          return success();
        FailureOr<FlatSymbolRefAttr> name = program.declareWeight(parameter, 0);
        if (succeeded(name))
          weights[weightOp.getResult()] = *name;
        return LogicalResult(name);
      })
      .Case<arith::ConstantOp, tensor::DimOp, func::ReturnOp>(
          [](Operation *) { return success(); })
      .Default([](Operation *other) {
        return other->emitOpError("has no kernel in a program");
      });
}

//===----------------------------------------------------------------------===//
// One function per op
//===----------------------------------------------------------------------===//

std::string kernelName(const Twine &base, ArrayRef<int64_t> sizes) {
  std::string name = (base + "_").str();
  llvm::raw_string_ostream stream(name);
  llvm::interleave(sizes, stream, "x");
  return name;
}

LogicalResult StepConversion::convert(ll::EmbeddingOp op) {
  FailureOr<Attribute> table = weight(op, op.getTable());
  if (failed(table) ||
      failed(expectField(op, op.getIds(), StepField::token_ids)))
    return failure();
  ArrayRef<int64_t> shape = ll::getWeightShape(op.getTable().getType());
  RowsValue out = createResult(op.getResult(), RowSpace::Tokens);
  EmbeddingSpec spec{formatName(op.getTable().getType()), shape[0], shape[1]};
  program.call(op.getLoc(),
               kernelName(Twine("embedding_") + spec.format, shape), spec,
               *table, {{out.buffer, true, rowShare(RowSpace::Tokens)}});
  return success();
}

LogicalResult StepConversion::convert(ll::LinearOp op) {
  FailureOr<RowsValue> x = lookup(op, op.getX());
  FailureOr<Attribute> matrix = weight(op, op.getWeight());
  if (failed(x) || failed(matrix))
    return failure();
  ArrayRef<int64_t> shape = ll::getWeightShape(op.getWeight().getType());
  if (x->columns != shape[1])
    return op.emitOpError("projects parts of a row of ")
           << x->columns << " numbers; a program projects whole rows";
  SmallVector<Attribute> operands{*matrix};
  if (op.getBias()) {
    FailureOr<Attribute> bias = weight(op, op.getBias());
    if (failed(bias))
      return failure();
    operands.push_back(*bias);
  }
  RowsValue out = createResult(op.getResult(), x->over);
  LinearSpec spec{formatName(op.getWeight().getType()), shape[0], shape[1],
                  static_cast<bool>(op.getBias()), x->over};
  program.call(op.getLoc(), kernelName(Twine("linear_") + spec.format, shape),
               spec, operands,
               {{x->buffer, false, std::nullopt},
                {out.buffer, true, columnShare(x->over, shape[0])}});
  return success();
}

LogicalResult StepConversion::convert(ll::RMSNormOp op) {
  FailureOr<RowsValue> x = lookup(op, op.getX());
  FailureOr<Attribute> factor = weight(op, op.getWeight());
  if (failed(x) || failed(factor))
    return failure();
  auto type = cast<RankedTensorType>(op.getX().getType());
  RmsNormSpec spec;
  spec.columns = type.getShape().back();
  spec.groups = x->columns / spec.columns;
  spec.eps = op.getEps().convertToDouble();
  spec.over = x->over;
  RowsValue out = createResult(op.getResult(), x->over);
  program.call(op.getLoc(), kernelName("rms_norm", {spec.groups, spec.columns}),
               spec, *factor,
               {{x->buffer, false, rowShare(x->over)},
                {out.buffer, true, rowShare(x->over)}});
  return success();
}

LogicalResult StepConversion::convert(ll::RopeOp op) {
  FailureOr<RowsValue> x = lookupTokens(op, op.getX());
  if (failed(x) ||
      failed(expectField(op, op.getPositions(), StepField::positions)))
    return failure();
  auto type = cast<RankedTensorType>(op.getX().getType());
  RopeSpec spec{type.getDimSize(1), type.getDimSize(2),
                2 * static_cast<int64_t>(op.getFrequencies().size())};
  const RopeTable *table = llvm::find_if(ropeTables, [&](const RopeTable &t) {
    return t.frequencies == op.getFrequencies() &&
           t.scaling == op.getScaling().convertToDouble();
  });
  RowsValue out =
      reuseOrCreate(op, {op.getX()}, op.getResult(), RowSpace::Tokens);
  WorkShare share = headShare(spec.heads);
  program.call(op.getLoc(), kernelName("rope", {spec.heads, spec.headDim}),
               spec, {},
               {{table->cosines, false, std::nullopt},
                {table->sines, false, std::nullopt},
                {x->buffer, false, share},
                {out.buffer, true, share}});
  return success();
}

LogicalResult StepConversion::convert(ll::AppendKVOp op) {
  if (!op.isRagged())
    return op.emitOpError("is batched; a program appends to a ragged batch");
  FailureOr<RowsValue> keys = lookupTokens(op, op.getKeys());
  FailureOr<RowsValue> values = lookupTokens(op, op.getValues());
  if (failed(keys) || failed(values) ||
      failed(expectField(op, op.getSlotMapping(), StepField::slot_mapping)) ||
      failed(expectLayer(op, op.getLayer())))
    return failure();
  ll::PagedKVCacheType cache = op.getCacheType();
  AppendKVSpec spec{formatName(cache.getElementType()), cache.getNumHeads(),
                    cache.getHeadDim(), cache.getBlockSize()};
  WorkShare share = headShare(spec.kvHeads);
  program.call(op.getLoc(),
               kernelName(Twine("append_kv_") + spec.kvFormat,
                          {spec.kvHeads, spec.headDim}),
               spec, {},
               {{keys->buffer, false, share}, {values->buffer, false, share}},
               BufferAccess{Value(), true, share});
  return success();
}

LogicalResult StepConversion::convert(ll::PagedAttentionOp op) {
  if (!op.isRagged() || !op.getCausal())
    return op.emitOpError("must be causal and on a ragged batch in a program");
  if (op.getMask() || op.getSinks() || op.getWindow() || op.getSoftCap() ||
      op.getAlibiSlopes())
    return op.emitOpError(
        "has a mask, sinks, window, soft cap or ALiBi slopes, "
        "for which there is no kernel");
  FailureOr<RowsValue> query = lookupTokens(op, op.getQuery());
  if (failed(query) ||
      failed(expectField(op, op.getBlockIndices(), StepField::block_tables)) ||
      failed(expectField(op, op.getSeqLens(), StepField::seq_lens)) ||
      failed(expectField(op, op.getQueryOffsets(), StepField::query_offsets)) ||
      failed(expectLayer(op, op.getLayer())))
    return failure();
  ll::PagedKVCacheType cache = op.getCache().getType();
  PagedAttentionSpec spec;
  spec.kvFormat = formatName(cache.getElementType());
  spec.heads = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(1);
  spec.kvHeads = cache.getNumHeads();
  spec.headDim = cache.getHeadDim();
  spec.blockSize = cache.getBlockSize();
  spec.scale = op.getScaleOrDefault();
  RowsValue out = createResult(op.getOutput(), RowSpace::Tokens);
  WorkShare share = headShare(spec.heads);
  program.call(op.getLoc(),
               kernelName(Twine("paged_attention_") + spec.kvFormat,
                          {spec.heads, spec.kvHeads, spec.headDim}),
               spec, {},
               {{query->buffer, false, share}, {out.buffer, true, share}},
               BufferAccess{Value(), false, std::nullopt});
  return success();
}

LogicalResult StepConversion::convert(ll::SelectRowsOp op) {
  FailureOr<RowsValue> x = lookupTokens(op, op.getX());
  if (failed(x) || failed(expectField(op, op.getRows(), StepField::logit_rows)))
    return failure();
  RowsValue out = createResult(op.getResult(), RowSpace::LogitRows);
  program.call(op.getLoc(), kernelName("select_rows", {x->columns}),
               SelectRowsSpec{x->columns}, {},
               {{x->buffer, false, std::nullopt},
                {out.buffer, true, rowShare(RowSpace::LogitRows)}});
  return success();
}

LogicalResult StepConversion::convertReshape(Operation *op) {
  FailureOr<RowsValue> x = lookup(op, op->getOperand(0));
  if (failed(x))
    return failure();
  if (rowColumns(op->getResult(0)) != x->columns)
    return op->emitOpError("moves values between rows, which a program cannot");
  rows[op->getResult(0)] = *x;
  return success();
}

LogicalResult StepConversion::convertElementwise(Operation *root) {
  ElementwiseChain chain(root);
  SmallVector<BufferAccess> accesses;
  Value result = root->getResult(0);
  FailureOr<RowsValue> first = lookup(root, chain.leaves().front());
  if (failed(first))
    return failure();
  RowSpace over = first->over;
  WorkShare share = columnShare(over, rowColumns(result));
  for (Value leaf : chain.leaves()) {
    FailureOr<RowsValue> x = lookup(root, leaf);
    if (failed(x))
      return failure();
    if (x->over != over)
      return root->emitOpError("combines rows of every token with rows that "
                               "were selected");
    accesses.push_back({x->buffer, false, share});
  }
  RowsValue out = reuseOrCreate(root, chain.leaves(), result, over);
  accesses.push_back({out.buffer, true, share});
  program.call(root->getLoc(), kernelName(chain.name(), {out.columns}),
               ElementwiseSpec{out.columns, over}, {}, accesses, std::nullopt,
               [&](OpBuilder &b, Block &block) { chain.emitScalar(b, block); });
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ConvertLLMToProgramPass
    : impl::ConvertLLMToProgramBase<ConvertLLMToProgramPass> {
  using ConvertLLMToProgramBase::ConvertLLMToProgramBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto step = module.lookupSymbol<func::FuncOp>("step");
    if (!step) {
      module.emitError("has no function @step to make a program of");
      return signalPassFailure();
    }
    if (failed(
            StepConversion(module, step, tokenBudget, maxLogitRows).convert()))
      return signalPassFailure();
    module.walk([&](Operation *op) {
      numInstructions += isa<InstructionOp>(op);
      numBarriers += isa<BarrierOp>(op);
    });
  }
};
} // namespace

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Conversion/LLMToProgram.h"
#include "ElementwiseChain.h"
#include "LayerRuns.h"
#include "ProgramBuilder.h"

#include "llmir/Runtime/ABI/StepFields.h"
#include "llmir/Support/PackedLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

#define GEN_PASS_DEF_CONVERTLLMTOPROGRAM
#include "llmir/Conversion/Passes.h.inc"

namespace {

/// What a tensor value of the step is in the program.
struct RowsValue {
  Value buffer;
  RowSpace over = RowSpace::Tokens;
  int64_t columns = 0; ///< Without padding.
};

/// Cosines and sines of one kind of rotation.
struct RopeTable {
  ArrayRef<double> frequencies;
  double scaling;
  Value cosines, sines;
};

/// Converts the step function, op by op, in order.
class StepConversion {
public:
  StepConversion(ModuleOp module, func::FuncOp step, int64_t tokenBudget,
                 int64_t maxLogitRows)
      : module(module), step(step), tokenBudget(tokenBudget),
        maxLogitRows(maxLogitRows), program(module) {}

  LogicalResult convert();

private:
  LogicalResult bindStepArguments();
  LogicalResult emitRopeTables();
  LogicalResult convertBlock(Block &block);
  LogicalResult convertOp(Operation *op);

  LogicalResult convert(ll::EmbeddingOp op);
  LogicalResult convert(ll::LinearOp op);
  LogicalResult convert(ll::RMSNormOp op);
  LogicalResult convert(ll::RopeOp op);
  LogicalResult convert(ll::AppendKVOp op);
  LogicalResult convert(ll::PagedAttentionOp op);
  LogicalResult convert(ll::SelectRowsOp op);
  LogicalResult convertElementwise(Operation *root);
  LogicalResult convertReshape(Operation *op);
  LogicalResult convertRun(const LayerRun &run);
  LogicalResult bindArguments(const LayerRun &run, func::FuncOp callee);
  /// Copies \p from to \p to unless they are the same buffer.
  void copyRows(Location loc, RowsValue from, RowsValue to);

  /// The operand must be the step's own argument of that field.
  LogicalResult expectField(Operation *op, Value operand, StepField field);
  FailureOr<RowsValue> lookup(Operation *op, Value tensor);
  FailureOr<Attribute> weight(Operation *op, Value tensor);
  FailureOr<std::string> cacheFormat(Operation *op, Type cache);

  /// A buffer for the result, or the logits where the result is the step's.
  RowsValue createResult(Value result, RowSpace over);
  /// The buffer of the first operand that ends here and fits, else a new one.
  RowsValue reuseOrCreate(Operation *op, ArrayRef<Value> operands, Value result,
                          RowSpace over);

  ModuleOp module;
  func::FuncOp step;
  int64_t tokenBudget, maxLogitRows;
  ProgramBuilder program;
  llvm::DenseMap<Value, RowsValue> rows;
  llvm::DenseMap<Value, Attribute> weights;
  llvm::DenseMap<Value, StepField> fields;
  llvm::DenseSet<Value>
      loopValues; ///< Buffers that carry a value round a loop.
  SmallVector<RopeTable> ropeTables;
  int64_t numLoops = 0;
};

} // namespace

static int64_t rowColumns(Value tensor) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  int64_t columns = 1;
  for (int64_t size : shape.drop_front())
    columns *= size;
  return columns;
}

/// The division that element-wise kernels and matmuls share.
static WorkShare columnShare(RowSpace over, int64_t columns) {
  return {WorkSplit::Columns, over, ceilDiv(columns, kTileRows)};
}

static WorkShare rowShare(RowSpace over) { return {WorkSplit::Rows, over, 1}; }

static WorkShare headShare(int64_t heads) {
  return {WorkSplit::Heads, RowSpace::Tokens, heads};
}

/// True when no kernel after that of \p op uses the tensor, reshaped or not.
static bool endsAt(Value tensor, Operation *op) {
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

/// The tensor that the given one is another view of.
static Value withoutReshapes(Value tensor) {
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

FailureOr<Attribute> StepConversion::weight(Operation *op, Value tensor) {
  auto known = weights.find(tensor);
  if (known != weights.end())
    return known->second;
  return op->emitOpError("needs a parameter of the model as a weight, not a "
                         "computed value of type ")
         << tensor.getType();
}

FailureOr<std::string> StepConversion::cacheFormat(Operation *op, Type cache) {
  Type element = cast<ll::PagedKVCacheType>(cache).getElementType();
  if (element.isF32())
    return std::string("f32");
  if (element.isF16())
    return std::string("f16");
  if (element.isBF16())
    return std::string("bf16");
  return op->emitOpError("has a cache of ")
         << element << "; kernels know f32, f16 and bf16";
}

RowsValue StepConversion::createResult(Value result, RowSpace over) {
  int64_t columns = rowColumns(result);
  bool isLogits = llvm::any_of(result.getUsers(), [&](Operation *user) {
    return isa<func::ReturnOp>(user) && user->getParentOp() == step;
  });
  Value buffer =
      isLogits
          ? program.createLogits(result.getLoc(), maxLogitRows, columns)
          : program.createBuffer(
                result.getLoc(),
                over == RowSpace::Tokens ? tokenBudget : maxLogitRows, columns);
  return rows[result] = {buffer, over, columns};
}

RowsValue StepConversion::reuseOrCreate(Operation *op, ArrayRef<Value> operands,
                                        Value result, RowSpace over) {
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
      failed(convertBlock(step.getBody().front())))
    return failure();
  program.finish(step.getLoc());
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    function.erase();
  return success();
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

/// "linear_bf16_172x64"
static std::string kernelName(const Twine &base, ArrayRef<int64_t> sizes) {
  std::string name = (base + "_").str();
  llvm::raw_string_ostream stream(name);
  llvm::interleave(sizes, stream, "x");
  return name;
}

/// Storage format of a weight's type, by name.
static std::string weightFormat(Type type) {
  if (auto quantized = dyn_cast<ll::QuantizedTensorType>(type))
    return quantized.getFormat().str();
  Type element = cast<RankedTensorType>(type).getElementType();
  return element.isF32() ? "f32" : element.isF16() ? "f16" : "bf16";
}

LogicalResult StepConversion::convert(ll::EmbeddingOp op) {
  FailureOr<Attribute> table = weight(op, op.getTable());
  if (failed(table) ||
      failed(expectField(op, op.getIds(), StepField::token_ids)))
    return failure();
  ArrayRef<int64_t> shape = ll::getWeightShape(op.getTable().getType());
  RowsValue out = createResult(op.getResult(), RowSpace::Tokens);
  EmbeddingSpec spec{weightFormat(op.getTable().getType()), shape[0], shape[1]};
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
  SmallVector<Attribute> operands{*matrix};
  if (op.getBias()) {
    FailureOr<Attribute> bias = weight(op, op.getBias());
    if (failed(bias))
      return failure();
    operands.push_back(*bias);
  }
  ArrayRef<int64_t> shape = ll::getWeightShape(op.getWeight().getType());
  RowsValue out = createResult(op.getResult(), x->over);
  LinearSpec spec{weightFormat(op.getWeight().getType()), shape[0], shape[1],
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
  FailureOr<RowsValue> x = lookup(op, op.getX());
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
  FailureOr<RowsValue> keys = lookup(op, op.getKeys());
  FailureOr<RowsValue> values = lookup(op, op.getValues());
  FailureOr<std::string> format = cacheFormat(op, op.getCache().getType());
  if (failed(keys) || failed(values) || failed(format) ||
      failed(expectField(op, op.getSlotMapping(), StepField::slot_mapping)))
    return failure();
  auto cache = cast<ll::PagedKVCacheType>(op.getCache().getType());
  AppendKVSpec spec{*format, cache.getNumHeads(), cache.getHeadDim(),
                    cache.getBlockSize()};
  WorkShare share = headShare(spec.kvHeads);
  program.call(
      op.getLoc(),
      kernelName(Twine("append_kv_") + *format, {spec.kvHeads, spec.headDim}),
      spec, {}, {{keys->buffer, false, share}, {values->buffer, false, share}},
      BufferAccess{Value(), true, share});
  return success();
}

LogicalResult StepConversion::convert(ll::PagedAttentionOp op) {
  if (!op.isRagged() || !op.getCausal())
    return op.emitOpError("must be causal and on a ragged batch in a program");
  FailureOr<RowsValue> query = lookup(op, op.getQuery());
  FailureOr<std::string> format = cacheFormat(op, op.getCache().getType());
  if (failed(query) || failed(format) ||
      failed(expectField(op, op.getBlockIndices(), StepField::block_tables)) ||
      failed(expectField(op, op.getSeqLens(), StepField::seq_lens)) ||
      failed(expectField(op, op.getQueryOffsets(), StepField::query_offsets)))
    return failure();
  auto cache = cast<ll::PagedKVCacheType>(op.getCache().getType());
  PagedAttentionSpec spec;
  spec.kvFormat = *format;
  spec.heads = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(1);
  spec.kvHeads = cache.getNumHeads();
  spec.headDim = cache.getHeadDim();
  spec.blockSize = cache.getBlockSize();
  spec.scale = op.getScaleOrDefault();
  RowsValue out = createResult(op.getOutput(), RowSpace::Tokens);
  WorkShare share = headShare(spec.heads);
  program.call(op.getLoc(),
               kernelName(Twine("paged_attention_") + *format,
                          {spec.heads, spec.kvHeads, spec.headDim}),
               spec, {},
               {{query->buffer, false, share}, {out.buffer, true, share}},
               BufferAccess{Value(), false, std::nullopt});
  return success();
}

LogicalResult StepConversion::convert(ll::SelectRowsOp op) {
  FailureOr<RowsValue> x = lookup(op, op.getX());
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
  WorkShare share{WorkSplit::Columns};
  RowSpace over = RowSpace::Tokens;
  for (Value leaf : chain.leaves()) {
    FailureOr<RowsValue> x = lookup(root, leaf);
    if (failed(x))
      return failure();
    over = x->over;
    share = columnShare(over, x->columns);
    accesses.push_back({x->buffer, false, share});
  }
  Value result = root->getResult(0);
  RowsValue out = reuseOrCreate(root, chain.leaves(), result, over);
  accesses.push_back({out.buffer, true, share});
  program.call(root->getLoc(), kernelName(chain.name(), {out.columns}),
               ElementwiseSpec{out.columns, over}, {}, accesses, std::nullopt,
               [&](OpBuilder &b, Block &block) { chain.emitScalar(b, block); });
  return success();
}

//===----------------------------------------------------------------------===//
// Runs of layers
//===----------------------------------------------------------------------===//

void StepConversion::copyRows(Location loc, RowsValue from, RowsValue to) {
  if (from.buffer == to.buffer)
    return;
  WorkShare share = columnShare(to.over, to.columns);
  program.call(loc, kernelName("copy", {to.columns}),
               ElementwiseSpec{to.columns, to.over}, {},
               {{from.buffer, false, share}, {to.buffer, true, share}},
               std::nullopt, [&](OpBuilder &b, Block &block) {
                 Value element = block.addArgument(b.getF32Type(), loc);
                 YieldOp::create(b, loc, element);
               });
}

/// Binds the callee's arguments to what the run passes: weights by layer, the
/// step's arrays, and rows.
LogicalResult StepConversion::bindArguments(const LayerRun &run,
                                            func::FuncOp callee) {
  func::CallOp first = run.calls.front();
  for (auto [index, argument] : llvm::enumerate(callee.getArguments())) {
    Value operand = first.getOperand(index);
    if (auto parameters = run.parameters.find(index);
        parameters != run.parameters.end()) {
      FailureOr<FlatSymbolRefAttr> name =
          program.declareWeight(parameters->second, run.firstLayer);
      if (failed(name))
        return failure();
      weights[argument] = *name;
    } else if (fields.contains(operand)) {
      StepField field = fields.lookup(operand);
      fields[argument] = field;
    } else if (rows.contains(operand)) {
      RowsValue value = rows.lookup(operand);
      if (run.carried.contains(index)) {
        // The loop writes over its value; who needs it later keeps the old.
        if (!endsAt(operand, first)) {
          RowsValue own{
              program.createBuffer(first.getLoc(), tokenBudget, value.columns),
              value.over, value.columns};
          copyRows(first.getLoc(), value, own);
          value = own;
        }
        loopValues.insert(value.buffer);
      }
      rows[argument] = value;
    }
  }
  return success();
}

LogicalResult StepConversion::convertRun(const LayerRun &run) {
  func::CallOp first = run.calls.front();
  auto callee = module.lookupSymbol<func::FuncOp>(first.getCallee());
  Location loc = first.getLoc();
  if (failed(bindArguments(run, callee)))
    return failure();

  std::string label = "layers." + std::to_string(numLoops++);
  program.setLayer(loc, run.firstLayer);
  program.label(loc, label);
  Block &body = callee.getBody().front();
  if (failed(convertBlock(body)))
    return failure();
  Operation *end = body.getTerminator();
  llvm::DenseMap<Value, Value> written; // By buffer: the value it now holds.
  for (auto [operand, result] : run.carried) {
    BlockArgument argument = callee.getArgument(operand);
    if (!rows.contains(argument))
      continue; // The cache.
    Value value = end->getOperand(result);
    FailureOr<RowsValue> next = lookup(end, value);
    if (failed(next))
      return failure();
    RowsValue own = rows.lookup(argument);
    if (written.lookup_or(next->buffer, value) != value)
      return end->emitOpError("hands result ")
             << result << " to the next layer in a buffer that another result "
             << "is copied to; a loop cannot exchange its values";
    copyRows(loc, *next, own);
    rows[value] = own;
    written[own.buffer] = value;
  }
  program.jumpNextLayer(loc, label, run.firstLayer + run.calls.size());

  func::CallOp last = run.calls.back();
  for (auto [result, value] : llvm::zip(last.getResults(), end->getOperands()))
    if (rows.contains(value)) {
      RowsValue bound = rows.lookup(value);
      rows[result] = bound;
    }
  return success();
}

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

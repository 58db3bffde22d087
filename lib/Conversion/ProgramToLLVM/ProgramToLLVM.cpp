//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Conversion/ProgramToLLVM.h"

#include "llmir/ABI/StepFields.h"
#include "llmir/Dialect/MLLM/MLLMGraphOps.h"
#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Dialect/MLLM/MLLMTensorOps.h"
#include "llmir/Dialect/MLLM/ProgramAttrs.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmir::mllm::program;

namespace llmir {

#define GEN_PASS_DEF_CONVERTPROGRAMTOLLVM
#include "llmir/Conversion/Passes.h.inc"

namespace {

/// Emits the native function of one code fragment.
class FragmentLowering {
public:
  FragmentLowering(ModuleOp module, FragmentOp fragment)
      : module(module), fragment(fragment),
        b(fragment.getLoc(), OpBuilder::atBlockEnd(module.getBody())),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  LogicalResult lower();

private:
  LogicalResult lowerOp(Operation &op);
  LogicalResult lower(BufferOp op);
  LogicalResult lower(InstructionOp op);
  LogicalResult lower(LabelOp op);
  LogicalResult lower(JumpNextLayerOp op);
  LogicalResult lower(JumpOp op);
  LogicalResult lower(JumpIfOp op);
  LogicalResult lower(BarrierOp op);
  LogicalResult lower(SetFieldOp op);
  LogicalResult lower(RuntimeCallOp op);

  /// Emits the test whether the step is decode-sized.
  void countTokens();
  /// Selects `decode` in a decode-sized step, otherwise `large`.
  Value selectBySize(Value decode, Value large) {
    return LLVM::SelectOp::create(b, isDecodeSized, decode, large);
  }
  /// Copies the step context for the worker if the program sets fields.
  void copyContext();
  Value i64(int64_t value) {
    return LLVM::ConstantOp::create(b, b.getI64Type(),
                                    b.getI64IntegerAttr(value));
  }
  Value loadField(StepField field) {
    return loadWord(context, static_cast<int32_t>(field));
  }
  /// The address of the eight-byte word `index` at `base`.
  Value wordAddress(Value base, int32_t index) {
    return LLVM::GEPOp::create(b, pointer, b.getI64Type(), base,
                               ArrayRef<LLVM::GEPArg>{index});
  }
  /// Loads the pointer in that word.
  Value loadWord(Value base, int32_t index) {
    return LLVM::LoadOp::create(b, pointer, wordAddress(base, index), 8);
  }
  /// Calls a function of the runtime's table; the first argument is the
  /// caller's context.
  void callRuntime(RuntimeFunction function, ArrayRef<Value> arguments);
  /// Calls `trace` after the next trace site if tracing is enabled.
  void traceSite();
  Value advance(Value base, Value bytes) {
    return LLVM::GEPOp::create(b, pointer, b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{bytes});
  }
  /// The address of the weight of the current layer.
  FailureOr<Value> weightAddress(GetWeightOp op);
  LogicalResult lowerCall(CallOp call, Value ownWorker, Value ownWorkers);
  /// The constant table of a weight's offsets, one per layer.
  LLVM::GlobalOp offsetTable(WeightOp weight);

  ModuleOp module;
  FragmentOp fragment;
  ImplicitLocOpBuilder b;
  Type pointer;
  LLVM::LLVMFuncOp function;
  Value context;       ///< The caller's context.
  Value kernelContext; ///< The context passed to kernels: the caller's, or the
                       ///< copy.
  Value worker, workers, arena, weightBase, layer;
  /// Whether the step is decode-sized, and the address of this worker's own
  /// memory; null if the fragment does not depend on it.
  Value isDecodeSized, ownMemory;
  Value isTraced;                         ///< Whether tracing is enabled.
  int64_t numSites = 0;                   ///< Number of trace sites so far.
  llvm::DenseMap<Value, Value> addresses; ///< Addresses of buffers.
  llvm::StringMap<Block *>
      labels; ///< Blocks, which take the layer register as argument.
  llvm::StringMap<LLVM::GlobalOp> tables;
};

} // namespace

LogicalResult FragmentLowering::lower() {
  Type i64Type = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64Type, i64Type});
  function = LLVM::LLVMFuncOp::create(b, fragment.getSymName(), type);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  context = entry->getArgument(0);
  worker = entry->getArgument(1);
  workers = entry->getArgument(2);
  arena = loadField(StepField::arena);
  weightBase = loadField(StepField::weights);
  Value trace = loadField(StepField::trace);
  Value null = LLVM::ZeroOp::create(b, pointer);
  isTraced = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, trace, null);
  layer = i64(0);
  countTokens();
  copyContext();
  for (auto label : fragment.getBody().getOps<LabelOp>()) {
    Block *block = function.addBlock(); // Jumps may precede it.
    block->addArgument(i64Type, label.getLoc());
    labels[label.getName()] = block;
  }
  for (Operation &op : fragment.getBody().front()) {
    b.setLoc(op.getLoc());
    if (failed(lowerOp(op)))
      return failure();
  }
  fragment.erase();
  return success();
}

LogicalResult FragmentLowering::lowerOp(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<BufferOp, InstructionOp, LabelOp, JumpNextLayerOp, BarrierOp,
            JumpOp, JumpIfOp, SetFieldOp, RuntimeCallOp>(
          [&](auto typed) { return lower(typed); })
      .Case<LogitsOp>([&](LogitsOp logits) {
        addresses[logits.getBuffer()] = loadField(StepField::logits);
        return success();
      })
      .Case<SetLayerOp>([&](SetLayerOp set) {
        layer = i64(set.getLayer());
        return success();
      })
      .Case<EntryPointOp, InputOp, OutputOp>([](auto) { return success(); })
      .Case<ExitOp>([&](auto) {
        LLVM::ReturnOp::create(b, ValueRange());
        return success();
      })
      .Default([](Operation *other) {
        return other->emitOpError("is not allowed in a code fragment");
      });
}

LogicalResult FragmentLowering::lower(BufferOp op) {
  if (!op.getOffset())
    return op.emitOpError("has no offset; run -plan-program-memory first");
  Value &address = addresses[op.getBuffer()];
  address = advance(arena, i64(*op.getOffset()));
  if (!op.getPerWorker())
    return success();
  if (!op.getWorkerOffset())
    return op.emitOpError(
        "has no offset in per-worker memory; run -plan-program-memory first");
  address =
      selectBySize(advance(ownMemory, i64(*op.getWorkerOffset())), address);
  return success();
}

LogicalResult FragmentLowering::lower(LabelOp op) {
  Block *block = labels.lookup(op.getName());
  LLVM::BrOp::create(b, ValueRange{layer}, block);
  function.getBody().getBlocks().splice(function.getBody().end(),
                                        function.getBody().getBlocks(),
                                        block->getIterator());
  b.setInsertionPointToStart(block);
  layer = block->getArgument(0);
  return success();
}

LogicalResult FragmentLowering::lower(JumpNextLayerOp op) {
  Block *after = function.addBlock();
  layer = LLVM::AddOp::create(b, layer, i64(1));
  Value again = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, layer,
                                     i64(op.getLimit()));
  LLVM::CondBrOp::create(b, again, labels.lookup(op.getLabel()),
                         ValueRange{layer}, after, ValueRange{});
  b.setInsertionPointToStart(after);
  return success();
}

LogicalResult FragmentLowering::lower(JumpOp op) {
  LLVM::BrOp::create(b, ValueRange{layer}, labels.lookup(op.getLabel()));
  // Code between a jump and the next label is unreachable.
  b.setInsertionPointToStart(function.addBlock());
  return success();
}

LogicalResult FragmentLowering::lower(JumpIfOp op) {
  Block *after = function.addBlock();
  Value number = LLVM::LoadOp::create(b, b.getI32Type(),
                                      addresses.lookup(op.getCondition()), 4);
  Value zero = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(0));
  Value jumps = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, number, zero);
  LLVM::CondBrOp::create(b, jumps, labels.lookup(op.getLabel()),
                         ValueRange{layer}, after, ValueRange{});
  b.setInsertionPointToStart(after);
  return success();
}

LogicalResult FragmentLowering::lower(BarrierOp op) {
  if (!op.getUnlessDecode() && !op.getIfSplit()) {
    callRuntime(RuntimeFunction::barrier, worker);
    traceSite();
    return success();
  }
  Block *wait = function.addBlock(), *after = function.addBlock();
  Value passes = isDecodeSized;
  if (op.getIfSplit()) {
    Value split = LLVM::LoadOp::create(
        b, b.getI64Type(),
        wordAddress(context, static_cast<int32_t>(StepField::split_attention)),
        8);
    passes = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, split, i64(0));
  }
  LLVM::CondBrOp::create(b, passes, after, wait);
  b.setInsertionPointToStart(wait);
  callRuntime(RuntimeFunction::barrier, worker);
  traceSite(); // Only if the barrier is executed.
  LLVM::BrOp::create(b, ValueRange(), after);
  b.setInsertionPointToStart(after);
  return success();
}

//===----------------------------------------------------------------------===//
// The step context and the runtime's functions
//===----------------------------------------------------------------------===//

void FragmentLowering::countTokens() {
  auto limit = fragment->getAttrOfType<IntegerAttr>(kDecodeTokensAttr);
  if (!limit)
    return;
  auto bytesOf = [&](StringRef name) -> int64_t {
    auto bytes = fragment->getAttrOfType<IntegerAttr>(name);
    return bytes ? bytes.getInt() : 0;
  };
  Value tokens = LLVM::LoadOp::create(
      b, b.getI64Type(),
      wordAddress(context, static_cast<int32_t>(StepField::num_tokens)), 8);
  isDecodeSized = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sle, tokens,
                                       i64(limit.getInt()));
  // The memory of the workers follows the arena.
  Value before = LLVM::MulOp::create(b, worker, i64(bytesOf(kWorkerBytesAttr)));
  ownMemory = advance(advance(arena, i64(bytesOf(kArenaBytesAttr))), before);
}

void FragmentLowering::copyContext() {
  kernelContext = context;
  if (fragment.getBody().front().getOps<SetFieldOp>().empty())
    return;
  kernelContext = LLVM::AllocaOp::create(b, pointer, b.getI64Type(),
                                         i64(kNumStepFields), 8);
  for (int32_t field = 0; field < kNumStepFields; ++field) {
    Value value = loadWord(context, field);
    LLVM::StoreOp::create(b, value, wordAddress(kernelContext, field), 8);
  }
}

LogicalResult FragmentLowering::lower(SetFieldOp op) {
  auto field = static_cast<int32_t>(op.getField());
  Value value = op.getRestored() ? loadWord(context, field)
                : op.getBuffer() ? addresses.lookup(op.getBuffer())
                                 : i64(*op.getValue());
  LLVM::StoreOp::create(b, value, wordAddress(kernelContext, field), 8);
  return success();
}

void FragmentLowering::callRuntime(RuntimeFunction function,
                                   ArrayRef<Value> arguments) {
  Value table = loadField(StepField::runtime);
  SmallVector<Value> operands{loadWord(table, static_cast<int32_t>(function)),
                              context};
  SmallVector<Type> types{pointer};
  for (auto [argument, parameter] :
       llvm::zip_equal(arguments, runtimeSignature(function))) {
    operands.push_back(argument);
    types.push_back(parameter == RuntimeParameter::Pointer ? pointer
                    : parameter == RuntimeParameter::Real
                        ? Type(b.getF64Type())
                        : Type(b.getI64Type()));
  }
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), types);
  LLVM::CallOp::create(b, type, operands);
}

void FragmentLowering::traceSite() {
  Block *call = function.addBlock(), *after = function.addBlock();
  // The code for tracing is placed out of line.
  LLVM::CondBrOp::create(b, isTraced, call, ValueRange(), after, ValueRange(),
                         std::pair<uint32_t, uint32_t>(1, 1 << 20));
  b.setInsertionPointToStart(call);
  callRuntime(RuntimeFunction::trace, {worker, i64(numSites++), layer});
  LLVM::BrOp::create(b, ValueRange(), after);
  b.setInsertionPointToStart(after);
}

LogicalResult FragmentLowering::lower(RuntimeCallOp op) {
  SmallVector<Value> arguments;
  auto buffers = op.getBuffers().begin();
  auto numbers = op.getNumbers().begin();
  Block *call = function.addBlock(), *after = function.addBlock();
  Value isFirst =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, worker, i64(0));
  LLVM::CondBrOp::create(b, isFirst, call, after);
  b.setInsertionPointToStart(call);
  for (RuntimeParameter parameter : runtimeSignature(op.getRuntimeFunction()))
    arguments.push_back(
        parameter == RuntimeParameter::Pointer
            ? addresses.lookup(*buffers++)
            : LLVM::ConstantOp::create(b, cast<TypedAttr>(*numbers++)));
  callRuntime(op.getRuntimeFunction(), arguments);
  LLVM::BrOp::create(b, ValueRange(), after);
  b.setInsertionPointToStart(after);
  traceSite();
  return success();
}

//===----------------------------------------------------------------------===//
// Weights and kernels
//===----------------------------------------------------------------------===//

LLVM::GlobalOp FragmentLowering::offsetTable(WeightOp weight) {
  LLVM::GlobalOp &table = tables[weight.getSymName()];
  if (table)
    return table;
  ArrayRef<int64_t> offsets = weight.getOffsets();
  auto type = LLVM::LLVMArrayType::get(b.getI64Type(), offsets.size());
  auto values = DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(offsets.size())},
                            b.getI64Type()),
      offsets);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(function);
  table = LLVM::GlobalOp::create(
      b, type, /*isConstant=*/true, LLVM::Linkage::Internal,
      ("offsets." + weight.getSymName()).str(), values);
  return table;
}

FailureOr<Value> FragmentLowering::weightAddress(GetWeightOp op) {
  WeightOp weight = findWeight(module, op);
  if (!weight)
    return op.emitOpError("references the unknown weight ")
           << op.getWeightAttr();
  if (weight.getOffsets().size() == 1)
    return advance(weightBase, i64(weight.getOffsets().front()));
  Value table = LLVM::AddressOfOp::create(b, offsetTable(weight));
  Value row = LLVM::SubOp::create(b, layer, i64(weight.getFirstLayer()));
  Value entry = LLVM::GEPOp::create(b, pointer, b.getI64Type(), table,
                                    ArrayRef<LLVM::GEPArg>{row});
  Value offset = LLVM::LoadOp::create(b, b.getI64Type(), entry, 8);
  return advance(weightBase, offset);
}

LogicalResult FragmentLowering::lower(InstructionOp op) {
  Value ownWorker = worker, ownWorkers = workers;
  if (op.getReplicated()) { // As for a single layer.
    ownWorker = selectBySize(i64(0), worker);
    ownWorkers = selectBySize(i64(1), workers);
  }
  for (Operation &each : op.getBody().front()) {
    b.setLoc(each.getLoc());
    if (auto call = dyn_cast<CallOp>(each)) {
      if (failed(lowerCall(call, ownWorker, ownWorkers)))
        return failure();
    } else if (isa<mllm::kernel::KernelOpInterface>(each)) {
      return each.emitOpError(
          "has no generated function; run -emit-kernels first");
    }
  }
  return success();
}

LogicalResult FragmentLowering::lowerCall(CallOp call, Value ownWorker,
                                          Value ownWorkers) {
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(call.getCalleeAttr());
  if (!callee)
    return call.emitOpError("calls ") << call.getCalleeAttr()
                                      << ", which is not an LLVM function; "
                                         "lower the generated functions first";
  SmallVector<Value> operands{kernelContext, ownWorker, ownWorkers, layer};
  for (Value operand : call.getArguments()) {
    auto weight = operand.getDefiningOp<GetWeightOp>();
    FailureOr<Value> address =
        weight ? weightAddress(weight) : addresses.lookup(operand);
    if (failed(address))
      return failure();
    operands.push_back(*address);
  }
  LLVM::CallOp::create(b, callee, operands);
  traceSite();
  return success();
}

namespace {
struct ConvertProgramToLLVMPass
    : impl::ConvertProgramToLLVMBase<ConvertProgramToLLVMPass> {
  using ConvertProgramToLLVMBase::ConvertProgramToLLVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto kernel : module.getOps<LLVM::LLVMFuncOp>())
      kernel.setLinkage(LLVM::Linkage::Internal);
    auto fragments = llvm::to_vector(module.getOps<FragmentOp>());
    if (auto models = module.getOps<mllm::SubGraphOp>();
        fragments.empty() && !models.empty()) {
      (*models.begin())
          .emitOpError(
              "is a model, and the module has no program; -convert-mllm-to-llm "
              "and -convert-llm-to-program create "
              "one");
      return signalPassFailure();
    }
    for (FragmentOp fragment : fragments)
      if (fragment.getKind() == FragmentKind::Code &&
          failed(FragmentLowering(module, fragment).lower()))
        return signalPassFailure();
    // The remaining ops describe data, which the packer has already read.
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (isa<FragmentOp, mllm::RegisterOp>(op))
        op.erase();
  }
};
} // namespace

} // namespace llmir

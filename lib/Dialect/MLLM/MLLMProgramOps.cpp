//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers of the program level.
//
//===----------------------------------------------------------------------===//

#include "ProgramAssembly.h"

#include "llmir/Dialect/MLLM/KernelSpec.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/ProgramAttrs.h"

using namespace mlir;

namespace llmir::mllm::program {

//===----------------------------------------------------------------------===//
// FragmentOp
//===----------------------------------------------------------------------===//

/// c1: buffers, then one entry_point, then code that ends with exit.
static LogicalResult verifyCode(FragmentOp fragment) {
  Block &block = fragment.getBody().front();
  int64_t entries = 0;
  for (Operation &op : block) {
    if (isa<EntryPointOp>(op))
      ++entries;
    else if (entries == 0 && !isa<BufferOp, LogitsOp, InputOp>(op))
      return op.emitOpError("stands before the entry_point of code fragment '")
             << fragment.getSymName() << "', where only buffers and inputs may";
  }
  if (entries != 1)
    return fragment.emitOpError("code needs one entry_point, found ")
           << entries;
  if (!isa<ExitOp>(block.back()))
    return fragment.emitOpError("code must end with mllm.program.exit");
  return success();
}

/// Whether what the op does depends on how many tokens a step has.
static bool speaksOfFewTokens(Operation &op) {
  if (auto buffer = dyn_cast<BufferOp>(op))
    return buffer.getPerWorker();
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return barrier.getUnlessFew();
  auto instruction = dyn_cast<InstructionOp>(op);
  return instruction && instruction.getReplicated();
}

/// c4: how many tokens are few must be said.
static LogicalResult verifyFewTokens(FragmentOp fragment) {
  if (fragment->hasAttrOfType<IntegerAttr>(kFewTokensAttr))
    return success();
  for (Operation &op : fragment.getBody().front())
    if (speaksOfFewTokens(op))
      return op.emitOpError("speaks of a step of few tokens in code fragment '")
             << fragment.getSymName() << "', which has no '" << kFewTokensAttr
             << "'";
  return success();
}

template <typename... Allowed>
static LogicalResult verifyHoldsOnly(FragmentOp fragment, StringRef what) {
  for (Operation &op : fragment.getBody().front())
    if (!isa<Allowed...>(op))
      return op.emitOpError("cannot stand in a fragment of ")
             << stringifyFragmentKind(fragment.getKind()) << ", which holds "
             << what << " only";
  return success();
}

LogicalResult FragmentOp::verify() {
  if (getKind() == FragmentKind::Code) {
    if (getBody().front().empty())
      return emitOpError("code needs one entry_point, found 0");
    return failed(verifyCode(*this)) ? failure() : verifyFewTokens(*this);
  }
  if (getKind() == FragmentKind::Data)
    return verifyHoldsOnly<WeightOp, ConstantOp>(
        *this, "mllm.program.weight and mllm.program.constant");
  return verifyHoldsOnly<KernelOp>(*this, "mllm.program.kernel");
}

//===----------------------------------------------------------------------===//
// WeightOp
//===----------------------------------------------------------------------===//

LogicalResult WeightOp::verify() {
  if (getOffsets().empty() || getOffsets().size() != getSources().size())
    return emitOpError("has ")
           << getSources().size() << " sources and " << getOffsets().size()
           << " offsets; each source needs one offset, and one is the least";
  for (int64_t offset : getOffsets())
    if (offset < 0 || offset % 64 != 0)
      return emitOpError("offset ")
             << offset << " is not a non-negative multiple of 64";
  return success();
}

//===----------------------------------------------------------------------===//
// InputOp, OutputOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyColumns(Operation *op, Value buffer,
                                   int64_t columns) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t stored = type.getRank() == 0 ? 1 : type.getShape().back();
  if (columns < 0 || columns > stored)
    return op->emitOpError("has ")
           << columns << " columns in a buffer of " << stored;
  return success();
}

LogicalResult InputOp::verify() {
  return verifyColumns(*this, getBuffer(), getColumns());
}

LogicalResult OutputOp::verify() {
  return verifyColumns(*this, getBuffer(), getColumns());
}

//===----------------------------------------------------------------------===//
// SetFieldOp, RuntimeCallOp
//===----------------------------------------------------------------------===//

/// Reads one of the `count` names of an enum as its number.
template <typename Enum>
static ParseResult parseEnumName(OpAsmParser &parser, IntegerAttr &number,
                                 int count, const char *(*nameOf)(Enum),
                                 const char *what) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  for (int i = 0; i < count; ++i)
    if (name == nameOf(static_cast<Enum>(i))) {
      number = parser.getBuilder().getI64IntegerAttr(i);
      return success();
    }
  return parser.emitError(loc) << "unknown " << what << " '" << name << "'";
}

ParseResult parseStepFieldName(OpAsmParser &parser, IntegerAttr &field) {
  return parseEnumName(parser, field, kNumStepFields, stepFieldName,
                       "field of the step context");
}

void printStepFieldName(OpAsmPrinter &printer, Operation *, IntegerAttr field) {
  printer << stepFieldName(static_cast<StepField>(field.getInt()));
}

ParseResult parseRuntimeFunctionName(OpAsmParser &parser,
                                     IntegerAttr &function) {
  return parseEnumName(parser, function, kNumRuntimeFunctions,
                       runtimeFunctionName, "function of the runtime");
}

void printRuntimeFunctionName(OpAsmPrinter &printer, Operation *,
                              IntegerAttr function) {
  printer << runtimeFunctionName(
      static_cast<RuntimeFunction>(function.getInt()));
}

void SetFieldOp::build(OpBuilder &builder, OperationState &state,
                       StepField field, int64_t value) {
  build(builder, state, static_cast<int64_t>(field),
        builder.getI64IntegerAttr(value), Value(), /*restored=*/false);
}

void SetFieldOp::build(OpBuilder &builder, OperationState &state,
                       StepField field, Value buffer) {
  build(builder, state, static_cast<int64_t>(field), IntegerAttr(), buffer,
        /*restored=*/false);
}

void SetFieldOp::build(OpBuilder &builder, OperationState &state,
                       StepField field) {
  build(builder, state, static_cast<int64_t>(field), IntegerAttr(), Value(),
        /*restored=*/true);
}

LogicalResult SetFieldOp::verify() {
  if (getField() >= static_cast<uint64_t>(kNumStepFields))
    return emitOpError("sets field ")
           << getField() << "; the step context has " << kNumStepFields;
  StepField field = getStepField();
  if (field == StepField::runtime || field == StepField::arena ||
      field == StepField::weights || field == StepField::state ||
      field == StepField::trace)
    return emitOpError("sets '")
           << stepFieldName(field) << "', which belongs to the caller";
  bool pointer = isPointerField(field);
  bool isSet =
      pointer ? static_cast<bool>(getBuffer()) : getValue().has_value();
  bool isOther =
      pointer ? getValue().has_value() : static_cast<bool>(getBuffer());
  if (isOther || isSet == getRestored())
    return emitOpError("'") << stepFieldName(field) << "' needs "
                            << (pointer ? "a buffer" : "a number")
                            << " or to be restored, and nothing else";
  return success();
}

LogicalResult RuntimeCallOp::verify() {
  if (getFunction() >= static_cast<uint64_t>(kNumRuntimeFunctions))
    return emitOpError("calls function ")
           << getFunction() << "; the runtime has " << kNumRuntimeFunctions;
  RuntimeFunction function = getRuntimeFunction();
  if (function == RuntimeFunction::barrier)
    return emitOpError("calls 'barrier', which every worker calls: use "
                       "mllm.program.barrier");
  if (function == RuntimeFunction::trace)
    return emitOpError("calls 'trace', which the lowering to LLVM does where "
                       "code is traced");
  SmallVector<RuntimeParameter> numbers;
  size_t pointers = 0;
  for (RuntimeParameter parameter : runtimeSignature(function)) {
    if (parameter == RuntimeParameter::Pointer)
      ++pointers;
    else
      numbers.push_back(parameter);
  }
  if (getBuffers().size() != pointers)
    return emitOpError("passes ")
           << getBuffers().size() << " buffers to '"
           << runtimeFunctionName(function) << "', which takes " << pointers;
  if (getNumbers().size() != numbers.size())
    return emitOpError("passes ") << getNumbers().size() << " numbers to '"
                                  << runtimeFunctionName(function)
                                  << "', which takes " << numbers.size();
  for (auto [index, number, wanted] : llvm::enumerate(getNumbers(), numbers)) {
    auto typed = dyn_cast<TypedAttr>(number);
    bool real = wanted == RuntimeParameter::Real;
    if (!typed || !(real ? typed.getType().isF64()
                         : typed.getType().isSignlessInteger(64)))
      return emitOpError("number ") << index << " is " << number << ", but '"
                                    << runtimeFunctionName(function)
                                    << "' takes " << (real ? "f64" : "i64");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// JumpNextLayerOp
//===----------------------------------------------------------------------===//

LogicalResult JumpNextLayerOp::verify() {
  for (LabelOp label : (*this)->getBlock()->getOps<LabelOp>())
    if (label.getName() == getLabel())
      return success();
  return emitOpError("jumps to label \"")
         << getLabel() << "\", which this fragment lacks";
}

//===----------------------------------------------------------------------===//
// InstructionOp
//===----------------------------------------------------------------------===//

/// Looks a symbol up in every fragment of the enclosing module.
template <typename SymbolOp>
static SymbolOp lookupInFragments(SymbolTableCollection &tables,
                                  ModuleOp module, FlatSymbolRefAttr name) {
  for (FragmentOp fragment : module.getOps<FragmentOp>())
    if (auto op = tables.lookupSymbolIn<SymbolOp>(fragment, name.getAttr()))
      return op;
  return nullptr;
}

LogicalResult InstructionOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto module = (*this)->getParentOfType<ModuleOp>();
  for (auto name : getWeights().getAsRange<FlatSymbolRefAttr>())
    if (!lookupInFragments<WeightOp>(tables, module, name))
      return emitOpError("uses weight ")
             << name << ", which no data fragment declares";
  auto kernel = lookupInFragments<KernelOp>(tables, module, getKernelAttr());
  if (!kernel) {
    // Emitted kernels are functions; their signature says what they take.
    if (tables.lookupSymbolIn(module, getKernelAttr().getAttr()))
      return success();
    return emitOpError("calls kernel ")
           << getKernelAttr()
           << ", which neither a text fragment nor the module defines";
  }
  ArrayAttr expected = kernel.getOperandTypes();
  if (expected.size() != getBuffers().size())
    return emitOpError("passes ")
           << getBuffers().size() << " buffers to " << getKernelAttr()
           << ", which takes " << expected.size();
  for (auto [index, buffer, type] :
       llvm::enumerate(getBuffers(), expected.getAsValueRange<TypeAttr>()))
    if (buffer.getType() != type)
      return emitOpError("buffer ")
             << index << " is " << buffer.getType() << ", but "
             << getKernelAttr() << " takes " << type;
  if (!getReplicated())
    return success();
  for (Value written : getBuffers().take_back(
           std::min<size_t>(countOutputs(kernel), getBuffers().size())))
    if (auto buffer = written.getDefiningOp<BufferOp>();
        !buffer || !buffer.getPerWorker())
      return emitOpError("is replicated and writes a buffer that is not "
                         "per_worker, so that workers would write over each "
                         "other's");
  return success();
}

} // namespace llmir::mllm::program

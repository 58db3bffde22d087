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

#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Dialect/MLLM/ProgramAttrs.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

#include "llmir/Dialect/MLLM/MLLMProgramEnums.cpp.inc"
#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMProgramOps.cpp.inc"

void llmir::mllm::MLLMDialect::addProgramOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMProgramOps.cpp.inc"
      >();
}

namespace llmir::mllm::program {

//===----------------------------------------------------------------------===//
// FragmentOp
//===----------------------------------------------------------------------===//

/// Rule c1: buffers, then one entry_point, then code that ends with exit.
static LogicalResult verifyCode(FragmentOp fragment) {
  Block &block = fragment.getBody().front();
  int64_t entries = 0;
  for (Operation &op : block) {
    if (isa<EntryPointOp>(op))
      ++entries;
    else if (entries == 0 && !isa<BufferOp, LogitsOp, InputOp>(op))
      return op.emitOpError("is before the entry_point of code fragment '")
             << fragment.getSymName()
             << "', where only buffers and inputs are allowed";
  }
  if (entries != 1)
    return fragment.emitOpError("code needs one entry_point, found ")
           << entries;
  if (!isa<ExitOp>(block.back()))
    return fragment.emitOpError("code must end with mllm.program.exit");
  return success();
}

/// Whether the op behaves differently in decode-sized steps.
static bool dependsOnDecodeTokens(Operation &op) {
  if (auto buffer = dyn_cast<BufferOp>(op))
    return buffer.getPerWorker();
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return barrier.getUnlessDecode();
  auto instruction = dyn_cast<InstructionOp>(op);
  return instruction && instruction.getReplicated();
}

/// Rule c4: decode-sized steps must be defined.
static LogicalResult verifyDecodeTokens(FragmentOp fragment) {
  if (fragment->hasAttrOfType<IntegerAttr>(kDecodeTokensAttr))
    return success();
  for (Operation &op : fragment.getBody().front())
    if (dependsOnDecodeTokens(op))
      return op.emitOpError("refers to decode-sized steps in code fragment '")
             << fragment.getSymName() << "', which has no '"
             << kDecodeTokensAttr << "'";
  return success();
}

/// Rule c5: labels are unique.
static LogicalResult verifyLabels(FragmentOp fragment) {
  llvm::StringMap<LabelOp> known;
  for (LabelOp label : fragment.getBody().front().getOps<LabelOp>()) {
    auto [first, isNew] = known.try_emplace(label.getName(), label);
    if (isNew)
      continue;
    InFlightDiagnostic diag =
        label.emitOpError("is defined twice in code fragment '")
        << fragment.getSymName() << "' with the name \"" << label.getName()
        << "\"";
    diag.attachNote(first->second.getLoc()) << "first defined here";
    return diag;
  }
  return success();
}

/// Rule c6: different values must not alias.
static LogicalResult verifyLogits(FragmentOp fragment) {
  auto all = fragment.getBody().front().getOps<LogitsOp>();
  if (llvm::range_size(all) < 2)
    return success();
  InFlightDiagnostic diag =
      (*std::next(all.begin())).emitOpError("is the second in code fragment '")
      << fragment.getSymName() << "'; there is one buffer of logits";
  diag.attachNote((*all.begin()).getLoc()) << "first defined here";
  return diag;
}

template <typename... Allowed>
static LogicalResult verifyHoldsOnly(FragmentOp fragment, StringRef what) {
  for (Operation &op : fragment.getBody().front())
    if (!isa<Allowed...>(op))
      return op.emitOpError("is not allowed in a fragment of ")
             << stringifyFragmentKind(fragment.getKind()) << ", which contains "
             << what << " only";
  return success();
}

LogicalResult FragmentOp::verifyRegions() {
  if (getKind() == FragmentKind::Code) {
    if (getBody().front().empty())
      return emitOpError("code needs one entry_point, found 0");
    if (failed(verifyCode(*this)) || failed(verifyLabels(*this)) ||
        failed(verifyLogits(*this)))
      return failure();
    return verifyDecodeTokens(*this);
  }
  if (getKind() == FragmentKind::Data) // c2
    return verifyHoldsOnly<WeightOp, ConstantOp>(
        *this, "mllm.program.weight and mllm.program.constant");
  return verifyHoldsOnly<ConstantOp>(*this, "mllm.program.constant"); // c3
}

ParseResult parseFragmentKind(OpAsmParser &parser, FragmentKindAttr &kind) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<FragmentKind> known =
      name == "table" ? FragmentKind::Text : symbolizeFragmentKind(name);
  if (!known)
    return parser.emitError(loc)
           << "unknown fragment kind '" << name
           << "'; expected code, data or text (or table, a synonym of text)";
  kind = FragmentKindAttr::get(parser.getContext(), *known);
  return success();
}

void printFragmentKind(OpAsmPrinter &printer, Operation *,
                       FragmentKindAttr kind) {
  printer << stringifyFragmentKind(kind.getValue());
}

//===----------------------------------------------------------------------===//
// WeightOp
//===----------------------------------------------------------------------===//

LogicalResult WeightOp::verify() {
  if (getOffsets().empty() || getOffsets().size() != getSources().size()) // c1
    return emitOpError("has ")
           << getSources().size() << " sources and " << getOffsets().size()
           << " offsets; expected one offset for each source, and at least one "
              "source";
  for (int64_t offset : getOffsets())
    if (offset < 0 || offset % 64 != 0) // c2
      return emitOpError("offset ")
             << offset << " is not a non-negative multiple of 64";
  // c3, c4, c5
  if (auto problem = problemOfStoredPlace(getShape(), getSlice(),
                                          getTransposed(), getSlicesColumns()))
    return emitOpError(*problem);
  return success();
}

//===----------------------------------------------------------------------===//
// InputOp, OutputOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyColumns(Operation *op, Value buffer,
                                   int64_t columns) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t stored = type.getRank() == 0 ? 1 : type.getShape().back();
  if (columns < 0 || columns > stored) // c1
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

/// Parses one of the `count` names of an enum as its value.
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
  if (getField() >= static_cast<uint64_t>(kNumStepFields)) // c1
    return emitOpError("sets field ")
           << getField() << "; the step context has " << kNumStepFields;
  StepField field = getStepField();
  if (field == StepField::runtime || field == StepField::arena ||
      field == StepField::weights || field == StepField::state ||
      field == StepField::trace) // c1
    return emitOpError("sets '")
           << stepFieldName(field) << "', which is owned by the caller";
  bool pointer = isPointerField(field);
  bool isSet =
      pointer ? static_cast<bool>(getBuffer()) : getValue().has_value();
  bool isOther =
      pointer ? getValue().has_value() : static_cast<bool>(getBuffer());
  if (isOther || isSet == getRestored()) // c2
    return emitOpError("'") << stepFieldName(field) << "' needs "
                            << (pointer ? "a buffer" : "an integer")
                            << " or 'restored', and nothing else";
  return success();
}

LogicalResult RuntimeCallOp::verify() {
  if (getFunction() >= static_cast<uint64_t>(kNumRuntimeFunctions)) // c1
    return emitOpError("calls function ")
           << getFunction() << "; the runtime has " << kNumRuntimeFunctions;
  RuntimeFunction function = getRuntimeFunction();
  if (function == RuntimeFunction::barrier) // c1
    return emitOpError("calls 'barrier', which every worker must call: use "
                       "mllm.program.barrier");
  if (function == RuntimeFunction::trace) // c1
    return emitOpError(
        "calls 'trace', which only the lowering to LLVM inserts");
  SmallVector<RuntimeParameter> numbers;
  size_t pointers = 0;
  for (RuntimeParameter parameter : runtimeSignature(function)) {
    if (parameter == RuntimeParameter::Pointer)
      ++pointers;
    else
      numbers.push_back(parameter);
  }
  if (getBuffers().size() != pointers) // c2
    return emitOpError("passes ")
           << getBuffers().size() << " buffers to '"
           << runtimeFunctionName(function) << "', which takes " << pointers;
  if (getNumbers().size() != numbers.size()) // c3
    return emitOpError("passes ") << getNumbers().size() << " scalars to '"
                                  << runtimeFunctionName(function)
                                  << "', which takes " << numbers.size();
  for (auto [index, number, wanted] : llvm::enumerate(getNumbers(), numbers)) {
    auto typed = dyn_cast<TypedAttr>(number);
    bool real = wanted == RuntimeParameter::Real;
    if (!typed || !(real ? typed.getType().isF64()
                         : typed.getType().isSignlessInteger(64))) // c3
      return emitOpError("scalar ") << index << " is " << number << ", but '"
                                    << runtimeFunctionName(function)
                                    << "' takes " << (real ? "f64" : "i64");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Jumps
//===----------------------------------------------------------------------===//

/// Rule c1 of each jump.
static LogicalResult verifyLabel(Operation *jump, StringRef name) {
  for (LabelOp label : jump->getBlock()->getOps<LabelOp>())
    if (label.getName() == name)
      return success();
  return jump->emitOpError("jumps to label \"")
         << name << "\", which is not in this fragment";
}

LogicalResult JumpNextLayerOp::verify() {
  return verifyLabel(*this, getLabel());
}

LogicalResult JumpOp::verify() { return verifyLabel(*this, getLabel()); }

LogicalResult JumpIfOp::verify() {
  if (failed(verifyLabel(*this, getLabel())))
    return failure();
  auto type = cast<MemRefType>(getCondition().getType());
  if (!type.getElementType().isSignlessInteger(32) ||
      type.getNumElements() == 0) // c2
    return emitOpError("needs a condition of type i32, not ") << type;
  if (auto buffer = getCondition().getDefiningOp<BufferOp>();
      buffer && buffer.getPerWorker()) // c3
    return emitOpError(
        "has a per_worker condition, so workers could take different branches");
  return success();
}

//===----------------------------------------------------------------------===//
// InstructionOp
//===----------------------------------------------------------------------===//

/// Rule c2: workers do not overwrite each other's results.
static LogicalResult verifyReplicated(kernel::KernelOpInterface op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!op.writesOperand(operand))
      continue;
    auto buffer = operand.get().getDefiningOp<BufferOp>();
    if (!buffer || !buffer.getPerWorker())
      return op->emitOpError(
          "is in a replicated instruction and writes a buffer that is not "
          "per_worker, so workers would overwrite each other's results");
  }
  return success();
}

LogicalResult InstructionOp::verifyRegions() {
  // c1; c2 is that of verifyReplicated.
  bool runsAny = false;
  for (Operation &op : getBody().front()) {
    auto kernel = dyn_cast<kernel::KernelOpInterface>(op);
    if (!kernel && !isa<GetWeightOp, CallOp>(op)) // c1
      return op.emitOpError(
          "is not allowed in an instruction, which contains only "
          "mllm.program.get_weight, kernels, and mllm.program.call");
    runsAny |= !isa<GetWeightOp>(op);
    if (kernel && getReplicated() && failed(verifyReplicated(kernel)))
      return failure();
  }
  if (!runsAny) // c1
    return emitOpError("contains neither a kernel nor a call");
  return success();
}

SmallVector<kernel::KernelOpInterface> kernelsOf(InstructionOp op) {
  return llvm::to_vector(
      op.getBody().front().getOps<kernel::KernelOpInterface>());
}

int64_t numTraceSites(Operation &op) {
  if (isa<BarrierOp, RuntimeCallOp>(op))
    return 1;
  auto instruction = dyn_cast<InstructionOp>(op);
  if (!instruction)
    return 0;
  return llvm::count_if(instruction.getBody().front(), [](Operation &inner) {
    return isa<kernel::KernelOpInterface, CallOp>(inner);
  });
}

WeightOp findWeight(ModuleOp module, GetWeightOp op) {
  for (FragmentOp fragment : module.getOps<FragmentOp>())
    if (auto weight = dyn_cast_or_null<WeightOp>(SymbolTable::lookupSymbolIn(
            fragment, op.getWeightAttr().getAttr())))
      return weight;
  return nullptr;
}

StringRef labelOf(Operation *kernel) {
  if (auto label = kernel->getAttrOfType<StringAttr>(kLabelAttr))
    return label.getValue();
  StringRef name = kernel->getName().stripDialect();
  name.consume_front("kernel.");
  return name;
}

//===----------------------------------------------------------------------===//
// GetWeightOp, CallOp
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

/// The type of a packed weight in an instruction.
static MemRefType typeOfWeight(WeightOp weight) {
  Builder b(weight.getContext());
  const int64_t bytes = weight.getBytes();
  if (weight.getLayout() == "vector")
    return MemRefType::get({bytes / 4}, b.getF32Type());
  return MemRefType::get({bytes}, b.getI8Type());
}

LogicalResult GetWeightOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto module = (*this)->getParentOfType<ModuleOp>();
  auto weight =
      module ? lookupInFragments<WeightOp>(tables, module, getWeightAttr())
             : WeightOp();
  if (!weight) // c1
    return emitOpError("gets weight ")
           << getWeightAttr() << ", which is not declared in a data fragment";
  // The weight's own verifier may not have seen it yet.
  IntegerAttr bytes = weight.getBytesAttr();
  if (!bytes.getType().isSignlessInteger(64) || // c2
      bytes.getInt() < 0 || getValue().getType() != typeOfWeight(weight)) {
    InFlightDiagnostic diag = emitOpError("is ")
                              << getValue().getType() << ", but "
                              << getWeightAttr() << " has "
                              << llvm::toString(bytes.getValue(), 10,
                                                /*Signed=*/true)
                              << " bytes in layout \"" << weight.getLayout()
                              << "\"";
    diag.attachNote(weight.getLoc()) << "weight declared here";
    return diag;
  }
  return success();
}

/// The step context, the worker, the number of workers and the layer register.
static constexpr size_t kImplicitArguments = 4;

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto module = (*this)->getParentOfType<ModuleOp>();
  auto callee = module ? dyn_cast_or_null<FunctionOpInterface>(
                             tables.lookupSymbolIn(module, getCalleeAttr()))
                       : FunctionOpInterface();
  if (!callee) // c1
    return emitOpError("calls ")
           << getCalleeAttr() << ", which is not a function of the module";
  const size_t takes = callee.getNumArguments();
  const size_t passes = getArguments().size() + kImplicitArguments;
  if (takes != passes) // c1
    return emitOpError("passes ")
           << passes << " arguments to " << getCalleeAttr() << ", "
           << kImplicitArguments << " of which are implicit; it takes "
           << takes;
  return success();
}

//===----------------------------------------------------------------------===//
// YieldOp
//===----------------------------------------------------------------------===//

LogicalResult YieldOp::verify() {
  if (isa_and_nonnull<kernel::KernelOpInterface>((*this)->getParentOp()))
    return success();
  return emitOpError("does not terminate the region of a kernel"); // c1
}

} // namespace llmir::mllm::program

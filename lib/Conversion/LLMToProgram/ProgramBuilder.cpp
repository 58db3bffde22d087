//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"

#include "llmir/Dialect/MLLM/ProgramAttrs.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "llmir/Support/PackedLayout.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace llmir {

/// Creates a fragment at the end of the module, with an empty block.
static FragmentOp createFragment(ModuleOp module, StringRef name,
                                 FragmentKind kind) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto fragment = FragmentOp::create(builder, module.getLoc(), name, kind);
  fragment.getBody().emplaceBlock();
  return fragment;
}

ProgramBuilder::ProgramBuilder(ModuleOp module)
    : module(module), weights(module.getContext()),
      buffers(module.getContext()), code(module.getContext()) {
  weightFragment = createFragment(module, "weights", FragmentKind::Data);
  codeFragment = createFragment(module, "llmir_step", FragmentKind::Code);
  weights.setInsertionPointToEnd(&weightFragment.getBody().front());
  code.setInsertionPointToEnd(&codeFragment.getBody().front());
  auto entry = EntryPointOp::create(code, module.getLoc());
  buffers.setInsertionPoint(entry);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Sizes are at least 1, even if the buffer is never read.
static MemRefType rowsType(OpBuilder &builder, int64_t rows, int64_t columns,
                           Type element = Type()) {
  if (!element)
    element = builder.getF32Type();
  return MemRefType::get({std::max<int64_t>(rows, 1),
                          roundUpTo(std::max<int64_t>(columns, 1), kTileRows)},
                         element);
}

Value ProgramBuilder::createBuffer(Location loc, int64_t rows, int64_t columns,
                                   Type element) {
  return BufferOp::create(
      buffers, loc, rowsType(buffers, rows, columns, element), IntegerAttr());
}

Value ProgramBuilder::createLogits(Location loc, int64_t rows,
                                   int64_t columns) {
  return LogitsOp::create(buffers, loc, rowsType(buffers, rows, columns));
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static FailureOr<TensorFormat> storedFormat(mllm::RegisterOp parameter) {
  if (auto format = mllm::storedFormat(parameter.getType()))
    return *format;
  return parameter.emitOpError("has the type ")
         << parameter.getType() << ", which is not a storage format";
}

/// The size in bytes of one packed weight: as integers, or in its stored
/// format.
static int64_t packedBytes(TensorFormat format,
                           std::optional<IntegerFormat> integers,
                           ArrayRef<int64_t> shape) {
  if (shape.size() == 1)
    return packedVectorBytes(shape[0]);
  // Rank 3: the consecutive matrices of experts.
  int64_t matrices = shape.size() == 3 ? shape[0] : 1;
  int64_t rows = shape.take_back(2).front(), columns = shape.back();
  return matrices * (integers
                         ? IntegerMatrixLayout{*integers, rows, columns}.bytes()
                         : PackedMatrixLayout{format, rows, columns}.bytes());
}

/// The operand of an instruction: the bytes of a matrix, or the elements of a
/// vector with padding.
static KernelWeight referTo(WeightOp weight) {
  Builder b(weight.getContext());
  const auto bytes = static_cast<int64_t>(weight.getBytes());
  auto type = weight.getLayout() == "vector"
                  ? MemRefType::get({bytes / 4}, b.getF32Type())
                  : MemRefType::get({bytes}, b.getI8Type());
  return {FlatSymbolRefAttr::get(weight.getSymNameAttr()), type};
}

/// The name, with a suffix if the fragment already has a symbol of this name.
static std::string uniqueName(FragmentOp fragment, std::string base) {
  std::string name = base;
  for (int suffix = 1; SymbolTable::lookupSymbolIn(fragment, name); ++suffix)
    name = base + "." + std::to_string(suffix);
  return name;
}

int64_t ProgramBuilder::placeWeight(StringRef name, int64_t bytes) {
  auto [entry, isNew] = weightOffsets.try_emplace(name, weightBytes);
  if (isNew)
    weightBytes += bytes;
  return entry->second;
}

FailureOr<KernelWeight>
ProgramBuilder::declareWeight(ArrayRef<mllm::RegisterOp> parameters,
                              int64_t firstLayer,
                              std::optional<IntegerFormat> integers) {
  mllm::RegisterOp first = parameters.front();
  FailureOr<TensorFormat> stored = storedFormat(first);
  if (failed(stored))
    return failure();
  ArrayRef<int64_t> shape = first.getShape();
  bool isVector = shape.size() == 1;
  std::string format = mllm::packedFormatName(first.getType()), place;
  if (integers) {
    format = integers->name();
    place = "." + format;
  } else {
    integers = IntegerFormat::ofBlocks(*stored);
  }
  int64_t bytes = packedBytes(*stored, integers, shape);

  SmallVector<StringRef> sources;
  SmallVector<int64_t> offsets;
  for (mllm::RegisterOp parameter : parameters) {
    if (parameter.getRopeUnpermuteHeads() != first.getRopeUnpermuteHeads() ||
        parameter.getSlice() != first.getSlice() ||
        parameter.getTransposed() != first.getTransposed() ||
        parameter.getSlicesColumns() != first.getSlicesColumns()) {
      InFlightDiagnostic diag = parameter.emitOpError(
          "stores its rows in another order than the same "
          "weight of another layer");
      diag.attachNote(first.getLoc()) << "the weight of the other layer";
      return diag;
    }
    if (!parameter.getSource())
      return parameter.emitOpError(
          "has no 'source': a model without parameter values can be traced, "
          "but not compiled");
    sources.push_back(*parameter.getSource());
    offsets.push_back(
        placeWeight((parameter.getSymName() + place).str(), bytes));
  }
  // The run has the name of the first layer.
  StringRef name = first.getSymName();
  for (WeightOp known : weightFragment.getBody().getOps<WeightOp>())
    if (known.getSymName() == name && known.getOffsets() == ArrayRef(offsets) &&
        (offsets.size() == 1 ||
         known.getFirstLayer() == static_cast<uint64_t>(firstLayer)))
      return referTo(known);
  std::string unique = uniqueName(weightFragment, name.str());

  auto weight = WeightOp::create(
      weights, first.getLoc(), unique, isVector ? "vector" : "tiles16", format,
      shape, bytes, weights.getStrArrayAttr(sources), offsets, firstLayer,
      first.getRopeUnpermuteHeads().value_or(0), first.getSliceAttr(),
      first.getTransposed(), first.getSlicesColumns());
  return referTo(weight);
}

KernelWeight ProgramBuilder::declareWeight(Location loc, StringRef source,
                                           Type type) {
  ArrayRef<int64_t> shape = *mllm::parameterShape(type);
  std::string name = ("weight." + source).str();
  if (auto known = dyn_cast_or_null<WeightOp>(
          SymbolTable::lookupSymbolIn(weightFragment, name)))
    return referTo(known);
  TensorFormat format = *mllm::storedFormat(type);
  int64_t bytes = packedBytes(format, IntegerFormat::ofBlocks(format), shape);
  auto weight = WeightOp::create(
      weights, loc, name, shape.size() == 1 ? "vector" : "tiles16",
      mllm::packedFormatName(type), shape, bytes,
      weights.getStrArrayAttr(source), placeWeight(name, bytes),
      /*first_layer=*/0, /*rope_unpermute_heads=*/0,
      /*slice=*/DenseI64ArrayAttr());
  return referTo(weight);
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

KernelWeight ProgramBuilder::declareConstantWeight(Location loc,
                                                   DenseElementsAttr value) {
  auto type = cast<RankedTensorType>(value.getType());
  std::string source = declareConstant(loc, value);
  std::string name = uniqueName(weightFragment, "weight." + source);
  int64_t bytes = packedBytes(TensorFormat::F32, /*integers=*/std::nullopt,
                              type.getShape());
  auto weight = WeightOp::create(
      weights, loc, name, type.getRank() == 1 ? "vector" : "tiles16", "f32",
      type.getShape(), bytes, weights.getStrArrayAttr(StringRef(source)),
      // Parameters never have this name.
      placeWeight("constant " + name, bytes), /*first_layer=*/0,
      /*rope_unpermute_heads=*/0, /*slice=*/DenseI64ArrayAttr());
  weight->setAttr(kFromConstantAttr, weights.getUnitAttr());
  return referTo(weight);
}

std::string ProgramBuilder::declareConstant(Location loc, ElementsAttr value) {
  std::string name =
      uniqueName(weightFragment, "constant" + std::to_string(numConstants++));
  ConstantOp::create(weights, loc, name, value);
  return name;
}

void ProgramBuilder::input(Location loc, StringRef source, Value buffer,
                           int64_t columns) {
  InputOp::create(buffers, loc, source, buffer, columns);
}

void ProgramBuilder::output(Location loc, StringRef name, Value buffer,
                            int64_t columns) {
  OutputOp::create(code, loc, name, buffer, columns);
}

void ProgramBuilder::setCache(Type type, int64_t numRanks) {
  codeFragment->setAttr(kCacheAttr, TypeAttr::get(type));
  codeFragment->setAttr(kNumRanksAttr, code.getI64IntegerAttr(numRanks));
}

//===----------------------------------------------------------------------===//
// The step context and the runtime
//===----------------------------------------------------------------------===//

void ProgramBuilder::setCount(Location loc, StepField field, int64_t count) {
  SetFieldOp::create(code, loc, field, count);
}

void ProgramBuilder::setPointer(Location loc, StepField field, Value buffer) {
  SetFieldOp::create(code, loc, field, buffer);
}

void ProgramBuilder::restoreField(Location loc, StepField field) {
  SetFieldOp::create(code, loc, field);
}

void ProgramBuilder::runtimeCall(Location loc, RuntimeFunction function,
                                 ArrayRef<Value> arguments,
                                 ArrayRef<Attribute> numbers) {
  RuntimeCallOp::create(code, loc, static_cast<int64_t>(function), arguments,
                        code.getArrayAttr(numbers));
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void ProgramBuilder::beginInstruction(Location loc) {
  auto instruction = InstructionOp::create(code, loc, /*replicated=*/false);
  code.setInsertionPointToEnd(&instruction.getBody().emplaceBlock());
}

Value ProgramBuilder::resolve(Location loc, const KernelWeight &weight) {
  if (!weight.symbol)
    return weight.buffer;
  return GetWeightOp::create(code, loc, weight.type, weight.symbol);
}

void ProgramBuilder::setLayer(Location loc, int64_t layer) {
  SetLayerOp::create(code, loc, layer);
}

void ProgramBuilder::label(Location loc, StringRef name) {
  LabelOp::create(code, loc, name);
}

void ProgramBuilder::jumpNextLayer(Location loc, StringRef label,
                                   int64_t limit) {
  JumpNextLayerOp::create(code, loc, label, limit);
}

void ProgramBuilder::jump(Location loc, StringRef label) {
  JumpOp::create(code, loc, label);
}

void ProgramBuilder::jumpIf(Location loc, StringRef label, Value number) {
  JumpIfOp::create(code, loc, label, number);
}

void ProgramBuilder::finish(Location loc) {
  ExitOp::create(code, loc);
  weightFragment->setAttr(kWeightBytesAttr,
                          weights.getI64IntegerAttr(weightBytes));
}

} // namespace llmir

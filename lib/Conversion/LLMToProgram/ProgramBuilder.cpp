//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"

#include "llmir/Dialect/MLLM/ProgramAttrs.h"
#include "llmir/Support/PackedLayout.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace llmir {

/// A fragment at the end of the module, with an empty block.
static FragmentOp createFragment(ModuleOp module, StringRef name,
                                 FragmentKind kind) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto fragment = FragmentOp::create(builder, module.getLoc(), name, kind);
  fragment.getBody().emplaceBlock();
  return fragment;
}

ProgramBuilder::ProgramBuilder(ModuleOp module)
    : module(module), weights(module.getContext()),
      kernels(module.getContext()), buffers(module.getContext()),
      code(module.getContext()) {
  weightFragment = createFragment(module, "weights", FragmentKind::Data);
  FragmentOp text = createFragment(module, "kernels", FragmentKind::Text);
  FragmentOp step = createFragment(module, "llmir_step", FragmentKind::Code);
  weights.setInsertionPointToEnd(&weightFragment.getBody().front());
  kernels.setInsertionPointToEnd(&text.getBody().front());
  code.setInsertionPointToEnd(&step.getBody().front());
  auto entry = EntryPointOp::create(code, module.getLoc());
  buffers.setInsertionPoint(entry);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static MemRefType rowsType(OpBuilder &builder, int64_t rows, int64_t columns) {
  return MemRefType::get({rows, roundUpTo(columns, kTileRows)},
                         builder.getF32Type());
}

Value ProgramBuilder::createBuffer(Location loc, int64_t rows,
                                   int64_t columns) {
  return BufferOp::create(buffers, loc, rowsType(buffers, rows, columns),
                          IntegerAttr());
}

Value ProgramBuilder::createLogits(Location loc, int64_t rows,
                                   int64_t columns) {
  return LogitsOp::create(buffers, loc, rowsType(buffers, rows, columns));
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static FailureOr<TensorFormat> storedFormat(mllm::RegisterOp parameter) {
  Type type = parameter.getType();
  if (auto quantized = dyn_cast<mlir::llm::QuantizedTensorType>(type)) {
    StringRef name = quantized.getFormat();
    if (auto format =
            tensorFormatFromName(std::string_view(name.data(), name.size())))
      return *format;
    return parameter.emitOpError("has the quantized type ")
           << type << ", which names no stored format";
  }
  Type element = cast<RankedTensorType>(type).getElementType();
  if (element.isF32())
    return TensorFormat::F32;
  return element.isF16() ? TensorFormat::F16 : TensorFormat::BF16;
}

int64_t ProgramBuilder::placeWeight(mllm::RegisterOp parameter, int64_t bytes) {
  auto [entry, isNew] =
      weightOffsets.try_emplace(parameter.getSymName(), weightBytes);
  if (isNew)
    weightBytes += bytes;
  return entry->second;
}

FailureOr<FlatSymbolRefAttr>
ProgramBuilder::declareWeight(ArrayRef<mllm::RegisterOp> parameters,
                              int64_t firstLayer) {
  mllm::RegisterOp first = parameters.front();
  FailureOr<TensorFormat> format = storedFormat(first);
  if (failed(format))
    return failure();
  ArrayRef<int64_t> shape = first.getShape();
  bool isVector = shape.size() == 1;
  int64_t bytes = isVector
                      ? packedVectorBytes(shape[0])
                      : PackedMatrixLayout{*format, shape[0], shape[1]}.bytes();

  SmallVector<StringRef> sources;
  SmallVector<int64_t> offsets;
  for (mllm::RegisterOp parameter : parameters) {
    if (parameter.getRopeUnpermuteHeads() != first.getRopeUnpermuteHeads()) {
      InFlightDiagnostic diag =
          parameter.emitOpError("has its rows in another order than the same "
                                "weight of another layer");
      diag.attachNote(first.getLoc()) << "the other one";
      return diag;
    }
    sources.push_back(parameter.getSource());
    offsets.push_back(placeWeight(parameter, bytes));
  }
  // The first layer's name stands for the run.
  StringRef name = first.getSymName();
  for (WeightOp known : weightFragment.getBody().getOps<WeightOp>())
    if (known.getSymName() == name && known.getOffsets() == ArrayRef(offsets) &&
        (offsets.size() == 1 ||
         known.getFirstLayer() == static_cast<uint64_t>(firstLayer)))
      return FlatSymbolRefAttr::get(known.getSymNameAttr());
  std::string unique = name.str();
  for (int suffix = 1; SymbolTable::lookupSymbolIn(weightFragment, unique);
       ++suffix)
    unique = (name + "." + Twine(suffix)).str();

  const TensorFormatInfo &info = tensorFormatInfo(*format);
  auto weight = WeightOp::create(
      weights, first.getLoc(), unique, isVector ? "vector" : "tiles16",
      StringRef(info.name.data(), info.name.size()), shape, bytes,
      weights.getStrArrayAttr(sources), offsets, firstLayer,
      first.getRopeUnpermuteHeads().value_or(0));
  return FlatSymbolRefAttr::get(weight.getSymNameAttr());
}

//===----------------------------------------------------------------------===//
// Kernels and instructions
//===----------------------------------------------------------------------===//

FlatSymbolRefAttr ProgramBuilder::declareKernel(
    Location loc, StringRef name, StringRef kind, DictionaryAttr parameters,
    ArrayAttr operandTypes,
    llvm::function_ref<void(OpBuilder &, Block &)> body) {
  OpBuilder::InsertionGuard guard(kernels);
  auto kernel =
      KernelOp::create(kernels, loc, name, kind, parameters, operandTypes);
  std::string bodyText;
  if (body) {
    Block &block = kernel.getBody().emplaceBlock();
    OpBuilder inside = OpBuilder::atBlockEnd(&block);
    body(inside, block);
    llvm::raw_string_ostream stream(bodyText);
    for (Operation &op : block)
      op.print(stream, OpPrintingFlags().useLocalScope().printGenericOpForm());
  }
  Builder &b = kernels;
  Attribute key = b.getArrayAttr({b.getStringAttr(kind), parameters,
                                  operandTypes, b.getStringAttr(bodyText)});
  auto [entry, isNew] = kernelByKey.try_emplace(key);
  if (!isNew) {
    kernel.erase();
    return entry->second;
  }
  std::string unique = name.str();
  Operation *fragment = kernel->getParentOp();
  for (int suffix = 1;
       SymbolTable::lookupSymbolIn(fragment, unique) != kernel.getOperation();
       ++suffix) {
    unique = (name + "_" + Twine(suffix)).str();
    kernel.setSymName(unique);
  }
  return entry->second = FlatSymbolRefAttr::get(kernel.getSymNameAttr());
}

void ProgramBuilder::callKernel(
    Location loc, StringRef name, StringRef kind, DictionaryAttr parameters,
    ArrayRef<Attribute> weightRefs, ArrayRef<BufferAccess> accesses,
    std::optional<BufferAccess> cache,
    llvm::function_ref<void(OpBuilder &, Block &)> body) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (const BufferAccess &access : accesses) {
    operands.push_back(access.buffer);
    types.push_back(access.buffer.getType());
  }
  SmallVector<BufferAccess> all(accesses);
  if (cache)
    all.push_back(*cache);
  synchronize(loc, all);
  FlatSymbolRefAttr kernel = declareKernel(
      loc, name, kind, parameters, kernels.getTypeArrayAttr(types), body);
  InstructionOp::create(code, loc, kernel, code.getArrayAttr(weightRefs),
                        operands);
}

void ProgramBuilder::synchronize(Location loc,
                                 ArrayRef<BufferAccess> accesses) {
  auto meets = [](const BufferAccess &a, const BufferAccess &b) {
    return a.buffer == b.buffer && (a.writes || b.writes) &&
           !(a.share && b.share && *a.share == *b.share);
  };
  for (const BufferAccess &next : accesses)
    if (llvm::any_of(underWay, [&](const BufferAccess &before) {
          return meets(before, next);
        })) {
      barrier(loc);
      break;
    }
  underWay.append(accesses.begin(), accesses.end());
}

void ProgramBuilder::barrier(Location loc) {
  if (underWay.empty())
    return;
  BarrierOp::create(code, loc);
  underWay.clear();
}

void ProgramBuilder::setLayer(Location loc, int64_t layer) {
  SetLayerOp::create(code, loc, layer);
}

void ProgramBuilder::label(Location loc, StringRef name) {
  barrier(loc);
  LabelOp::create(code, loc, name);
}

void ProgramBuilder::jumpNextLayer(Location loc, StringRef label,
                                   int64_t limit) {
  barrier(loc);
  JumpNextLayerOp::create(code, loc, label, limit);
}

void ProgramBuilder::finish(Location loc) {
  ExitOp::create(code, loc);
  weightFragment->setAttr(kWeightBytesAttr,
                          weights.getI64IntegerAttr(weightBytes));
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphMemory.h"

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"
#include "llmir/Dialect/MLLM/Transforms/Specialize.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace llmir::mllm {

FailureOr<SizeTable> SizeTable::parse(ModuleOp module, StringRef text) {
  SizeTable table;
  for (auto subgraph : module.getOps<SubGraphOp>())
    if (auto dims = subgraph->getAttrOfType<DictionaryAttr>("mllm.dims"))
      for (NamedAttribute dim : dims)
        if (auto range = dyn_cast<RangeAttr>(dim.getValue())) {
          int64_t &size = table.sizes[dim.getName().str()];
          size = std::max(size, range.getGreatest());
        }
  FailureOr<SizeBinding> binding = SizeBinding::parse(module, text);
  if (failed(binding))
    return failure();
  table.unnamed = binding->unnamed;
  for (const auto &[name, size] : binding->named)
    table.sizes[name] = size;
  return table;
}

std::optional<int64_t> SizeTable::bytesOf(Value value) const {
  constexpr int64_t most = int64_t(1) << 46;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  int64_t bits = type.getElementType().isIntOrFloat()
                     ? llvm::alignTo<8>(type.getElementTypeBitWidth())
                     : 64;
  for (const shapes::DimExpr &size : shapeOf(type)) {
    std::optional<int64_t> number =
        size.isKnown() ? size.evaluate(sizes) : unnamed;
    if (!number || llvm::MulOverflow(bits, *number, bits))
      return std::nullopt;
  }
  int64_t bytes = bits / 8;
  if (bytes > most)
    return std::nullopt;
  return static_cast<int64_t>(llvm::alignTo(bytes, kLineBytes));
}

bool SizeTable::knowsSizesOf(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && llvm::all_of(shapeOf(type), [&](const shapes::DimExpr &size) {
           if (!size.isKnown())
             return unnamed.has_value();
           return llvm::all_of(size.terms(), [&](const auto &term) {
             return sizes.count(term.first) != 0;
           });
         });
}

bool makesTensors(Operation *op) {
  return op->getNumOperands() > 0 && !isa<KVCacheOp>(op) &&
         !op->hasTrait<OpTrait::ConstantLike>();
}

bool mayOverwrite(OpOperand &operand) {
  static const llvm::StringSet<> elementwise{
      "mllm.linalg.add",       "mllm.linalg.sub",     "mllm.linalg.mul",
      "mllm.linalg.div",       "mllm.linalg.neg",     "mllm.linalg.abs",
      "mllm.linalg.log",       "mllm.linalg.exp",     "mllm.linalg.sin",
      "mllm.linalg.cos",       "mllm.linalg.clip",    "mllm.linalg.sigmoid",
      "mllm.linalg.silu",      "mllm.linalg.gelu",    "mllm.linalg.quick_gelu",
      "mllm.linalg.relu",      "mllm.linalg.softmax", "mllm.linalg.rms_norm",
      "mllm.linalg.layer_norm"};
  Operation *op = operand.getOwner();
  return elementwise.contains(op->getName().getStringRef()) &&
         op->getNumResults() == 1 &&
         op->getResult(0).getType() == operand.get().getType();
}

bool isTruthValue(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isInteger(1) && type.hasStaticShape() &&
         type.getNumElements() == 1;
}

OperandRange carriedOperands(Operation *op) {
  if (auto loop = dyn_cast<WhileOp>(op))
    return loop.getInits();
  if (auto loop = dyn_cast<ForOp>(op))
    return loop.getInits();
  return op->getOperands().take_front(0);
}

Value carriedArgument(Region &region, unsigned result) {
  Operation *op = region.getParentOp();
  if (isa<WhileOp>(op))
    return region.getArgument(result);
  if (isa<ForOp>(op)) // The first one is the trip count.
    return region.getArgument(result + 1);
  return {};
}

MutableArrayRef<OpOperand> yieldedOperands(YieldOp yield) {
  MutableArrayRef<OpOperand> operands = yield->getOpOperands();
  auto loop = dyn_cast<WhileOp>(yield->getParentOp());
  const bool decides = loop && yield->getParentRegion() == &loop.getCondition();
  return decides ? operands.drop_front() : operands;
}

} // namespace llmir::mllm

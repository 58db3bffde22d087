//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMTensorOps.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"

#include "mlir/Dialect/LLM/IR/LLM.h"

using namespace mlir;
using namespace llmir::mllm;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMTensorOps.cpp.inc"

void MLLMDialect::addTensorOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMTensorOps.cpp.inc"
      >();
}

void RegisterOp::build(OpBuilder &builder, OperationState &state,
                       StringRef name, Type type, StringRef source,
                       std::optional<int64_t> ropeUnpermuteHeads) {
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.type = TypeAttr::get(type);
  if (!source.empty())
    properties.source = builder.getStringAttr(source);
  if (ropeUnpermuteHeads)
    properties.rope_unpermute_heads =
        builder.getI64IntegerAttr(*ropeUnpermuteHeads);
}

LogicalResult RegisterOp::verify() {
  std::optional<ArrayRef<int64_t>> shape = parameterShape(getType());
  // c1
  if (!shape)
    return emitOpError()
           << "has type " << getType()
           << ", expected a ranked tensor of f32, f16 or bf16, or an "
              "!llm.quantized_tensor";
  const bool isQuantized = isa<llm::QuantizedTensorType>(getType());
  const size_t least = isQuantized ? 2 : 1, most = isQuantized ? 3 : 5;
  if (shape->size() < least || shape->size() > most) // c2
    return emitOpError() << "has rank " << shape->size() << ", expected "
                         << least << " to " << most;
  for (auto [index, size] : llvm::enumerate(*shape)) {
    if (ShapedType::isDynamic(size)) // c3
      return emitOpError() << "size #" << index
                           << " is dynamic, expected a static size";
    if (size < 1) // c3
      return emitOpError() << "size #" << index << " is " << size
                           << ", expected at least 1";
  }
  // c4
  if (getSource() && getSource()->empty())
    return emitOpError() << "has an empty 'source', expected a tensor's name";
  if (std::optional<uint64_t> attr = getRopeUnpermuteHeads()) {
    int64_t heads = static_cast<int64_t>(*attr),
            rows = shape->size() == 1 ? shape->front() : shape->end()[-2];
    if (heads < 1 || rows % heads != 0 || rows / heads % 2 != 0) // c5
      return emitOpError() << "has 'rope_unpermute_heads' " << heads
                           << ", which does not divide " << rows
                           << " rows into heads of an even number of rows";
  }
  // c6, c7, c8
  if (auto problem = problemOfStoredPlace(*shape, getSlice(), getTransposed(),
                                          getSlicesColumns()))
    return emitOpError(*problem);
  return success();
}

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

Operation *MLLMDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type || !isa<RankedTensorType>(type))
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  std::optional<uint64_t> offset = getOffset();
  if (offset && static_cast<int64_t>(*offset) < 0) // c1
    return emitOpError() << "has the offset " << static_cast<int64_t>(*offset)
                         << ", expected 0 or more";
  return success();
}

LogicalResult FreeOp::verify() {
  for (Operation *user : getX().getUsers()) {
    Operation *here = (*this)->getBlock()->findAncestorOpInBlock(*user);
    if (!here || here == *this || here->isBeforeInBlock(*this))
      continue;
    // c1, c2
    return (emitOpError() << "frees a value that is "
                          << (isa<FreeOp>(user) ? "freed again"
                                                : "used afterwards"))
               .attachNote(user->getLoc())
           << "here";
  }
  return success();
}

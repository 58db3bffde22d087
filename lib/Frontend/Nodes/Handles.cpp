//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Creation and invalidation of handles.
//
//===----------------------------------------------------------------------===//

#include "../IRContextImpl.h"

#include "llmir/MLLMText/Text.h"
#include "llmir/Support/MessageLine.h"
#include "mllm/ir/GeneratedOps.hpp"
#include "mllm/ir/MLIR.h"
#include "mllm/ir/ModuleOp.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>

using namespace mlir;

namespace mllm {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static ErrorHandler &threadHandler() {
  static thread_local ErrorHandler handler;
  return handler;
}

ErrorHandler setErrorHandler(ErrorHandler handler) {
  return std::exchange(threadHandler(), std::move(handler));
}

void reportError(const std::string &sentence) {
  if (threadHandler())
    threadHandler()(sentence);
  else
    std::fprintf(stderr, "mllm: error: %s\n",
                 llmir::messageLine(sentence).c_str());
}

void reportFailedCheck(const char *file, int line, const char *condition) {
  reportError(std::string(file) + ":" + std::to_string(line) + ": " +
              condition + " does not hold");
}

} // namespace mllm

namespace mllm::ir {

//===----------------------------------------------------------------------===//
// IRContextImpl: life and failure
//===----------------------------------------------------------------------===//

IRContextImpl::IRContextImpl(std::shared_ptr<MLIRContext> context,
                             OwningOpRef<mlir::ModuleOp> module)
    : mlirContext(std::move(context)), ownedModule(std::move(module)),
      irRewriter(mlirContext.get(), this) {}

IRContextImpl::~IRContextImpl() {
  forgetOps();
  for (auto &[op, handle] : ops)
    kill(*handle, handle->describe());
  for (auto &[region, handle] : regions)
    handle->object_ = nullptr;
  for (auto &[attribute, handle] : attributes)
    kill(*handle, handle->describe());
}

bool IRContextImpl::fail(llmir::Status failure) {
  reportError(failure.message());
  if (firstFailure)
    firstFailure = std::move(failure);
  return false;
}

bool IRContextImpl::fail(std::string cause, std::string advice) {
  return fail(llmir::Status(llmir::StatusCode::InvalidArgument,
                            std::move(cause), std::move(advice)));
}

bool IRContextImpl::refuseForeign(const node_ptr_t &node) {
  if (!node || !node->isAlive() || of(*node) == this)
    return false;
  return !fail(node->describe() + " belongs to another context");
}

bool IRContextImpl::refuseForeign(const region_ptr_t &region) {
  if (!region || !region->isAlive() || of(*region) == this)
    return false;
  return !fail("the region of " + region->belongsTo()->describe() +
               " belongs to another context");
}

//===----------------------------------------------------------------------===//
// Creation of handles
//===----------------------------------------------------------------------===//

/// A handle of the op's class.
static op_ptr_t makeHandle(Operation *op) {
  using Make = op_ptr_t (*)();
  static const llvm::StringMap<Make> *makers = [] {
    auto *table = new llvm::StringMap<Make>();
#define MLLM_OP(name, level, group, cls, ...)                                  \
  (*table)[name] = []() -> op_ptr_t {                                          \
    return std::make_shared<level::cls>(RK_Op_##group##_##cls);                \
  };
#include "mllm/ir/GeneratedOps.inc"
#undef MLLM_OP
    return table;
  }();
  if (isa<mlir::ModuleOp>(op))
    return std::make_shared<ModuleOp>(RK_Op_BuiltinIROp_ModuleOp);
  auto found = makers->find(op->getName().getStringRef());
  if (found != makers->end())
    return found->second();
  return std::make_shared<Op>(RK_Op_OtherIROp);
}

op_ptr_t IRContextImpl::wrap(Operation *op) {
  if (!op)
    return nullptr;
  op_ptr_t &handle = ops[op];
  if (!handle) {
    handle = makeHandle(op);
    handle->owner_ = this;
    handle->object_ = op;
  }
  return handle;
}

val_ptr_t IRContextImpl::wrap(Value value) {
  if (!value)
    return nullptr;
  val_ptr_t &handle = values[value];
  if (!handle) {
    if (isa<RankedTensorType>(value.getType()))
      handle =
          std::make_shared<tensor::TensorValue>(RK_Val_TensorIRVal_TensorVal);
    else
      handle = std::make_shared<Val>(RK_Val_OtherIRVal);
    handle->owner_ = this;
    handle->object_ = value.getAsOpaquePointer();
  }
  return handle;
}

region_ptr_t IRContextImpl::wrap(mlir::Region *region) {
  if (!region)
    return nullptr;
  region_ptr_t &handle = regions[region];
  if (!handle) {
    handle = std::make_shared<Region>();
    handle->owner_ = this;
    handle->object_ = region;
  }
  return handle;
}

static attr_ptr_t makeHandle(Attribute attribute) {
#define MLLM_ATTR(MLIRName, Name)                                              \
  if (isa<MLIRName>(attribute))                                                \
    return std::make_shared<Name>(RK_Attr_BuiltinIRAttr_##Name);
  MLLM_ATTR(mlir::BoolAttr, BoolAttr)
  MLLM_ATTR(mlir::IntegerAttr, IntAttr)
  MLLM_ATTR(mlir::FloatAttr, FPAttr)
  MLLM_ATTR(mlir::StringAttr, StrAttr)
  MLLM_ATTR(mlir::FlatSymbolRefAttr, SymbolAttr)
  MLLM_ATTR(mlir::DenseI64ArrayAttr, VectorInt64Attr)
  MLLM_ATTR(mlir::DenseF64ArrayAttr, VectorFP64Attr)
  MLLM_ATTR(mlir::DenseF32ArrayAttr, VectorFP32Attr)
  MLLM_ATTR(mlir::DenseI16ArrayAttr, VectorInt16Attr)
#undef MLLM_ATTR
  if (auto type = dyn_cast<mlir::TypeAttr>(attribute))
    if (IRContextImpl::type(type.getValue()))
      return std::make_shared<TypeAttr>(RK_Attr_BuiltinIRAttr_TypeAttr);
  return std::make_shared<Attr>(RK_Attr_BuiltinIRAttr_OtherAttr);
}

attr_ptr_t IRContextImpl::wrap(Attribute attribute) {
  if (!attribute)
    return nullptr;
  attr_ptr_t &handle = attributes[attribute];
  if (!handle) {
    handle = makeHandle(attribute);
    handle->owner_ = this;
    handle->object_ = const_cast<void *>(attribute.getAsOpaquePointer());
  }
  return handle;
}

Operation *IRContextImpl::unwrap(const Op *op) {
  return op ? static_cast<Operation *>(op->object_) : nullptr;
}
Value IRContextImpl::unwrap(const Val *value) {
  return value ? Value::getFromOpaquePointer(value->object_) : Value();
}
Attribute IRContextImpl::unwrap(const Attr *attr) {
  return attr ? Attribute::getFromOpaquePointer(attr->object_) : Attribute();
}
mlir::Region *IRContextImpl::unwrap(const Region *region) {
  return region ? static_cast<mlir::Region *>(region->object_) : nullptr;
}

//===----------------------------------------------------------------------===//
// Invalidation of handles
//===----------------------------------------------------------------------===//

void IRContextImpl::kill(Node &node, std::string formerName) {
  node.formerName_ = std::move(formerName);
  node.kind_ = RK_None;
  node.object_ = nullptr;
  node.owner_ = nullptr;
}

void IRContextImpl::notifyOperationErased(Operation *op) {
  for (Value result : op->getResults())
    forgetValue(result);
  for (mlir::Region &each : op->getRegions()) {
    auto found = regions.find(&each);
    if (found != regions.end()) {
      found->second->object_ = nullptr;
      found->second->owner_ = nullptr;
      regions.erase(found);
    }
    for (Block &block : each)
      notifyBlockErased(&block);
    if (region == &each)
      region = nullptr;
  }
  if (place == op)
    place = nullptr;
  auto found = ops.find(op);
  if (found == ops.end())
    return;
  kill(*found->second, found->second->describe());
  ops.erase(found);
}

void IRContextImpl::notifyBlockErased(Block *block) {
  for (Value argument : block->getArguments())
    forgetValue(argument);
}

void IRContextImpl::forgetValue(Value value, std::optional<std::string> name) {
  auto found = values.find(value);
  if (found == values.end())
    return;
  kill(*found->second, name ? std::move(*name) : found->second->describe());
  values.erase(found);
}

void IRContextImpl::forgetOps() {
  // Describe a former object without the IR, since the op may have been erased.
  auto forget = [](Node &node, const char *what) {
    node.formerName_ = what;
    node.kind_ = RK_None;
    node.object_ = nullptr;
    node.owner_ = nullptr;
  };
  op_ptr_t top = wrap(module().getOperation());
  mlir::Region *body = &module().getBodyRegion();
  region_ptr_t topRegion = wrap(body);
  for (auto &[op, handle] : ops)
    if (handle != top)
      forget(*handle, "an op");
  for (auto &[value, handle] : values)
    forget(*handle, "a value");
  for (auto &[each, handle] : regions)
    if (handle != topRegion) {
      handle->object_ = nullptr;
      handle->owner_ = nullptr;
    }
  ops.clear();
  values.clear();
  regions.clear();
  ops[module().getOperation()] = top;
  regions[body] = topRegion;
  region = nullptr;
  place = nullptr;
}

//===----------------------------------------------------------------------===//
// MLIR.h
//===----------------------------------------------------------------------===//

Operation *getOperation(const op_ptr_t &op) {
  return IRContextImpl::unwrap(op.get());
}
Value getValue(const val_ptr_t &value) {
  return IRContextImpl::unwrap(value.get());
}
Attribute getAttribute(const attr_ptr_t &attr) {
  return IRContextImpl::unwrap(attr.get());
}
mlir::Region *getRegion(const region_ptr_t &region) {
  return IRContextImpl::unwrap(region.get());
}

MLIRContext &getMLIRContext(IRContext &context) {
  return context.impl().context();
}
mlir::ModuleOp getModule(IRContext &context) { return context.impl().module(); }

op_ptr_t wrap(IRContext &context, Operation *op) {
  return context.impl().wrap(op);
}
val_ptr_t wrap(IRContext &context, Value value) {
  return context.impl().wrap(value);
}
attr_ptr_t wrap(IRContext &context, Attribute attribute) {
  return context.impl().wrap(attribute);
}
region_ptr_t wrap(IRContext &context, mlir::Region *region) {
  return context.impl().wrap(region);
}

IRRewriter &getRewriter(IRContext &context) {
  return context.impl().rewriter();
}
RewriterBase::Listener *getListener(IRContext &context) {
  return context.impl().listener();
}

void forgetOps(IRContext &context) { context.impl().forgetOps(); }

bool run(IRContext &context, PassManager &passes) {
  IRContextImpl &impl = context.impl();
  std::string errors = llmir::errorsOf(
      impl.context(), [&] { return passes.run(impl.module()); });
  impl.forgetOps();
  return errors.empty() || impl.fail("the passes failed: " + errors);
}

IRContext::ptr_t adopt(std::shared_ptr<MLIRContext> mlirContext,
                       OwningOpRef<mlir::ModuleOp> module) {
  return std::make_shared<IRContext>(std::make_unique<IRContextImpl>(
      std::move(mlirContext), std::move(module)));
}

} // namespace mllm::ir

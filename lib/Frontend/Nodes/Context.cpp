//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// IRContext: symbols, names, and the insertion point.
//
//===----------------------------------------------------------------------===//

#include "mllm/ir/IRContext.h"

#include "../IRContextImpl.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/MLLMText/Text.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace mllm::ir {

IRContext::ptr_t IRContext::make() {
  auto mlirContext =
      std::make_shared<MLIRContext>(MLIRContext::Threading::DISABLED);
  mlirContext->loadDialect<llmir::mllm::MLLMDialect, llm::LLMDialect>();
  OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(UnknownLoc::get(mlirContext.get()));
  return std::make_shared<IRContext>(std::make_unique<IRContextImpl>(
      std::move(mlirContext), std::move(module)));
}

IRContext::IRContext(std::unique_ptr<IRContextImpl> impl)
    : impl_(std::move(impl)) {
  impl_->owner = this;
}

IRContext::~IRContext() = default;

op_ptr_t IRContext::topLevelOp() {
  return impl_->wrap(impl_->module().getOperation());
}

const llmir::Status &IRContext::status() const { return impl_->status(); }
void IRContext::clearStatus() { impl_->clearStatus(); }

bool IRContext::verify() {
  std::string wrong = llmir::errorsOf(
      impl_->context(), [&] { return mlir::verify(impl_->module()); });
  return wrong.empty() || impl_->fail("the module is not valid: " + wrong);
}

/// "in graph.SubGraphOp @model: ", for messages about an op.
static std::string around(IRContextImpl &impl, Operation *op) {
  Operation *parent = op->getParentOp();
  if (!parent || isa<mlir::ModuleOp>(parent))
    return {};
  return "in " + impl.wrap(parent)->describe() + ": ";
}

bool IRContext::acceptOp(const op_ptr_t &created) {
  Operation *op = IRContextImpl::unwrap(created);
  std::string wrong = IRContextImpl::whyOutOfOrder(op);
  if (wrong.empty())
    wrong = impl_->verifyAlone(op);
  if (wrong.empty())
    return true;
  std::string what = around(*impl_, op) + created->describe();
  impl_->rewriter().eraseOp(op);
  return impl_->fail(what + " is not valid: " + wrong,
                     "use valid operands, attributes and result types");
}

void IRContext::nameValue(const val_ptr_t &) {
  // The name of a new value: its symbol is already in the module, and its
  // number depends on its position.
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

static StringRef withoutAt(const std::string &name) {
  StringRef text = name;
  text.consume_front("@");
  return text;
}

/// Calls `visit` for every value of the module until it returns true.
static bool anyValue(mlir::ModuleOp module,
                     llvm::function_ref<bool(Value)> visit) {
  WalkResult result = module.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (visit(value))
        return WalkResult::interrupt();
    for (mlir::Region &region : op->getRegions())
      for (Block &block : region)
        for (Value value : block.getArguments())
          if (visit(value))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

static StringRef symbolOf(Value value) {
  auto name = dyn_cast_or_null<StringAttr>(
      llmir::mllm::getValueAttributes(value).get(llmir::mllm::kValueSymbolKey));
  return name ? name.getValue() : StringRef();
}

node_ptr_t IRContextImpl::lookupSymbol(StringRef name) {
  if (Operation *op = SymbolTable::lookupSymbolIn(module(), name))
    return wrap(op);
  Value found;
  anyValue(module(), [&](Value value) {
    bool isIt = symbolOf(value) == name;
    if (isIt)
      found = value;
    return isIt;
  });
  return wrap(found);
}

node_ptr_t IRContext::lookupSymbol(const std::string &name) {
  StringRef text = withoutAt(name);
  return text.empty() ? nullptr : impl_->lookupSymbol(text);
}

bool IRContext::addToSymbolTable(const val_ptr_t &value,
                                 const std::string &name) {
  if (impl_->refuseForeign(value))
    return false;
  Value found = IRContextImpl::unwrap(value);
  StringRef text = withoutAt(name);
  if (!found)
    return impl_->fail("a value that is not in the IR cannot be @" +
                       text.str());
  if (text.empty())
    return impl_->fail("the symbol of " + value->describe() + " is empty");
  if (node_ptr_t taken = impl_->lookupSymbol(text)) {
    if (taken == value)
      return true;
    return impl_->fail(
        (Twine("@") + text + " is in use by " + taken->describe()).str(),
        "names of symbols are unique; choose another");
  }
  NamedAttrList attributes(llmir::mllm::getValueAttributes(found));
  attributes.set(llmir::mllm::kValueSymbolKey,
                 StringAttr::get(&impl_->context(), text));
  return impl_->setValueAttributes(found,
                                   attributes.getDictionary(&impl_->context()));
}

bool IRContext::removeFromSymbolTable(const std::string &name) {
  auto value = std::dynamic_pointer_cast<Val>(lookupSymbol(name));
  if (!value)
    return false;
  Value found = IRContextImpl::unwrap(value);
  NamedAttrList attributes(llmir::mllm::getValueAttributes(found));
  attributes.erase(llmir::mllm::kValueSymbolKey);
  return impl_->setValueAttributes(found,
                                   attributes.getDictionary(&impl_->context()));
}

std::string IRContext::getUniqueModuleName(const std::string &base) {
  StringRef text = withoutAt(base);
  std::string name = text.str();
  for (int64_t i = 1; lookupSymbol(name); ++i)
    name = text.str() + "_" + std::to_string(i);
  return name;
}

//===----------------------------------------------------------------------===//
// Names of values
//===----------------------------------------------------------------------===//

static bool isValueName(StringRef name) {
  auto isLetter = [](char c) { return llvm::isAlpha(c) || c == '_'; };
  return !name.empty() && isLetter(name.front()) &&
         llvm::all_of(name, [&](char c) {
           return isLetter(c) || llvm::isDigit(c) || c == '.' || c == '-';
         });
}

/// The closest ancestor of a value that is isolated from above, which is the
/// scope of names.
static Operation *scopeOf(Value value) {
  Operation *op = value.getParentRegion()->getParentOp();
  while (op->getParentOp() && !op->hasTrait<OpTrait::IsIsolatedFromAbove>())
    op = op->getParentOp();
  return op;
}

bool IRContext::setValueName(const val_ptr_t &value, const std::string &name) {
  if (impl_->refuseForeign(value))
    return false;
  Value found = IRContextImpl::unwrap(value);
  StringRef text = name;
  text.consume_front("%");
  if (!found)
    return impl_->fail("a value that is not in the IR cannot be named %" +
                       text.str());
  if (!isValueName(text))
    return impl_->fail(
        (Twine("'") + text + "' is not a value's name").str(),
        "use letters, digits, '_', '.' and '-', starting with a letter or '_'");
  Operation *scope = scopeOf(found);
  Value taken;
  anyValue(impl_->module(), [&](Value each) {
    auto has = dyn_cast_or_null<StringAttr>(
        llmir::mllm::getValueAttributes(each).get(llmir::mllm::kValueNameKey));
    if (has && has.getValue() == text && each != found &&
        scopeOf(each) == scope)
      taken = each;
    return bool(taken);
  });
  if (taken)
    return impl_->fail((Twine("%") + text + " is " +
                        impl_->wrap(taken)->describe() + " already")
                           .str(),
                       "choose another name");
  NamedAttrList attributes(llmir::mllm::getValueAttributes(found));
  attributes.set(llmir::mllm::kValueNameKey,
                 StringAttr::get(&impl_->context(), text));
  return impl_->setValueAttributes(found,
                                   attributes.getDictionary(&impl_->context()));
}

std::string IRContext::getAutoIndexedValueName() {
  return std::to_string(llmir::mllm::nextValueNumber(impl_->module()));
}

//===----------------------------------------------------------------------===//
// Insertion point
//===----------------------------------------------------------------------===//

void IRContext::resetRegion(const region_ptr_t &region) {
  const bool isForeign = impl_->refuseForeign(region);
  mlir::Region *found =
      isForeign ? nullptr : IRContextImpl::unwrap(region.get());
  if (region && !found && !isForeign)
    impl_->fail("ops cannot be created in a region that is no longer in the "
                "IR; they are added to the module");
  impl_->region = found;
  impl_->place = nullptr;
}

region_ptr_t IRContext::getCurInsertRegion() {
  mlir::Region *region = impl_->region;
  return impl_->wrap(region ? region : &impl_->module().getBodyRegion());
}

} // namespace mllm::ir

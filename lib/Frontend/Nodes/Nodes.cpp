//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Queries of handles.
//
//===----------------------------------------------------------------------===//

#include "../IRContextImpl.h"

#include "llmir/MLLMText/Text.h"
#include "mllm/ir/IRPrinter.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"

#include "llvm/Support/raw_ostream.h"

#include <iostream>
#include <set>

using namespace mlir;
using llmir::mllm::OpTextName;

namespace mllm::ir {

//===----------------------------------------------------------------------===//
// Node
//===----------------------------------------------------------------------===//

Node::~Node() = default;

/// The MLIR object of a live node, by its kind.
static Operation *operationOf(const Node &node) {
  return Op::classof(&node)
             ? IRContextImpl::unwrap(static_cast<const Op *>(&node))
             : nullptr;
}
static Value valueOf(const Node &node) {
  return Val::classof(&node)
             ? IRContextImpl::unwrap(static_cast<const Val *>(&node))
             : Value();
}
bool Node::refuseDead(const char *what) const {
  if (isAlive())
    return false;
  reportError(std::string(what) + " was queried of " +
              (formerName_.empty() ? "an empty node" : formerName_) +
              ", which is no longer in the IR");
  return true;
}

static std::string describeOp(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  if (const OpTextName *name = llmir::mllm::findOpTextName(text))
    text = std::string(name->level) + "." + name->cls;
  if (auto symbol =
          op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
    text += " @" + symbol.str();
  return text;
}

std::string Node::describe() const {
  if (!isAlive())
    return formerName_.empty() ? "an empty node" : formerName_;
  if (Operation *op = operationOf(*this))
    return describeOp(op);
  if (Value value = valueOf(*this)) {
    if (auto result = dyn_cast<OpResult>(value))
      return "result " + std::to_string(result.getResultNumber()) + " of " +
             describeOp(result.getOwner());
    auto argument = cast<BlockArgument>(value);
    return "argument " + std::to_string(argument.getArgNumber()) + " of " +
           describeOp(argument.getOwner()->getParentOp());
  }
  return "the attribute " + static_cast<const Attr *>(this)->text();
}

IRContext *Node::getContext() const {
  return owner_ ? owner_->face() : nullptr;
}

std::list<node_ptr_t> Node::inputs() const {
  std::list<node_ptr_t> found;
  if (refuseDead("its inputs"))
    return found;
  if (Operation *op = operationOf(*this))
    for (Value operand : op->getOperands())
      found.push_back(owner_->wrap(operand));
  if (Value value = valueOf(*this))
    if (Operation *producer = value.getDefiningOp())
      found.push_back(owner_->wrap(producer));
  return found;
}

std::list<node_ptr_t> Node::outputs() const {
  std::list<node_ptr_t> found;
  if (refuseDead("its outputs"))
    return found;
  if (Operation *op = operationOf(*this))
    for (Value result : op->getResults())
      found.push_back(owner_->wrap(result));
  if (Val::classof(this))
    for (const op_ptr_t &user : static_cast<const Val *>(this)->consumerOps())
      found.push_back(user);
  return found;
}

op_ptr_t Node::prevOp() const {
  if (refuseDead("the op before it"))
    return nullptr;
  Operation *op = operationOf(*this);
  return op && op->getBlock() ? owner_->wrap(op->getPrevNode()) : nullptr;
}

op_ptr_t Node::nextOp() const {
  if (refuseDead("the op after it"))
    return nullptr;
  Operation *op = operationOf(*this);
  return op && op->getBlock() ? owner_->wrap(op->getNextNode()) : nullptr;
}

op_ptr_t Node::belongsTo() const {
  if (refuseDead("its parent op"))
    return nullptr;
  if (Operation *op = operationOf(*this))
    return owner_->wrap(op->getParentOp());
  if (Value value = valueOf(*this))
    return owner_->wrap(value.getParentRegion()->getParentOp());
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The key of a value's dictionary, by default with the prefix of the dialect.
static std::string valueKey(StringRef name) {
  return name.contains('.') ? name.str() : ("mllm." + name).str();
}

/// True for a key with its own function in IRContext.
static bool isNameKey(StringRef key) {
  return key == llmir::mllm::kValueNameKey ||
         key == llmir::mllm::kValueSymbolKey;
}

static bool setValueAttribute(IRContextImpl &impl, Value value, StringRef name,
                              Attribute attribute) {
  std::string key = valueKey(name);
  if (isNameKey(key))
    return impl.fail("'" + name.str() +
                     "' of a value is set by setValueName "
                     "and addToSymbolTable");
  NamedAttrList attributes(llmir::mllm::getValueAttributes(value));
  if (attribute)
    attributes.set(key, attribute);
  else if (!attributes.erase(key))
    return false;
  return impl.setValueAttributes(value,
                                 attributes.getDictionary(&impl.context()));
}

bool Node::setAttr(const std::string &name, const AttrValue &value) {
  if (refuseDead("an attribute"))
    return false;
  if (Attr::classof(this))
    return owner_->fail(describe() + " is immutable",
                        "set a different attribute instead");
  if (name.empty())
    return owner_->fail("an attribute of " + describe() + " has no name");
  Operation *op = operationOf(*this);
  // Existing and inherent attributes keep their type.
  Attribute before = op ? op->getAttr(name) : Attribute();
  Attribute attribute = owner_->attribute(value, "any");
  if (!attribute)
    return false;
  if (!op)
    return setValueAttribute(*owner_, valueOf(*this), name, attribute);
  if (name == SymbolTable::getSymbolAttrName())
    return owner_->fail(describe() + " keeps its name",
                        "create a new op with the other name");
  if (auto number = dyn_cast_or_null<IntegerAttr>(before))
    if (auto wanted = dyn_cast<IntegerAttr>(attribute))
      if (!isa<mlir::BoolAttr>(wanted) &&
          number.getType().isSignlessInteger(32))
        attribute = IntegerAttr::get(number.getType(), wanted.getInt());
  op->setAttr(name, attribute);
  std::string wrong = owner_->verifyAlone(op);
  // Ops drop inherent attributes of the wrong type.
  if (wrong.empty() && op->getAttr(name) != attribute)
    wrong = "'" + name + "' has a different type";
  if (wrong.empty())
    return true;
  if (before)
    op->setAttr(name, before);
  else
    op->removeAttr(name);
  return owner_->fail(describe() + " rejects '" + name + "': " + wrong);
}

attr_ptr_t Node::getAttr(const std::string &name) const {
  if (refuseDead("an attribute"))
    return nullptr;
  if (Operation *op = operationOf(*this))
    return owner_->wrap(op->getAttr(name));
  if (Value value = valueOf(*this))
    return owner_->wrap(
        llmir::mllm::getValueAttributes(value).get(valueKey(name)));
  return nullptr;
}

bool Node::removeAttr(const std::string &name) {
  if (refuseDead("an attribute"))
    return false;
  if (Value value = valueOf(*this))
    return setValueAttribute(*owner_, value, name, Attribute());
  Operation *op = operationOf(*this);
  Attribute before = op ? op->getAttr(name) : Attribute();
  if (!before)
    return false;
  op->removeAttr(name);
  std::string wrong = owner_->verifyAlone(op);
  if (wrong.empty())
    return true;
  op->setAttr(name, before);
  return owner_->fail(describe() + " needs '" + name + "': " + wrong);
}

std::vector<std::string> Node::attrNames() const {
  std::vector<std::string> names;
  if (refuseDead("its attributes"))
    return names;
  if (Operation *op = operationOf(*this)) {
    for (NamedAttribute each : op->getAttrDictionary())
      names.push_back(each.getName().str());
  } else if (Value value = valueOf(*this)) {
    for (NamedAttribute each : llmir::mllm::getValueAttributes(value))
      if (!isNameKey(each.getName())) {
        StringRef name = each.getName();
        name.consume_front("mllm.");
        names.push_back(name.str());
      }
  }
  return names;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static llmir::mllm::TextOptions optionsOf(const IRPrinter &printer) {
  llmir::mllm::TextOptions options;
  options.style = printer.style() == IRPrinter::FULL
                      ? llmir::mllm::TextStyle::Full
                      : llmir::mllm::TextStyle::Document;
  options.firstNumber = printer.firstNumber();
  return options;
}

/// Prints an op in the style of the printer.
static LogicalResult printOp(Operation *op, llvm::raw_ostream &stream,
                             const IRPrinter &printer) {
  if (printer.style() != IRPrinter::MLIR)
    return llmir::mllm::printText(op, stream, optionsOf(printer));
  op->print(stream);
  stream << '\n';
  return success();
}

void Node::dump(IRPrinter &printer) const {
  if (refuseDead("its text"))
    return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (Operation *op = operationOf(*this)) {
    std::string errors = llmir::errorsOf(
        owner_->context(), [&] { return printOp(op, stream, printer); });
    if (!errors.empty()) {
      owner_->fail(describe() + " is not printed: " + errors);
      return;
    }
  } else if (Value value = valueOf(*this)) {
    if (printer.style() == IRPrinter::MLIR)
      value.print(stream);
    else
      stream << llmir::mllm::valueText(value, optionsOf(printer));
  } else {
    stream << static_cast<const Attr *>(this)->text();
  }
  printer.print(text);
}

void Node::dumpAttributes(IRPrinter &printer) const {
  std::string text;
  for (const std::string &name : attrNames()) {
    attr_ptr_t attr = getAttr(name);
    text += (text.empty() ? "[" : ", ") + name +
            (attr && attr->text() != "unit" ? ":" + attr->text() : "");
  }
  if (!text.empty())
    printer.print(text + "]");
}

void Region::dump(IRPrinter &printer) const {
  mlir::Region *region = IRContextImpl::unwrap(this);
  if (!region)
    return reportError(
        "the text of a region was queried that is no longer in the IR");
  std::string text;
  llvm::raw_string_ostream stream(text);
  std::string errors =
      llmir::errorsOf(owner_->context(), [&]() -> LogicalResult {
        if (printer.style() != IRPrinter::MLIR)
          return llmir::mllm::printText(*region, stream, optionsOf(printer));
        for (Operation &op : region->getOps())
          if (failed(printOp(&op, stream, printer)))
            return failure();
        return success();
      });
  if (!errors.empty())
    owner_->fail("the region is not printed: " + errors);
  else
    printer.print(text);
}

//===----------------------------------------------------------------------===//
// Op
//===----------------------------------------------------------------------===//

std::string Op::name() const {
  if (refuseDead("its name"))
    return {};
  return IRContextImpl::unwrap(this)->getName().getStringRef().str();
}

size_t Op::numOperands() const {
  return refuseDead("its operands")
             ? 0
             : IRContextImpl::unwrap(this)->getNumOperands();
}

size_t Op::numResults() const {
  return refuseDead("its results")
             ? 0
             : IRContextImpl::unwrap(this)->getNumResults();
}

val_ptr_t Op::operand(size_t index) const {
  if (index >= numOperands())
    return nullptr;
  return IRContextImpl::of(*this)->wrap(
      IRContextImpl::unwrap(this)->getOperand(index));
}

val_ptr_t Op::result(size_t index) const {
  if (index >= numResults())
    return nullptr;
  return IRContextImpl::of(*this)->wrap(
      Value(IRContextImpl::unwrap(this)->getResult(index)));
}

std::list<region_ptr_t> Op::regions() const {
  std::list<region_ptr_t> found;
  if (refuseDead("its regions"))
    return found;
  for (mlir::Region &region : IRContextImpl::unwrap(this)->getRegions())
    found.push_back(IRContextImpl::of(*this)->wrap(&region));
  return found;
}

region_ptr_t Op::getTopRegion() const {
  std::list<region_ptr_t> all = regions();
  return all.empty() ? nullptr : all.front();
}

std::string Op::location() const {
  if (refuseDead("its location"))
    return {};
  Location location = IRContextImpl::unwrap(this)->getLoc();
  std::string text;
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return file.getFilename().str() + ":" + std::to_string(file.getLine());
  if (isa<UnknownLoc>(location))
    return {};
  llvm::raw_string_ostream(text) << location;
  return text;
}

std::string Op::symbol() const {
  if (refuseDead("its symbol"))
    return {};
  auto name = IRContextImpl::unwrap(this)->getAttrOfType<StringAttr>(
      SymbolTable::getSymbolAttrName());
  return name ? name.str() : std::string();
}

DeviceTypes Op::getDevice() const {
  if (refuseDead("its device"))
    return kCPU;
  return llmir::mllm::deviceTypeOf(IRContextImpl::unwrap(this));
}

//===----------------------------------------------------------------------===//
// Val
//===----------------------------------------------------------------------===//

std::string Val::name() const {
  if (refuseDead("its name"))
    return {};
  return llmir::mllm::valueText(IRContextImpl::unwrap(this));
}

op_ptr_t Val::producerOp() const {
  if (refuseDead("its producer"))
    return nullptr;
  return IRContextImpl::of(*this)->wrap(
      IRContextImpl::unwrap(this).getDefiningOp());
}

std::list<op_ptr_t> Val::consumerOps() const {
  std::list<op_ptr_t> found;
  if (refuseDead("its users"))
    return found;
  std::set<Operation *> seen;
  // MLIR lists the last user first.
  for (Operation *user : IRContextImpl::unwrap(this).getUsers())
    if (seen.insert(user).second)
      found.push_front(IRContextImpl::of(*this)->wrap(user));
  return found;
}

std::string Val::symbol() const {
  if (refuseDead("its symbol"))
    return {};
  auto name = dyn_cast_or_null<StringAttr>(
      llmir::mllm::getValueAttributes(IRContextImpl::unwrap(this))
          .get(llmir::mllm::kValueSymbolKey));
  return name ? name.str() : std::string();
}

TensorType tensor::TensorValue::type() const {
  if (refuseDead("its type"))
    return {};
  std::optional<TensorType> known =
      IRContextImpl::type(IRContextImpl::unwrap(this).getType());
  return known ? *known : TensorType();
}

//===----------------------------------------------------------------------===//
// Region
//===----------------------------------------------------------------------===//

static mlir::Region *aliveOrReport(const Region *region, const char *what) {
  mlir::Region *found = IRContextImpl::unwrap(region);
  if (!found)
    reportError(std::string(what) +
                " was queried of a region that is no longer in the IR");
  return found;
}

const std::list<val_ptr_t> &Region::inputs() {
  inputs_.clear();
  if (mlir::Region *region = aliveOrReport(this, "the inputs"))
    for (Value argument : region->getArguments())
      inputs_.push_back(owner_->wrap(argument));
  return inputs_;
}

const std::list<val_ptr_t> &Region::outputs() {
  outputs_.clear();
  mlir::Region *region = aliveOrReport(this, "the outputs");
  if (region && !region->empty() && !region->back().empty()) {
    Operation &last = region->back().back();
    if (last.hasTrait<OpTrait::IsTerminator>())
      for (Value operand : last.getOperands())
        outputs_.push_back(owner_->wrap(operand));
  }
  return outputs_;
}

op_ptr_t Region::belongsTo() const {
  mlir::Region *region = aliveOrReport(this, "its parent op");
  return region ? owner_->wrap(region->getParentOp()) : nullptr;
}

//===----------------------------------------------------------------------===//
// OpList
//===----------------------------------------------------------------------===//

/// The first op of a region's blocks from `block` on, or null.
static Operation *firstFrom(Block *block) {
  for (; block; block = block->getNextNode())
    if (!block->empty())
      return &block->front();
  return nullptr;
}

static Operation *lastFrom(Block *block) {
  for (; block; block = block->getPrevNode())
    if (!block->empty())
      return &block->back();
  return nullptr;
}

op_ptr_t OpList::front() const {
  mlir::Region *region = aliveOrReport(region_, "the first op");
  if (!region || region->empty())
    return nullptr;
  return IRContextImpl::of(*region_)->wrap(firstFrom(&region->front()));
}

op_ptr_t OpList::back() const {
  mlir::Region *region = aliveOrReport(region_, "the last op");
  if (!region || region->empty())
    return nullptr;
  return IRContextImpl::of(*region_)->wrap(lastFrom(&region->back()));
}

OpList::iterator OpList::begin() const { return iterator(region_, front()); }

size_t OpList::size() const {
  size_t count = 0;
  if (mlir::Region *region = aliveOrReport(region_, "the number of ops"))
    for (Block &block : *region)
      count += block.getOperations().size();
  return count;
}

OpList::iterator &OpList::iterator::operator++() {
  Operation *op = IRContextImpl::unwrap(op_.get());
  if (!op) {
    reportError(op_ ? "the iteration ends at " + op_->describe() +
                          ", which was removed; IRWriter::walk continues"
                    : std::string("an iterator was advanced beyond the end"));
    op_ = nullptr;
    return *this;
  }
  Operation *next = op->getNextNode();
  if (!next)
    next = firstFrom(op->getBlock()->getNextNode());
  op_ = IRContextImpl::of(*op_)->wrap(next);
  return *this;
}

OpList::iterator &OpList::iterator::operator--() {
  if (!op_) {
    op_ = OpList(region_).back();
    return *this;
  }
  Operation *op = IRContextImpl::unwrap(op_.get());
  if (!op) {
    reportError("the iteration ends at " + op_->describe() +
                ", which was removed; IRWriter::walk continues");
    op_ = nullptr;
    return *this;
  }
  Operation *previous = op->getPrevNode();
  if (!previous)
    previous = lastFrom(op->getBlock()->getPrevNode());
  op_ = IRContextImpl::of(*op_)->wrap(previous);
  return *this;
}

} // namespace mllm::ir

//===----------------------------------------------------------------------===//
// IRPrinter
//===----------------------------------------------------------------------===//

mllm::IRPrinter::IRPrinter() : output(&std::cout) {}

void mllm::IRPrinter::print(const std::string &text) { *output << text; }

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Creation of ops, values and attributes.
//
//===----------------------------------------------------------------------===//

#include "mllm/ir/OpRequest.h"

#include "../IRContextImpl.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/MLLMText/Text.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace mllm::ir {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type IRContextImpl::type(const TensorType &type) {
  for (int64_t size : type.shape)
    if (size < 0 && size != kSymbolic)
      return {};
  llmir::shapes::Shape shape;
  for (int64_t size : type.shape)
    shape.push_back(size == kSymbolic ? llmir::shapes::DimExpr::unknown()
                                      : llmir::shapes::DimExpr(size));
  return llmir::mllm::makeTensorType(
      shape, llmir::mllm::elementType(*mlirContext, type.dtype),
      static_cast<llmir::mllm::Device>(type.device));
}

std::optional<TensorType> IRContextImpl::type(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  std::optional<DataTypes> dtype =
      llmir::mllm::dataTypeOf(tensor.getElementType());
  if (!dtype)
    return std::nullopt;
  return TensorType{tensor.getShape().vec(), *dtype,
                    llmir::mllm::deviceTypeOf(type)};
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {
/// Creates an attribute from a C++ value according to the hint; null if it does
/// not match.
struct MakeAttribute {
  IRContextImpl &impl;
  StringRef hint;
  Builder builder;

  MakeAttribute(IRContextImpl &impl, StringRef hint)
      : impl(impl), hint(hint), builder(&impl.context()) {}

  bool is(StringRef one) const { return hint == one || hint == "any"; }

  Attribute operator()(std::monostate) { return builder.getUnitAttr(); }
  Attribute operator()(bool value) {
    return is("i1") ? builder.getBoolAttr(value) : Attribute();
  }
  Attribute operator()(int64_t value) {
    if (hint == "f64" || hint == "f32")
      return (*this)(static_cast<double>(value));
    if (hint == "i32")
      return value == static_cast<int32_t>(value)
                 ? builder.getI32IntegerAttr(static_cast<int32_t>(value))
                 : Attribute();
    return is("i64") ? builder.getI64IntegerAttr(value) : Attribute();
  }
  Attribute operator()(double value) {
    if (hint == "f32")
      return builder.getF32FloatAttr(static_cast<float>(value));
    return is("f64") ? builder.getF64FloatAttr(value) : Attribute();
  }
  Attribute operator()(const std::string &value) {
    if (hint == "sym")
      return (*this)(SymbolName(value));
    return is("str") ? builder.getStringAttr(value) : Attribute();
  }
  Attribute operator()(const SymbolName &value) {
    StringRef name = value.name;
    name.consume_front("@");
    if (name.empty() || !is("sym"))
      return {};
    return FlatSymbolRefAttr::get(&impl.context(), name);
  }
  Attribute operator()(const std::vector<int64_t> &values) {
    if (hint == "i32s") {
      SmallVector<int32_t> narrow(values.begin(), values.end());
      return llvm::equal(narrow, values)
                 ? Attribute(builder.getDenseI32ArrayAttr(narrow))
                 : Attribute();
    }
    return is("i64s") ? builder.getDenseI64ArrayAttr(values) : Attribute();
  }
  Attribute operator()(const std::vector<double> &values) {
    return is("f64s") ? builder.getDenseF64ArrayAttr(values) : Attribute();
  }
  Attribute operator()(const std::vector<std::string> &values) {
    SmallVector<Attribute> all;
    for (const std::string &value : values)
      all.push_back(hint == "syms" ? (*this)(SymbolName(value))
                                   : builder.getStringAttr(value));
    if (llvm::is_contained(all, Attribute()))
      return {};
    return is("strs") || hint == "syms" ? builder.getArrayAttr(all)
                                        : Attribute();
  }
  Attribute operator()(const TensorType &value) {
    Type type = impl.type(value);
    return type && is("type") ? mlir::TypeAttr::get(type) : Attribute();
  }
  Attribute operator()(const attr_ptr_t &value) {
    return IRContextImpl::unwrap(value.get());
  }
};
} // namespace

Attribute IRContextImpl::attribute(const AttrValue &value, const char *hint) {
  if (const auto *handle = std::get_if<attr_ptr_t>(&value.get()))
    if (refuseForeign(*handle))
      return {};
  MakeAttribute make(*this, hint);
  // Symbols in a list of symbols keep their own hint.
  if (std::holds_alternative<SymbolName>(value.get()) &&
      StringRef(hint) == "syms")
    make.hint = "sym";
  Attribute made = std::visit(make, value.get());
  if (!made)
    fail(
        std::string("an attribute value has the wrong type; it is stored as ") +
            hint,
        "give a value of that type");
  return made;
}

// Data and builders of the attribute classes.
#define MLLM_IR_ATTR(Name, Data, MLIRName, get, make)                          \
  Data Name::data() const {                                                    \
    if (refuseDead("its data"))                                                \
      return {};                                                               \
    auto attr = ::llvm::cast<MLIRName>(IRContextImpl::unwrap(this));           \
    return get;                                                                \
  }                                                                            \
  Name::ptr_t Name::build(IRContext *context, const Data &data) {              \
    Builder builder(&context->impl().context());                               \
    return cast<Name>(context->impl().wrap(Attribute(make)));                  \
  }

MLLM_IR_ATTR(IntAttr, int64_t, mlir::IntegerAttr,
             attr.getValue().trySExtValue().value_or(0),
             builder.getI64IntegerAttr(data))
MLLM_IR_ATTR(FPAttr, double, mlir::FloatAttr, attr.getValueAsDouble(),
             builder.getF64FloatAttr(data))
MLLM_IR_ATTR(BoolAttr, bool, mlir::BoolAttr, attr.getValue(),
             builder.getBoolAttr(data))
MLLM_IR_ATTR(StrAttr, std::string, mlir::StringAttr, attr.str(),
             builder.getStringAttr(data))
MLLM_IR_ATTR(SymbolAttr, std::string, mlir::FlatSymbolRefAttr,
             attr.getValue().str(),
             FlatSymbolRefAttr::get(builder.getContext(), data))
MLLM_IR_ATTR(VectorInt64Attr, std::vector<int64_t>, mlir::DenseI64ArrayAttr,
             attr.asArrayRef().vec(), builder.getDenseI64ArrayAttr(data))
MLLM_IR_ATTR(VectorFP64Attr, std::vector<double>, mlir::DenseF64ArrayAttr,
             attr.asArrayRef().vec(), builder.getDenseF64ArrayAttr(data))
MLLM_IR_ATTR(VectorFP32Attr, std::vector<float>, mlir::DenseF32ArrayAttr,
             attr.asArrayRef().vec(), builder.getDenseF32ArrayAttr(data))
MLLM_IR_ATTR(VectorInt16Attr, std::vector<int16_t>, mlir::DenseI16ArrayAttr,
             attr.asArrayRef().vec(),
             mlir::DenseI16ArrayAttr::get(builder.getContext(), data))
#undef MLLM_IR_ATTR

TensorType TypeAttr::data() const {
  if (refuseDead("its data"))
    return {};
  auto attr = ::llvm::cast<mlir::TypeAttr>(IRContextImpl::unwrap(this));
  return IRContextImpl::type(attr.getValue()).value_or(TensorType());
}

TypeAttr::ptr_t TypeAttr::build(IRContext *context, const TensorType &data) {
  Type type = context->impl().type(data);
  if (!type) {
    context->impl().fail("a size of the type is negative");
    return nullptr;
  }
  return cast<TypeAttr>(
      context->impl().wrap(Attribute(mlir::TypeAttr::get(type))));
}

std::string Attr::text() const {
  if (refuseDead("its text"))
    return {};
  std::string text;
  llvm::raw_string_ostream(text) << IRContextImpl::unwrap(this);
  return text;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void IRContextImpl::setInsertionPoint(bool isTerminator) {
  if (place) {
    if (placeIsAfter)
      irRewriter.setInsertionPointAfter(place);
    else
      irRewriter.setInsertionPoint(place);
    return;
  }
  mlir::Region *where = region ? region : &module().getBodyRegion();
  if (where->empty())
    irRewriter.createBlock(where);
  Block &block = where->back();
  irRewriter.setInsertionPointToEnd(&block);
  if (!isTerminator && !block.empty() &&
      block.back().hasTrait<OpTrait::IsTerminator>())
    irRewriter.setInsertionPoint(&block.back());
}

/// The results of an op without given results: inferred, those of the callee,
/// or none. Fails if inference fails.
static std::string inferResults(IRContextImpl &impl, Operation *op,
                                SmallVectorImpl<Type> &types) {
  if (auto call = dyn_cast<llmir::mllm::CallGraphOp>(op)) {
    auto callee = dyn_cast_or_null<FunctionOpInterface>(
        SymbolTable::lookupSymbolIn(impl.module(), call.getCallee()));
    if (callee)
      llvm::append_range(types, callee.getResultTypes());
    return {};
  }
  auto inference = op->getName().getInterface<InferTypeOpInterface>();
  if (!inference)
    return {};
  return llmir::errorsOf(impl.context(), [&] {
    return inference->inferReturnTypes(
        op->getContext(), op->getLoc(), op->getOperands(),
        op->getAttrDictionary(), op->getPropertiesStorage(), op->getRegions(),
        types);
  });
}

op_ptr_t IRContextImpl::build(const OpRequest &request) {
  OperationName name(request.name, mlirContext.get());
  auto refuse = [&](const std::string &why) -> op_ptr_t {
    fail(request.name + ": " + why);
    return nullptr;
  };
  SmallVector<Value> operands;
  SmallVector<int32_t> segments;
  for (const std::vector<val_ptr_t> &group : request.operands) {
    segments.push_back(static_cast<int32_t>(group.size()));
    for (const val_ptr_t &each : group) {
      Value value = unwrap(each);
      if (!value)
        return refuse("operand " + std::to_string(operands.size()) + " is " +
                      (each
                           ? each->describe() + ", which is no longer in the IR"
                           : "null"));
      if (IRContextImpl::of(*each) != this)
        return refuse("operand " + std::to_string(operands.size()) + ", " +
                      each->describe() + ", belongs to another context");
      operands.push_back(value);
    }
  }
  NamedAttrList attributeList;
  for (const OpRequest::Attribute &each : request.attributes) {
    Attribute made = attribute(each.value, each.hint);
    if (!made)
      return refuse("'" + each.name + "' was not created");
    if (each.name == SymbolTable::getSymbolAttrName()) {
      StringRef symbol = cast<StringAttr>(made).getValue();
      if (symbol.empty())
        return refuse("its symbol is empty");
      if (node_ptr_t taken = lookupSymbol(symbol))
        return refuse("@" + symbol.str() + " is in use by " +
                      taken->describe());
    }
    attributeList.set(each.name, made);
  }
  if (name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    attributeList.set("operandSegmentSizes",
                      DenseI32ArrayAttr::get(mlirContext.get(), segments));
  SmallVector<Type> results;
  for (const TensorType &each : request.results) {
    results.push_back(type(each));
    if (!results.back())
      return refuse("a size of a result is negative");
  }

  OpBuilder::InsertionGuard guard(irRewriter);
  setInsertionPoint(name.hasTrait<OpTrait::IsTerminator>());
  auto make = [&] {
    OperationState state(UnknownLoc::get(mlirContext.get()), name);
    state.addOperands(operands);
    state.addAttributes(attributeList);
    state.addTypes(results);
    // An op is created with empty regions.
    const llmir::mllm::OpTextName *known =
        llmir::mllm::findOpTextName(request.name);
    for (unsigned i = 0, e = known ? known->regions : 0; i < e; ++i)
      state.addRegion();
    return Operation::create(state);
  };
  Operation *op = make();
  if (results.empty()) {
    std::string wrong = inferResults(*this, op, results);
    if (!wrong.empty()) {
      op->destroy();
      return refuse("its results cannot be inferred: " + wrong);
    }
    if (!results.empty()) {
      op->destroy();
      op = make();
    }
  }
  irRewriter.insert(op);
  return wrap(op);
}

op_ptr_t IRContextImpl::buildSubGraph(const std::string &name,
                                      const std::vector<TensorType> &arguments,
                                      const std::vector<TensorType> &results) {
  SmallVector<Type> inputs, outputs;
  for (const TensorType &each : arguments)
    inputs.push_back(type(each));
  for (const TensorType &each : results)
    outputs.push_back(type(each));
  StringRef symbol = name;
  symbol.consume_front("@");
  std::string wrong;
  if (llvm::is_contained(inputs, Type()) || llvm::is_contained(outputs, Type()))
    wrong = "a size of its types is negative";
  else if (symbol.empty())
    wrong = "its name is empty";
  else if (node_ptr_t taken = lookupSymbol(symbol))
    wrong = "the name is in use by " + taken->describe();
  if (!wrong.empty()) {
    fail("the subgraph @" + symbol.str() + " is not created: " + wrong);
    return nullptr;
  }
  OpBuilder::InsertionGuard guard(irRewriter);
  setInsertionPoint(/*isTerminator=*/false);
  auto location = NameLoc::get(StringAttr::get(mlirContext.get(), symbol));
  return wrap(llmir::mllm::SubGraphOp::create(
                  irRewriter, location, symbol,
                  irRewriter.getFunctionType(inputs, outputs))
                  .getOperation());
}

/// True if a value dominates `op`.
static bool isDefinedBefore(Value value, Operation *op) {
  // An op must not capture values in a region isolated from above.
  Operation *scope = op->getParentOp();
  while (scope && !scope->hasTrait<OpTrait::IsIsolatedFromAbove>())
    scope = scope->getParentOp();
  Operation *home = value.getParentRegion()->getParentOp();
  return (!scope || scope->isAncestor(home)) &&
         DominanceInfo(home).properlyDominates(value, op);
}

std::string IRContextImpl::whyOutOfOrder(Operation *op) {
  Operation *before = op->getPrevNode(), *after = op->getNextNode();
  if (op->hasTrait<OpTrait::IsTerminator>() && after)
    return "a terminator would precede other ops";
  if (before && before->hasTrait<OpTrait::IsTerminator>())
    return "it would follow the terminator of the region";
  DominanceInfo dominance(op->getParentOp());
  bool isInOrder =
      llvm::all_of(op->getOperands(),
                   [&](Value value) { return isDefinedBefore(value, op); }) &&
      llvm::all_of(op->getUsers(), [&](Operation *user) {
        return dominance.properlyDominates(op, user);
      });
  return isInOrder ? "" : "a value would be used before its definition";
}

std::string IRContextImpl::verifyAlone(Operation *op) {
  // An op with an empty body is verified with its module, except for the name
  // and arguments of a subgraph.
  bool isComplete = llvm::all_of(op->getRegions(), [](mlir::Region &region) {
    return !region.empty() &&
           llvm::none_of(region, [](Block &block) { return block.empty(); });
  });
  return llmir::errorsOf(context(), [&]() -> LogicalResult {
    if (isa<llmir::mllm::SubGraphOp>(op) &&
        !isa_and_nonnull<mlir::ModuleOp>(op->getParentOp()))
      return op->emitOpError("must be in a module, not in another op");
    if (!isComplete) {
      auto subgraph = dyn_cast<llmir::mllm::SubGraphOp>(op);
      return success(!subgraph || (succeeded(subgraph.verifyInvariantsImpl()) &&
                                   succeeded(subgraph.verifyType()) &&
                                   (subgraph.isExternal() ||
                                    succeeded(subgraph.verifyBody()))));
    }
    if (failed(mlir::verify(op, /*verifyRecursively=*/false)))
      return failure();
    auto user = dyn_cast<SymbolUserOpInterface>(op);
    if (!user)
      return success();
    SymbolTableCollection tables;
    return user.verifySymbolUses(tables);
  });
}

bool IRContextImpl::setValueAttributes(Value value, DictionaryAttr attributes) {
  return llmir::mllm::setValueAttributes(value, attributes) ||
         fail(wrap(value)->describe() + " carries no attributes: only results "
                                        "and the arguments of subgraphs do");
}

//===----------------------------------------------------------------------===//
// Requests of generated classes
//===----------------------------------------------------------------------===//

namespace detail {

Request::Request(const char *name, const Types &results,
                 const NamedAttributes &attributes)
    : request(std::make_unique<OpRequest>()) {
  request->name = name;
  request->results = results.get();
  for (const auto &[key, value] : attributes)
    request->attributes.push_back({key, value, "any"});
}

Request::~Request() = default;

void Request::operand(const val_ptr_t &value) {
  request->operands.push_back({value});
}

void Request::operands(const Values &values) {
  request->operands.push_back(values.get());
}

void Request::attribute(const char *name, const char *hint,
                        const AttrValue &value) {
  request->attributes.push_back({name, value, hint});
}

op_ptr_t Request::build(IRContext *context) {
  return context->impl().build(*request);
}

op_ptr_t buildSubGraph(IRContext *context, const std::string &name,
                       const Types &arguments, const Types &results) {
  return context->impl().buildSubGraph(name, arguments.get(), results.get());
}

} // namespace detail

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

tensor::TensorValue::ptr_t
tensor::TensorValue::build(IRContext *context, const TensorType &type,
                           const std::string &symbol) {
  IRContextImpl &impl = context->impl();
  auto refuse = [&](const std::string &why) -> ptr_t {
    impl.fail("the value is not created: " + why);
    return nullptr;
  };
  Type made = impl.type(type);
  if (!made)
    return refuse("a size of its type is negative");
  mlir::Region *region =
      IRContextImpl::unwrap(context->getCurInsertRegion().get());
  auto subgraph = dyn_cast<llmir::mllm::SubGraphOp>(region->getParentOp());
  if (!subgraph)
    return refuse("values are defined by ops or are inputs of a subgraph; ops "
                  "are created in " +
                  impl.wrap(region->getParentOp())->describe() + " now");
  if (!SymbolTable::symbolKnownUseEmpty(subgraph, impl.module()))
    return refuse("@" + subgraph.getSymName().str() +
                  " has calls, so that its inputs cannot change");
  StringRef name = symbol;
  name.consume_front("@");
  if (!name.empty())
    if (node_ptr_t taken = impl.lookupSymbol(name))
      return refuse("@" + name.str() + " is in use by " + taken->describe());
  unsigned index = subgraph.getNumArguments();
  auto noAttributes = DictionaryAttr::get(&impl.context());
  if (failed(subgraph.insertArgument(index, made, noAttributes,
                                     subgraph.getLoc())))
    return refuse("the subgraph cannot have more inputs");
  auto value = cast<TensorValue>(impl.wrap(Value(subgraph.getArgument(index))));
  if (!name.empty())
    context->addToSymbolTable(value, name.str());
  return value;
}

} // namespace mllm::ir

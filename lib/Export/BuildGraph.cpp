//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Export/BuildGraph.h"

#include "Limits.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/MLLMInterfaces.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"
#include "llmir/Dialect/MLLM/Transforms/Specialize.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmir;
using namespace ::mllm::ir;
/// The dialect; `mllm` alone would be ambiguous with the API.
namespace dialect = llmir::mllm;
using llmir::mllm::CallGraphOp;
using llmir::mllm::LinalgOpInterface;
using llmir::mllm::RegisterOp;
using llmir::mllm::SubGraphOp;

/// Limit of the number of ops: a small module can inline to any number.
static constexpr int64_t maxOps = 1000000;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static std::optional<::mllm::DataTypes> dataTypeOf(Type type) {
  using namespace ::mllm;
  if (type.isF32())
    return kFp32;
  if (type.isF16())
    return kFp16;
  if (type.isBF16())
    return kBf16;
  if (type.isF64())
    return kFp64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  const bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return kBool;
  case 4:
    return isUnsigned ? kUInt4 : kInt4;
  case 8:
    return isUnsigned ? kUInt8 : kInt8;
  case 16:
    return isUnsigned ? kUInt16 : kInt16;
  case 32:
    return isUnsigned ? kUInt32 : kInt32;
  case 64:
    return isUnsigned ? kUInt64 : kInt64;
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The elements of a constant; empty if there are too many.
static GraphAttribute numbersOf(DenseElementsAttr constant) {
  if (constant.getNumElements() > maxConstant)
    return {};
  if (isa<FloatType>(constant.getElementType())) {
    std::vector<double> reals;
    for (const APFloat &value : constant.getValues<APFloat>()) {
      APFloat wide = value;
      bool isInexact;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &isInexact);
      reals.push_back(wide.convertToDouble());
    }
    return reals;
  }
  auto type = dyn_cast<IntegerType>(constant.getElementType());
  if (!type || type.getWidth() > 64)
    return {};
  std::vector<int64_t> integers;
  for (const APInt &value : constant.getValues<APInt>())
    integers.push_back(type.getWidth() == 1 || type.isUnsigned()
                           ? static_cast<int64_t>(value.getZExtValue())
                           : value.getSExtValue());
  return integers;
}

static GraphAttribute attributeOf(Attribute attr) {
  if (auto constant = dyn_cast<DenseElementsAttr>(attr))
    return numbersOf(constant);
  if (isa<UnitAttr>(attr))
    return true;
  if (auto flag = dyn_cast<BoolAttr>(attr))
    return flag.getValue();
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return number.getValue().isSignedIntN(64)
               ? GraphAttribute(number.getValue().getSExtValue())
               : GraphAttribute();
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  if (auto text = dyn_cast<StringAttr>(attr))
    return text.getValue().str();
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attr))
    return numbers.asArrayRef().vec();
  if (auto numbers = dyn_cast<DenseF64ArrayAttr>(attr))
    return numbers.asArrayRef().vec();
  // Enumerations and types: their assembly format.
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (isa<TypeAttr>(attr) ||
      !isa<ArrayAttr, DictionaryAttr, ElementsAttr>(attr))
    attr.print(stream, /*elideType=*/true);
  // The keyword of an enum attribute: "constant" of "#mllm<pad_mode constant>".
  if (StringRef word = text;
      word.consume_front("#mllm") && word.consume_back(">"))
    text = word.substr(word.find_last_of("< ") + 1).str();
  return text.empty() ? GraphAttribute() : GraphAttribute(std::move(text));
}

/// The layer named by an op's location; empty for a file location.
static std::string pathOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string path = pathOf(part); !path.empty())
        return path;
  return {};
}

/// "rms_norm" of "mllm.linalg.rms_norm", "tensor.free" of "mllm.tensor.free".
static std::string kindOf(Operation *op) {
  StringRef name = op->getName().getStringRef();
  name.consume_front("mllm.");
  name.consume_front("linalg.");
  return name.str();
}

//===----------------------------------------------------------------------===//
// The builder
//===----------------------------------------------------------------------===//

namespace {

class GraphBuilder {
public:
  GraphBuilder(ModuleOp module, const GraphOptions &options)
      : module(module), scratch(module.clone()), builder(module.getContext()) {
    shown.named = costs.named = options.sizes;
    // A new sequence unless specified otherwise: all keys are those of this
    // step.
    auto past = options.sizes.find(dialect::SizeBinding::kPast.str());
    costs.past = past == options.sizes.end() ? 0 : past->second;
    if (past != options.sizes.end() || !options.isPastOpen)
      shown.past = costs.past;
    if (options.tokens)
      shown.unnamed = options.tokens;
    costs.unnamed = graph.costTokens = options.tokens ? options.tokens : 1;
    costs.otherSymbols = graph.costTokens;
  }

  Expected<Graph> build(SubGraphOp entry);

private:
  /// A value of the module being inlined: its copy with the sizes used for
  /// costs, the copy with the displayed sizes, and the graph's value.
  struct Known {
    Value cost, shown;
    const GraphValue *value;
  };
  using Frame = DenseMap<Value, Known>;

  Status fillModule(SubGraphOp subgraph, Frame &frame, GraphModule &result);
  Status addOp(Operation &op, Frame &frame, GraphModule &result);
  /// An op whose copies have inferred sizes.
  Status addCopied(Operation &op, Operation *costCopy, Operation *shownCopy,
                   Frame &frame, GraphModule &result);
  Status addBody(Region &region, Region &costCopy, Region &shownCopy,
                 const Frame &frame, GraphOp &item);
  Status countOp();
  /// The op's operands and the values captured by its regions, without
  /// duplicates.
  static llvm::SetVector<Value> usedBy(Operation &op, const Frame &frame);
  Status addCall(CallGraphOp call, Frame &frame, GraphModule &result);
  Expected<const GraphValue *> makeValue(Value shownValue, bool isInput);
  const GraphParameter *parameterOf(StringAttr name);
  void setParametersAndAttributes(Operation &op, GraphOp &result);

  ModuleOp module;
  OwningOpRef<ModuleOp> scratch;
  OpBuilder builder;
  dialect::SizeBinding shown, costs;
  dialect::SizeInference inferShown{shown, /*isStrict=*/false};
  dialect::SizeInference inferCosts{costs, /*isStrict=*/false};
  Graph graph;
  llvm::StringMap<const GraphParameter *> parameters;
  llvm::SetVector<Operation *> active; ///< Subgraphs that are being inlined.
  int64_t numOps = 0;
};

} // namespace

Expected<const GraphValue *> GraphBuilder::makeValue(Value value,
                                                     bool isInput) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<::mllm::DataTypes> dtype =
      type ? dataTypeOf(type.getElementType()) : std::nullopt;
  if (!dtype) {
    std::string text;
    llvm::raw_string_ostream(text) << value.getType();
    return Status(StatusCode::Unsupported,
                  "a value of type " + text + " cannot be exported",
                  "exporters support tensors of floats, integers and bools");
  }
  GraphValue result;
  result.name = "v" + std::to_string(graph.values.size());
  result.shape = dialect::shapeOf(type);
  for (const shapes::DimExpr &size : result.shape)
    graph.hasDynamicSizes |= !size.isConstant();
  result.dtype = *dtype;
  result.device = static_cast<::mllm::DeviceTypes>(dialect::deviceOf(type));
  result.isInput = isInput;
  graph.values.push_back(std::move(result));
  return &graph.values.back();
}

const GraphParameter *GraphBuilder::parameterOf(StringAttr name) {
  auto [entry, isNew] = parameters.try_emplace(name.getValue(), nullptr);
  if (!isNew)
    return entry->second;
  auto parameter = module.lookupSymbol<RegisterOp>(name);
  if (!parameter)
    return nullptr;
  GraphParameter result;
  result.name = name.str();
  if (auto source = parameter->getAttrOfType<StringAttr>("source"))
    result.source = source.str();
  result.shape = parameter.getShape().vec();
  result.format = dialect::storedFormatName(parameter.getType());
  result.bytes = dialect::bytesOf(parameter.getType());
  if (auto heads =
          parameter->getAttrOfType<IntegerAttr>("rope_unpermute_heads"))
    result.unpermuteHeads = heads.getInt();
  dialect::setStoredRows(result, parameter.getSlice());
  result.isTransposed = parameter.getTransposed();
  result.slicesColumns = parameter.getSlicesColumns();
  graph.parameters.push_back(std::move(result));
  return entry->second = &graph.parameters.back();
}

void GraphBuilder::setParametersAndAttributes(Operation &op, GraphOp &result) {
  for (NamedAttribute attr : op.getAttrs()) {
    std::string name = attr.getName().str();
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attr.getValue())) {
      if (const GraphParameter *parameter = parameterOf(symbol.getAttr()))
        result.parameters[name] = parameter;
    } else {
      result.attributes[name] = attributeOf(attr.getValue());
    }
  }
}

/// Infers the result types of a copy of an op whose operands have bound sizes.
static Status infer(dialect::SizeInference &inference, Operation *op) {
  if (succeeded(inference.inferOp(op)))
    return Status::ok();
  return Status(StatusCode::Unsupported,
                "the sizes of '" + op->getName().getStringRef().str() +
                    "' cannot be inferred",
                "write fewer loops within loops");
}

llvm::SetVector<Value> GraphBuilder::usedBy(Operation &op, const Frame &frame) {
  llvm::SetVector<Value> used(op.operand_begin(), op.operand_end());
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (frame.count(operand))
        used.insert(operand);
  });
  return used;
}

Status GraphBuilder::addOp(Operation &op, Frame &frame, GraphModule &result) {
  IRMapping costMap, shownMap;
  for (Value operand : usedBy(op, frame)) {
    const Known &known = frame.lookup(operand);
    costMap.map(operand, known.cost);
    shownMap.map(operand, known.shown);
  }
  Operation *costCopy = builder.clone(op, costMap);
  LLMIR_RETURN_IF_ERROR(infer(inferCosts, costCopy));
  Operation *shownCopy = builder.clone(op, shownMap);
  LLMIR_RETURN_IF_ERROR(infer(inferShown, shownCopy));
  return addCopied(op, costCopy, shownCopy, frame, result);
}

Status GraphBuilder::addCopied(Operation &op, Operation *costCopy,
                               Operation *shownCopy, Frame &frame,
                               GraphModule &result) {
  auto item = std::make_unique<GraphOp>();
  for (Value operand : op.getOperands())
    item->operands.push_back(frame.lookup(operand).value);
  const llvm::SetVector<Value> used = usedBy(op, frame);
  for (Value seen : used)
    if (!llvm::is_contained(op.getOperands(), seen))
      item->operands.push_back(frame.lookup(seen).value);
  item->kind = kindOf(&op);
  item->path = pathOf(op.getLoc());
  item->origin = &op;
  setParametersAndAttributes(op, *item);
  if (auto linalg = dyn_cast<LinalgOpInterface>(costCopy)) {
    item->flops = linalg.getFlops();
    item->bytes = linalg.getBytes();
  }
  for (auto [i, value] : llvm::enumerate(op.getResults())) {
    Expected<const GraphValue *> made =
        makeValue(shownCopy->getResult(i), /*isInput=*/false);
    if (!made)
      return made.takeStatus();
    item->results.push_back(*made);
    frame[value] = {costCopy->getResult(i), shownCopy->getResult(i), *made};
  }
  for (unsigned i = 0, e = op.getNumRegions(); i < e; ++i)
    LLMIR_RETURN_IF_ERROR(addBody(op.getRegion(i), costCopy->getRegion(i),
                                  shownCopy->getRegion(i), frame, *item));
  result.items.push_back({std::move(item), nullptr});
  return Status::ok();
}

/// "then", "else"; "condition", "body".
static const char *bodyName(Region &region) {
  Operation *op = region.getParentOp();
  const bool isFirst = region.getRegionNumber() == 0;
  if (isa<dialect::IfOp>(op))
    return isFirst ? "then" : "else";
  return isa<dialect::WhileOp>(op) && isFirst ? "condition" : "body";
}

Status GraphBuilder::addBody(Region &region, Region &costCopy,
                             Region &shownCopy, const Frame &frame,
                             GraphOp &item) {
  auto body = std::make_unique<GraphModule>();
  body->path = bodyName(region);
  Frame inner;
  for (auto [argument, cost, shown] :
       llvm::zip(region.getArguments(), costCopy.getArguments(),
                 shownCopy.getArguments())) {
    Expected<const GraphValue *> made = makeValue(shown, /*isInput=*/false);
    if (!made)
      return made.takeStatus();
    inner[argument] = {cost, shown, *made};
    body->operands.push_back(*made);
  }
  region.walk([&](Operation *op) { // Captured values.
    for (Value operand : op->getOperands()) {
      auto found = frame.find(operand);
      if (found != frame.end() && inner.insert(*found).second)
        body->operands.push_back(found->second.value);
    }
  });
  for (auto [op, cost, shown] :
       llvm::zip(region.getOps(), costCopy.getOps(), shownCopy.getOps())) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      for (Value value : op.getOperands())
        body->results.push_back(inner.lookup(value).value);
      continue;
    }
    LLMIR_RETURN_IF_ERROR(countOp());
    if (auto call = dyn_cast<CallGraphOp>(op)) {
      LLMIR_RETURN_IF_ERROR(addCall(call, inner, *body));
      continue;
    }
    LLMIR_RETURN_IF_ERROR(addCopied(op, &cost, &shown, inner, *body));
  }
  item.bodies.push_back(std::move(body));
  return Status::ok();
}

Status GraphBuilder::countOp() {
  if (++numOps <= maxOps)
    return Status::ok();
  return Status(StatusCode::Unsupported,
                "the model inlines to more than " + std::to_string(maxOps) +
                    " ops",
                "export its subgraphs one by one");
}

Status GraphBuilder::addCall(CallGraphOp call, Frame &frame,
                             GraphModule &result) {
  auto callee = module.lookupSymbol<SubGraphOp>(call.getCalleeAttr());
  if (!callee || callee.getBody().empty())
    return Status(StatusCode::InvalidArgument,
                  "subgraph '" + call.getCallee().str() + "' has no body",
                  "link the module that defines it");
  Frame inner;
  auto item = std::make_unique<GraphModule>();
  for (auto [argument, operand] :
       llvm::zip(callee.getBody().getArguments(), call.getOperands())) {
    inner[argument] = frame.lookup(operand);
    item->operands.push_back(inner[argument].value);
  }
  LLMIR_RETURN_IF_ERROR(fillModule(callee, inner, *item));
  Operation *end = callee.getBody().front().getTerminator();
  for (auto [result, returned] :
       llvm::zip(call.getResults(), end->getOperands()))
    frame[result] = inner.lookup(returned);
  result.items.push_back({nullptr, std::move(item)});
  return Status::ok();
}

Status GraphBuilder::fillModule(SubGraphOp subgraph, Frame &frame,
                                GraphModule &result) {
  if (!active.insert(subgraph))
    return Status(StatusCode::InvalidArgument,
                  "subgraph '" + subgraph.getSymName().str() + "' calls itself",
                  "a static graph has no recursion");
  result.path = subgraph.getSymName().str();
  for (Operation &op : subgraph.getBody().front()) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      for (Value value : op.getOperands())
        result.results.push_back(frame.lookup(value).value);
      continue;
    }
    LLMIR_RETURN_IF_ERROR(countOp());
    auto call = dyn_cast<CallGraphOp>(op);
    LLMIR_RETURN_IF_ERROR(call ? addCall(call, frame, result)
                               : addOp(op, frame, result));
  }
  active.remove(subgraph);
  return Status::ok();
}

Expected<Graph> GraphBuilder::build(SubGraphOp entry) {
  graph.name = entry.getSymName().str();
  if (auto facts = module->getAttrOfType<DictionaryAttr>(
          dialect::ModelFacts::attrName()))
    if (auto architecture = facts.getAs<StringAttr>("architecture"))
      graph.architecture = architecture.str();

  // Copies are in a subgraph of the scratch module, so that ops find their
  // parameters; this subgraph has no terminator and is never verified.
  auto place =
      SubGraphOp::create(builder, entry.getLoc(), "export.scratch",
                         builder.getFunctionType(TypeRange(), TypeRange()));
  scratch->push_back(place);
  Region &body = place.getBody();
  if (body.empty())
    body.emplaceBlock();
  builder.setInsertionPointToEnd(&body.front());

  Frame frame;
  graph.root = std::make_unique<GraphModule>();
  for (BlockArgument argument : entry.getBody().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      return Status(StatusCode::Unsupported, "an input is not a ranked tensor");
    Known known;
    known.cost = body.addArgument(costs.bindInput(type), argument.getLoc());
    inferCosts.declareType(known.cost, type);
    known.shown = body.addArgument(shown.bindInput(type), argument.getLoc());
    inferShown.declareType(known.shown, type);
    Expected<const GraphValue *> made = makeValue(known.shown, true);
    if (!made)
      return made.takeStatus();
    known.value = *made;
    frame[argument] = known;
    graph.root->operands.push_back(*made);
  }
  LLMIR_RETURN_IF_ERROR(fillModule(entry, frame, *graph.root));
  return std::move(graph);
}

/// The entry, the callee of the module's only call, or the only public
/// subgraph.
static Expected<SubGraphOp> findRoot(ModuleOp module) {
  if (SubGraphOp entry = dialect::entrySubGraph(module))
    return entry;
  SmallVector<SubGraphOp> found;
  for (auto call : module.getOps<CallGraphOp>())
    if (auto callee = module.lookupSymbol<SubGraphOp>(call.getCalleeAttr()))
      found.push_back(callee);
  if (found.empty())
    for (auto subgraph : module.getOps<SubGraphOp>())
      if (subgraph.isPublic())
        found.push_back(subgraph);
  if (found.size() == 1)
    return found.front();
  return Status(
      StatusCode::InvalidArgument,
      found.empty()
          ? "the module has no subgraph"
          : "the module does not specify which of its subgraphs is the model",
      "mark the model's subgraph `entry`");
}

Operation *llmir::operationOf(const GraphOp &op) {
  return const_cast<Operation *>(static_cast<const Operation *>(op.origin));
}

Expected<FunctionOpInterface> llmir::findModel(ModuleOp module) {
  Expected<SubGraphOp> root = findRoot(module);
  if (!root)
    return root.takeStatus();
  return FunctionOpInterface(*root);
}

Expected<Graph> llmir::buildGraph(ModuleOp module,
                                  const GraphOptions &options) {
  if (options.tokens < 0)
    return Status(StatusCode::InvalidArgument,
                  "the number of tokens is " + std::to_string(options.tokens),
                  "give 1 or more, or 0 for a dynamic size");
  for (const auto &[name, size] : options.sizes)
    if (size < 1)
      return Status(StatusCode::InvalidArgument,
                    "size '" + name + "' is " + std::to_string(size),
                    "give 1 or more");
  Expected<SubGraphOp> root = findRoot(module);
  if (!root)
    return root.takeStatus();
  if ((*root).getBody().empty())
    return Status(StatusCode::InvalidArgument,
                  "subgraph '" + (*root).getSymName().str() + "' has no body");
  return GraphBuilder(module, options).build(*root);
}

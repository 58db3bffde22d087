//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scene.h"
#include "SceneText.h"

#include <map>
#include <set>

using namespace llmir;
using namespace llmir::picture;
using namespace mllm::ir;

/// Larger drawings are not useful.
static constexpr size_t maxBoxes = 20000;
/// Maximum recursion depth of the layout.
static constexpr int maxDepth = 200;
static constexpr size_t maxTextChars = 72;

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

namespace {

/// Sums over the ops of a module; each parameter counts once.
struct Totals {
  std::set<const GraphParameter *> parameters;
  double flops = 0;
  bool flopsKnown = true; ///< False if a size is unknown or on overflow.
  size_t ops = 0, modules = 0;

  void add(const GraphOp &op) {
    // The cost of a branch or loop is that of its bodies, once each.
    for (const auto &body : op.bodies)
      addItems(*body);
    if (!op.bodies.empty())
      return;
    ++ops;
    for (const auto &entry : op.parameters)
      parameters.insert(entry.second);
    flops += static_cast<double>(op.flops.value_or(0));
    flopsKnown &= op.flops.has_value();
  }
  void add(const GraphModule &module) {
    ++modules;
    addItems(module);
  }
  void addItems(const GraphModule &module) {
    for (const GraphItem &item : module.items) {
      if (item.op)
        add(*item.op);
      else
        add(*item.module);
    }
  }
  double values() const {
    double sum = 0;
    for (const GraphParameter *parameter : parameters) {
      double product = 1; // In double, to avoid overflow.
      for (int64_t size : parameter->shape)
        product *= static_cast<double>(size);
      sum += product;
    }
    return sum;
  }
  std::string bytesText() const {
    double sum = 0;
    bool known = true;
    for (const GraphParameter *parameter : parameters) {
      sum += static_cast<double>(parameter->bytes.value_or(0));
      known &= parameter->bytes.has_value();
    }
    return boundText(sum, known, "B");
  }
  std::string flopsText(double tokens = 1) const {
    return boundText(flops / tokens, flopsKnown, "FLOP");
  }
  /// A sum with possibly unknown terms.
  static std::string boundText(double sum, bool known, const char *unit) {
    if (!known && sum == 0)
      return std::string("? ") + unit;
    return (known ? "" : "\u2265 ") + withUnit(sum, unit);
  }
  std::string text() const {
    std::string text;
    if (!parameters.empty())
      text = picture::withUnit(values()) + " parameters" + dot + bytesText();
    if (flops > 0)
      text += (text.empty() ? "" : dot) + flopsText();
    return text;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Identical modules
//===----------------------------------------------------------------------===//

namespace {

/// Numbers modules such that identical ones have the same number: equal ops,
/// attributes (except the layer index of a cache), shapes, shapes and formats
/// of parameters, and data flow, but not names.
class ModuleKinds {
public:
  explicit ModuleKinds(const GraphModule &root) { number(root); }
  int of(const GraphModule &module) const { return numbers.at(&module); }

private:
  int number(const GraphModule &module);

  std::map<std::string, int> byText;
  std::map<const GraphModule *, int> numbers;
};

} // namespace

int ModuleKinds::number(const GraphModule &module) {
  std::map<const GraphValue *, size_t> local;
  std::string text;
  auto name = [&](const GraphValue *value) {
    size_t number = local.emplace(value, local.size()).first->second;
    text += "%" + std::to_string(number) + ":" + shapeText(*value) + " ";
  };
  for (const GraphValue *operand : module.operands)
    name(operand);
  for (const GraphItem &item : module.items) {
    if (item.module) {
      text += "call " + std::to_string(number(*item.module)) + " ";
      for (const GraphValue *operand : item.module->operands)
        name(operand);
      for (const GraphValue *result : item.module->results)
        name(result);
    } else {
      const GraphOp &op = *item.op;
      text += op.kind + " " + nameIn(op.path, module.path) + " ";
      for (const GraphValue *operand : op.operands)
        name(operand);
      for (const auto &[role, parameter] : op.parameters)
        text +=
            role + "=" + shapeText(parameter->shape) + parameter->format + " ";
      for (const auto &[key, attribute] : op.attributes)
        if (key != "layer")
          text += key + "=" + attributeText(attribute) + " ";
      for (const GraphValue *result : op.results)
        name(result);
      for (const auto &body : op.bodies)
        text += "{" + std::to_string(number(*body)) + "} ";
    }
    text += "\n";
  }
  text += "return ";
  for (const GraphValue *result : module.results)
    name(result);
  int result = byText.emplace(text, byText.size()).first->second;
  numbers[&module] = result;
  return result;
}

//===----------------------------------------------------------------------===//
// The scene
//===----------------------------------------------------------------------===//

namespace {

class SceneMaker {
public:
  SceneMaker(const Graph &graph, const PictureOptions &options)
      : graph(graph), options(options), kinds(*graph.root) {
    for (const GraphOp *op : opsOf(graph))
      for (const GraphValue *operand : op->operands)
        ++uses[operand];
  }

  Expected<Scene> make();

private:
  Status fillModule(const GraphModule &module, const std::string &parent,
                    int depth, Box &box);
  Box opBox(const GraphOp &op, const std::string &module);
  /// A branch or loop: its bodies, between its inputs and outputs.
  Status fillControl(const GraphOp &op, const std::string &module, int depth,
                     Box &box);
  Box portBox(const GraphValue &value, Box::Kind kind);
  size_t runLength(const GraphModule &module, size_t first) const;
  bool feedsOnly(const GraphModule &caller, size_t index) const;

  const Graph &graph;
  PictureOptions options;
  ModuleKinds kinds;
  std::map<const GraphValue *, size_t> uses;
  Scene scene;
  size_t numBoxes = 0;
};

} // namespace

Box SceneMaker::portBox(const GraphValue &value, Box::Kind kind) {
  Box box;
  box.kind = kind;
  box.title = cleanText(shapeText(value), maxTextChars);
  for (const shapes::DimExpr &size : value.shape)
    scene.hasUnnamedSizes |= !size.isKnown();
  return box;
}

Box SceneMaker::opBox(const GraphOp &op, const std::string &module) {
  Box box;
  box.category = categoryOf(op.kind);
  scene.used[static_cast<int>(box.category)] |= op.bodies.empty();
  std::string layer = nameIn(layerOf(op, module), module);
  box.title = cleanText(layer.empty() ? op.kind : layer, maxTextChars);
  if (!layer.empty() && layer != op.kind)
    box.kindName = cleanText(op.kind, maxTextChars);
  if (op.flops.value_or(0) > 0)
    box.note = withUnit(static_cast<double>(*op.flops), "FLOP");
  box.numResults = op.results.size();

  std::string last;
  for (const GraphValue *result : op.results) {
    std::string shape = shapeText(*result);
    if (shape != last)
      box.lines.push_back(cleanText(shape, maxTextChars));
    last = shape;
    for (const shapes::DimExpr &size : result->shape)
      scene.hasUnnamedSizes |= !size.isKnown();
  }
  if (op.results.size() > 1 && box.lines.size() == 1)
    box.lines[0] = std::to_string(op.results.size()) + " of " + box.lines[0];
  // Kinds of other levels have the level's name: "cf.if".
  std::string tooltip =
      (op.kind.find('.') == std::string::npos ? "mllm.linalg." : "mllm.") +
      op.kind + " " + op.path;
  // The weight before its bias.
  std::vector<std::pair<std::string, const GraphParameter *>> parameters(
      op.parameters.rbegin(), op.parameters.rend());
  for (const auto &[role, parameter] : parameters) {
    std::string text =
        role + " " + shapeText(parameter->shape) + dot + parameter->format;
    if (parameter->bytes)
      text += dot + withUnit(static_cast<double>(*parameter->bytes), "B");
    box.lines.push_back(cleanText(text, maxTextChars));
    tooltip += "\n" + role + ": " + parameter->name;
  }
  for (const auto &[name, attribute] : op.attributes)
    tooltip += "\n" + name + " = " + attributeText(attribute);
  if (op.bytes) {
    tooltip += '\n';
    tooltip += withUnit(static_cast<double>(*op.bytes), "B");
    tooltip += " read and written";
  }
  box.tooltip = tooltip;
  return box;
}

/// Whether the next item is the only user of a call's results.
bool SceneMaker::feedsOnly(const GraphModule &caller, size_t index) const {
  const GraphModule &call = *caller.items[index].module;
  const GraphModule &next = *caller.items[index + 1].module;
  for (const GraphValue *result : call.results) {
    for (size_t i = index + 2; i < caller.items.size(); ++i) {
      const GraphItem &item = caller.items[i];
      for (const GraphValue *operand :
           item.op ? item.op->operands : item.module->operands)
        if (operand == result)
          return false;
    }
    for (const GraphValue *given : caller.results)
      if (given == result)
        return false;
  }
  // Each operand of the next call is the corresponding result or operand of
  // this one.
  for (size_t i = 0; i < next.operands.size(); ++i) {
    const bool chained =
        i < call.results.size() && next.operands[i] == call.results[i];
    if (!chained && next.operands[i] != call.operands[i])
      return false;
  }
  return true;
}

/// The number of consecutive identical modules from `first` on, each feeding
/// the next.
size_t SceneMaker::runLength(const GraphModule &module, size_t first) const {
  size_t length = 1;
  if (!options.fold || !module.items[first].module)
    return length;
  const int kind = kinds.of(*module.items[first].module);
  while (first + length < module.items.size() &&
         module.items[first + length].module &&
         kinds.of(*module.items[first + length].module) == kind &&
         feedsOnly(module, first + length - 1))
    ++length;
  return length;
}

static Status tooDeep() {
  std::string what = "modules are nested more than ";
  what += std::to_string(maxDepth);
  what += " deep";
  return Status(StatusCode::Unsupported, what, "draw a part of the model");
}

Status SceneMaker::fillModule(const GraphModule &module,
                              const std::string &parent, int depth, Box &box) {
  if (depth > maxDepth)
    return tooDeep();
  Totals totals;
  totals.add(module);
  box.kind = Box::Module;
  std::string name = nameIn(module.path, parent);
  box.title = cleanText(name.empty() ? module.path : name, maxTextChars);
  box.note = totals.text();
  box.tooltip = module.path;
  box.numResults = module.results.size();

  // The producer of a value and its result number.
  std::map<const GraphValue *, std::pair<size_t, size_t>> makers;
  auto connect = [&](const std::vector<const GraphValue *> &operands,
                     size_t user) {
    std::set<const GraphValue *> seen;
    for (const GraphValue *operand : operands)
      if (auto maker = makers.find(operand);
          maker != makers.end() && seen.insert(operand).second)
        box.edges.push_back(
            {maker->second.first, user, maker->second.second, {}});
  };
  auto define = [&](const std::vector<const GraphValue *> &results,
                    size_t maker) {
    for (size_t i = 0; i < results.size(); ++i)
      makers.emplace(results[i], std::make_pair(maker, i));
  };

  for (const GraphValue *operand : module.operands) {
    if (makers.count(operand))
      continue;
    define({operand}, box.children.size());
    box.children.push_back(portBox(*operand, Box::Input));
  }
  for (size_t i = 0; i < module.items.size();) {
    const GraphItem &item = module.items[i];
    const size_t index = box.children.size();
    if (++numBoxes > maxBoxes)
      return Status(StatusCode::Unsupported,
                    "the picture would have more than " +
                        std::to_string(maxBoxes) + " boxes",
                    "draw a part of the model");
    if (item.op) {
      box.children.push_back(opBox(*item.op, module.path));
      if (!item.op->bodies.empty())
        LLMIR_RETURN_IF_ERROR(
            fillControl(*item.op, module.path, depth + 1, box.children.back()));
      connect(item.op->operands, index);
      define(item.op->results, index);
      ++i;
      continue;
    }
    const size_t length = runLength(module, i);
    box.children.emplace_back();
    LLMIR_RETURN_IF_ERROR(
        fillModule(*item.module, module.path, depth + 1, box.children.back()));
    Box &child = box.children.back();
    const GraphModule &last = *module.items[i + length - 1].module;
    if (length > 1) {
      scene.hasFolds = true;
      child.count = static_cast<int64_t>(length);
      child.title +=
          " \u2026 " + cleanText(nameIn(last.path, module.path), maxTextChars);
      child.note += (child.note.empty() ? "each" : " each");
    }
    connect(item.module->operands, index);
    define(last.results, index);
    i += length;
  }
  for (const GraphValue *result : module.results) {
    connect({result}, box.children.size());
    box.children.push_back(portBox(*result, Box::Output));
  }
  return Status::ok();
}

Status SceneMaker::fillControl(const GraphOp &op, const std::string &module,
                               int depth, Box &box) {
  Totals totals;
  totals.add(op);
  box.kind = Box::Module;
  box.note = totals.text();
  box.lines.clear(); // The ports have the shapes.

  std::map<const GraphValue *, size_t> ports;
  for (const GraphValue *operand : op.operands)
    if (ports.emplace(operand, box.children.size()).second)
      box.children.push_back(portBox(*operand, Box::Input));
  // A condition yields the condition, then the arguments of the body and the
  // results.
  const size_t numResults = op.results.size();
  const bool hasCondition = op.bodies[0]->results.size() == numResults + 1;
  const size_t firstBody = box.children.size();
  for (const auto &body : op.bodies) {
    const size_t index = box.children.size();
    box.children.emplace_back();
    LLMIR_RETURN_IF_ERROR(
        fillModule(*body, module, depth, box.children.back()));
    for (size_t i = 0; i < body->operands.size(); ++i) {
      if (hasCondition && index > firstBody && i < numResults) {
        box.edges.push_back({firstBody, index, i + 1, {}});
        continue;
      }
      // An argument is initialized with the corresponding operand of the op.
      auto port = ports.find(body->operands[i]);
      if (port == ports.end() && i < op.operands.size())
        port = ports.find(op.operands[i]);
      if (port != ports.end())
        box.edges.push_back({port->second, index, 0, {}});
    }
  }
  for (size_t i = 0; i < numResults; ++i) {
    const size_t port = box.children.size();
    box.children.push_back(portBox(*op.results[i], Box::Output));
    if (hasCondition) {
      box.edges.push_back({firstBody, port, i + 1, {}});
      continue;
    }
    for (size_t body = 0; body < op.bodies.size(); ++body)
      box.edges.push_back({firstBody + body, port, i, {}});
  }
  return Status::ok();
}

Expected<Scene> SceneMaker::make() {
  LLMIR_RETURN_IF_ERROR(fillModule(*graph.root, "", 0, scene.root));
  Totals totals;
  totals.add(*graph.root);
  scene.title = cleanText(graph.name, maxTextChars);
  std::string text;
  if (!graph.architecture.empty())
    text = cleanText(graph.architecture, maxTextChars) + dot;
  text += picture::withUnit(totals.values()) + " parameters" + dot +
          totals.bytesText() + " stored";

  // Costs are per token if the inputs are token ids or a size is dynamic.
  double tokens = static_cast<double>(graph.costTokens);
  bool perToken = graph.hasDynamicSizes;
  if (!perToken && !graph.inputs().empty() &&
      graph.inputs()[0]->dtype == mllm::kInt64) {
    perToken = true;
    tokens = 1;
    for (const shapes::DimExpr &size : graph.inputs()[0]->shape)
      tokens *= static_cast<double>(size.constant().value_or(1));
  }
  if (!perToken || tokens < 1)
    tokens = 1;
  text += std::string(dot) + totals.flopsText(tokens) +
          (perToken ? " per token" : "") + dot + counted(totals.ops, "op") +
          " in " + counted(totals.modules, "module");
  scene.subtitle = text;
  return std::move(scene);
}

Expected<Scene> picture::makeScene(const Graph &graph,
                                   const PictureOptions &options) {
  return SceneMaker(graph, options).make();
}

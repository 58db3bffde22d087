//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/nn/Module.h"

#include "ParametersImpl.h"
#include "Tracer.h"

#include "llmir/Reference/ModelState.h"

using namespace mllm;
using namespace mllm::nn;

//===----------------------------------------------------------------------===//
// The tree
//===----------------------------------------------------------------------===//

std::string Component::pathOf(const Node &node) {
  if (!node.parent || node.isAbsolute)
    return node.name;
  std::string parent = pathOf(*node.parent);
  return parent.empty() ? node.name : parent + "." + node.name;
}

Component::Root &Component::root() const {
  Node *top = node.get();
  while (top->parent)
    top = top->parent.get();
  return top->root;
}

std::string Parameter::path() const {
  std::string parent = Component::pathOf(*owner);
  if (name.empty())
    return parent;
  return parent.empty() ? name : parent + "." + name;
}

std::string Parameter::storedPath(bool isGGUF) const {
  const std::string whole = Component::pathOf(*owner);
  const size_t dot = whole.rfind('.');
  if (stored.isNumbered && !isGGUF && dot != std::string::npos)
    return whole.substr(0, dot) + ".*" + whole.substr(dot) + "." + name;
  if (stored.placeIn(isGGUF).rows == 0 || dot == std::string::npos)
    return path();
  return whole.substr(0, dot) + "." + name;
}

Component::Root &Parameter::root() const {
  Component::Node *top = owner.get();
  while (top->parent)
    top = top->parent.get();
  return top->root;
}

void Module::adopt(Component &child, std::string name) {
  if (!child.node->root.made)
    root().made = child.node->root.made;
  child.node->name = std::move(name);
  child.node->parent = node;
}

void Module::makeAbsolute(Component &child) { child.node->isAbsolute = true; }

//===----------------------------------------------------------------------===//
// Parameters and caches
//===----------------------------------------------------------------------===//

bool Module::load(const Parameters &parameters) {
  root().parameters = parameters.get();
  root().loaded = parameters.status();
  return parameters.status() && root().made;
}

void Module::reset() { root().conversation = nullptr; }

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Tensor Module::forward(const Tensor &x) {
  if (hasNull({x}, "forward()", this))
    return {};
  Engine &engine = engineOf({x});
  return engine.fail(engine.location(this),
                     "the module has no forward() for one input",
                     "override forward(const Tensor &)");
}

std::vector<Tensor> Module::forwardAll(const std::vector<Tensor> &inputs) {
  if (inputs.size() == 1)
    return {forward(inputs.front())};
  if (hasNull(inputs, "forwardAll()", this))
    return {};
  Engine &engine = engineOf(inputs);
  engine.fail(engine.location(this),
              "the module has no forwardAll() for " +
                  std::to_string(inputs.size()) + " inputs",
              "override forwardAll(const std::vector<Tensor> &)");
  return {};
}

std::vector<Tensor> Module::call(const std::vector<Tensor> &inputs) {
  std::vector<Tensor> results;
  if (!hasNull(inputs, "a call", this)) {
    results = callWith(inputs);
    const bool isWhole =
        !results.empty() &&
        llvm::all_of(results, [](const Tensor &t) { return t.isValid(); });
    if (Engine &engine = engineOf(inputs); !isWhole && !engine.hasFailed())
      engine.fail(engine.location(this), noResult, noResultAdvice);
  }
  if (results.empty())
    results.resize(node->results);
  node->results = results.size();
  return results;
}

std::vector<Tensor> Module::callWith(const std::vector<Tensor> &inputs) {
  for (const Tensor &input : inputs)
    if (Engine *tracer = input.get()->tracer())
      return static_cast<ir::Tracer *>(tracer)->call(*this, inputs);
  // The outermost call is one step of the conversation.
  Root &shared = root();
  if (!shared.made) {
    failEagerly(shared.made);
    return {};
  }
  if (shared.depth == 0 && shared.conversation)
    static_cast<llmir::ModelState *>(shared.conversation.get())->beginStep();
  ++shared.depth;
  std::vector<Tensor> results = forwardAll(inputs);
  --shared.depth;
  return results;
}

Tensor Module::operator()(const Tensor &x) {
  std::vector<Tensor> results = call({x});
  if (results.size() == 1)
    return results.front();
  Engine &engine = engineOf(results);
  return engine.fail(engine.location(this),
                     "returns " + std::to_string(results.size()) +
                         " tensors, but one is expected",
                     "use call({x}), which returns them all");
}

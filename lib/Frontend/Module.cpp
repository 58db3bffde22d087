//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/nn/Module.h"

#include "mllm/ir/Trace.h"

using namespace mllm;
using namespace mllm::nn;

std::string Component::pathOf(const Node &node) {
  if (!node.parent)
    return node.name;
  std::string parent = pathOf(*node.parent);
  return parent.empty() ? node.name : parent + "." + node.name;
}

std::string Parameter::path() const {
  return Component::pathOf(*owner) + "." + name;
}

std::string Parameter::storedPath() const {
  if (stored.sharedRows == 0 || !owner->parent)
    return path();
  std::string parent = Component::pathOf(*owner->parent);
  size_t dot = owner->name.rfind('.');
  if (!parent.empty() && dot != std::string::npos)
    parent += ".";
  return parent + owner->name.substr(0, dot == std::string::npos ? 0 : dot) +
         "." + name;
}

void Module::adopt(Component &child, std::string name) {
  child.node->name = std::move(name);
  child.node->parent = node;
}

Tensor Module::operator()(const Tensor &x) {
  return x ? x.tracer().call(*this, x) : Tensor();
}

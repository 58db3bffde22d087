//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Costs.h"

using namespace mlir;

namespace llmir::mllm {

void Cost::add(const Cost &other) {
  ops += other.ops;
  flops += other.flops;
  bytes += other.bytes;
  parameters.insert(other.parameters.begin(), other.parameters.end());
}

CostTable::CostTable(ModuleOp module) : module(module) {
  for (auto parameter : module.getOps<RegisterOp>())
    registers[parameter.getSymNameAttr()] = parameter;
  for (SubGraphOp subgraph : subGraphsBottomUp(module)) {
    Cost cost;
    for (Operation &op : subgraph.getBody().front())
      cost.add(of(&op));
    subGraphs[subgraph.getSymNameAttr()] = cost;
  }
}

Cost CostTable::of(Operation *op) const {
  if (auto call = dyn_cast<CallGraphOp>(op))
    return subGraphs.lookup(call.getCalleeAttr().getAttr());
  Cost cost;
  if (auto linalg = dyn_cast<LinalgOpInterface>(op)) {
    cost.ops = 1;
    cost.flops = linalg.getFlops();
    cost.bytes = linalg.getBytes();
    for (FlatSymbolRefAttr parameter : linalg.getParameters())
      cost.parameters.insert(parameter.getAttr());
  } else if (op->getNumRegions() == 0 &&
             !op->hasTrait<OpTrait::IsTerminator>()) {
    cost.ops = 1;
  }
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      cost.add(of(&inner));
  return cost;
}

Amount CostTable::values(const Cost &cost) const {
  Amount sum;
  for (StringAttr name : cost.parameters)
    if (RegisterOp parameter = registers.lookup(name))
      sum += Amount(numValuesOf(parameter.getType()));
  return sum;
}

Amount CostTable::parameterBytes(const Cost &cost) const {
  Amount sum;
  for (StringAttr name : cost.parameters)
    if (RegisterOp parameter = registers.lookup(name))
      sum += Amount(bytesOf(parameter.getType()));
  return sum;
}

int64_t CostTable::work(const Cost &cost) const {
  if (cost.flops.isKnown())
    return *cost.flops;
  Amount numbers = values(cost);
  Amount twice = numbers;
  twice += numbers;
  return twice.isKnown() ? *twice : 0;
}

} // namespace llmir::mllm

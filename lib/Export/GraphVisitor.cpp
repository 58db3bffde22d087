//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/ir/GraphVisitor.h"

#include <set>

using namespace llmir;
using namespace mllm::ir;

GraphVisitor::~GraphVisitor() = default;
Status GraphVisitor::beginGraph(const Graph &) { return Status::ok(); }
Status GraphVisitor::enterModule(const GraphModule &) { return Status::ok(); }
Status GraphVisitor::leaveModule(const GraphModule &) { return Status::ok(); }
Status GraphVisitor::endGraph(const Graph &) { return Status::ok(); }

ExportTarget::~ExportTarget() = default;

static Status visitModule(const GraphModule &module, GraphVisitor &visitor) {
  LLMIR_RETURN_IF_ERROR(visitor.enterModule(module));
  for (const GraphItem &item : module.items)
    LLMIR_RETURN_IF_ERROR(item.op ? visitor.visitOp(*item.op)
                                  : visitModule(*item.module, visitor));
  return visitor.leaveModule(module);
}

Status mllm::ir::visitGraph(const Graph &graph, GraphVisitor &visitor) {
  LLMIR_RETURN_IF_ERROR(visitor.beginGraph(graph));
  LLMIR_RETURN_IF_ERROR(visitModule(*graph.root, visitor));
  return visitor.endGraph(graph);
}

static void collectOps(const GraphModule &module,
                       std::vector<const GraphOp *> &ops) {
  for (const GraphItem &item : module.items) {
    if (item.op)
      ops.push_back(item.op.get());
    else
      collectOps(*item.module, ops);
  }
}

std::vector<const GraphOp *> mllm::ir::opsOf(const Graph &graph) {
  std::vector<const GraphOp *> ops;
  collectOps(*graph.root, ops);
  return ops;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Fills the values that cross a part's border; `part` numbers the parts.
static void findBorders(const Graph &graph, std::vector<GraphPart> &parts) {
  std::map<const GraphValue *, size_t> producers;
  for (size_t part = 0; part != parts.size(); ++part)
    for (const GraphOp *op : parts[part].ops)
      for (const GraphValue *result : op->results)
        producers[result] = part;

  std::vector<std::set<const GraphValue *>> taken(parts.size()),
      given(parts.size());
  auto use = [&](const GraphValue *value, size_t user) {
    auto producer = producers.find(value);
    if (producer != producers.end() && producer->second == user)
      return;
    if (user != parts.size() && taken[user].insert(value).second)
      parts[user].inputs.push_back(value);
    if (producer != producers.end() &&
        given[producer->second].insert(value).second)
      parts[producer->second].outputs.push_back(value);
  };
  for (size_t part = 0; part != parts.size(); ++part)
    for (const GraphOp *op : parts[part].ops)
      for (const GraphValue *operand : op->operands)
        use(operand, part);
  for (const GraphValue *output : graph.outputs())
    use(output, parts.size());
}

std::vector<GraphPart> mllm::ir::partition(const Graph &graph,
                                           const ExportTarget &target) {
  std::vector<GraphPart> parts;
  for (const GraphOp *op : opsOf(graph)) {
    const bool supported = target.supported(*op).isOk();
    if (parts.empty() || parts.back().supported != supported) {
      parts.emplace_back();
      parts.back().supported = supported;
    }
    parts.back().ops.push_back(op);
  }
  findBorders(graph, parts);
  return parts;
}

Expected<ExportCoverage> mllm::ir::exportGraph(const Graph &graph,
                                               ExportTarget &target) {
  ExportCoverage coverage;
  for (const GraphOp *op : opsOf(graph)) {
    Status status = target.supported(*op);
    ++coverage.ops;
    coverage.flops += op->flops.value_or(0);
    if (!status.isOk()) {
      ++coverage.reasons[op->kind + ": " + status.cause()];
      continue;
    }
    ++coverage.supportedOps;
    coverage.supportedFlops += op->flops.value_or(0);
  }
  for (const GraphPart &part : partition(graph, target))
    if (part.supported)
      LLMIR_RETURN_IF_ERROR(target.emit(graph, part));
  return coverage;
}

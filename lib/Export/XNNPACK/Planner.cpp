//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Planner.h"

#include "llmir/Export/XNNPACK.h"

#include <algorithm>

using namespace llmir;
using namespace llmir::xnnpack;
using namespace mllm::ir;

Sizes xnnpack::sizesOf(const GraphValue *value) {
  Sizes sizes;
  for (const shapes::DimExpr &size : value->shape)
    sizes.push_back(size.constant().value_or(0));
  return sizes;
}

//===----------------------------------------------------------------------===//
// Planner
//===----------------------------------------------------------------------===//

Planner::Planner(const ParameterReader &reader, const GraphPart &graphPart)
    : reader(reader), part(std::make_unique<Part>()) {
  part->inputs = graphPart.inputs;
  part->outputs = graphPart.outputs;
  beginSegment();
}

void Planner::beginSegment() {
  part->segments.emplace_back();
  made.clear();
  taken.clear();
}

std::optional<Order> Planner::orderOf(const GraphValue *value) const {
  auto found = made.find(value);
  return found == made.end() ? std::nullopt
                             : std::optional(found->second.order);
}

Held Planner::take(const GraphValue *value, const Order &order) {
  if (auto found = made.find(value); found != made.end())
    return found->second;
  auto [entry, isNew] = taken.try_emplace({value, order});
  if (isNew) {
    // An earlier segment returns it to the caller, which passes it to this one.
    if (auto maker = makers.find(value); maker != makers.end()) {
      Part::Step &step = part->segments[maker->second.first];
      const bool isKnown =
          std::any_of(step.outputs.begin(), step.outputs.end(),
                      [&](const Part::Port &p) { return p.value == value; });
      if (!isKnown)
        step.outputs.push_back({value, maker->second.second});
    }
    entry->second = {segment().input(inOrder(sizesOf(value), order)), order};
    part->segments.back().inputs.push_back({value, entry->second});
  }
  return entry->second;
}

void Planner::define(const GraphValue *value, Tensor tensor, Order order) {
  const Held held = {std::move(tensor), std::move(order)};
  made[value] = held;
  makers[value] = {part->segments.size() - 1, held};
}

std::vector<float> Planner::numbers(const GraphParameter *parameter) {
  Expected<std::vector<float>> values = readParameter(reader, *parameter);
  if (values)
    return std::move(*values);
  if (failure.isOk())
    failure = values.takeStatus();
  return std::vector<float>(static_cast<size_t>(parameter->numValues()));
}

Status Planner::add(const GraphOp &op) {
  LLMIR_RETURN_IF_ERROR(checkOp(op));
  std::vector<Order> wanted = wantedOrders(*this, op);
  for (size_t i = 0; i < wanted.size(); ++i)
    if (std::optional<Order> order = orderOf(op.operands[i]);
        order && *order != wanted[i]) {
      beginSegment();
      wanted = wantedOrders(*this, op);
      break;
    }
  std::vector<Held> operands;
  for (size_t i = 0; i < wanted.size(); ++i)
    operands.push_back(take(op.operands[i], wanted[i]));
  lowerOp(*this, op, operands);
  return std::move(failure);
}

Expected<std::unique_ptr<Part>> Planner::finish(pthreadpool_t pool) {
  for (const GraphValue *output : part->outputs) {
    const auto &[number, held] = makers.at(output);
    std::vector<Part::Port> &ports = part->segments[number].outputs;
    if (std::none_of(ports.begin(), ports.end(), [&](const Part::Port &port) {
          return port.value == output;
        }))
      ports.push_back({output, held});
  }
  for (Part::Step &step : part->segments) {
    for (const Part::Port &port : step.outputs)
      step.segment.markOutput(port.held.tensor);
    LLMIR_RETURN_IF_ERROR(step.segment.build(pool));
  }
  return std::move(part);
}

//===----------------------------------------------------------------------===//
// Part
//===----------------------------------------------------------------------===//

Status Part::run(const std::vector<std::vector<float>> &given,
                 std::vector<std::vector<float>> &results) {
  if (given.size() != inputs.size())
    return Status(StatusCode::InvalidArgument,
                  "the part has " + std::to_string(inputs.size()) +
                      " inputs, but " + std::to_string(given.size()) +
                      " were given");
  std::map<const GraphValue *, std::vector<float>> known; // Row-major.
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Sizes sizes = sizesOf(inputs[i]);
    if (given[i].size() != numValues(inOrder(sizes, rowMajor(sizes.size()))))
      return Status(StatusCode::InvalidArgument,
                    "input " + inputs[i]->name + " was given " +
                        std::to_string(given[i].size()) +
                        " values, but the part was built for other sizes",
                    "export the graph for these sizes");
    known[inputs[i]] = given[i];
  }
  for (Step &step : segments) {
    for (const Port &port : step.inputs)
      putInOrder(known.at(port.value).data(), sizesOf(port.value),
                 port.held.order, step.segment.data(port.held.tensor));
    LLMIR_RETURN_IF_ERROR(step.segment.run());
    for (const Port &port : step.outputs) {
      std::vector<float> &numbers = known[port.value];
      numbers.resize(numValues(port.held.tensor.dims));
      putRowMajor(step.segment.data(port.held.tensor), sizesOf(port.value),
                  port.held.order, numbers.data());
    }
  }
  for (const GraphValue *output : outputs)
    results.push_back(known.at(output));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// XNNPACKTarget
//===----------------------------------------------------------------------===//

XNNPACKTarget::XNNPACKTarget(ParameterReader reader)
    : reader(std::move(reader)) {}
XNNPACKTarget::~XNNPACKTarget() = default;

Expected<std::unique_ptr<XNNPACKTarget>>
XNNPACKTarget::create(ParameterReader reader, int threads) {
  if (threads < 1 || threads > 1024)
    return Status(StatusCode::InvalidArgument,
                  "XNNPACK cannot have " + std::to_string(threads) + " threads",
                  "give 1 to 1024");
  Expected<std::unique_ptr<Library>> library = Library::open(threads);
  if (!library)
    return library.takeStatus();
  std::unique_ptr<XNNPACKTarget> target(new XNNPACKTarget(std::move(reader)));
  target->library = std::move(*library);
  return target;
}

Status XNNPACKTarget::supported(const GraphOp &op) const { return checkOp(op); }

Status XNNPACKTarget::emit(const Graph &, const GraphPart &graphPart) {
  Planner planner(reader, graphPart);
  auto at = [](const GraphOp &op, Status status) {
    return std::move(status).withContext(
        (op.path.empty() ? std::string() : op.path + ": ") + op.kind);
  };
  for (const GraphOp *op : graphPart.ops)
    if (Status status = planner.add(*op); !status.isOk())
      return at(*op, std::move(status));
  Expected<std::unique_ptr<Part>> part = planner.finish(library->pool());
  if (!part)
    return at(*graphPart.ops.front(), part.takeStatus());
  parts.push_back(std::move(*part));
  return Status::ok();
}

size_t XNNPACKTarget::numSubgraphs(size_t part) const {
  return parts[part]->numSegments();
}

Expected<std::vector<std::vector<float>>>
XNNPACKTarget::run(size_t part, const std::vector<std::vector<float>> &inputs) {
  std::vector<std::vector<float>> outputs;
  LLMIR_RETURN_IF_ERROR(parts[part]->run(inputs, outputs));
  return outputs;
}

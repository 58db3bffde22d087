//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of a graph as XNNPACK's subgraphs ("segments"), one after another.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXPORT_XNNPACK_PLANNER_H
#define LLMIR_LIB_EXPORT_XNNPACK_PLANNER_H

#include "Order.h"

#include "llmir/Export/ParameterReader.h"

#include <map>
#include <memory>
#include <set>

namespace llmir::xnnpack {

/// The sizes of a static shape.
Sizes sizesOf(const ::mllm::ir::GraphValue *value);

/// The tensor and order of a graph value in a segment.
struct Held {
  Tensor tensor;
  Order order;
};

/// A built part.
class Part {
public:
  Status run(const std::vector<std::vector<float>> &inputs,
             std::vector<std::vector<float>> &outputs);
  size_t numSegments() const { return segments.size(); }

private:
  friend class Planner;
  /// An input or output value of a segment and its tensor.
  struct Port {
    const ::mllm::ir::GraphValue *value;
    Held held;
  };
  struct Step {
    Segment segment;
    std::vector<Port> inputs, outputs;
  };
  std::vector<const ::mllm::ir::GraphValue *> inputs, outputs;
  std::deque<Step> segments;
};

/// Adds ops to segments. Values defined outside a segment are inputs, in any
/// order; values defined inside have one order. An op that needs a different
/// order starts the next segment.
class Planner {
public:
  Planner(const ParameterReader &reader, const ::mllm::ir::GraphPart &part);

  /// Adds an op that checkOp() accepts.
  Status add(const ::mllm::ir::GraphOp &op);
  Expected<std::unique_ptr<Part>> finish(pthreadpool_t pool);

  //===--------------------------------------------------------------------===//
  // Interface of op lowerings
  //===--------------------------------------------------------------------===//

  /// The order of a value defined in the segment, otherwise nullopt.
  std::optional<Order> orderOf(const ::mllm::ir::GraphValue *value) const;
  Segment &segment() { return part->segments.back().segment; }
  /// Binds a value to a tensor.
  void define(const ::mllm::ir::GraphValue *value, Tensor tensor, Order order);
  /// The elements of a parameter, row-major; zeros after a failure, which add()
  /// reports.
  std::vector<float> numbers(const ::mllm::ir::GraphParameter *parameter);
  /// Empty for an absent parameter.
  std::vector<float> numbersIf(const ::mllm::ir::GraphParameter *parameter) {
    return parameter ? numbers(parameter) : std::vector<float>();
  }

private:
  void beginSegment();
  Held take(const ::mllm::ir::GraphValue *value, const Order &order);

  const ParameterReader &reader;
  std::unique_ptr<Part> part;
  /// Values defined in the last segment.
  std::map<const ::mllm::ir::GraphValue *, Held> made;
  std::map<std::pair<const ::mllm::ir::GraphValue *, Order>, Held> taken;
  /// The last segment that defined a value.
  std::map<const ::mllm::ir::GraphValue *, std::pair<size_t, Held>> makers;
  Status failure;
};

/// Success if XNNPACK supports the op.
Status checkOp(const ::mllm::ir::GraphOp &op);
/// The order in which the op takes each operand.
std::vector<Order> wantedOrders(const Planner &planner,
                                const ::mllm::ir::GraphOp &op);
/// Adds the nodes of an op whose operands are defined.
void lowerOp(Planner &planner, const ::mllm::ir::GraphOp &op,
             const std::vector<Held> &operands);

} // namespace llmir::xnnpack

#endif // LLMIR_LIB_EXPORT_XNNPACK_PLANNER_H

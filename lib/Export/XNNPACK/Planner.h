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

/// The numbers of a shape that has numbers only.
Sizes sizesOf(const ::mllm::ir::GraphValue *value);

/// Where a value of the graph is in a segment.
struct Held {
  Tensor tensor;
  Order order;
};

/// A part that is built.
class Part {
public:
  Status run(const std::vector<std::vector<float>> &inputs,
             std::vector<std::vector<float>> &outputs);
  size_t numSegments() const { return segments.size(); }

private:
  friend class Planner;
  /// A value that a segment is given or gives, and where it is there.
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

/// Adds ops to segments. A value that a segment has not made is one of its
/// inputs, in any order; one that it has made is there in one order. An op that
/// needs it in another one begins the next segment.
class Planner {
public:
  Planner(const ParameterReader &reader, const ::mllm::ir::GraphPart &part);

  /// Adds an op; which ones there are: checkOp().
  Status add(const ::mllm::ir::GraphOp &op);
  Expected<std::unique_ptr<Part>> finish(pthreadpool_t pool);

  //===--------------------------------------------------------------------===//
  // For the ops
  //===--------------------------------------------------------------------===//

  /// The order in which the segment made the value; nullopt where it did not.
  std::optional<Order> orderOf(const ::mllm::ir::GraphValue *value) const;
  Segment &segment() { return part->segments.back().segment; }
  /// The value is this one.
  void define(const ::mllm::ir::GraphValue *value, Tensor tensor, Order order);
  /// Row-major. After a failure, which add() reports, zeros.
  std::vector<float> numbers(const ::mllm::ir::GraphParameter *parameter);
  /// None of an absent parameter.
  std::vector<float> numbersIf(const ::mllm::ir::GraphParameter *parameter) {
    return parameter ? numbers(parameter) : std::vector<float>();
  }

private:
  void beginSegment();
  Held take(const ::mllm::ir::GraphValue *value, const Order &order);

  const ParameterReader &reader;
  std::unique_ptr<Part> part;
  /// Of the last segment.
  std::map<const ::mllm::ir::GraphValue *, Held> made;
  std::map<std::pair<const ::mllm::ir::GraphValue *, Order>, Held> taken;
  /// Which segment made a value last.
  std::map<const ::mllm::ir::GraphValue *, std::pair<size_t, Held>> makers;
  Status failure;
};

/// Success where the op can be said in XNNPACK.
Status checkOp(const ::mllm::ir::GraphOp &op);
/// For each operand the order in which the op takes it.
std::vector<Order> wantedOrders(const Planner &planner,
                                const ::mllm::ir::GraphOp &op);
/// Adds the nodes of an op whose operands are there.
void lowerOp(Planner &planner, const ::mllm::ir::GraphOp &op,
             const std::vector<Held> &operands);

} // namespace llmir::xnnpack

#endif // LLMIR_LIB_EXPORT_XNNPACK_PLANNER_H

// REQUIRES: xnnpack
// RUN: llmir-xnnpack-tests
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Export/XNNPACK.h"

#include "Order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace llmir;
using namespace llmir::xnnpack;
using namespace mllm::ir;

namespace {

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

int64_t product(const Sizes &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

std::vector<float> counting(int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  return numbers;
}

std::vector<float> inMemory(const Sizes &shape, const Order &order) {
  const std::vector<float> rows = counting(product(shape));
  std::vector<float> result(rows.size());
  putInOrder(rows.data(), shape, order, result.data());
  return result;
}

TEST(XNNPACKOrderTest, ChannelsLast) {
  const Sizes shape = {1, 2, 1, 3}; // Channels 0 1 2 and 3 4 5.
  const Order order = withLast(4, 1);
  EXPECT_EQ(order, (Order{0, 2, 3, 1}));
  EXPECT_EQ(inOrder(shape, order), (Dims{1, 1, 3, 2}));
  EXPECT_EQ(inMemory(shape, order), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(XNNPACKOrderTest, BackIsTheInverse) {
  std::mt19937 random(1);
  for (int run = 0; run < 200; ++run) {
    Sizes shape(1 + random() % 5);
    for (int64_t &size : shape)
      size = 1 + random() % 4;
    Order order = rowMajor(shape.size());
    std::shuffle(order.begin(), order.end(), random);
    const std::vector<float> memory = inMemory(shape, order);
    std::vector<float> rows(memory.size());
    putRowMajor(memory.data(), shape, order, rows.data());
    EXPECT_EQ(rows, counting(product(shape)));
  }
}

TEST(XNNPACKOrderTest, TransposesMoveNothing) {
  // Dimension i of the transposed tensor is axes[i] of the other one: its
  // sizes, in memory, are those that the other one has there.
  const Sizes shape = {2, 3, 4};
  const std::vector<size_t> axes = {2, 0, 1};
  const Order order = permuted({1, 2, 0}, axes);
  const Sizes transposed = {4, 2, 3};
  EXPECT_EQ(inOrder(transposed, order), inOrder(shape, {1, 2, 0}));
}

/// Splits sizes at random, or merges adjacent ones.
Sizes reshapedAtRandom(const Sizes &shape, std::mt19937 &random) {
  Sizes result;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t size = shape[i];
    while (i + 1 < shape.size() && random() % 3 == 0)
      size *= shape[++i];
    if (size % 2 == 0 && random() % 2) {
      result.push_back(2);
      size /= 2;
    }
    result.push_back(size);
  }
  return result;
}

TEST(XNNPACKOrderTest, ReshapesKeepTheMemoryOrAreNotPossible) {
  std::mt19937 random(2);
  int possible = 0, impossible = 0;
  for (int run = 0; run < 3000; ++run) {
    Sizes shape(1 + random() % 4);
    for (int64_t &size : shape)
      size = 1 + random() % 6;
    Order order = rowMajor(shape.size());
    std::shuffle(order.begin(), order.end(), random);
    const Sizes to = reshapedAtRandom(shape, random);
    const std::optional<Order> found = reshaped(order, shape, to);
    (found ? possible : impossible) += 1;
    if (!found)
      continue;
    Order sorted = *found;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, rowMajor(to.size()));
    EXPECT_EQ(inMemory(shape, order), inMemory(to, *found));
  }
  EXPECT_GT(possible, 500);
  EXPECT_GT(impossible, 100);
}

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

GraphValue value(const char *name, std::vector<int64_t> shape) {
  GraphValue result;
  result.name = name;
  result.shape.assign(shape.begin(), shape.end());
  return result;
}

/// y = x W^T for x [1, 2] and W = [[1, 2], [3, 4], [5, 6]].
class XNNPACKTargetTest : public testing::Test {
protected:
  void SetUp() override {
    x = value("x", {1, 2});
    y = value("y", {1, 3});
    weight.name = "w";
    weight.shape = {3, 2};
    op.kind = "linear";
    op.path = "head";
    op.operands = {&x};
    op.results = {&y};
    op.parameters["weight"] = &weight;
    part.supported = true;
    part.ops = {&op};
    part.inputs = {&x};
    part.outputs = {&y};
  }

  static ParameterReader giving(std::vector<float> numbers) {
    return [numbers](const GraphParameter &,
                     const std::function<Status(Span<const float>)> &take) {
      return take(Span<const float>(numbers.data(), numbers.size()));
    };
  }

  GraphValue x, y;
  GraphParameter weight;
  GraphOp op;
  GraphPart part;
  Graph graph;
};

TEST_F(XNNPACKTargetTest, Computes) {
  auto target = XNNPACKTarget::create(giving({1, 2, 3, 4, 5, 6}), 2);
  ASSERT_TRUE(target) << target.status().message();
  ASSERT_TRUE((*target)->supported(op));
  Status built = (*target)->emit(graph, part);
  ASSERT_TRUE(built) << built.message();
  EXPECT_EQ((*target)->numParts(), 1u);
  EXPECT_EQ((*target)->numSubgraphs(0), 1u);
  for (float factor : {1.0f, -2.0f}) { // Twice: a part runs many times.
    auto outputs = (*target)->run(0, {{10 * factor, factor}});
    ASSERT_TRUE(outputs) << outputs.status().message();
    EXPECT_EQ(*outputs, (std::vector<std::vector<float>>{
                            {12 * factor, 34 * factor, 56 * factor}}));
  }
}

TEST_F(XNNPACKTargetTest, RefusesInputsOfOtherSizes) {
  auto target = XNNPACKTarget::create(giving({1, 2, 3, 4, 5, 6}));
  ASSERT_TRUE(target) << target.status().message();
  ASSERT_TRUE((*target)->emit(graph, part));
  auto none = (*target)->run(0, {});
  EXPECT_NE(none.status().message().find("has 1 inputs, but 0 were given"),
            std::string::npos);
  auto longer = (*target)->run(0, {{1, 2, 3}});
  EXPECT_NE(longer.status().message().find("input x was given 3 values"),
            std::string::npos);
}

TEST_F(XNNPACKTargetTest, WhatTheReaderGivesIsCounted) {
  auto target = XNNPACKTarget::create(giving({1, 2, 3}));
  ASSERT_TRUE(target) << target.status().message();
  Status status = (*target)->emit(graph, part);
  EXPECT_EQ(status.message(), "head: linear: parameter 'w' was read with 3 "
                              "elements instead of 6");
}

TEST_F(XNNPACKTargetTest, SaysWhyAnOpIsNotForIt) {
  auto target = XNNPACKTarget::create(giving({}));
  ASSERT_TRUE(target) << target.status().message();
  auto refusal = [&] { return (*target)->supported(op).cause(); };
  x.shape[0] = shapes::DimExpr::symbol("seq");
  EXPECT_EQ(refusal(), "a dynamic size");
  x.shape[0] = shapes::DimExpr(0);
  EXPECT_EQ(refusal(), "an empty tensor");
  x.shape.assign(7, shapes::DimExpr(1));
  EXPECT_EQ(refusal(), "a tensor that does not have 1 to 6 dimensions");
  x.shape.assign(6, shapes::DimExpr(1 << 22)); // The product wraps to 0.
  EXPECT_NE(refusal().find("has more than 2^28 elements"), std::string::npos);
  x = value("x", {1, 2});
  x.dtype = mllm::kFp16;
  EXPECT_EQ(refusal(), "a tensor that is not f32 on the CPU");
  x.dtype = mllm::kFp32;
  op.kind = "rope";
  EXPECT_EQ(refusal(), "no such op");
}

TEST(XNNPACKTargetErrors, ThreadsAreLimited) {
  for (int threads : {0, -1, 1025}) {
    auto target = XNNPACKTarget::create({}, threads);
    ASSERT_FALSE(target);
    EXPECT_NE(target.status().message().find("give 1 to 1024"),
              std::string::npos);
  }
}

} // namespace

// RUN: llmir-reference-tests --gtest_filter='ModelState.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/ModelState.h"

#include <gtest/gtest.h>

using namespace llmir;
using namespace llmir::reference;

static Tensor f32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::F32, std::move(shape), std::move(data));
}

TEST(ModelState, LayersGrowAlongTheirTokens) {
  ModelState state;
  // Heads before tokens: [heads, tokens, size].
  auto all =
      state.append(3, f32({2, 1, 1}, {1, 2}), f32({2, 1, 2}, {1, 2, 3, 4}), 1);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->keys.toDoubles(), std::vector<double>({1, 2}));
  EXPECT_EQ(state.past(), 0); // The step has not ended.
  state.beginStep();
  EXPECT_EQ(state.past(), 1);
  all = state.append(3, f32({2, 2, 1}, {5, 6, 7, 8}),
                     f32({2, 2, 2}, std::vector<double>(8)), 1);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->keys.toDoubles(), std::vector<double>({1, 5, 6, 2, 7, 8}));
  EXPECT_EQ(all->values.shape, Shape({2, 3, 2}));
  EXPECT_EQ(state.past(), 1);
  state.beginStep();
  EXPECT_EQ(state.past(), 3);
  state.reset();
  EXPECT_EQ(state.past(), 0);
  EXPECT_TRUE(state.append(3, f32({5, 1}, std::vector<double>(5)),
                           f32({5, 1}, std::vector<double>(5)), 0));
}

TEST(ModelState, WhatDoesNotFitChangesNothing) {
  ModelState state;
  ASSERT_TRUE(state.append(0, f32({1, 2}, {1, 2}), f32({1, 2}, {3, 4}), 0));
  EXPECT_FALSE(state.append(0, f32({1, 3}, {1, 2, 3}), f32({1, 2}, {3, 4}), 0));
  EXPECT_FALSE(state.append(0, f32({1, 2}, {1, 2}), f32({1, 3}, {3, 4, 5}), 0));
  EXPECT_FALSE(state.append(0, f32({1, 2}, {1, 2}), f32({1, 2}, {3, 4}), 1));
  EXPECT_FALSE(state.append(0, f32({1, 2, 1}, {1, 2}), f32({1, 2}, {3, 4}), 0));
  EXPECT_FALSE(state.append(0, Tensor(ElementKind::F16, {1, 2}),
                            f32({1, 2}, {3, 4}), 0));
  state.beginStep();
  EXPECT_EQ(state.past(), 1);
}

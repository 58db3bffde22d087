// RUN: llmir-reference-tests --gtest_filter='CustomOps.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/CustomOps.h"

#include <gtest/gtest.h>

using namespace llmir;
using reference::Tensor;
using Tensors = std::vector<Tensor>;

/// Returns its arguments.
static Expected<Tensors> identity(const Tensors &inputs) { return inputs; }

TEST(CustomOps, AreCalledByTheirId) {
  ASSERT_TRUE(registerCustomOp(5001, identity));
  const Tensor x(reference::ElementKind::F32, {2}, {1, 2});
  Expected<Tensors> results = runCustomOp(5001, {x});
  ASSERT_TRUE(results);
  EXPECT_EQ(results->front().toDoubles(), x.toDoubles());
  EXPECT_FALSE(registerCustomOp(5001, identity)); // The id is taken.
  unregisterCustomOp(5001);
  EXPECT_FALSE(runCustomOp(5001, {x}));
  EXPECT_TRUE(registerCustomOp(5001, identity));
  unregisterCustomOp(5001);
}

TEST(CustomOps, NeedAFunctionAndAnIdOfTheirOwn) {
  EXPECT_FALSE(registerCustomOp(firstCustomOp - 1, identity));
  EXPECT_FALSE(registerCustomOp(firstCustomOp, CustomOp()));
  EXPECT_FALSE(runCustomOp(firstCustomOp, {}));
}

TEST(CustomOps, FailuresAreTheCallers) {
  ASSERT_TRUE(registerCustomOp(5002, [](const Tensors &) -> Expected<Tensors> {
    return Status(StatusCode::InvalidArgument, "no such filter");
  }));
  Expected<Tensors> results = runCustomOp(5002, {});
  ASSERT_FALSE(results);
  EXPECT_EQ(results.status().message(), "no such filter");
  unregisterCustomOp(5002);
}

// RUN: llmir-kvcache-tests --gtest_filter='BlockManager*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/BlockManager.h"

#include <gtest/gtest.h>

using mlir::llm::runtime::BlockManager;

// SPEC: 35 122
TEST(BlockManager, HandsOutTheLowestBlockFirst) {
  BlockManager blocks(3);
  EXPECT_EQ(blocks.allocate(), 0);
  EXPECT_EQ(blocks.allocate(), 1);
  EXPECT_EQ(blocks.allocate(), 2);
  EXPECT_EQ(blocks.numFree(), 0);
  EXPECT_EQ(blocks.numUsed(), 3);
}

// SPEC: 123
TEST(BlockManager, KeepsABlockUntilItsLastOwnerIsGone) {
  BlockManager blocks(2);
  int32_t block = blocks.allocate();
  blocks.addReference(block);
  EXPECT_EQ(blocks.refCount(block), 2);
  EXPECT_FALSE(blocks.release(block));
  EXPECT_EQ(blocks.numFree(), 1);
  EXPECT_TRUE(blocks.release(block));
  EXPECT_EQ(blocks.numFree(), 2);
  EXPECT_TRUE(blocks.checkInvariants()) << blocks.checkInvariants().message();
}

TEST(BlockManager, KnowsItsBlocks) {
  BlockManager blocks(2);
  EXPECT_TRUE(blocks.isBlock(0));
  EXPECT_TRUE(blocks.isBlock(1));
  EXPECT_FALSE(blocks.isBlock(2));
  EXPECT_FALSE(blocks.isBlock(-1));
  EXPECT_FALSE(BlockManager().isBlock(0));
}

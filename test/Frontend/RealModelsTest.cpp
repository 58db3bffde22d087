// RUN: llmir-frontend-tests --gtest_filter='RealModelsTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checkpoints that others made. They lie outside of the project:
// LLMIR_TEST_DATA names the folder.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Frontend/Frontend.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

using namespace llmir;

namespace {

TEST(RealModelsTest, StoriesInEveryForm) {
  const char *variable = std::getenv("LLMIR_TEST_DATA");
  std::string data = variable ? variable : LLMIR_SOURCE_DIR "/../shared/data";
  if (!std::filesystem::is_directory(data))
    GTEST_SKIP() << "no test data in '" << data
                 << "': set LLMIR_TEST_DATA to its folder";
  std::string folder = data + "/models/stories260K/";
  for (const char *name : {"hf", "stories260K-f32.gguf", "stories260K-f16.gguf",
                           "stories260K-q8.gguf", "stories260K-q4.gguf"}) {
    auto checkpoint = Checkpoint::open(folder + name);
    ASSERT_TRUE(checkpoint) << checkpoint.status().message();
    mlir::MLIRContext context;
    auto module = traceCheckpoint(context, *checkpoint, FrontendOptions());
    ASSERT_TRUE(module) << module.status().message();
    int64_t subgraphs = 0, parameters = 0;
    for (mlir::Operation &op : *(**module).getBody()) {
      subgraphs += llvm::isa<llmir::mllm::SubGraphOp>(op);
      parameters += llvm::isa<llmir::mllm::RegisterOp>(op);
    }
    // Five layers of three modules each, and of nine parameters each; the
    // embedding, which is tied, and the last norm.
    EXPECT_EQ(subgraphs, 2 + 5 * 3) << name;
    EXPECT_EQ(parameters, 2 + 5 * 9) << name;
  }
}

} // namespace

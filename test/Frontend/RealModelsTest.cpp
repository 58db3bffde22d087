// RUN: llmir-frontend-tests --gtest_filter='RealModelsTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Published checkpoints, which are not in the repository: LLMIR_TEST_DATA names
// the directory.
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
                 << "': set LLMIR_TEST_DATA to its directory";
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

TEST(RealModelsTest, PartsOfGPT2AreWhereTheyAreStored) {
  const char *variable = std::getenv("LLMIR_TEST_DATA");
  std::string data = variable ? variable : LLMIR_SOURCE_DIR "/../shared/data";
  if (!std::filesystem::is_directory(data))
    GTEST_SKIP() << "no test data in '" << data
                 << "': set LLMIR_TEST_DATA to its directory";
  auto checkpoint = Checkpoint::open(data + "/models/gpt-nano-sort/hf");
  ASSERT_TRUE(checkpoint) << checkpoint.status().message();
  mlir::MLIRContext context;
  auto module = traceCheckpoint(context, *checkpoint, FrontendOptions());
  ASSERT_TRUE(module) << module.status().message();
  int64_t parameters = 0;
  for (auto op : (**module).getOps<llmir::mllm::RegisterOp>())
    parameters += op.getSource().has_value();
  // Three layers of sixteen parameters each, two tables, the last norm, the
  // output projection.
  EXPECT_EQ(parameters, 3 * 16 + 2 + 2 + 1);
  mlir::SymbolTable symbols(**module);
  for (auto [name, first] :
       {std::pair<const char *, int64_t>{"q", 0}, {"k", 48}, {"v", 96}})
    for (const char *kind : {".weight", ".bias"}) {
      std::string layer = "transformer.h.1.attn.c_attn";
      auto op =
          symbols.lookup<llmir::mllm::RegisterOp>(layer + "." + name + kind);
      ASSERT_TRUE(op) << name << kind;
      EXPECT_EQ(*op.getSource(), layer + kind);
      ASSERT_TRUE(op.getSlice());
      EXPECT_EQ(*op.getSlice(), llvm::ArrayRef<int64_t>({first, 144}));
      EXPECT_EQ(op.getTransposed(), std::string(kind) == ".weight");
      EXPECT_EQ(op.getShape()[0], 48);
    }
}

} // namespace

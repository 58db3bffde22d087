// RUN: llmir-runtime-tests --gtest_filter='ExecutorErrors.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Artifact/Handmade.h"
#include "Runtime/HandwrittenStep.h"
#include "llmir/Artifact/Artifact.h"
#include "llmir/Runtime/Executor.h"

using namespace llmir;
using namespace llmir::test;

namespace {
class ExecutorErrors : public testing::Test {
protected:
  void SetUp() override {
    ExecutorOptions options;
    options.threads = 1;
    options.kvBlocks = 12;
    Expected<std::unique_ptr<Executor>> made = Executor::create(
        sampleInfo(), handwrittenStep, handwrittenWeightBytes(), options);
    ASSERT_TRUE(made) << made.status().message();
    executor = std::move(*made);
    ASSERT_TRUE(executor->cache().createSequence(1));
    ASSERT_TRUE(executor->cache().createSequence(2));
    std::vector<int32_t> five(5, 3);
    ASSERT_TRUE(run({part(1, five)}));
  }

  static SequenceStep part(SequenceId id, const std::vector<int32_t> &tokens,
                           WantLogits want = WantLogits::Last,
                           Span<const int32_t> rows = {}) {
    SequenceStep result;
    result.sequence = id;
    result.tokens = tokens;
    result.want = want;
    result.rows = rows;
    return result;
  }
  Status run(const std::vector<SequenceStep> &parts) {
    return executor->step(parts).takeStatus();
  }
  /// The step fails so, and nothing has changed.
  void refuse(const std::vector<SequenceStep> &parts, StatusCode code,
              const char *cause) {
    Status status = run(parts);
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(status.cause().find(cause), std::string::npos)
        << status.message();
    EXPECT_EQ(executor->cache().getSequenceLength(1), 5);
    EXPECT_EQ(executor->cache().getSequenceLength(2), 0);
    EXPECT_EQ(executor->cache().blocks().numFree(), 10);
    EXPECT_TRUE(executor->cache().checkInvariants());
  }

  std::unique_ptr<Executor> executor;
};
} // namespace

TEST_F(ExecutorErrors, BadBatchesChangeNothing) {
  const auto invalid = StatusCode::InvalidArgument;
  const auto range = StatusCode::OutOfRange;
  const std::vector<int32_t> one(1, 3), two(2, 3), none;
  const std::vector<int32_t> low(1, -1), high(1, 50), many(33, 3), half(17, 3);
  refuse({}, invalid, "the step is empty");
  refuse({part(1, none)}, invalid, "sequence 1 has no new token");
  refuse({part(1, low)}, range, "token id -1 is not in the vocabulary of 50");
  refuse({part(1, one), part(2, high)}, range, "token id 50");
  refuse({part(1, many)}, range, "more than 32 tokens");
  refuse({part(1, half), part(2, half)}, range, "more than 32 tokens");
  refuse({part(9, one)}, invalid, "sequence 9 does not exist");
  refuse({part(1, one), part(1, one)}, invalid, "sequence 1 is listed twice");
  refuse({part(1, one), part(2, one), part(3, one)}, invalid, "sequence 3");
  const std::vector<int32_t> nine(9, 3);
  refuse({part(2, nine, WantLogits::All)}, range, "9 rows of logits");
  const std::vector<int32_t> outside{2}, negative{-1}, twice{0, 0};
  refuse({part(1, two, WantLogits::Listed, outside)}, range, "logits row 2");
  refuse({part(1, two, WantLogits::Listed, negative)}, range, "logits row -1");
  refuse({part(1, two, WantLogits::Listed, twice)}, range, "logits row 0");
  const std::vector<int32_t> most(32, 3);
  ASSERT_TRUE(run({part(1, most, WantLogits::None)}));
  ASSERT_TRUE(executor->cache().truncate(1, 5));
}

TEST_F(ExecutorErrors, TheContextIsALimit) {
  const std::vector<int32_t> most(32, 3), four(4, 3), one(1, 3);
  ASSERT_TRUE(run({part(1, most)}));
  Status status = run({part(1, four)});
  EXPECT_EQ(status.code(), StatusCode::OutOfRange);
  EXPECT_NE(status.cause().find("37 + 4 tokens"), std::string::npos)
      << status.message();
  EXPECT_EQ(executor->cache().getSequenceLength(1), 37);
}

TEST_F(ExecutorErrors, ThePoolIsALimit) {
  // Sequence 1 has 2 of 12 blocks; 8 + 1 more leave one, 2 are needed.
  const std::vector<int32_t> most(32, 3), three(3, 3), five(5, 3);
  ASSERT_TRUE(run({part(2, most)}));
  ASSERT_TRUE(executor->cache().createSequence(3));
  ASSERT_TRUE(run({part(3, three)}));
  Status status = run({part(1, five), part(3, five)});
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_NE(status.cause().find("1 free blocks of 12; 2 are needed"),
            std::string::npos)
      << status.message();
  EXPECT_EQ(executor->cache().getSequenceLength(1), 5);
  EXPECT_EQ(executor->cache().getSequenceLength(3), 3);
  EXPECT_TRUE(run({part(1, three)}));
}

TEST_F(ExecutorErrors, WhatCannotBeCreated) {
  auto code = [](ArtifactInfo info, ExecutorOptions options,
                 LLMIRStepFunction function = handwrittenStep) {
    return Executor::create(info, function, handwrittenWeightBytes(), options)
        .status()
        .code();
  };
  const ArtifactInfo info = sampleInfo();
  EXPECT_EQ(code(info, {}, nullptr), StatusCode::InvalidArgument);
  EXPECT_EQ(Executor::create(nullptr, {}).status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(code(ArtifactInfo(), {}), StatusCode::InvalidFile);
  ExecutorOptions options;
  options.contextLength = 41;
  EXPECT_EQ(code(info, options), StatusCode::OutOfRange);
  options.contextLength = -1;
  EXPECT_EQ(code(info, options), StatusCode::OutOfRange);
  options = {};
  options.kvBlocks = -1;
  EXPECT_EQ(code(info, options), StatusCode::InvalidArgument);
  options.kvBlocks = INT64_MAX;
  EXPECT_EQ(code(info, options), StatusCode::InvalidArgument);
  options = {};
  options.kvBytes = 10;
  EXPECT_EQ(code(info, options), StatusCode::InvalidArgument);
  options = {};
  options.threads = -3;
  EXPECT_EQ(code(info, options), StatusCode::InvalidArgument);
  ArtifactInfo large = info;
  large.maxLogitRows = 65536;
  large.logitsRowStride = int64_t(1) << 32;
  EXPECT_EQ(code(large, {}), StatusCode::ResourceExhausted);
}

TEST_F(ExecutorErrors, AnArtifactForAnotherProcessor) {
  TemporaryPath path("other.llmir");
  ArtifactInfo info = sampleInfo();
  info.code[0].cpuFeatures = {"avx512imaginary"};
  writeSample(path.str(), info);
  Expected<std::shared_ptr<const Artifact>> artifact =
      Artifact::open(path.str());
  ASSERT_TRUE(artifact) << artifact.status().message();
  Status status = Executor::create(*artifact, {}).takeStatus();
  EXPECT_EQ(status.code(), StatusCode::IncompatibleTarget);
  EXPECT_NE(status.cause().find(path.str() + ": compiled for "),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.cause().find("lacks avx512imaginary"), std::string::npos);
}

TEST_F(ExecutorErrors, AnArtifactWithoutUsableCode) {
  TemporaryPath path("code.llmir");
  writeSample(path.str(), sampleInfo(), Bytes(200, 0x90));
  Expected<std::shared_ptr<const Artifact>> artifact =
      Artifact::open(path.str());
  ASSERT_TRUE(artifact) << artifact.status().message();
  Status status = Executor::create(*artifact, {}).takeStatus();
  EXPECT_EQ(status.code(), StatusCode::InvalidFile);
  EXPECT_NE(status.cause().find("code image: it is not an ELF file"),
            std::string::npos)
      << status.message();
}

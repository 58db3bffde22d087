// RUN: llmir-serving-tests --gtest_filter='Embedder.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/Embedder.h"
#include "Artifact/Handmade.h"
#include "Runtime/HandwrittenStep.h"
#include "llmir/Serving/Engine.h"

using namespace llmir;
using namespace llmir::test;

namespace {
using Texts = std::vector<std::vector<int32_t>>;

/// The handwritten step, whose rows are those of last tokens.
ArtifactInfo embeddingInfo() {
  ArtifactInfo info = sampleInfo();
  info.pooling = Pooling::Last;
  info.embeddingSize = info.vocabSize;
  return info;
}

std::unique_ptr<Executor> executor(const ArtifactInfo &info,
                                   int64_t kvBlocks = 0) {
  ExecutorOptions options;
  options.threads = 2;
  options.kvBlocks = kvBlocks;
  Expected<std::unique_ptr<Executor>> made = Executor::create(
      info, handwrittenStep, handwrittenWeightBytes(), options);
  EXPECT_TRUE(made) << made.status().message();
  return made ? std::move(*made) : nullptr;
}

Texts textsOf(std::initializer_list<size_t> lengths) {
  Texts texts;
  for (size_t length : lengths) {
    texts.emplace_back();
    for (size_t i = 0; i < length; ++i)
      texts.back().push_back(static_cast<int32_t>((i * 7 + length) % 50));
  }
  return texts;
}

/// The rows, by the meaning of the step: 1 at one place.
void expectRows(const std::vector<float> &rows, const Texts &texts) {
  const auto size = static_cast<size_t>(sampleInfo().vocabSize);
  ASSERT_EQ(rows.size(), texts.size() * size);
  for (size_t i = 0; i < texts.size(); ++i)
    for (size_t v = 0; v < size; ++v)
      ASSERT_EQ(rows[i * size + v],
                static_cast<int32_t>(v) ==
                        expectedToken(texts[i], texts[i].size())
                    ? 1.0f
                    : 0.0f)
          << "text " << i << ", element " << v;
}
} // namespace

TEST(Embedder, EmbedsTextsOfAnyLengths) {
  // Above the token budget of 32 alone and together.
  for (const Texts &texts :
       {textsOf({}), textsOf({1}), textsOf({32}), textsOf({33}), textsOf({40}),
        textsOf({1, 2, 3, 33, 40, 5, 31, 1, 32, 7, 7, 7, 7, 7, 7, 7, 7})}) {
    std::unique_ptr<Executor> e = executor(embeddingInfo());
    Expected<Embedder> embedder = Embedder::create(*e);
    ASSERT_TRUE(embedder) << embedder.status().message();
    EXPECT_EQ(embedder->size(), sampleInfo().vocabSize);
    EXPECT_EQ(embedder->maxTokens(), e->contextLength());
    Expected<std::vector<float>> rows = embedder->embed(texts);
    ASSERT_TRUE(rows) << rows.status().message();
    expectRows(*rows, texts);
    EXPECT_EQ(e->cache().getNumSequences(), 0);
    EXPECT_EQ(e->cache().blocks().numUsed(), 0);
  }
}

TEST(Embedder, NeedsNoMoreBlocksThanThereAre) {
  const int64_t size = sampleInfo().kvBlockSize;
  std::unique_ptr<Executor> e = executor(embeddingInfo(), /*kvBlocks=*/2);
  Expected<Embedder> embedder = Embedder::create(*e);
  ASSERT_TRUE(embedder);
  Texts texts = textsOf({1, 2, 3, static_cast<size_t>(2 * size), 1});
  Expected<std::vector<float>> rows = embedder->embed(texts);
  ASSERT_TRUE(rows) << rows.status().message();
  expectRows(*rows, texts);
  texts = textsOf({1, static_cast<size_t>(2 * size) + 1});
  rows = embedder->embed(texts);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.status().code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(e->cache().getNumSequences(), 0);
}

TEST(Embedder, RefusesTexts) {
  std::unique_ptr<Executor> e = executor(embeddingInfo());
  Expected<Embedder> embedder = Embedder::create(*e);
  ASSERT_TRUE(embedder);
  const auto most = static_cast<size_t>(e->contextLength());
  Expected<std::vector<float>> rows =
      embedder->embed(textsOf({1, most, most + 1}));
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.status().code(), StatusCode::ContextLengthExceeded);
  EXPECT_EQ(rows.status().cause(), "text 2 has " + std::to_string(most + 1) +
                                       " tokens; the model takes at most " +
                                       std::to_string(most));
  rows = embedder->embed(textsOf({1, 0}));
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.status().code(), StatusCode::InvalidArgument);
  const Texts outside = {{1, 2},
                         {static_cast<int32_t>(sampleInfo().vocabSize)}};
  rows = embedder->embed(outside);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.status().code(), StatusCode::OutOfRange);
  EXPECT_EQ(e->cache().getNumSequences(), 0);
}

TEST(Embedder, WholeSequencesFitIntoAStep) {
  ArtifactInfo info = embeddingInfo();
  info.wholeSequences = true;
  std::unique_ptr<Executor> e = executor(info);
  Expected<Embedder> embedder = Embedder::create(*e);
  ASSERT_TRUE(embedder);
  EXPECT_EQ(embedder->maxTokens(), info.tokenBudget);
  const Texts texts = textsOf({32, 31, 1, 2, 32});
  Expected<std::vector<float>> rows = embedder->embed(texts);
  ASSERT_TRUE(rows) << rows.status().message();
  expectRows(*rows, texts);
  ASSERT_FALSE(embedder->embed(textsOf({33})));

  // A sequence cannot be continued.
  ASSERT_TRUE(e->cache().createSequence(3));
  const std::vector<int32_t> ids = {1, 2};
  SequenceStep part;
  part.sequence = 3;
  part.tokens = ids;
  ASSERT_TRUE(e->step(Span<const SequenceStep>(&part, 1)));
  Expected<StepLogits> again = e->step(Span<const SequenceStep>(&part, 1));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.status().code(), StatusCode::InvalidArgument);
}

TEST(Embedder, ModelsHaveOneUse) {
  std::unique_ptr<Executor> language = executor(sampleInfo());
  Expected<Embedder> embedder = Embedder::create(*language);
  ASSERT_FALSE(embedder);
  EXPECT_EQ(embedder.status().code(), StatusCode::InvalidArgument);

  std::unique_ptr<Executor> e = executor(embeddingInfo());
  const std::vector<int32_t> ids = {1, 2, 3};
  EXPECT_EQ(Engine::create(executor(embeddingInfo())).status().code(),
            StatusCode::InvalidArgument);
  ASSERT_TRUE(e->cache().createSequence(0));
  for (WantLogits want : {WantLogits::All, WantLogits::Listed}) {
    SequenceStep part;
    part.tokens = ids;
    part.want = want;
    Expected<StepLogits> rows = e->step(Span<const SequenceStep>(&part, 1));
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.status().code(), StatusCode::InvalidArgument);
  }
}

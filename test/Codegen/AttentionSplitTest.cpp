// RUN: llmir-codegen-tests --gtest_filter='AttentionSplits*:AttentionLoads*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Long sequences: chunks of keys that are divided among workers and merged give
// the same bits as whole sequences, alone and in a batch; and the conditions
// for splitting.
//
//===----------------------------------------------------------------------===//

#include "AttentionHarness.h"

#include "llmir/ABI/AttentionSplit.h"

#include <cmath>
#include <numeric>

using namespace llmir;
using namespace llmir::test;

namespace {

// Within a chunk, at its boundary, over several; several queries.
const std::vector<SequenceShape> kSequences = {
    {512, 1}, {513, 1}, {40, 1}, {1500, 3}, {1100, 1}};
constexpr int64_t kTokens = 7;

using Parameters = std::tuple<const CPULevel *, TensorFormat, int64_t>;

/// Attention with and without a window, and the merge of its partial results.
class AttentionSplits : public testing::TestWithParam<Parameters> {
protected:
  void SetUp() override;
  std::vector<float> run(bool splits, int64_t workers);
  std::vector<double> expected() const;

  AttentionAttributes attention;
  std::unique_ptr<CachedBatch> batch;
  std::unique_ptr<LoadedProgram> loaded;
  std::vector<float> queries, sinks;
  unsigned q = 0, sinksBuffer = 0, partials = 0, out = 0;
};

void AttentionSplits::SetUp() {
  auto [level, format, window] = GetParam();
  LLMIR_SKIP_UNLESS_COVERED(level);
  attention.kvFormat = tensorFormatInfo(format).name;
  attention.heads = 28;
  attention.kvHeads = 4; // Groups of three heads and of one.
  attention.headDim = attention.valueDim = 40;
  attention.blockSize = 16;
  attention.scale = 1 / std::sqrt(40.0);
  attention.window = window;
  kernel::PartialResults size = attention.shape().partialResults();
  batch = std::make_unique<CachedBatch>(
      format,
      KVBlockLayout{attention.kvHeads, attention.headDim, attention.blockSize,
                    tensorFormatInfo(format).bytesPerBlock},
      kSequences, 5);
  Random random(12);
  queries = random.values(kTokens * attention.heads * attention.headDim, -2, 2);
  sinks = random.values(attention.heads, -1, 1);
  KernelProgram program;
  q = program.addBuffer(kTokens, attention.heads * attention.headDim);
  sinksBuffer = program.addBuffer(1, attention.heads);
  partials = program.addBuffer(size.rows, size.columns);
  out = program.addBuffer(kTokens, attention.heads * attention.headDim);
  attention.call<kernel::PagedAttentionOp>(
      program, program[sinksBuffer], program[q],
      /*mask=*/mlir::Value(), program[partials], program[out]);
  program.barrier();
  attention.call<kernel::MergeAttentionOp>(program, program[sinksBuffer],
                                           program[partials], program[out]);
  program.finish();
  Expected<LoadedProgram> result = program.load(*level);
  ASSERT_TRUE(result) << result.status().message();
  loaded = std::make_unique<LoadedProgram>(std::move(*result));
}

std::vector<float> AttentionSplits::run(bool splits, int64_t workers) {
  std::vector<size_t> order(kSequences.size());
  std::iota(order.begin(), order.end(), size_t(0));
  StepInputs inputs = batch->place(order);
  inputs.splitAttention = splits;
  loaded->clearArena();
  loaded->setRows(q, queries);
  loaded->setRow(sinksBuffer, 0, sinks.data());
  loaded->run(inputs, workers);
  return loaded->rows(out, kTokens);
}

std::vector<double> AttentionSplits::expected() const {
  auto [level, format, window] = GetParam();
  AttentionRounding rounding(*level, format);
  reference::Tensor sinkTensor(reference::ElementKind::F32, {attention.heads},
                               std::vector<double>(sinks.begin(), sinks.end()));
  reference::AttentionParams params;
  params.scale = attention.scale;
  params.causal = true;
  params.window = window;
  params.sinks = &sinkTensor;
  rounding.apply(params);
  int64_t d = attention.headDim, token = 0;
  std::vector<double> result(kTokens * attention.heads * d);
  for (size_t s = 0; s < kSequences.size(); ++s) {
    std::vector<double> keys = batch->cached(batch->keys[s]);
    std::vector<double> values = batch->cached(batch->values[s]);
    for (int64_t i = 0; i < kSequences[s].queries; ++i, ++token)
      for (int64_t h = 0; h < attention.heads; ++h) {
        int64_t row = token * attention.heads + h;
        std::vector<double> query(queries.begin() + row * d,
                                  queries.begin() + (row + 1) * d);
        reference::AttentionRow facts;
        facts.query = query.data();
        facts.headDim = facts.valueDim = d;
        facts.keys = kSequences[s].keys;
        facts.position = kSequences[s].keys - kSequences[s].queries + i;
        const int64_t kvHead = h / (attention.heads / attention.kvHeads);
        facts.key = [&](int64_t j) {
          return &keys[(j * attention.kvHeads + kvHead) * d];
        };
        facts.value = [&](int64_t j) {
          return &values[(j * attention.kvHeads + kvHead) * d];
        };
        facts.batch = facts.maskRow = 0;
        facts.head = h;
        reference::attendRow(params, facts, &result[row * d]);
      }
  }
  return result;
}

std::string nameOf(const testing::TestParamInfo<Parameters> &info) {
  auto [level, format, window] = info.param;
  return levelName(level) + "_" + std::string(tensorFormatInfo(format).name) +
         "_window_" + std::to_string(window);
}

} // namespace

TEST_P(AttentionSplits, GiveTheBitsOfWholeSequences) {
  std::vector<float> whole = run(false, 1);
  AttentionRounding rounding(*std::get<0>(GetParam()), std::get<1>(GetParam()));
  EXPECT_LE(normalizedError(whole, expected()), rounding.tolerance());
  EXPECT_TRUE(sameBits(whole, run(false, 3)));
  for (int64_t workers : {1, 2, 3, 8})
    EXPECT_TRUE(sameBits(whole, run(true, workers))) << workers << " workers";
}

INSTANTIATE_TEST_SUITE_P(, AttentionSplits,
                         testing::ValuesIn(attentionParameters<int64_t>(
                             {TensorFormat::F32, TensorFormat::BF16},
                             {0, 700})),
                         nameOf);

TEST(AttentionLoads, SplitWhereWorkersWouldBeIdle) {
  AttentionLoad load;
  load.add(1, 4096);
  EXPECT_FALSE(load.splits(8, 1)) << "nobody else";
  EXPECT_FALSE(load.splits(8, 2)) << "four heads each";
  EXPECT_TRUE(load.splits(1, 2));
  EXPECT_TRUE(load.splits(8, 16));
  EXPECT_TRUE(load.splits(2, 3));
  AttentionLoad shortOne;
  shortOne.add(1, kAttentionChunk);
  EXPECT_FALSE(shortOne.splits(1, 2)) << "one chunk";
  AttentionLoad many;
  for (int i = 0; i < 64; ++i)
    many.add(1, 4096);
  EXPECT_FALSE(many.splits(1, 128)) << "no room for the results";
  AttentionLoad prompt;
  prompt.add(512, 600);
  EXPECT_FALSE(prompt.splits(1, 2)) << "no room, and no need";
}

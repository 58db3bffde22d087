// RUN: llmir-codegen-tests --gtest_filter='*AttentionFeatures*:*CausalAttention*:*AttentionBlockSizes*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All options of attention against the reference: windows, caps, sinks, masks,
// slopes, rows without visible keys, and memory that must not affect results.
//
//===----------------------------------------------------------------------===//

#include "AttentionHarness.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

using namespace llmir;
using namespace llmir::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();

/// The dimensions of a mask; those of the buffer's rows first.
enum class MaskShape {
  None,
  Full,      ///< [sequence, head, query] x [key].
  Token,     ///< [token of the step] x [key].
  Head,      ///< [head] x [key].
  Query,     ///< [sequence] x [query], the same for all keys.
  OneColumns ///< One row of [head, query, key] without padding.
};

/// The storage of the sinks.
enum class OperandPlace { None, Weight, Buffer };

struct Features {
  const char *name;
  int64_t heads, kvHeads, headDim, valueDim, blockSize;
  bool causal = true;
  int64_t window = 0;
  double softCap = 0;
  OperandPlace sinks = OperandPlace::None;
  bool slopes = false;
  MaskShape mask = MaskShape::None;
  bool chunked = false;
};

constexpr OperandPlace kNone = OperandPlace::None;
const Features kFeatures[] = {
    {"plain", 4, 1, 64, 64, 16},
    {"all_keys", 8, 2, 64, 64, 8, false},
    {"window", 4, 4, 80, 80, 16, true, 5},
    {"chunks", 4, 2, 64, 64, 16, true, 5, 0, kNone, false, MaskShape::None,
     true},
    {"chunks_all_keys", 2, 1, 64, 64, 8, false, 20, 0, OperandPlace::Weight,
     false, MaskShape::None, true},
    {"window_of_one", 2, 1, 16, 16, 8, true, 1},
    {"window_both_sides", 4, 2, 64, 64, 16, false, 5},
    {"chunks_both_sides", 4, 2, 64, 64, 16, false, 5, 0, kNone, false,
     MaskShape::None, true},
    {"window_all_keys", 7, 1, 64, 64, 32, false, 18},
    {"soft_cap", 8, 1, 128, 128, 16, true, 0, 5.0},
    {"sinks", 8, 8, 64, 64, 16, true, 0, 0, OperandPlace::Weight},
    {"sinks_window", 8, 2, 64, 64, 8, true, 3, 0, OperandPlace::Buffer},
    {"slopes", 4, 2, 96, 96, 32, true, 0, 0, kNone, true},
    {"slopes_all_keys", 20, 5, 24, 24, 16, false, 0, 0, kNone, true},
    {"mask", 4, 2, 64, 64, 8, false, 0, 0, kNone, false, MaskShape::Full},
    {"mask_causal", 4, 2, 64, 64, 16, true, 0, 0, kNone, false,
     MaskShape::Full},
    {"mask_token", 2, 1, 64, 64, 16, true, 0, 0, kNone, false,
     MaskShape::Token},
    {"mask_head", 7, 1, 64, 64, 16, false, 0, 0, kNone, false, MaskShape::Head},
    {"mask_query", 4, 1, 32, 32, 16, false, 0, 0, kNone, false,
     MaskShape::Query},
    {"mask_columns", 3, 3, 64, 64, 16, true, 0, 0, kNone, false,
     MaskShape::OneColumns},
    {"values_apart", 8, 2, 96, 64, 16, false, 9, 0, OperandPlace::Weight},
    {"everything", 8, 4, 40, 72, 8, true, 21, 8.0, OperandPlace::Buffer, true,
     MaskShape::Full},
    {"everything_wide", 2, 1, 256, 530, 16, false, 40, 20.0,
     OperandPlace::Weight, true, MaskShape::Token},
};

// No key; one; the boundaries of a tile and of blocks; more queries than keys.
const std::vector<SequenceShape> kSequences = {
    {0, 2}, {1, 1}, {15, 3}, {16, 16}, {17, 1}, {33, 5}, {100, 2}, {5, 9}};
constexpr int64_t kTokens = 39, kMaxQueries = 16, kMaxKeys = 100;

/// A mask as a tensor for the reference, and as the kernel's buffer.
struct Mask {
  reference::Tensor tensor;
  int64_t rows = 0, columns = 0;
  std::vector<int64_t> strides;
};

Mask makeMask(MaskShape shape, int64_t heads, Random &random) {
  constexpr int64_t padded = 112; // kMaxKeys in whole tiles.
  int64_t sequences = static_cast<int64_t>(kSequences.size());
  Mask mask;
  std::vector<int64_t> sizes;
  switch (shape) {
  case MaskShape::None:
    return mask;
  case MaskShape::Full:
    sizes = {sequences, heads, kMaxQueries, kMaxKeys};
    mask.strides = {heads * kMaxQueries * padded, kMaxQueries * padded, padded,
                    0, 1};
    break;
  case MaskShape::Token:
    sizes = {1, 1, kTokens, kMaxKeys};
    mask.strides = {0, 0, 0, padded, 1};
    break;
  case MaskShape::Head:
    sizes = {1, heads, 1, kMaxKeys};
    mask.strides = {0, padded, 0, 0, 1};
    break;
  case MaskShape::Query:
    sizes = {sequences, 1, kMaxQueries, 1};
    mask.strides = {16, 0, 1, 0, 0};
    break;
  case MaskShape::OneColumns:
    sizes = {1, heads, kMaxQueries, kMaxKeys};
    mask.strides = {0, kMaxQueries * kMaxKeys, kMaxKeys, 0, 1};
    break;
  }
  mask.tensor = reference::Tensor(reference::ElementKind::F32, sizes);
  for (double &value : mask.tensor.floats()) {
    uint32_t kind = random.bits() % 16;
    value = kind < 4    ? static_cast<double>(-kInfinity)
            : kind == 4 ? static_cast<double>(kLowest)
            : kind == 5 ? -1e30
                        : static_cast<double>(random.uniform(-3.0f, 3.0f));
  }
  bool oneRow = shape == MaskShape::OneColumns;
  mask.columns = shape == MaskShape::Query ? kMaxQueries
                 : oneRow                  ? mask.tensor.size()
                                           : kMaxKeys;
  mask.rows = mask.tensor.size() / mask.columns;
  return mask;
}

/// One case as a program of one instruction.
class AttentionRun {
public:
  static constexpr uint64_t kSeed = 7; ///< Seed of the keys and values.

  AttentionRun(const Features &features, TensorFormat format,
               const CPULevel &level, int64_t blockSize);

  /// Output rows of the sequences in the order of kSequences, independent of
  /// the order of the batch.
  std::vector<float> run(const std::vector<size_t> &order, int64_t workers);
  std::vector<double> expected();

  Features features;
  TensorFormat format;
  AttentionRounding rounding;
  CachedBatch batch;
  std::vector<float> queries, sinks;
  std::vector<double> slopes;
  double scale;
  Mask mask;
  unsigned q = 0, maskBuffer = 0, sinksBuffer = 0, out = 0;
  std::unique_ptr<LoadedProgram> loaded;
  Status failure;

private:
  AttentionAttributes attributes() const;
  void load(const CPULevel &level);
  int64_t firstRow(size_t sequence) const;
};

KVBlockLayout layoutOf(const Features &f, TensorFormat format,
                       int64_t blockSize) {
  return {f.kvHeads, f.headDim, blockSize,
          tensorFormatInfo(format).bytesPerBlock, f.valueDim};
}

AttentionRun::AttentionRun(const Features &features, TensorFormat format,
                           const CPULevel &level, int64_t blockSize)
    : features(features), format(format), rounding(level, format),
      batch(format, layoutOf(features, format, blockSize), kSequences, kSeed),
      scale(1.5 / std::sqrt(static_cast<double>(features.headDim))) {
  Random random(11);
  queries = random.values(kTokens * features.heads * features.headDim, -2, 2);
  sinks = random.values(features.heads, -2.0f, 2.0f);
  sinks.front() = -kInfinity; // A head without a sink.
  for (int64_t h = 0; features.slopes && h < features.heads; ++h)
    slopes.push_back(std::pow(2.0, -8.0 * double(h + 1) / features.heads));
  mask = makeMask(features.mask, features.heads, random);
  load(level);
}

AttentionAttributes AttentionRun::attributes() const {
  AttentionAttributes result;
  result.kvFormat = tensorFormatInfo(format).name;
  result.heads = features.heads;
  result.kvHeads = features.kvHeads;
  result.headDim = features.headDim;
  result.valueDim = features.valueDim;
  result.blockSize = batch.layout.blockSize;
  result.scale = scale;
  result.causal = features.causal;
  result.window = features.window;
  result.chunked = features.chunked;
  result.softCap = features.softCap;
  result.alibiSlopes.assign(slopes.begin(), slopes.end());
  result.maskStrides.assign(mask.strides.begin(), mask.strides.end());
  return result;
}

void AttentionRun::load(const CPULevel &level) {
  KernelProgram program;
  mlir::Value sinksOperand, maskOperand;
  q = program.addBuffer(kTokens, features.heads * features.headDim);
  if (features.mask != MaskShape::None) {
    maskBuffer = program.addBuffer(mask.rows, mask.columns);
    maskOperand = program[maskBuffer];
  }
  if (features.sinks == OperandPlace::Weight)
    sinksOperand = program.weight(program.addVector(sinks));
  if (features.sinks == OperandPlace::Buffer) {
    sinksBuffer = program.addBuffer(1, features.heads);
    sinksOperand = program[sinksBuffer];
  }
  out = program.addBuffer(kTokens, features.heads * features.valueDim);
  attributes().call<kernel::PagedAttentionOp>(
      program, sinksOperand, program[q], maskOperand,
      /*partials=*/mlir::Value(), program[out]);
  program.finish();
  Expected<LoadedProgram> result = program.load(level);
  if (result)
    loaded = std::make_unique<LoadedProgram>(std::move(*result));
  else
    failure = result.takeStatus();
}

int64_t AttentionRun::firstRow(size_t sequence) const {
  int64_t row = 0;
  for (size_t s = 0; s < sequence; ++s)
    row += kSequences[s].queries;
  return row;
}

std::vector<float> AttentionRun::run(const std::vector<size_t> &order,
                                     int64_t workers) {
  StepInputs inputs = batch.place(order);
  loaded->clearArena();
  int64_t width = features.heads * features.headDim, row = 0;
  for (size_t s : order)
    for (int64_t i = 0; i < kSequences[s].queries; ++i)
      loaded->setRow(q, row++, &queries[(firstRow(s) + i) * width]);
  if (features.mask != MaskShape::None)
    loaded->setRows(maskBuffer, std::vector<float>(mask.tensor.floats().begin(),
                                                   mask.tensor.floats().end()));
  if (features.sinks == OperandPlace::Buffer)
    loaded->setRow(sinksBuffer, 0, sinks.data());
  loaded->snapshot();
  loaded->run(inputs, workers);
  loaded->expectOnlyWritten({out}, inputs.numTokens);
  std::vector<float> rows = loaded->rows(out, inputs.numTokens), result;
  for (float value : loaded->padding(out, inputs.numTokens - 1))
    EXPECT_EQ(value, 0.0f) << "padding";
  width = features.heads * features.valueDim;
  result.resize(rows.size());
  auto from = rows.begin();
  for (size_t s : order) {
    auto end = from + kSequences[s].queries * width;
    std::copy(from, end, result.begin() + firstRow(s) * width);
    from = end;
  }
  return result;
}

std::vector<double> AttentionRun::expected() {
  using reference::Tensor;
  reference::AttentionParams params;
  Tensor sinkTensor(reference::ElementKind::F32, {features.heads},
                    std::vector<double>(sinks.begin(), sinks.end()));
  params.scale = scale;
  params.causal = features.causal;
  params.window = features.window;
  params.chunked = features.chunked;
  params.softCap = features.softCap;
  params.alibiSlopes = slopes;
  params.mask = features.mask == MaskShape::None ? nullptr : &mask.tensor;
  params.sinks = features.sinks == OperandPlace::None ? nullptr : &sinkTensor;
  rounding.apply(params);
  int64_t d = features.headDim, v = features.valueDim, g = features.kvHeads;
  std::vector<double> result(kTokens * features.heads * v);
  for (size_t s = 0; s < kSequences.size(); ++s) {
    std::vector<double> keys = batch.cached(batch.keys[s]);
    std::vector<double> values = batch.cached(batch.values[s]);
    for (int64_t i = 0; i < kSequences[s].queries; ++i)
      for (int64_t h = 0; h < features.heads; ++h) {
        int64_t token = firstRow(s) + i, kvHead = h / (features.heads / g);
        const float *from = &queries[(token * features.heads + h) * d];
        std::vector<double> query(from, from + d);
        bool perToken = features.mask == MaskShape::Token;
        reference::AttentionRow row{
            query.data(),
            d,
            v,
            kSequences[s].keys,
            kSequences[s].keys - kSequences[s].queries + i,
            [&](int64_t j) { return &keys[(j * g + kvHead) * d]; },
            [&](int64_t j) { return &values[(j * g + kvHead) * v]; },
            static_cast<int64_t>(s),
            h,
            perToken ? token : i};
        reference::attendRow(params, row,
                             &result[(token * features.heads + h) * v]);
      }
  }
  return result;
}

using Parameters = std::tuple<const CPULevel *, TensorFormat, Features>;

std::string nameOf(const testing::TestParamInfo<Parameters> &info) {
  auto [level, format, features] = info.param;
  return levelName(level) + "_" + std::string(tensorFormatInfo(format).name) +
         "_" + features.name;
}

const std::vector<size_t> kInOrder = {0, 1, 2, 3, 4, 5, 6, 7};

class AttentionFeatures : public testing::TestWithParam<Parameters> {
protected:
  void SetUp() override {
    auto [level, format, features] = GetParam();
    LLMIR_SKIP_UNLESS_COVERED(level);
    // Compiled once for all tests of a case.
    static std::map<std::string, std::unique_ptr<AttentionRun>> runs;
    auto &entry = runs[nameOf({GetParam(), 0})];
    if (!entry)
      entry = std::make_unique<AttentionRun>(features, format, *level,
                                             features.blockSize);
    run = entry.get();
    ASSERT_TRUE(run->loaded) << run->failure.message();
  }

  AttentionRun *run = nullptr;
};

class CausalAttention : public AttentionFeatures {};

std::vector<Parameters> allParameters() {
  return attentionParameters<Features>(
      {TensorFormat::F32, TensorFormat::F16, TensorFormat::BF16},
      {std::begin(kFeatures), std::end(kFeatures)});
}

std::vector<Parameters> causalParameters() {
  std::vector<Parameters> parameters = allParameters();
  llvm::erase_if(parameters, [](const Parameters &each) {
    return !std::get<Features>(each).causal;
  });
  return parameters;
}

class AttentionBlockSizes : public testing::TestWithParam<Parameters> {
protected:
  void SetUp() override { LLMIR_SKIP_UNLESS_COVERED(std::get<0>(GetParam())); }
};

} // namespace

TEST_P(AttentionFeatures, AgreeWithTheReference) {
  std::vector<float> actual = run->run(kInOrder, 1);
  std::vector<double> expected = run->expected();
  EXPECT_LE(normalizedError(actual, expected), run->rounding.tolerance());
  // A row without visible keys is exactly zero.
  int64_t rows = 0, v = run->features.valueDim;
  for (size_t at = 0; at < expected.size(); at += v) {
    auto begin = expected.begin() + at;
    if (std::any_of(begin, begin + v, [](double x) { return x != 0; }))
      continue;
    ++rows;
    for (int64_t i = 0; i < v; ++i)
      EXPECT_EQ(actual[at + i], 0.0f) << "row " << at / v;
  }
  EXPECT_GE(rows, 2 * run->features.heads) << "those of no key";
}

TEST_P(AttentionFeatures, GiveTheSameBitsWithAnyNumberOfWorkersInAnyOrder) {
  std::vector<float> one = run->run(kInOrder, 1);
  EXPECT_TRUE(sameBits(one, run->run(kInOrder, 3)));
  // A mask is addressed by the index of the sequence in the batch.
  if (run->features.mask != MaskShape::None)
    return;
  EXPECT_TRUE(sameBits(one, run->run({7, 6, 5, 4, 3, 2, 1, 0}, 1)));
  EXPECT_TRUE(sameBits(one, run->run({3, 0, 6, 5, 1, 7, 2, 4}, 2)));
}

TEST_P(CausalAttention, DoesNotReadWhatItMustNotSee) {
  std::vector<float> clean = run->run(kInOrder, 1);
  // Sequence 3 has 16 keys and 16 queries: all values from key 9 on are NaN.
  constexpr size_t sequence = 3;
  constexpr int64_t firstKey = 9;
  const float poison[] = {kInfinity, -kInfinity, std::nanf("")};
  auto spoil = [&](std::vector<float> &numbers, int64_t size) {
    size_t first = firstKey * run->features.kvHeads * size;
    for (size_t i = first; i < numbers.size(); ++i)
      numbers[i] = poison[i % 3];
  };
  spoil(run->batch.keys[sequence], run->features.headDim);
  spoil(run->batch.values[sequence], run->features.valueDim);
  CachedBatch original = CachedBatch(run->batch.format, run->batch.layout,
                                     kSequences, AttentionRun::kSeed);
  std::vector<float> spoilt = run->run(kInOrder, 1);
  run->batch = std::move(original);
  int64_t width = run->features.heads * run->features.valueDim;
  int64_t first = 6 * width; // Queries of the sequences before.
  std::vector<float> a(clean.begin() + first,
                       clean.begin() + first + firstKey * width);
  std::vector<float> b(spoilt.begin() + first,
                       spoilt.begin() + first + firstKey * width);
  EXPECT_TRUE(sameBits(a, b));
}

TEST_P(AttentionBlockSizes, GiveTheSameBits) {
  auto [level, format, features] = GetParam();
  std::vector<float> bits;
  const bool isWhole = isLongTest() || isBestHere(level);
  for (int64_t blockSize : isWhole
                               ? std::vector<int64_t>{16, 2, 8, 24, 32, 64, 128}
                               : std::vector<int64_t>{16, 2, 24, 64}) {
    AttentionRun run(features, format, *level, blockSize);
    ASSERT_TRUE(run.loaded) << run.failure.message();
    std::vector<float> now = run.run(kInOrder, 1);
    if (bits.empty())
      bits = now;
    EXPECT_TRUE(sameBits(bits, now)) << "blocks of " << blockSize;
  }
}

INSTANTIATE_TEST_SUITE_P(, AttentionFeatures,
                         testing::ValuesIn(allParameters()), nameOf);

INSTANTIATE_TEST_SUITE_P(, CausalAttention,
                         testing::ValuesIn(causalParameters()), nameOf);

// Block sizes and features interact only in the addresses of a tile: one case
// with accumulators in registers and one in memory.
INSTANTIATE_TEST_SUITE_P(, AttentionBlockSizes,
                         testing::ValuesIn(attentionParameters<Features>(
                             {TensorFormat::F32, TensorFormat::BF16},
                             {kFeatures[17], kFeatures[18]})),
                         nameOf);

// RUN: llmir-codegen-tests --gtest_filter='AttentionKernels*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// append_kv, and attention over the cache for a ragged batch, compared with
// float64 on the values in the cache.
//
//===----------------------------------------------------------------------===//

#include "AttentionHarness.h"

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Support/SmallFloat.h"

#include <cmath>
#include <map>
#include <tuple>

using namespace llmir;
using namespace llmir::test;

namespace {

/// Shape of one attention layer.
struct Geometry {
  int64_t heads, kvHeads, headDim, valueDim, blockSize;
};

const Geometry kGeometries[] = {
    {4, 4, 6, 6, 16},
    {6, 2, 10, 10, 8},
    {8, 2, 64, 64, 16},
    {7, 1, 64, 64, 32},
    {16, 2, 80, 80, 16},
    {4, 1, 96, 96, 32},
    {8, 1, 128, 128, 16},
    {2, 1, 256, 256, 32},
    {8, 2, 64, 64, 8},
    // Heads of one element, of odd sizes, and with V wider or narrower than K.
    {2, 2, 1, 1, 16},
    {6, 3, 7, 7, 8},
    {4, 2, 48, 32, 16},
    {4, 1, 20, 52, 8},
    // A block size that is not a power of two, and one of two tokens.
    {2, 1, 16, 16, 24},
    {2, 1, 16, 8, 2},
    // V that exceeds the registers, with remaining lanes.
    {2, 1, 32, 523, 16}};

/// A sequence of the batch: numbers of cached and of new tokens.
struct Sequence {
  int64_t before, added;
  int64_t length() const { return before + added; }
};

// A new prompt, decoding across a block boundary, a chunk in the middle, the
// last slot of a block, a single first token.
const std::vector<Sequence> kBatch = {{0, 5},  {32, 1}, {30, 17},
                                      {15, 1}, {0, 1},  {47, 2}};
constexpr int64_t kBudget = 32;
constexpr int64_t kLayer = 1, kNumLayers = 2;

/// Keys, values and queries of every position of every sequence.
struct Values {
  std::vector<std::vector<float>> k, v, q; ///< [sequence][position, head, dim]
};

struct AttentionCase {
  Geometry shape;
  double scale;
  Values values;
  unsigned k = 0, v = 0, q = 0, out = 0;
  KVBlockLayout layout;
  /// Enough blocks for the batch; a prime number.
  int64_t numBlocks() const { return shape.blockSize < 8 ? 101 : 29; }
  int64_t layerBytes() const { return numBlocks() * layout.blockBytes(); }
};

/// One geometry as a program of two instructions.
struct AttentionProgram {
  TensorFormat format;
  AttentionRounding rounding;
  AttentionCase c;
  std::unique_ptr<LoadedProgram> loaded;
  Status failure;

  AttentionProgram(TensorFormat format, const Geometry &shape,
                   const CPULevel &level);
};

Values makeValues(const Geometry &shape, uint64_t seed) {
  Values values;
  Random random(seed);
  for (const Sequence &sequence : kBatch) {
    int64_t keys = sequence.length() * shape.kvHeads;
    int64_t queries = sequence.length() * shape.heads;
    values.k.push_back(random.values(keys * shape.headDim, -2.0f, 2.0f));
    values.v.push_back(random.values(keys * shape.valueDim, -2.0f, 2.0f));
    values.q.push_back(random.values(queries * shape.headDim, -2.0f, 2.0f));
  }
  return values;
}

AttentionProgram::AttentionProgram(TensorFormat format, const Geometry &shape,
                                   const CPULevel &level)
    : format(format), rounding(level, format) {
  int64_t bytes = tensorFormatInfo(format).bytesPerBlock;
  c.shape = shape;
  c.scale = 1.5 / std::sqrt(static_cast<double>(shape.headDim));
  c.layout = {shape.kvHeads, shape.headDim, shape.blockSize, bytes,
              shape.valueDim};
  c.values = makeValues(shape, shape.headDim);

  KernelProgram program;
  c.k = program.addBuffer(kBudget, shape.kvHeads * shape.headDim);
  c.v = program.addBuffer(kBudget, shape.kvHeads * shape.valueDim);
  c.q = program.addBuffer(kBudget, shape.heads * shape.headDim);
  c.out = program.addBuffer(kBudget, shape.heads * shape.valueDim);
  std::string name(tensorFormatInfo(format).name);
  program.setLayer(kLayer);
  program.call<kernel::AppendKVOp>(
      program[c.k], program[c.v], llvm::StringRef(name), shape.kvHeads,
      shape.headDim, shape.valueDim, shape.blockSize);
  program.barrier();
  AttentionAttributes attention;
  attention.kvFormat = name;
  attention.heads = shape.heads;
  attention.kvHeads = shape.kvHeads;
  attention.headDim = shape.headDim;
  attention.valueDim = shape.valueDim;
  attention.blockSize = shape.blockSize;
  attention.scale = c.scale;
  attention.call<kernel::PagedAttentionOp>(
      program, /*sinks=*/mlir::Value(), program[c.q], /*mask=*/mlir::Value(),
      /*partials=*/mlir::Value(), program[c.out]);
  program.finish();
  Expected<LoadedProgram> result = program.load(level);
  if (result)
    loaded = std::make_unique<LoadedProgram>(std::move(*result));
  else
    failure = result.takeStatus();
}

/// A pool with the cached positions of some sequences, and the step's arrays.
class Step {
public:
  /// `parts` are the sequences of the step, with the numbers of their new
  /// tokens that were computed before (chunking) and are computed now.
  struct Part {
    size_t sequence;
    int64_t done, now;
  };
  Step(const AttentionProgram &program, const std::vector<Part> &parts)
      : c(program.c), format(program.format),
        pool(static_cast<size_t>(kNumLayers * c.layerBytes())), parts(parts) {
    std::memset(pool.data(), 0, pool.size());
    inputs.pool = pool.data();
    inputs.poolBytes = pool.size();
    inputs.layerStride = c.layerBytes();
    inputs.blockTableStride = 48 / c.shape.blockSize + 2;
    inputs.queryOffsets = {0};
    int64_t block = 5; // Shuffled blocks: 5, 12, 19, 2, …
    for (const Part &part : parts) {
      const Sequence &sequence = kBatch[part.sequence];
      int64_t length = sequence.before + part.done + part.now;
      size_t table = inputs.blockTables.size();
      for (int64_t i = 0; i < inputs.blockTableStride; ++i) {
        bool used = i * c.shape.blockSize < length;
        inputs.blockTables.push_back(used ? static_cast<int32_t>(block) : 0);
        if (used)
          block = (block + 7) % c.numBlocks();
      }
      inputs.seqLens.push_back(static_cast<int32_t>(length));
      for (int64_t p = 0; p < length; ++p) {
        int32_t slot = static_cast<int32_t>(
            inputs.blockTables[table + p / c.shape.blockSize] *
                c.shape.blockSize +
            p % c.shape.blockSize);
        if (p < length - part.now)
          store(pool, slot, part.sequence, p);
        else
          inputs.slots.push_back(slot);
      }
      inputs.numTokens += part.now;
      inputs.queryOffsets.push_back(static_cast<int32_t>(inputs.numTokens));
    }
  }

  /// Writes a position's K and V in the cache layout.
  void store(AlignedBytes &into, int64_t slot, size_t sequence,
             int64_t position) const {
    const Geometry &shape = c.shape;
    uint8_t *base = into.data() + kLayer * c.layerBytes() +
                    slot / shape.blockSize * c.layout.blockBytes();
    int64_t token = slot % shape.blockSize;
    for (int64_t h = 0; h < shape.kvHeads; ++h) {
      int64_t row = position * shape.kvHeads + h;
      for (int64_t d = 0; d < shape.headDim; ++d)
        encode(c.values.k[sequence][row * shape.headDim + d],
               base + c.layout.keyOffset(token, h, d));
      for (int64_t d = 0; d < shape.valueDim; ++d)
        encode(c.values.v[sequence][row * shape.valueDim + d],
               base + c.layout.valueOffset(token, h, d));
    }
  }

  /// Writes the new tokens' rows, runs, and returns the output rows.
  std::vector<float> run(LoadedProgram &loaded, int64_t workers) {
    loaded.clearArena();
    int64_t row = 0;
    for (const Part &part : parts)
      for (int64_t i = 0; i < part.now; ++i, ++row) {
        int64_t p = kBatch[part.sequence].before + part.done + i;
        int64_t k = c.shape.kvHeads * c.shape.headDim;
        int64_t v = c.shape.kvHeads * c.shape.valueDim;
        int64_t q = c.shape.heads * c.shape.headDim;
        loaded.setRow(c.k, row, &c.values.k[part.sequence][p * k]);
        loaded.setRow(c.v, row, &c.values.v[part.sequence][p * v]);
        loaded.setRow(c.q, row, &c.values.q[part.sequence][p * q]);
      }
    loaded.snapshot();
    loaded.run(inputs, workers);
    loaded.expectOnlyWritten({c.out}, inputs.numTokens);
    return loaded.rows(c.out, inputs.numTokens);
  }

  /// The expected pool after the step.
  AlignedBytes expectedPool() const {
    AlignedBytes expected(pool.size());
    std::memcpy(expected.data(), pool.data(), pool.size());
    int64_t row = 0;
    for (const Part &part : parts)
      for (int64_t i = 0; i < part.now; ++i, ++row)
        store(expected, inputs.slots[row], part.sequence,
              kBatch[part.sequence].before + part.done + i);
    return expected;
  }

  const AttentionCase &c;
  TensorFormat format;
  AlignedBytes pool;
  std::vector<Part> parts;
  StepInputs inputs;

private:
  void encode(float value, uint8_t *to) const {
    if (format == TensorFormat::F32) {
      std::memcpy(to, &value, 4);
      return;
    }
    uint16_t bits =
        format == TensorFormat::F16 ? floatToF16(value) : floatToBf16(value);
    std::memcpy(to, &bits, 2);
  }
};

/// Every sequence with all its new tokens.
std::vector<Step::Part> wholeBatch() {
  std::vector<Step::Part> parts;
  for (size_t s = 0; s < kBatch.size(); ++s)
    parts.push_back({s, 0, kBatch[s].added});
  return parts;
}

/// Attention of one query head over positions [0, last], in f64.
void attend(const AttentionProgram &program, size_t s, int64_t last,
            int64_t head, double *out) {
  const Geometry &shape = program.c.shape;
  const Values &values = program.c.values;
  int64_t kvHead = head / (shape.heads / shape.kvHeads), d = shape.headDim;
  auto cached = [&](const std::vector<float> &from, int64_t size) {
    std::vector<double> numbers;
    for (int64_t p = 0; p <= last; ++p)
      for (int64_t i = 0; i < size; ++i)
        numbers.push_back(static_cast<double>(roundTo(
            program.format, from[(p * shape.kvHeads + kvHead) * size + i])));
    return numbers;
  };
  std::vector<double> keys = cached(values.k[s], d);
  std::vector<double> numbers = cached(values.v[s], shape.valueDim);
  const float *from = &values.q[s][(last * shape.heads + head) * d];
  std::vector<double> query(from, from + d);
  reference::AttentionParams params;
  params.scale = program.c.scale;
  program.rounding.apply(params);
  reference::AttentionRow row;
  row.query = query.data();
  row.headDim = d;
  row.valueDim = shape.valueDim;
  row.keys = last + 1;
  row.position = last;
  row.key = [&](int64_t j) { return &keys[j * d]; };
  row.value = [&](int64_t j) { return &numbers[j * shape.valueDim]; };
  row.batch = row.maskRow = 0;
  row.head = head;
  reference::attendRow(params, row, out);
}

using Parameters = std::tuple<const CPULevel *, TensorFormat, Geometry>;

class AttentionKernels : public testing::TestWithParam<Parameters> {
protected:
  void SetUp() override {
    auto [level, format, shape] = GetParam();
    LLMIR_SKIP_UNLESS_COVERED(level);
    static std::map<std::string, std::unique_ptr<AttentionProgram>> programs;
    auto &entry = programs[nameOf(GetParam())];
    if (!entry)
      entry = std::make_unique<AttentionProgram>(format, shape, *level);
    program = entry.get();
    ASSERT_TRUE(program->loaded) << program->failure.message();
  }

public:
  static std::string nameOf(const Parameters &parameters) {
    auto [level, format, shape] = parameters;
    return levelName(level) + "_" + std::string(tensorFormatInfo(format).name) +
           "_" + std::to_string(shape.heads) + "_" +
           std::to_string(shape.kvHeads) + "_" + std::to_string(shape.headDim) +
           "_" + std::to_string(shape.valueDim) + "_" +
           std::to_string(shape.blockSize);
  }

protected:
  AttentionProgram *program = nullptr;
};

} // namespace

TEST_P(AttentionKernels, AppendWritesTheCacheAndNothingElse) {
  Step step(*program, wholeBatch());
  AlignedBytes expected = step.expectedPool();
  step.run(*program->loaded, 2);
  for (size_t at = 0; at < expected.size(); ++at)
    ASSERT_EQ(step.pool.data()[at], expected.data()[at])
        << "byte " << at << " of the pool";
}

// SPEC: 13 36 121 147 175 197: from the blocks of the pool where they lie.
TEST_P(AttentionKernels, AgreeWithFloat64) {
  Step step(*program, wholeBatch());
  std::vector<float> actual = step.run(*program->loaded, 1);
  const Geometry &shape = program->c.shape;
  std::vector<double> expected(actual.size());
  int64_t row = 0;
  for (size_t s = 0; s < kBatch.size(); ++s)
    for (int64_t i = 0; i < kBatch[s].added; ++i, ++row)
      for (int64_t h = 0; h < shape.heads; ++h)
        attend(*program, s, kBatch[s].before + i, h,
               &expected[(row * shape.heads + h) * shape.valueDim]);
  EXPECT_LE(normalizedError(actual, expected), program->rounding.tolerance());
  for (float value : program->loaded->padding(program->c.out, row - 1))
    EXPECT_EQ(value, 0.0f) << "padding";
}

TEST_P(AttentionKernels, GiveTheSameBitsWithAnyNumberOfWorkers) {
  std::vector<float> one =
      Step(*program, wholeBatch()).run(*program->loaded, 1);
  for (int64_t workers : {2, 3, 8}) {
    Step step(*program, wholeBatch());
    EXPECT_TRUE(sameBits(one, step.run(*program->loaded, workers)))
        << workers << " workers";
  }
}

// SPEC: 86 197: exact, in tiles of absolute position.
TEST_P(AttentionKernels, GiveTheSameBitsAloneInChunksAndInABatch) {
  std::vector<float> batch =
      Step(*program, wholeBatch()).run(*program->loaded, 1);
  int64_t width = program->c.shape.heads * program->c.shape.valueDim;
  auto row = batch.begin();
  for (size_t s = 0; s < kBatch.size(); ++s)
    for (int64_t i = 0; i < kBatch[s].added; ++i, row += width) {
      Step alone(*program, {{s, i, 1}});
      EXPECT_TRUE(sameBits(alone.run(*program->loaded, 2),
                           std::vector<float>(row, row + width)))
          << "sequence " << s << ", new token " << i;
    }
}

TEST_P(AttentionKernels, DoNothingForAnEmptyStep) {
  Step step(*program, {});
  AlignedBytes expected = step.expectedPool();
  EXPECT_TRUE(step.run(*program->loaded, 2).empty());
  EXPECT_EQ(std::memcmp(step.pool.data(), expected.data(), expected.size()), 0);
}

INSTANTIATE_TEST_SUITE_P(
    , AttentionKernels,
    testing::ValuesIn(attentionParameters<Geometry>(
        {TensorFormat::F32, TensorFormat::F16, TensorFormat::BF16},
        {std::begin(kGeometries), std::end(kGeometries)})),
    [](const auto &info) { return AttentionKernels::nameOf(info.param); });

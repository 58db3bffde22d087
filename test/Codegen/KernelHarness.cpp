//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"
#include "Emulation/Emulation.h"
#include "Emulation/StepThreads.h"
#include "Emulation/TileEmulation.h"

#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Support/SmallFloat.h"
#include "llmir/Support/StoredBlock.h"
#include "llmir/Target/CPU/TargetNames.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace llmir::test {

//===----------------------------------------------------------------------===//
// Memory, random numbers
//===----------------------------------------------------------------------===//

AlignedBytes::AlignedBytes(size_t size)
    : memory(static_cast<uint8_t *>(
          std::aligned_alloc(64, roundUpTo(std::max<size_t>(size, 1), 64)))),
      length(size) {}

uint32_t Random::bits() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  uint64_t mixed = (state ^ (state >> 29)) * 0xbf58476d1ce4e5b9u;
  return static_cast<uint32_t>(mixed >> 32);
}

float Random::uniform(float low, float high) {
  float unit = static_cast<float>(bits() >> 8) * 0x1p-24f;
  return low + (high - low) * unit;
}

std::vector<float> Random::values(int64_t count, float low, float high) {
  std::vector<float> result(count);
  for (float &value : result)
    value = uniform(low, high);
  return result;
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

/// [layer] 0.
static const std::vector<int32_t> onlyGroup(64, 0);

/// The counts and, for native code, the addresses of a step.
LLMIRStepContext LoadedProgram::contextOf(const StepInputs &inputs) {
  LLMIRStepContext ctx{};
  ctx.arena = arena.data();
  ctx.weights = weights.data();
  ctx.kv_pool = inputs.pool;
  ctx.kv_layer_stride = inputs.layerStride;
  ctx.kv_groups = onlyGroup.data();
  ctx.num_tokens = inputs.numTokens;
  ctx.split_attention = inputs.splitAttention;
  ctx.num_sequences = static_cast<int64_t>(inputs.seqLens.size());
  ctx.num_logit_rows = static_cast<int64_t>(inputs.logitRows.size());
  ctx.token_ids = inputs.tokenIds.data();
  ctx.positions = inputs.positions.data();
  ctx.query_offsets = inputs.queryOffsets.data();
  ctx.seq_lens = inputs.seqLens.data();
  ctx.slot_mapping = inputs.slots.data();
  ctx.block_tables = inputs.blockTables.data();
  ctx.block_table_stride = inputs.blockTableStride;
  ctx.state_pool = inputs.states;
  ctx.state_layer_stride = inputs.stateLayerStride;
  ctx.state_slot_stride = inputs.stateSlotStride;
  ctx.state_slots = inputs.stateSlots.data();
  ctx.logit_rows = inputs.logitRows.data();
  ctx.logits = inputs.logits;
  return ctx;
}

void LoadedProgram::run(const StepInputs &inputs, int64_t workers) {
  LLMIRStepContext context = contextOf(inputs);
  if (image) {
    if (!phases.empty() && workers > 1)
      expectOwnAccesses(inputs, workers);
    runStepThreads(image->step(), context, workers);
    EXPECT_EQ(tileCounts().configured, 0)
        << "a kernel did not release its tiles";
    return;
  }
  auto list = [](StepField field, const std::vector<int32_t> &values) {
    return FieldMemory{field, const_cast<int32_t *>(values.data()),
                       values.size() * 4, false};
  };
  std::vector<FieldMemory> memory = {
      {StepField::arena, arena.data(), arena.size(), true},
      {StepField::weights, weights.data(), weights.size(), false},
      list(StepField::token_ids, inputs.tokenIds),
      list(StepField::positions, inputs.positions),
      list(StepField::query_offsets, inputs.queryOffsets),
      list(StepField::seq_lens, inputs.seqLens),
      list(StepField::kv_groups, onlyGroup),
      list(StepField::slot_mapping, inputs.slots),
      list(StepField::block_tables, inputs.blockTables),
      list(StepField::logit_rows, inputs.logitRows),
      {StepField::kv_pool, inputs.pool, inputs.poolBytes, true},
      list(StepField::state_slots, inputs.stateSlots),
      {StepField::state_pool, inputs.states, inputs.stateBytes, true},
      {StepField::logits, inputs.logits, inputs.logitsBytes, true}};
  Status status = runEmulated(*level, foreign, context, workers, memory);
  EXPECT_TRUE(status) << status.message();
}

//===----------------------------------------------------------------------===//
// The arena
//===----------------------------------------------------------------------===//

void LoadedProgram::clearArena() {
  for (size_t at = 0; at + 4 <= arena.size(); at += 4)
    std::memcpy(arena.data() + at, &kUnwritten, 4);
}

void LoadedProgram::clearBuffer(unsigned buffer) {
  const BufferPlace &place = buffers[buffer];
  for (int64_t i = 0; i < place.rows * place.stride; ++i)
    std::memcpy(arena.data() + place.offset + 4 * i, &kUnwritten, 4);
}

void LoadedProgram::setRow(unsigned buffer, int64_t row, const float *values) {
  const BufferPlace &place = buffers[buffer];
  uint8_t *start = arena.data() + place.offset + row * place.stride * 4;
  std::memset(start, 0, place.stride * 4);
  std::memcpy(start, values, place.columns * 4);
}

void LoadedProgram::setRows(unsigned buffer, const std::vector<float> &values) {
  int64_t columns = buffers[buffer].columns;
  for (int64_t row = 0; row < static_cast<int64_t>(values.size()) / columns;
       ++row)
    setRow(buffer, row, values.data() + row * columns);
}

std::vector<float> LoadedProgram::rows(unsigned buffer, int64_t rows) const {
  const BufferPlace &place = buffers[buffer];
  std::vector<float> result(rows * place.columns);
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(result.data() + row * place.columns,
                arena.data() + place.offset + row * place.stride * 4,
                place.columns * 4);
  return result;
}

void LoadedProgram::setIntegers(unsigned buffer,
                                const std::vector<int32_t> &values) {
  if (values.empty()) // An empty vector may have no address.
    return;
  std::memcpy(arena.data() + buffers[buffer].offset, values.data(),
              values.size() * 4);
}

std::vector<int32_t> LoadedProgram::integers(unsigned buffer,
                                             int64_t rows) const {
  std::vector<int32_t> result(rows * buffers[buffer].columns);
  if (result.empty())
    return result;
  std::memcpy(result.data(), arena.data() + buffers[buffer].offset,
              result.size() * 4);
  return result;
}

std::vector<float> LoadedProgram::padding(unsigned buffer, int64_t row) const {
  const BufferPlace &place = buffers[buffer];
  std::vector<float> result(place.stride - place.columns);
  if (!result.empty())
    std::memcpy(result.data(),
                arena.data() + place.offset +
                    (row * place.stride + place.columns) * 4,
                result.size() * 4);
  return result;
}

void LoadedProgram::expectOnlyWritten(const std::vector<unsigned> &written,
                                      int64_t rows) {
  std::vector<WrittenRows> all;
  for (unsigned buffer : written)
    all.push_back({buffer, rows});
  expectOnlyWritten(all);
}

void LoadedProgram::expectOnlyWritten(const std::vector<WrittenRows> &written) {
  // The snapshot is used up: copying memory of this size takes longer than most
  // kernels.
  for (auto [buffer, rows] : written) {
    const BufferPlace &place = buffers[buffer];
    std::memcpy(before.data() + place.offset, arena.data() + place.offset,
                rows * place.stride * 4);
  }
  if (std::memcmp(before.data(), arena.data(), before.size()) == 0)
    return;
  const auto [wrong, found] =
      std::mismatch(before.begin(), before.end(), arena.data());
  ADD_FAILURE() << "byte " << wrong - before.begin()
                << " of the arena was written";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

float roundTo(TensorFormat format, float value) {
  if (format == TensorFormat::F16)
    return f16ToFloat(floatToF16(value));
  if (format == TensorFormat::BF16)
    return bf16ToFloat(floatToBf16(value));
  return value;
}

std::vector<uint8_t> randomMatrix(TensorFormat format, int64_t rows,
                                  int64_t columns, Random &random) {
  const TensorFormatInfo &info = tensorFormatInfo(format);
  int64_t rowBytes = *tensorRowBytes(format, columns);
  std::vector<uint8_t> stored(rows * rowBytes);
  for (int64_t at = 0; at < rows * rowBytes; at += info.bytesPerBlock) {
    uint8_t *block = stored.data() + at;
    if (format == TensorFormat::F32) {
      float value = random.uniform();
      std::memcpy(block, &value, 4);
    } else if (!isBlockFormat(format)) {
      float value = random.uniform();
      uint16_t bits =
          format == TensorFormat::F16 ? floatToF16(value) : floatToBf16(value);
      std::memcpy(block, &bits, 2);
    } else {
      for (int64_t i = 0; i < info.bytesPerBlock; ++i)
        block[i] = static_cast<uint8_t>(random.bits());
      // The f16 values: d, followed by the minimum or dmin.
      IntegerFormat integers = *IntegerFormat::ofBlocks(format);
      float top = static_cast<float>(integers.highest()) *
                  (integers.superGroup > 0 ? 64.0f : 1.0f);
      const float d = random.uniform(-1.0f, 1.0f) / top;
      const float min =
          integers.minima ? random.uniform(-1.0f, 1.0f) / top : 0.0f;
      setBlockScales(format, block, d, min);
    }
  }
  return stored;
}

std::vector<float> decodeMatrix(TensorFormat format, int64_t rows,
                                int64_t columns,
                                const std::vector<uint8_t> &stored) {
  std::vector<float> values(rows * columns);
  int64_t rowBytes = *tensorRowBytes(format, columns);
  for (int64_t row = 0; row < rows; ++row)
    decodeTensorRow(format, stored.data() + row * rowBytes, columns,
                    values.data() + row * columns);
  return values;
}

double normalizedError(const std::vector<float> &actual,
                       const std::vector<double> &expected) {
  if (actual.size() != expected.size())
    return INFINITY;
  double error = 0, power = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    double difference = actual[i] - expected[i];
    error += difference * difference;
    power += expected[i] * expected[i];
  }
  if (error == 0)
    return 0;
  return power == 0 ? INFINITY : error / power;
}

bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * 4) == 0);
}

std::vector<const CPULevel *> allLevels() {
  std::vector<const CPULevel *> levels;
  for (const CPULevel &level : cpuLevels())
    levels.push_back(&level);
  return levels;
}

static bool runsHere(const CPULevel &level) {
  const CpuFeatures &host = CpuFeatures::host();
  return level.architecture.str() == host.architecture() &&
         (host.hasAll(cpuLevelFeatures(level.name.str())) ||
          canEmulateTiles(level.name.str()));
}

bool isEmulated(const CPULevel *level) { return !runsHere(*level); }

bool isBestHere(const CPULevel *level) {
  const Expected<const CPULevel *> best = nativeCPULevel();
  return best && *best == level;
}

bool isLongTest() { return std::getenv("LLMIR_LONG_TESTS") != nullptr; }

/// Empty if code of the level can be run, natively or emulated, else the reason
/// why not.
static std::string whyNotRunnable(const CPULevel *level) {
  if (runsHere(*level))
    return {};
  if (level->architecture.str() == CpuFeatures::host().architecture())
    return "this processor has no " + level->name.str();
  return whyNotEmulated(*level);
}

static bool isLowest(const CPULevel *level) {
  const std::vector<const CPULevel *> levels = allLevels();
  return *llvm::find_if(levels, [&](const CPULevel *other) {
    return other->architecture == level->architecture;
  }) == level;
}

static bool haveSame(Products products, const CPULevel *a, const CPULevel *b) {
  return products == Products::OfBytes ? a->byteDots == b->byteDots
                                       : a->bf16Dots == b->bf16Dots;
}

Coverage coverageOf(const CPULevel *level, Products products) {
  if (!whyNotRunnable(level).empty())
    return Coverage::None;
  auto isWhole = [](const CPULevel *level) {
    return isLongTest() || isLowest(level) || isBestHere(level);
  };
  if (isWhole(level))
    return Coverage::Whole;
  if (products == Products::None)
    return Coverage::None;
  bool isBefore = true;
  for (const CPULevel *other : allLevels()) {
    isBefore &= other != level;
    if (other != level && (isBefore || isWhole(other)) &&
        haveSame(products, level, other) && whyNotRunnable(other).empty())
      return Coverage::None;
  }
  return Coverage::Sample;
}

std::string whyNotCovered(const CPULevel *level, Products products) {
  if (coverageOf(level, products) != Coverage::None)
    return {};
  std::string reason = whyNotRunnable(level);
  return level->name.str() + ": " +
         (reason.empty() ? "covered with LLMIR_LONG_TESTS" : reason);
}

std::string levelName(const CPULevel *level) {
  std::string name = level->name.str();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

} // namespace llmir::test

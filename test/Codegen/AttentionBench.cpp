//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures attention on one thread, compared with the limits of the machine:
//
//   llmir-attention-bench FORMAT HEADS KV_HEADS HEAD_DIM [BLOCK_SIZE] [LEVEL]
//
// FORMAT is f32, f16, bf16 or q8. Decoding is 16 sequences of 4096 keys, more
// than fits into any cache, with ordered and shuffled blocks, and with block
// tables that repeat a few blocks, which do fit into a cache, to measure
// computation alone.
// Prefill is one prompt of 512 and of 2048 tokens. The limit is measured before
// each round; ratios are medians of all rounds.
//
//===----------------------------------------------------------------------===//

#include "../../tools/llmir/MachinePeak.h"
#include "../../tools/llmir/MemoryBandwidth.h"
#include "AttentionHarness.h"

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Runtime/WorkerTeam.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <sys/mman.h>

using namespace llmir;
using namespace llmir::test;

namespace {

constexpr int kRounds = 9;

/// Some tokens of some sequences.
struct Work {
  int64_t sequences, keys, tokens; ///< Tokens of each sequence.
  int64_t distinctKeys = 0; ///< Number of distinct keys; 0: all that are read.
  bool inOrder = false;     ///< Blocks in the order of a new cache.
};

/// Memory in huge pages, like the runtime's pool.
struct LargePages {
  explicit LargePages(size_t size)
      : memory(static_cast<uint8_t *>(std::aligned_alloc(
                   kPage, (size + kPage - 1) / kPage * kPage)),
               &std::free),
        length(size) {
    madvise(memory.get(), size, MADV_HUGEPAGE); // May fail: only a hint.
  }
  uint8_t *data() { return memory.get(); }
  size_t size() const { return length; }

private:
  static constexpr size_t kPage = size_t(2) << 20;
  std::unique_ptr<uint8_t, decltype(&std::free)> memory;
  size_t length;
};

/// A pool whose contents are small values in any format.
struct Pool {
  Pool(const KVBlockLayout &layout, KVFormat format, const Work &work)
      : bytes(static_cast<size_t>(distinctBlocks(layout, work) *
                                  layout.blockBytes())) {
    Random random(1);
    const bool wide = format == KVFormat::F32;
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      uint32_t word = random.bits();
      // Exponents of about -8, whatever the type.
      word = wide                      ? (word & 0x807fffff) | 0x3b000000
             : format == KVFormat::Q8  ? word
             : format == KVFormat::F16 ? (word & 0x83ff83ff) | 0x1c001c00
                                       : (word & 0x807f807f) | 0x3b003b00;
      std::memcpy(bytes.data() + i, &word, 4);
    }
    int64_t blocks = distinctBlocks(layout, work);
    int64_t entries = work.sequences * blocksOf(layout, work);
    for (int64_t i = 0; i < entries; ++i)
      inputs.blockTables.push_back(static_cast<int32_t>(i % blocks));
    for (int64_t i = work.inOrder ? 0 : blocks; i > 1; --i)
      std::swap(inputs.blockTables[i - 1],
                inputs.blockTables[random.bits() % i]);
    if (layout.hasScales())
      fillScales(layout, blocks);
    inputs.pool = bytes.data();
    inputs.blockTableStride = blocksOf(layout, work);
    inputs.queryOffsets = {0};
    for (int64_t s = 0; s < work.sequences; ++s) {
      inputs.numTokens += work.tokens;
      inputs.seqLens.push_back(static_cast<int32_t>(work.keys));
      inputs.queryOffsets.push_back(static_cast<int32_t>(inputs.numTokens));
    }
  }

  static int64_t blocksOf(const KVBlockLayout &layout, const Work &work) {
    return (work.keys + layout.blockSize - 1) / layout.blockSize;
  }

  static int64_t distinctBlocks(const KVBlockLayout &layout, const Work &work) {
    return work.distinctKeys ? work.distinctKeys / layout.blockSize
                             : work.sequences * blocksOf(layout, work);
  }

  void fillScales(const KVBlockLayout &layout, int64_t blocks) {
    const float scale = 1e-3f;
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t head = 0; head < layout.numKVHeads; ++head)
        for (int64_t token = 0; token < layout.blockSize; ++token)
          for (int64_t at : {layout.keyScaleOffset(token, head),
                             layout.valueScaleOffset(token, head)})
            std::memcpy(bytes.data() + block * layout.blockBytes() + at, &scale,
                        4);
  }

  LargePages bytes;
  StepInputs inputs;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class AttentionBench {
public:
  AttentionBench(const AttentionAttributes &attention, KVFormat format,
                 const CPULevel &level)
      : attention(attention), format(format), level(level) {}

  bool run(const Work &work, WorkerTeam &team, cli::MemoryReader &reader);

private:
  AttentionAttributes attention;
  KVFormat format;
  const CPULevel &level;
};

bool AttentionBench::run(const Work &work, WorkerTeam &team,
                         cli::MemoryReader &reader) {
  KVBlockLayout layout{attention.kvHeads, attention.headDim,
                       attention.blockSize, kvStoredBytes(format)};
  Pool pool(layout, format, work);
  int64_t rows = pool.inputs.numTokens,
          columns = attention.heads * attention.headDim;
  KernelProgram program;
  unsigned q = program.addBuffer(rows, columns);
  unsigned out = program.addBuffer(rows, columns);
  attention.call<kernel::PagedAttentionOp>(
      program, /*sinks=*/mlir::Value(), program[q], /*mask=*/mlir::Value(),
      /*partials=*/mlir::Value(), program[out]);
  program.finish();
  Expected<LoadedProgram> loaded = program.load(level);
  if (!loaded) {
    std::fprintf(stderr, "%s\n", loaded.status().message().c_str());
    return false;
  }
  loaded->setRows(q, Random(2).values(rows * columns));
  double bytes = static_cast<double>(work.sequences * work.keys *
                                     layout.blockBytes() / layout.blockSize);
  double seen = 0; // Pairs of a token and a key.
  for (int64_t i = 0; i < work.tokens; ++i)
    seen += static_cast<double>(work.sequences * (work.keys - i));
  double ops = 4 * seen * static_cast<double>(columns);
  auto unit = level.hasBf16Dots() && format == KVFormat::BF16
                  ? cli::DotUnit::BF16
                  : cli::DotUnit::F32;
  const bool decodes = work.tokens == 1;
  std::vector<double> rates, shares;
  for (int round = 0; round < kRounds; ++round) {
    double limit =
        decodes
            ? reader.measure(0.02).bytesPerSecond
            : cli::measurePeak(team, unit, level.name.str(), 0.02).opsPerSecond;
    auto start = std::chrono::steady_clock::now();
    loaded->run(pool.inputs, 1);
    std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - start;
    rates.push_back((decodes ? bytes : ops) / passed.count());
    shares.push_back(rates.back() / limit);
  }
  std::printf(
      "%lld keys, %lld tokens each, %lld sequences, %6.1f MB: %7.1f %s, "
      "%5.1f %% of the %s\n",
      static_cast<long long>(work.keys), static_cast<long long>(work.tokens),
      static_cast<long long>(work.sequences),
      static_cast<double>(pool.bytes.size()) * 1e-6, median(rates) * 1e-9,
      decodes ? "GB/s" : "Gflop/s", 100 * median(shares),
      decodes                      ? "read bandwidth"
      : unit == cli::DotUnit::BF16 ? "bf16 peak"
                                   : "f32 peak");
  return true;
}

int fail(const std::string &message) {
  std::fprintf(stderr, "llmir-attention-bench: %s\n", message.c_str());
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 5)
    return fail("expected FORMAT HEADS KV_HEADS HEAD_DIM; see the top of "
                "AttentionBench.cpp");
  auto format = kvFormatFromName(argv[1]);
  const CPULevel *level =
      findCPULevel(argc > 6 ? argv[6] : CpuFeatures::host().level());
  if (!format || !level)
    return fail("unknown format or level");
  AttentionAttributes attention;
  attention.kvFormat = argv[1];
  attention.heads = std::stoll(argv[2]);
  attention.kvHeads = std::stoll(argv[3]);
  attention.headDim = attention.valueDim = std::stoll(argv[4]);
  attention.blockSize = argc > 5 ? std::stoll(argv[5]) : 64;
  attention.scale = 1 / std::sqrt(static_cast<double>(attention.headDim));
  auto team = WorkerTeam::create(1);
  if (!team)
    return fail(team.takeStatus().message());
  auto reader = cli::MemoryReader::create(**team, int64_t(128) << 20);
  if (!reader)
    return fail(reader.takeStatus().message());
  AttentionBench bench(attention, *format, *level);
  for (const Work &work :
       {Work{16, 4096, 1, 0, true}, Work{16, 4096, 1}, Work{16, 4096, 1, 256},
        Work{1, 512, 512}, Work{1, 2048, 2048}})
    if (!bench.run(work, **team, **reader))
      return 1;
  return 0;
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachinePeak.h"
#include "Console.h"

#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Runtime/WorkerTeam.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace llmir;
using namespace llmir::cli;

const char *cli::dotUnitName(DotUnit unit) {
  static constexpr const char *names[numDotUnits] = {"int8", "bf16", "f32"};
  return names[static_cast<int>(unit)];
}

namespace {
/// Executes its instructions `rounds` times.
using PeakLoop = void (*)(int64_t rounds);

struct PeakRow {
  DotUnit unit;
  const char *feature; ///< Required of the level, "" for none.
  const char *instruction;
  double opsPerRound;
  PeakLoop loop;
};
} // namespace

// The tool itself is built for any processor, so the instructions are written
// in assembly. Twelve independent accumulators keep every unit busy.
#define LLMIR_TWELVE(STEP)                                                     \
  STEP(0)                                                                      \
  STEP(1)                                                                      \
  STEP(2)                                                                      \
  STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)

#if defined(__x86_64__)

#define LLMIR_CLOBBERS                                                         \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",      \
      "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#define LLMIR_ZERO(n) "vpxor %%xmm" #n ", %%xmm" #n ", %%xmm" #n "\n\t"

/// A loop of STEP(0) … STEP(11) with accumulators in registers 0 to 11 and
/// zeros as operands in 12 and 13. The speed of these instructions does not
/// depend on the values.
#define LLMIR_PEAK_LOOP(name, STEP)                                            \
  static void name(int64_t rounds) {                                           \
    __asm__ volatile(                                                          \
        LLMIR_TWELVE(LLMIR_ZERO) LLMIR_ZERO(12)                                \
            LLMIR_ZERO(13) "1:\n\t" LLMIR_TWELVE(STEP) "dec %0\n\tjnz 1b\n\t"  \
                                                       "vzeroupper"            \
        : "+r"(rounds)                                                         \
        :                                                                      \
        : LLMIR_CLOBBERS, "cc");                                               \
  }

#define LLMIR_STEP(n) "vpdpbusd %%zmm13, %%zmm12, %%zmm" #n "\n\t"
LLMIR_PEAK_LOOP(loopVNNI512, LLMIR_STEP)
#undef LLMIR_STEP
#define LLMIR_STEP(n) "%{vex%} vpdpbusd %%ymm13, %%ymm12, %%ymm" #n "\n\t"
LLMIR_PEAK_LOOP(loopVNNI256, LLMIR_STEP)
#undef LLMIR_STEP
#define LLMIR_STEP(n) "vdpbf16ps %%zmm13, %%zmm12, %%zmm" #n "\n\t"
LLMIR_PEAK_LOOP(loopBF16, LLMIR_STEP)
#undef LLMIR_STEP
#define LLMIR_STEP(n) "vfmadd231ps %%zmm13, %%zmm12, %%zmm" #n "\n\t"
LLMIR_PEAK_LOOP(loopFMA512, LLMIR_STEP)
#undef LLMIR_STEP
#define LLMIR_STEP(n) "vfmadd231ps %%ymm13, %%ymm12, %%ymm" #n "\n\t"
LLMIR_PEAK_LOOP(loopFMA256, LLMIR_STEP)
#undef LLMIR_STEP
#define LLMIR_STEP(n) "mulps %%xmm13, %%xmm12\n\taddps %%xmm12, %%xmm" #n "\n\t"
static void loopSSE(int64_t rounds) {
  __asm__ volatile("1:\n\t" LLMIR_TWELVE(LLMIR_STEP) "dec %0\n\tjnz 1b"
                   : "+r"(rounds)
                   :
                   : LLMIR_CLOBBERS, "cc");
}
#undef LLMIR_STEP

// Without byte dot products: products of bytes are added in pairs to 16 bits,
// these in pairs to 32 bits, and then accumulated. Each product uses a register
// of its own.
#define LLMIR_STEP512(n)                                                       \
  "vpmaddubsw %%zmm13, %%zmm12, %%zmm14\n\t"                                   \
  "vpmaddwd %%zmm13, %%zmm14, %%zmm15\n\t"                                     \
  "vpaddd %%zmm15, %%zmm" #n ", %%zmm" #n "\n\t"
LLMIR_PEAK_LOOP(loopPairs512, LLMIR_STEP512)
#undef LLMIR_STEP512
#define LLMIR_STEP256(n)                                                       \
  "vpmaddubsw %%ymm13, %%ymm12, %%ymm14\n\t"                                   \
  "vpmaddwd %%ymm13, %%ymm14, %%ymm15\n\t"                                     \
  "vpaddd %%ymm15, %%ymm" #n ", %%ymm" #n "\n\t"
LLMIR_PEAK_LOOP(loopPairs256, LLMIR_STEP256)
#undef LLMIR_STEP256

// AMX: 4 accumulators of 16 x 16, products of 16 x 64 bytes. The tiles are
// configured and released here; the process has requested them
// (enableCpuState).
static const struct alignas(64) {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16};
} tileShapes;

#define LLMIR_TILE_LOOP(name, product)                                         \
  static void name(int64_t rounds) {                                           \
    __asm__ volatile("ldtilecfg %1\n\t"                                        \
                     "tilezero %%tmm0\n\ttilezero %%tmm1\n\t"                  \
                     "tilezero %%tmm2\n\ttilezero %%tmm3\n\t"                  \
                     "tilezero %%tmm4\n\ttilezero %%tmm5\n"                    \
                     "1:\n\t" product " %%tmm5, %%tmm4, %%tmm0\n\t" product    \
                     " %%tmm5, %%tmm4, %%tmm1\n\t" product                     \
                     " %%tmm5, %%tmm4, %%tmm2\n\t" product                     \
                     " %%tmm5, %%tmm4, %%tmm3\n\tdec %0\n\tjnz 1b\n\t"         \
                     "tilerelease"                                             \
                     : "+r"(rounds)                                            \
                     : "m"(tileShapes)                                         \
                     : "cc");                                                  \
  }
LLMIR_TILE_LOOP(loopTilesInt8, "tdpbusd")
LLMIR_TILE_LOOP(loopTilesBF16, "tdpbf16ps")

/// The best row of a unit first.
static const PeakRow rows[] = {
    {DotUnit::Int8, "amx-int8", "tdpbusd", 4 * 32768, loopTilesInt8},
    {DotUnit::Int8, "avx512vnni", "vpdpbusd zmm", 12 * 128, loopVNNI512},
    {DotUnit::Int8, "avx512bw", "vpmaddubsw zmm", 12 * 128, loopPairs512},
    {DotUnit::Int8, "avxvnni", "vpdpbusd ymm", 12 * 64, loopVNNI256},
    {DotUnit::Int8, "avx2", "vpmaddubsw ymm", 12 * 64, loopPairs256},
    {DotUnit::BF16, "amx-bf16", "tdpbf16ps", 4 * 16384, loopTilesBF16},
    {DotUnit::BF16, "avx512bf16", "vdpbf16ps zmm", 12 * 64, loopBF16},
    {DotUnit::F32, "avx512f", "vfmadd231ps zmm", 12 * 32, loopFMA512},
    {DotUnit::F32, "fma", "vfmadd231ps ymm", 12 * 16, loopFMA256},
    {DotUnit::F32, "", "mulps, addps", 12 * 8, loopSSE},
};

#elif defined(__aarch64__)

#define LLMIR_CLOBBERS                                                         \
  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19",  \
      "v20", "v21"

/// A loop of STEP(0) … with accumulators in v0 to v7 and v16 to v19.
#define LLMIR_PEAK_LOOP(name, extension, STEP)                                 \
  static void name(int64_t rounds) {                                           \
    __asm__ volatile(extension                                                 \
                     "movi v20.16b, #0\n\tmovi v21.16b, #0\n"                  \
                     "1:\n\t" STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5)  \
                         STEP(6) STEP(7) STEP(16) STEP(17) STEP(18)            \
                             STEP(19) "subs %0, %0, #1\n\tb.ne 1b"             \
                     : "+r"(rounds)                                            \
                     :                                                         \
                     : LLMIR_CLOBBERS, "cc");                                  \
  }
#define LLMIR_STEP(n) "smmla v" #n ".4s, v20.16b, v21.16b\n\t"
LLMIR_PEAK_LOOP(loopSMMLA, ".arch armv8.6-a+i8mm\n\t", LLMIR_STEP)
#undef LLMIR_STEP
#define LLMIR_STEP(n) "sdot v" #n ".4s, v20.16b, v21.16b\n\t"
LLMIR_PEAK_LOOP(loopSDOT, ".arch armv8.2-a+dotprod\n\t", LLMIR_STEP)
#undef LLMIR_STEP
#define LLMIR_STEP(n) "fmla v" #n ".4s, v20.4s, v21.4s\n\t"
LLMIR_PEAK_LOOP(loopFMLA, "", LLMIR_STEP)
#undef LLMIR_STEP

static const PeakRow rows[] = {
    {DotUnit::Int8, "i8mm", "smmla", 12 * 64, loopSMMLA},
    {DotUnit::Int8, "dotprod", "sdot", 12 * 32, loopSDOT},
    {DotUnit::F32, "", "fmla", 12 * 8, loopFMLA},
};

#else

static void loopPlain(int64_t rounds) {
  typedef float Vector __attribute__((vector_size(16)));
  volatile float zero = 0;
  Vector sums[12] = {}, x = Vector{} + zero, y = Vector{} + zero;
  for (int64_t i = 0; i < rounds; ++i)
    for (Vector &sum : sums)
      sum += x * y;
  for (const Vector &sum : sums)
    zero = sum[0];
}

static const PeakRow rows[] = {
    {DotUnit::F32, "", "multiply, add", 12 * 8, loopPlain},
};

#endif

static const PeakRow &bestRow(DotUnit unit, std::string_view level) {
  const std::vector<std::string> features = cpuLevelFeatures(level);
  for (const PeakRow &row : rows)
    if (row.unit == unit &&
        (!*row.feature || std::find(features.begin(), features.end(),
                                    row.feature) != features.end()))
      return row;
  return bestRow(DotUnit::F32, level); // Every level has a row for it.
}

UnitPeak cli::measurePeak(WorkerTeam &team, DotUnit unit,
                          std::string_view level, double seconds) {
  const PeakRow &row = bestRow(unit, level);
  constexpr int64_t rounds = 100000; // Some tenths of a millisecond.
  int64_t runs = 0;
  Stopwatch watch;
  do {
    team.run([&](int64_t) { row.loop(rounds); });
    ++runs;
  } while (watch.milliseconds() < seconds * 1000);
  double total =
      static_cast<double>(runs * rounds * team.size()) * row.opsPerRound;
  return {total / (watch.milliseconds() / 1000), row.instruction};
}

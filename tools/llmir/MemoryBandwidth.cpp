//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryBandwidth.h"
#include "Console.h"

#include "llmir/Runtime/WorkerTeam.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unistd.h>
#include <vector>

using namespace llmir;
using namespace llmir::cli;

namespace {

/// Sums `count` 64-bit words; the sum keeps the compiler from dropping loads.
using Reader = uint64_t (*)(const uint64_t *words, size_t count);

struct NamedReader {
  const char *name;
  Reader read;
};

} // namespace

// The widest loads that the processor has, chosen when the program starts.
#if defined(__x86_64__) && defined(__linux__)
#define LLMIR_WIDEST                                                           \
  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define LLMIR_WIDEST
#endif

/// One stream from front to back, a cache line at a time.
LLMIR_WIDEST static uint64_t readForward(const uint64_t *words, size_t count) {
  uint64_t sum[8] = {};
  for (size_t i = 0; i + 8 <= count; i += 8)
    for (size_t lane = 0; lane < 8; ++lane)
      sum[lane] += words[i + lane];
  return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

/// `Streams` streams side by side: more misses under way at once.
template <size_t Streams>
static inline __attribute__((always_inline)) uint64_t
readStreams(const uint64_t *words, size_t count) {
  size_t part = count / Streams / 8 * 8;
  uint64_t sum[Streams][8] = {};
  for (size_t i = 0; i + 8 <= part; i += 8)
    for (size_t stream = 0; stream < Streams; ++stream)
      for (size_t lane = 0; lane < 8; ++lane)
        sum[stream][lane] += words[stream * part + i + lane];
  uint64_t total = 0;
  for (const auto &stream : sum)
    for (uint64_t lane : stream)
      total += lane;
  return total;
}

LLMIR_WIDEST static uint64_t readTwo(const uint64_t *words, size_t count) {
  return readStreams<2>(words, count);
}
LLMIR_WIDEST static uint64_t readFour(const uint64_t *words, size_t count) {
  return readStreams<4>(words, count);
}
LLMIR_WIDEST static uint64_t readEight(const uint64_t *words, size_t count) {
  return readStreams<8>(words, count);
}

/// One stream whose lines are asked for 4 KiB ahead.
LLMIR_WIDEST static uint64_t readAhead(const uint64_t *words, size_t count) {
  uint64_t sum[8] = {};
  for (size_t i = 0; i + 8 <= count; i += 8) {
    __builtin_prefetch(words + std::min(i + 512, count - 1));
    for (size_t lane = 0; lane < 8; ++lane)
      sum[lane] += words[i + lane];
  }
  return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

static const NamedReader readers[] = {
    {"one stream", readForward},      {"two streams", readTwo},
    {"four streams", readFour},       {"eight streams", readEight},
    {"prefetched stream", readAhead},
};

static int64_t freeMemory() {
  long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? int64_t(pages) * size : int64_t(1) << 30;
}

Expected<ReadBandwidth> cli::measureReadBandwidth(int64_t bytes,
                                                  int64_t threads,
                                                  double seconds, bool pin) {
  auto team = WorkerTeam::create(threads, pin);
  if (!team)
    return team.takeStatus();
  bytes = std::clamp<int64_t>(bytes, 1 << 20,
                              std::max<int64_t>(1 << 20, freeMemory() / 4));
  auto count = static_cast<size_t>(bytes / 8);
  std::unique_ptr<uint64_t, decltype(&std::free)> buffer(
      static_cast<uint64_t *>(
          std::aligned_alloc(4096, (count * 8 + 4095) / 4096 * 4096)),
      &std::free);
  if (!buffer)
    return Status(StatusCode::ResourceExhausted,
                  formatBytes(static_cast<double>(bytes)) +
                      " of memory for measuring cannot be had",
                  "close other programs");

  size_t workers = static_cast<size_t>((*team)->size());
  size_t part = count / workers / 8 * 8;
  // Each worker touches its part first, so that its pages are near it.
  (*team)->run([&](int64_t worker) {
    std::memset(buffer.get() + static_cast<size_t>(worker) * part, 1, part * 8);
  });

  ReadBandwidth best;
  best.bytes = static_cast<int64_t>(part * workers * 8);
  std::atomic<uint64_t> sink{0};
  for (const NamedReader &reader : readers) {
    // The mean over all passes, as tokens per second are a mean: what else runs
    // on the machine slows both.
    Stopwatch watch;
    double passes = 0;
    do {
      (*team)->run([&](int64_t worker) {
        sink += reader.read(buffer.get() + static_cast<size_t>(worker) * part,
                            part);
      });
      ++passes;
    } while (watch.milliseconds() < seconds * 1000);
    double rate = passes * static_cast<double>(best.bytes) /
                  (watch.milliseconds() / 1000);
    if (rate > best.bytesPerSecond) {
      best.bytesPerSecond = rate;
      best.reader = reader.name;
    }
  }
  return best;
}

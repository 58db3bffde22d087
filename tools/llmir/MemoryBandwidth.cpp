//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryBandwidth.h"
#include "Console.h"

#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Runtime/WorkerTeam.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace llmir;
using namespace llmir::cli;

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

// Nothing but loads, as wide as the processor has them: the tool itself is
// built for any processor, so the instructions are written in assembly. The
// loaded data is not used.

namespace {
enum class Width { Baseline, AVX, AVX512 };

/// Reads `bytes`, a multiple of 4096, in 64-byte lines.
using Reader = void (*)(const char *from, size_t bytes);

struct NamedReader {
  const char *name;
  Reader widths[3]; ///< Indexed by Width.
};
} // namespace

template <Width W>
static inline __attribute__((always_inline)) void loadLine(const char *line) {
#if defined(__x86_64__)
  if constexpr (W == Width::AVX512)
    __asm__ volatile("vmovdqa64 (%0), %%zmm0" ::"r"(line) : "xmm0", "memory");
  else if constexpr (W == Width::AVX)
    __asm__ volatile(
        "vmovdqa (%0), %%ymm0\n\tvmovdqa 32(%0), %%ymm1" ::"r"(line)
        : "xmm0", "xmm1", "memory");
  else
    __asm__ volatile(
        "movdqa (%0), %%xmm0\n\tmovdqa 16(%0), %%xmm1\n\t"
        "movdqa 32(%0), %%xmm2\n\tmovdqa 48(%0), %%xmm3" ::"r"(line)
        : "xmm0", "xmm1", "xmm2", "xmm3", "memory");
#elif defined(__aarch64__)
  __asm__ volatile("ldp q0, q1, [%0]\n\tldp q2, q3, [%0, #32]"
                   :
                   : "r"(line)
                   : "v0", "v1", "v2", "v3", "memory");
#else
  for (size_t i = 0; i < 64; i += 8)
    (void)*reinterpret_cast<const volatile uint64_t *>(line + i);
#endif
}

/// Reads `Streams` interleaved streams, for more outstanding misses. With
/// `Ahead`, prefetches the line that is this many bytes ahead in each.
template <Width W, size_t Streams, size_t Ahead>
static void readStreams(const char *from, size_t bytes) {
  const size_t part = bytes / Streams;
  for (size_t i = 0; i < part; i += 128)
    for (size_t stream = 0; stream < Streams; ++stream) {
      const char *line = from + stream * part + i;
      if constexpr (Ahead != 0) {
        __builtin_prefetch(line + Ahead);
        __builtin_prefetch(line + Ahead + 64);
      }
      loadLine<W>(line);
      loadLine<W>(line + 64);
    }
#if defined(__x86_64__)
  if constexpr (W != Width::Baseline)
    __asm__ volatile("vzeroupper" ::: "memory");
#endif
}

/// Reads the same line of several pages, then the next line: strides of 4 KiB,
/// which hardware prefetchers do not follow, with software prefetch of the next
/// pages.
template <Width W> static void readPages(const char *from, size_t bytes) {
  constexpr size_t page = 4096, pages = 8;
  for (size_t first = 0; first < bytes; first += pages * page) {
    const size_t count = std::min(pages, (bytes - first) / page);
    for (size_t line = 0; line < page; line += 64)
      for (size_t p = 0; p < count; ++p) {
        const char *at = from + first + p * page + line;
        __builtin_prefetch(at + pages * page);
        loadLine<W>(at);
      }
  }
#if defined(__x86_64__)
  if constexpr (W != Width::Baseline)
    __asm__ volatile("vzeroupper" ::: "memory");
#endif
}

#define LLMIR_STREAMS(streams, ahead)                                          \
  {readStreams<Width::Baseline, streams, ahead>,                               \
   readStreams<Width::AVX, streams, ahead>,                                    \
   readStreams<Width::AVX512, streams, ahead>}

static const NamedReader readers[] = {
    {"one stream", LLMIR_STREAMS(1, 0)},
    {"two streams", LLMIR_STREAMS(2, 0)},
    {"four streams", LLMIR_STREAMS(4, 0)},
    {"sixteen streams", LLMIR_STREAMS(16, 0)},
    {"one stream, 4 KiB ahead", LLMIR_STREAMS(1, 4096)},
    {"one stream, 16 KiB ahead", LLMIR_STREAMS(1, 16384)},
    {"four streams, 1 KiB ahead", LLMIR_STREAMS(4, 1024)},
    {"eight pages side by side",
     {readPages<Width::Baseline>, readPages<Width::AVX>,
      readPages<Width::AVX512>}},
};
#undef LLMIR_STREAMS

static Width widest() {
  const CpuFeatures &cpu = CpuFeatures::host();
  if (cpu.has("avx512f"))
    return Width::AVX512;
  return cpu.has("avx") ? Width::AVX : Width::Baseline;
}

int MemoryReader::numReaders() {
  return static_cast<int>(sizeof readers / sizeof *readers);
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// Parts and passes are multiples of this size: 16 streams of whole pages.
static constexpr int64_t grain = 16 * 4096;
/// Maximum size of a pass: short enough that a measurement of a few
/// milliseconds has many passes.
static constexpr int64_t mostBytesOfPass = int64_t(32) << 20;
/// Minimum size of a pass, repeating the data if necessary, so that the time
/// for waking the workers is negligible.
static constexpr int64_t leastBytesOfPass = int64_t(8) << 20;

/// The number in a file of one; nullopt if there is none ("max").
static std::optional<int64_t> numberIn(const std::string &path) {
  std::ifstream file(path);
  int64_t number = 0;
  if (file >> number)
    return number;
  return std::nullopt;
}

/// What the control group of this process, or of a container, leaves; nullopt
/// without a limit.
static std::optional<int64_t> memoryLeftInGroup() {
  const std::string root = "/sys/fs/cgroup";
  std::string own;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.rfind("0::", 0) == 0)
      own = line.substr(3);
  std::optional<int64_t> least;
  // The limits of all enclosing groups apply.
  for (std::string group = own;; group.erase(group.rfind('/'))) {
    std::optional<int64_t> limit = numberIn(root + group + "/memory.max");
    std::optional<int64_t> used = numberIn(root + group + "/memory.current");
    if (limit && used)
      least = std::min(least.value_or(INT64_MAX),
                       std::max<int64_t>(*limit - *used, 0));
    if (group.find('/') == std::string::npos)
      return least;
  }
}

/// Of the whole machine; 0 if unknown.
static int64_t availableInMachine() {
  std::ifstream facts("/proc/meminfo");
  for (std::string line; std::getline(facts, line);)
    if (line.rfind("MemAvailable:", 0) == 0)
      return int64_t(std::strtod(line.c_str() + 13, nullptr)) * 1024;
  // Other systems report unused memory only.
  long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? int64_t(pages) * size : 0;
}

int64_t llmir::cli::availableMemory() {
  const int64_t available = availableInMachine();
  std::optional<int64_t> left = memoryLeftInGroup();
  return left ? std::min(available, *left) : available;
}

MemoryReader::MemoryReader(WorkerTeam &team, int64_t bytes)
    : team(team), workers(team.size()) {
  // All passes have the same length.
  int64_t share = std::max(bytes / workers, grain);
  int64_t passes = (share - 1) / mostBytesOfPass + 1;
  chunk = share / passes / grain * grain;
  part = chunk * passes;
}

Expected<std::unique_ptr<MemoryReader>> MemoryReader::create(WorkerTeam &team,
                                                             int64_t bytes) {
  constexpr int64_t least = grain, enough = int64_t(512) << 20;
  const int64_t wanted = std::clamp(bytes, least, enough);
  bytes = wanted;
  if (int64_t available = availableMemory()) // 0 if unknown.
    bytes = std::max(least, std::min(wanted, available / 4));
  std::unique_ptr<MemoryReader> reader;
  for (;; bytes /= 2) {
    reader.reset(new MemoryReader(team, bytes));
    auto size = static_cast<size_t>(reader->bytes());
    constexpr size_t hugePage = size_t(2) << 20;
    reader->buffer.reset(static_cast<char *>(std::aligned_alloc(
        hugePage, (size + hugePage - 1) / hugePage * hugePage)));
    if (reader->buffer) {
      madvise(reader->buffer.get(), size, MADV_HUGEPAGE); // As for weights.
      break;
    }
    if (bytes <= least)
      return Status(StatusCode::ResourceExhausted,
                    formatBytes(static_cast<double>(size)) +
                        " of memory for the measurement cannot be allocated",
                    "close other programs");
  }
  if (reader->bytes() < wanted / 2)
    note("memory bandwidth is measured over " +
         formatBytes(static_cast<double>(reader->bytes())) + ", not " +
         formatBytes(static_cast<double>(wanted)) +
         ": no more memory is available; part of it may be cached");
  // Each worker touches its part first, so that it is placed on its node.
  char *bytesOfAll = reader->buffer.get();
  int64_t part = reader->part;
  team.run([&](int64_t worker) {
    std::memset(bytesOfAll + worker * part, 1, static_cast<size_t>(part));
  });
  return reader;
}

double MemoryReader::measureReader(int reader, double seconds) {
  static const auto width = static_cast<size_t>(widest());
  Reader read = readers[reader].widths[width];
  const int64_t repeats = std::max<int64_t>(1, leastBytesOfPass / chunk);
  double total = 0;
  Stopwatch watch;
  // The mean of all passes, because tokens per second are a mean: other load on
  // the machine affects both.
  do {
    team.run([&](int64_t worker) {
      for (int64_t i = 0; i < repeats; ++i)
        read(buffer.get() + worker * part + next, static_cast<size_t>(chunk));
    });
    next = (next + chunk) % part;
    total += static_cast<double>(chunk * workers * repeats);
  } while (watch.milliseconds() < seconds * 1000);
  return total / (watch.milliseconds() / 1000);
}

ReadBandwidth MemoryReader::measure(double seconds) {
  ReadBandwidth best;
  for (int reader = 0; reader < numReaders(); ++reader) {
    double rate = measureReader(reader, seconds);
    if (rate > best.bytesPerSecond)
      best = {rate, readers[reader].name};
  }
  return best;
}

/// Bytes of the first processor's cache of that level; 0 if the system does not
/// report it.
static int64_t cacheBytes(int level) {
  for (int index = 0; index < 8; ++index) {
    std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    int found = 0;
    int64_t kilobytes = 0;
    std::ifstream(folder + "/level") >> found;
    if (found == level && std::ifstream(folder + "/size") >> kilobytes)
      return kilobytes << 10;
  }
  return 0;
}

const char *MemoryReader::sizeClass() const {
  if (part <= cacheBytes(2) / 4 * 3)
    return "L2";
  return bytes() <= cacheBytes(3) / 4 * 3 ? "L3" : "memory";
}

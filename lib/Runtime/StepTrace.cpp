//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Runtime/StepTrace.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <string>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace llmir {

/// Number of steps whose sizes are kept.
static constexpr size_t stepsKept = size_t(1) << 16;

/// A constant-rate counter shared by all processors that can be read in a few
/// nanoseconds.
static uint64_t readTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return static_cast<uint64_t>(
      std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

static int64_t readClock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The ring of one worker, on cache lines of its own.
struct alignas(64) StepTrace::Ring {
  std::unique_ptr<TraceEvent[]> events;
  uint64_t mask = 0;
  uint64_t count = 0; ///< Events recorded so far.
};

Expected<std::unique_ptr<StepTrace>>
StepTrace::create(int64_t workers, int64_t eventsPerWorker) {
  constexpr int64_t most = int64_t(1) << 26;
  if (workers < 1 || workers > 65536 || eventsPerWorker < 1 ||
      eventsPerWorker > most)
    return Status(StatusCode::InvalidArgument,
                  "a trace of " + std::to_string(eventsPerWorker) +
                      " events of each of " + std::to_string(workers) +
                      " workers",
                  "keep 1 to " + std::to_string(most) + " events");
  uint64_t size = 1;
  while (size < static_cast<uint64_t>(eventsPerWorker))
    size *= 2;
  std::unique_ptr<StepTrace> trace(new StepTrace);
  try {
    trace->rings = std::make_unique<Ring[]>(static_cast<size_t>(workers));
    trace->numRings = workers;
    for (int64_t w = 0; w < workers; ++w) {
      // Not cleared, so that unused entries take no memory.
      trace->rings[static_cast<size_t>(w)].events.reset(new TraceEvent[size]);
      trace->rings[static_cast<size_t>(w)].mask = size - 1;
    }
    trace->steps.resize(stepsKept);
  } catch (const std::bad_alloc &) {
    return Status(StatusCode::ResourceExhausted,
                  "cannot allocate memory for a trace of " +
                      std::to_string(size) + " events of each of " +
                      std::to_string(workers) + " workers",
                  "keep fewer events");
  }
  trace->firstNanoseconds = readClock();
  trace->firstTicks = readTicks();
  return trace;
}

StepTrace::~StepTrace() = default;

void StepTrace::beginStep(const TracedStep &step) {
  steps[static_cast<size_t>(numSteps++) % stepsKept] = step;
}

void StepTrace::record(int64_t worker, int32_t site, int32_t layer) {
  Ring &ring = rings[static_cast<size_t>(worker)];
  ring.events[ring.count++ & ring.mask] = {readTicks(), site, layer};
}

int64_t StepTrace::workers() const { return numRings; }

std::vector<TraceEvent> StepTrace::events(int64_t worker) const {
  const Ring &ring = rings[static_cast<size_t>(worker)];
  uint64_t first = ring.count > ring.mask ? ring.count - ring.mask - 1 : 0;
  while (first < ring.count &&
         ring.events[first & ring.mask].site != TraceEvent::stepBegins)
    ++first;
  std::vector<TraceEvent> list;
  list.reserve(static_cast<size_t>(ring.count - first));
  for (uint64_t i = first; i < ring.count; ++i)
    list.push_back(ring.events[i & ring.mask]);
  return list;
}

int64_t StepTrace::numLost() const {
  int64_t lost = 0;
  for (int64_t w = 0; w < numRings; ++w) {
    const Ring &ring = rings[static_cast<size_t>(w)];
    if (ring.count > ring.mask + 1)
      lost += static_cast<int64_t>(ring.count - ring.mask - 1);
  }
  return lost;
}

const TracedStep *StepTrace::findStep(int32_t number) const {
  if (number < 0 || number >= numSteps ||
      numSteps - number > static_cast<int64_t>(stepsKept))
    return nullptr;
  return &steps[static_cast<size_t>(number) % stepsKept];
}

double StepTrace::nanosecondsPerTick() const {
  auto elapsed = static_cast<double>(readClock() - firstNanoseconds);
  auto counted = static_cast<double>(readTicks() - firstTicks);
  return counted > 0 && elapsed > 0 ? elapsed / counted : 1;
}

} // namespace llmir

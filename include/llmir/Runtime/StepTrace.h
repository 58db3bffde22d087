//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the workers of a step did when, kept in memory.
//
//   LLMIR_RETURN_IF_ERROR(executor->startTrace());
//   … executor->step(…) …
//   for (const TraceEvent &event : executor->trace()->events(worker))
//     …
//
// Each worker writes into a ring of its own, taken by create(): recording
// allocates nothing, waits for nobody, and overwrites the oldest events when
// the ring is full. Not to be read during a step.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_RUNTIME_STEPTRACE_H
#define LLMIR_RUNTIME_STEPTRACE_H

#include "llmir/Support/Status.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace llmir {

/// The end of what stands at place `site` of the code; it began with the end of
/// the worker's event before.
struct TraceEvent {
  uint64_t ticks; ///< Of the processor's counter; see nanosecondsPerTick.
  int32_t site;   ///< As ArtifactInfo::sites counts them, or one of the two.
  int32_t layer;  ///< Of a step's begin and end: the step's number.

  static constexpr int32_t stepBegins = -1;
  static constexpr int32_t stepEnds = -2;
};

/// How large a traced step was.
struct TracedStep {
  int64_t tokens = 0, sequences = 0, logitRows = 0;
  int64_t keys = 0; ///< Tokens in the cache of the sequences, the new included.
};

class StepTrace {
public:
  /// Takes rings of `eventsPerWorker` (at most 2^26, rounded up to a power of
  /// two). Fails with InvalidArgument or ResourceExhausted.
  static Expected<std::unique_ptr<StepTrace>> create(int64_t workers,
                                                     int64_t eventsPerWorker);
  ~StepTrace();
  StepTrace(const StepTrace &) = delete;
  StepTrace &operator=(const StepTrace &) = delete;

  //===--------------------------------------------------------------------===//
  // For the runtime
  //===--------------------------------------------------------------------===//

  /// Before the workers begin.
  void beginStep(const TracedStep &step);
  /// By each worker: `site` may be one of TraceEvent's two.
  void record(int64_t worker, int32_t site, int32_t layer);
  /// The number of the step under way.
  int32_t step() const { return static_cast<int32_t>(numSteps - 1); }

  //===--------------------------------------------------------------------===//
  // For who reads
  //===--------------------------------------------------------------------===//

  int64_t workers() const;
  /// What is left of the worker's events, the oldest first, beginning with a
  /// step's begin. Empty before the first step.
  std::vector<TraceEvent> events(int64_t worker) const;
  /// Events of all workers that were overwritten.
  int64_t numLost() const;
  /// The step of that number; null where it was overwritten.
  const TracedStep *findStep(int32_t number) const;
  /// The counter and std::chrono::steady_clock when the trace was created, and
  /// the counter's rate, measured since then.
  uint64_t startTicks() const { return firstTicks; }
  int64_t startNanoseconds() const { return firstNanoseconds; }
  double nanosecondsPerTick() const;

private:
  struct Ring;
  StepTrace() = default;

  std::unique_ptr<Ring[]> rings;
  int64_t numRings = 0;
  std::vector<TracedStep> steps; ///< A ring as well.
  int64_t numSteps = 0;
  uint64_t firstTicks = 0;
  int64_t firstNanoseconds = 0;
};

} // namespace llmir

#endif // LLMIR_RUNTIME_STEPTRACE_H

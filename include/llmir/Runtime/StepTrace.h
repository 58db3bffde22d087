//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In-memory traces of what the workers did during steps, and when.
//
//   LLMIR_RETURN_IF_ERROR(executor->startTrace());
//   … executor->step(…) …
//   for (const TraceEvent &event : executor->trace()->events(worker))
//     …
//
// Each worker writes to a ring of its own, allocated by create(): recording
// does not allocate or block, and overwrites the oldest events when the ring is
// full. Must not be read during a step.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_RUNTIME_STEPTRACE_H
#define LLMIR_RUNTIME_STEPTRACE_H

#include "llmir/Support/Status.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace llmir {

/// The completion of site `site` of the code, which started when the worker's
/// previous event occurred.
struct TraceEvent {
  uint64_t ticks; ///< Of the processor's counter; see nanosecondsPerTick().
  int32_t site;   ///< An index of ArtifactInfo::sites, or a constant below.
  int32_t layer;  ///< For the begin and end of a step: the step's number.

  static constexpr int32_t stepBegins = -1;
  static constexpr int32_t stepEnds = -2;
};

/// The size of a traced step.
struct TracedStep {
  int64_t tokens = 0, sequences = 0, logitRows = 0;
  int64_t keys = 0; ///< Cached tokens of the sequences, including new ones.
};

class StepTrace {
public:
  /// Allocates rings of `eventsPerWorker` events (at most 2^26, rounded up to a
  /// power of two). Fails with InvalidArgument or ResourceExhausted.
  static Expected<std::unique_ptr<StepTrace>> create(int64_t workers,
                                                     int64_t eventsPerWorker);
  ~StepTrace();
  StepTrace(const StepTrace &) = delete;
  StepTrace &operator=(const StepTrace &) = delete;

  //===--------------------------------------------------------------------===//
  // For the runtime
  //===--------------------------------------------------------------------===//

  /// Called before the workers start.
  void beginStep(const TracedStep &step);
  /// Called by each worker; `site` may also be one of TraceEvent's constants.
  void record(int64_t worker, int32_t site, int32_t layer);
  /// The number of the current step.
  int32_t step() const { return static_cast<int32_t>(numSteps - 1); }

  //===--------------------------------------------------------------------===//
  // For readers
  //===--------------------------------------------------------------------===//

  int64_t workers() const;
  /// The worker's events that were not overwritten, oldest first, starting at
  /// the begin of a step. Empty before the first step.
  std::vector<TraceEvent> events(int64_t worker) const;
  /// Number of overwritten events, of all workers.
  int64_t numLost() const;
  /// The step of that number; null if it was overwritten.
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
  std::vector<TracedStep> steps; ///< Also a ring.
  int64_t numSteps = 0;
  uint64_t firstTicks = 0;
  int64_t firstNanoseconds = 0;
};

} // namespace llmir

#endif // LLMIR_RUNTIME_STEPTRACE_H

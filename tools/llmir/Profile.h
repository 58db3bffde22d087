//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A profile of a command: its phases, and the activity of each worker in each
// step, as a trace for ui.perfetto.dev and chrome://tracing, and as a table.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_PROFILE_H
#define LLMIR_TOOLS_LLMIR_PROFILE_H

#include "StepCost.h"

#include "llmir/Runtime/Executor.h"
#include "llmir/Runtime/StepTrace.h"
#include "llmir/Support/Status.h"

#include <chrono>
#include <string>
#include <string_view>

namespace llmir::cli {

/// A trace in Chrome's JSON format. Times are relative to its construction.
/// Phases have a track of their own; each worker has a track with nested slices
/// for steps, layers and calls. Waiting at barriers is also a slice.
class Profile {
public:
  struct Phase {
    std::string name;
    double startMs;
  };

  Phase begin(std::string name) const {
    return {std::move(name), milliseconds()};
  }
  void end(const Phase &phase);

  /// Adds the executor's trace, if it has one.
  void addSteps(const Executor &executor);

  Status write(const std::string &path) const;

private:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now() - start)
        .count();
  }
  void addSlice(int64_t track, std::string_view name, double startUs,
                double endUs, const std::string &arguments);
  void open(int64_t track, std::string_view name, double us);
  void close(int64_t track, double us);
  void addName(const char *what, int64_t track, const std::string &name);
  class WorkerTrack;

  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
  std::string events; ///< The JSON objects, each preceded by a comma.
  int64_t numNamedTracks = 0;
};

/// The time of the traced steps by kernel, separately for prompts and decoding:
/// calls, time per step, share of the step, bytes and operations per second,
/// and their share of the limit. Lines of text.
std::string profileTable(Executor &executor, const MachineLimits &limits);

/// "limits: reads 43.9 GB/s (four streams), int8 1080 Gop/s (vpdpbusd zmm)":
/// the limits that were measured.
std::string describeLimits(const MachineLimits &limits);

/// The cost of one traced step of each kind, which determines the limits to
/// measure.
StepCost tracedNeeds(Executor &executor);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_PROFILE_H

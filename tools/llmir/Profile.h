//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a command spent its time on: its phases, and what each worker did in
// each step, as a trace that ui.perfetto.dev and chrome://tracing open, and as
// a table.
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

/// A trace in Chrome's JSON format. Times count from its construction. Phases
/// are on a track of their own; each worker has a track on which a step holds
/// its layers, and they hold what the worker called. Waiting at barriers is a
/// slice as well.
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
  std::string events; ///< The JSON objects, each behind a comma.
  int64_t numNamedTracks = 0;
};

/// Where the traced steps spent their time, by kernel, prompts and decoding
/// apart: calls, time of a step, share of the step, bytes and operations a
/// second, and the share of the limit that these are. Lines of text.
std::string profileTable(Executor &executor, const MachineLimits &limits);

/// "limits: reads 43.9 GB/s (four streams), int8 1080 Gop/s (vpdpbusd zmm)":
/// those that were measured.
std::string describeLimits(const MachineLimits &limits);

/// What the traced steps need of the machine, one of each kind: for measuring
/// the limits that matter.
StepCost tracedNeeds(Executor &executor);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_PROFILE_H

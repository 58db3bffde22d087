//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a command spent its time on, written in the trace format that Chrome's
// about:tracing and Perfetto read.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_PROFILE_H
#define LLMIR_TOOLS_LLMIR_PROFILE_H

#include "Console.h"

#include "llmir/Support/FileWriter.h"
#include "llmir/Support/Json.h"

#include <string>
#include <vector>

namespace llmir::cli {

class Profile {
public:
  struct Phase {
    const char *name;
    double startMs;
  };

  /// `name` must be a literal.
  Phase begin(const char *name) const { return {name, watch.milliseconds()}; }
  void end(const Phase &phase) {
    phases.push_back(
        {phase.name, phase.startMs, watch.milliseconds() - phase.startMs});
  }

  Status write(const std::string &path) const {
    Json events = Json::array();
    for (const Finished &phase : phases)
      events.push_back({{"name", phase.name},
                        {"ph", "X"},
                        {"pid", 1},
                        {"tid", 1},
                        {"ts", phase.startMs * 1000},
                        {"dur", phase.durationMs * 1000}});
    Json trace = {{"traceEvents", std::move(events)},
                  {"displayTimeUnit", "ms"}};
    return writeFileAtomically(path, trace.dump() + "\n");
  }

private:
  struct Finished {
    const char *name;
    double startMs, durationMs;
  };
  Stopwatch watch;
  std::vector<Finished> phases;
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_PROFILE_H

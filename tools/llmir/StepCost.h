//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost of a step (bytes read, operations executed) and the measured limits
// of the machine, which together give the minimum time of a step.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_STEPCOST_H
#define LLMIR_TOOLS_LLMIR_STEPCOST_H

#include "MachinePeak.h"
#include "MemoryBandwidth.h"

#include "llmir/Runtime/Executor.h"
#include "llmir/Runtime/WorkerTeam.h"
#include "llmir/Support/Status.h"

#include <memory>
#include <string>

namespace llmir::cli {

/// What a machine can do per second.
struct MachineLimits {
  ReadBandwidth read;
  UnitPeak units[numDotUnits];
};

/// The cost of an activity. Excludes operations of attention and the bytes of
/// data that resides in caches (activations).
struct StepCost {
  /// Bytes of weights, in the format of the checkpoint or the scheme that they
  /// are quantized to, and as packed.
  double sourceBytes = 0, packedBytes = 0;
  double kvBytes = 0;                  ///< Of keys and values.
  double stateBytes = 0;               ///< Of the states of layers.
  double operations[numDotUnits] = {}; ///< By DotUnit; two per multiply-add.

  StepCost &operator+=(const StepCost &other);
  StepCost scaled(double factor) const;

  double bytes() const { return sourceBytes + sequenceBytes(); }
  /// Of what is kept of sequences.
  double sequenceBytes() const { return kvBytes + stateBytes; }
  double allOperations() const;
  /// The minimum time for reading, for computing, and for both concurrently.
  double readSeconds(const MachineLimits &limits) const;
  double computeSeconds(const MachineLimits &limits) const;
  double leastSeconds(const MachineLimits &limits) const;
  /// The unit that accounts for most of the computing time.
  DotUnit mainUnit(const MachineLimits &limits) const;
};

/// The cost of one call of a site's instruction in a step of `tokens` tokens,
/// of which `logitRows` have logits.
StepCost siteCost(const StepSite &site, int64_t tokens, int64_t logitRows);

/// The cost of a step's weights, without what is kept of sequences.
StepCost stepCost(const ArtifactInfo &info, int64_t tokens, int64_t logitRows);

/// Bytes of packed weights that a step of one token reads.
int64_t stepWeightBytes(const ArtifactInfo &info);

/// Measures the limits of code of one level with some number of threads.
class LimitMeter {
public:
  /// For the workers and the code of this executor.
  static Expected<std::unique_ptr<LimitMeter>> create(const Executor &executor);

  /// Takes about a fifth of a second; skips units without operations in
  /// `needs`, and reading if its time is negligible.
  MachineLimits measure(const StepCost &needs);

  const MemoryReader &reader() const { return *memory; }

private:
  std::unique_ptr<WorkerTeam> team;
  std::unique_ptr<MemoryReader> memory;
  std::string level;
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_STEPCOST_H

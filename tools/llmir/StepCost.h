//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a step needs of the machine (bytes read, operations done) and what the
// machine can do, measured: together, the least time that a step can take.
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

/// What a machine does in a second.
struct MachineLimits {
  ReadBandwidth read;
  UnitPeak units[numDotUnits];
};

/// What something needs. Operations of attention are not counted, and the
/// bytes of what lies in caches (activations) neither.
struct StepCost {
  /// Of weights, in the format of the checkpoint or the scheme that they are
  /// quantized to, and as they lie packed.
  double sourceBytes = 0, packedBytes = 0;
  double kvBytes = 0;                  ///< Of keys and values.
  double operations[numDotUnits] = {}; ///< By DotUnit; two for a product.

  StepCost &operator+=(const StepCost &other);
  StepCost scaled(double factor) const;

  double bytes() const { return sourceBytes + kvBytes; }
  double allOperations() const;
  /// The least time for reading, for computing, and for both at once.
  double readSeconds(const MachineLimits &limits) const;
  double computeSeconds(const MachineLimits &limits) const;
  double leastSeconds(const MachineLimits &limits) const;
  /// The unit that most of the computing time belongs to.
  DotUnit mainUnit(const MachineLimits &limits) const;
};

/// One call of a site's instruction in a step of so many tokens, of which so
/// many give logits.
StepCost siteCost(const StepSite &site, int64_t tokens, int64_t logitRows);

/// A step's weights, without keys and values.
StepCost stepCost(const ArtifactInfo &info, int64_t tokens, int64_t logitRows);

/// Bytes of packed weights that a step of one token reads.
int64_t stepWeightBytes(const ArtifactInfo &info);

/// Measures what code of one level can reach with some threads.
class LimitMeter {
public:
  /// For the workers and the code of this executor.
  static Expected<std::unique_ptr<LimitMeter>> create(const Executor &executor);

  /// Takes about a fifth of a second; units that `needs` has no operations of
  /// are left out, and so is reading where it takes none of the time.
  MachineLimits measure(const StepCost &needs);

  const MemoryReader &reader() const { return *memory; }

private:
  std::unique_ptr<WorkerTeam> team;
  std::unique_ptr<MemoryReader> memory;
  std::string level;
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_STEPCOST_H

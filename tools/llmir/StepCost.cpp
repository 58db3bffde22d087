//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepCost.h"

#include <algorithm>

using namespace llmir;
using namespace llmir::cli;

StepCost &StepCost::operator+=(const StepCost &other) {
  sourceBytes += other.sourceBytes;
  packedBytes += other.packedBytes;
  kvBytes += other.kvBytes;
  stateBytes += other.stateBytes;
  for (int unit = 0; unit < numDotUnits; ++unit)
    operations[unit] += other.operations[unit];
  return *this;
}

StepCost StepCost::scaled(double factor) const {
  StepCost cost = *this;
  cost.sourceBytes *= factor;
  cost.packedBytes *= factor;
  cost.kvBytes *= factor;
  cost.stateBytes *= factor;
  for (double &count : cost.operations)
    count *= factor;
  return cost;
}

double StepCost::allOperations() const {
  double sum = 0;
  for (double count : operations)
    sum += count;
  return sum;
}

double StepCost::readSeconds(const MachineLimits &limits) const {
  return limits.read.bytesPerSecond > 0 ? bytes() / limits.read.bytesPerSecond
                                        : 0;
}

double StepCost::computeSeconds(const MachineLimits &limits) const {
  double seconds = 0;
  for (int unit = 0; unit < numDotUnits; ++unit)
    if (limits.units[unit].opsPerSecond > 0)
      seconds += operations[unit] / limits.units[unit].opsPerSecond;
  return seconds;
}

double StepCost::leastSeconds(const MachineLimits &limits) const {
  return std::max(readSeconds(limits), computeSeconds(limits));
}

DotUnit StepCost::mainUnit(const MachineLimits &limits) const {
  int best = 0;
  double most = 0;
  for (int unit = 0; unit < numDotUnits; ++unit) {
    double peak = limits.units[unit].opsPerSecond;
    double seconds = peak > 0 ? operations[unit] / peak : 0;
    if (seconds > most) {
      most = seconds;
      best = unit;
    }
  }
  return static_cast<DotUnit>(best);
}

StepCost cli::siteCost(const StepSite &site, int64_t tokens,
                       int64_t logitRows) {
  StepCost cost;
  const int64_t rows = site.logitRows ? logitRows : tokens;
  if (rows == 0)
    return cost;
  // At most as many experts are read as the tokens have chosen.
  double part = 1;
  if (site.experts > 0)
    part = std::min(1.0, static_cast<double>(rows) *
                             static_cast<double>(site.chosen) /
                             static_cast<double>(site.experts));
  cost.sourceBytes = static_cast<double>(site.sourceBytes) * part;
  cost.packedBytes = static_cast<double>(site.packedBytes) * part;
  for (int unit = 0; unit < numDotUnits; ++unit)
    if (site.inputs == dotUnitName(static_cast<DotUnit>(unit)))
      cost.operations[unit] =
          2.0 * static_cast<double>(site.products) * static_cast<double>(rows);
  return cost;
}

StepCost cli::stepCost(const ArtifactInfo &info, int64_t tokens,
                       int64_t logitRows) {
  StepCost sum;
  for (const StepSite &site : info.sites)
    sum += siteCost(site, tokens, logitRows)
               .scaled(static_cast<double>(site.calls));
  return sum;
}

int64_t cli::stepWeightBytes(const ArtifactInfo &info) {
  return static_cast<int64_t>(stepCost(info, 1, 1).packedBytes);
}

Expected<std::unique_ptr<LimitMeter>>
LimitMeter::create(const Executor &executor) {
  std::unique_ptr<LimitMeter> meter(new LimitMeter);
  auto team = executor.processors().empty()
                  ? WorkerTeam::create(executor.threads())
                  : WorkerTeam::create(executor.processors());
  if (!team)
    return team.takeStatus();
  meter->team = std::move(*team);
  auto memory =
      MemoryReader::create(*meter->team, stepWeightBytes(executor.info()));
  if (!memory)
    return memory.takeStatus();
  meter->memory = std::move(*memory);
  meter->level = executor.level();
  return meter;
}

MachineLimits LimitMeter::measure(const StepCost &needs) {
  constexpr double secondsOfReader = 0.02, secondsOfUnit = 0.03;
  MachineLimits limits;
  for (int unit = 0; unit < numDotUnits; ++unit)
    if (needs.operations[unit] > 0)
      limits.units[unit] =
          measurePeak(*team, static_cast<DotUnit>(unit), level, secondsOfUnit);
  // No machine executes a million operations in the time of reading a byte.
  if (needs.bytes() > 0 && needs.allOperations() < 1e6 * needs.bytes())
    limits.read = memory->measure(secondsOfReader);
  return limits;
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Target/CPU/TargetNames.h"

#include "llmir/Artifact/CpuFeatures.h"

#include <set>
#include <sstream>

namespace llmir {

Expected<const CPULevel *> nativeCPULevel() {
  const std::string name = CpuFeatures::host().level();
  if (const CPULevel *level = findCPULevel(name))
    return level;
  return Status(
      StatusCode::IncompatibleTarget,
      "the level of this CPU is '" + name +
          "'; the lowest supported level is "
          "x86-64-v3 (AVX2, FMA, F16C)",
      "run on another machine, or cross-compile with --target x86-64-v3");
}

static Status unknownTarget(const std::string &name) {
  std::string known = "native, x86-64";
  for (const CPULevel &row : cpuLevels())
    known += ", " + row.name.str();
  return Status(StatusCode::InvalidArgument, "unknown target '" + name + "'",
                "choose from " + known +
                    "; separate several levels by commas; LEVEL+ includes all "
                    "higher levels");
}

/// Adds the levels of one name.
static Status addNamed(std::string name, std::set<const CPULevel *> &chosen) {
  const std::string given = name;
  if (name == "native") {
    Expected<const CPULevel *> native = nativeCPULevel();
    if (!native)
      return native.takeStatus();
    name = (*native)->name.str();
  }
  bool above = !name.empty() && name.back() == '+';
  if (above)
    name.pop_back();
  const CPULevel *level = findCPULevel(name);
  if (level && !above) {
    chosen.insert(level);
    return Status::ok();
  }
  if (!isKnownCpuLevel(name))
    return unknownTarget(given);
  for (const CPULevel &row : cpuLevels())
    if (cpuLevelIncludes(row.name.str(), name))
      chosen.insert(&row);
  return Status::ok();
}

Expected<std::vector<const CPULevel *>>
targetsFromNames(const std::string &list) {
  std::set<const CPULevel *> chosen;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');)
    if (Status status = addNamed(name, chosen); !status)
      return status;
  if (chosen.empty())
    return unknownTarget(list);
  // Pointers into the table: ascending order is table order.
  return std::vector<const CPULevel *>(chosen.begin(), chosen.end());
}

} // namespace llmir

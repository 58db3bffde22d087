//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ControlGroup.h"
#include "llmir/Runtime/UsableMemory.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

namespace llmir {

/// Reads the number at the start of a file; nullopt for other text ("max").
static std::optional<int64_t> readNumber(std::istream &file) {
  int64_t number;
  if (file >> number && number > 0)
    return number;
  return std::nullopt;
}

static void lower(std::optional<int64_t> &limit, std::optional<int64_t> value) {
  if (value)
    limit = limit ? std::min(*limit, *value) : *value;
}

/// quota / period, rounded up.
static std::optional<int64_t> readProcessors(std::istream &quotaFile,
                                             std::istream &periodFile) {
  std::optional<int64_t> quota = readNumber(quotaFile);
  std::optional<int64_t> period = readNumber(periodFile);
  if (!quota || !period)
    return std::nullopt;
  return (*quota - 1) / *period + 1;
}

/// Lowers the limits to those of the group in that directory.
static void readGroup(const std::string &folder, bool isUnified,
                      ControlGroupLimits &limits) {
  auto file = [&](const char *name) {
    return std::ifstream(folder + "/" + name);
  };
  if (isUnified) {
    std::ifstream memory = file("memory.max"), time = file("cpu.max");
    lower(limits.memoryBytes, readNumber(memory));
    lower(limits.processors, readProcessors(time, time));
    return;
  }
  std::ifstream memory = file("memory.limit_in_bytes");
  std::ifstream quota = file("cpu.cfs_quota_us");
  std::ifstream period = file("cpu.cfs_period_us");
  lower(limits.memoryBytes, readNumber(memory));
  lower(limits.processors, readProcessors(quota, period));
}

/// Reads the group at `path` below `root` and all its ancestors. In a container
/// the path may be one of the host's; then the root is the group.
static void readGroups(const std::string &root, std::string path,
                       bool isUnified, ControlGroupLimits &limits) {
  for (;;) {
    readGroup(root + path, isUnified, limits);
    size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos)
      return;
    path.resize(slash);
  }
}

ControlGroupLimits controlGroupLimits(const std::string &membership,
                                      const std::string &mount) {
  ControlGroupLimits limits;
  const bool isUnified = std::ifstream(mount + "/cgroup.controllers").good();
  std::ifstream file(membership);
  // number:controllers:path
  for (std::string line; std::getline(file, line);) {
    size_t first = line.find(':');
    size_t second =
        first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::istringstream controllers(line.substr(first + 1, second - first - 1));
    std::string path = line.substr(second + 1);
    if (path.find("..") != std::string::npos)
      continue; // Not visible to this process.
    if (path == "/")
      path.clear();
    if (isUnified) {
      if (second == first + 1) // No controllers: version 2.
        readGroups(mount, path, /*isUnified=*/true, limits);
      continue;
    }
    for (std::string name; std::getline(controllers, name, ',');)
      if (name == "memory" || name == "cpu")
        readGroups(mount + "/" + name, path, /*isUnified=*/false, limits);
  }
  return limits;
}

int64_t usableMemory() {
  int64_t physical = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  int64_t bytes =
      std::min(physical, controlGroupLimits().memoryBytes.value_or(physical));
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 &&
      addresses.rlim_cur < static_cast<rlim_t>(bytes))
    bytes = static_cast<int64_t>(addresses.rlim_cur);
  return bytes;
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Resource limits of this process from control groups, which sysconf() does not
// take into account; containers are limited this way.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_RUNTIME_CONTROLGROUP_H
#define LLMIR_LIB_RUNTIME_CONTROLGROUP_H

#include <cstdint>
#include <optional>
#include <string>

namespace llmir {

/// Limits of a control group and its ancestors; unset: unlimited.
struct ControlGroupLimits {
  std::optional<int64_t> memoryBytes;
  std::optional<int64_t> processors; ///< CPU quota in processors, rounded up.
};

/// The limits of the process whose groups are listed in the file `membership`,
/// read from the hierarchy mounted at `mount`. Supports version 2
/// (cgroup.controllers at the mount) and version 1 (a directory per
/// controller).
ControlGroupLimits
controlGroupLimits(const std::string &membership = "/proc/self/cgroup",
                   const std::string &mount = "/sys/fs/cgroup");

} // namespace llmir

#endif // LLMIR_LIB_RUNTIME_CONTROLGROUP_H

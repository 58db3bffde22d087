//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the system lets this process have of the machine: containers are given
// their share through control groups, which sysconf() does not know of.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_RUNTIME_CONTROLGROUP_H
#define LLMIR_LIB_RUNTIME_CONTROLGROUP_H

#include <cstdint>
#include <optional>
#include <string>

namespace llmir {

/// Limits of a control group and of those that it lies in; absent: none.
struct ControlGroupLimits {
  std::optional<int64_t> memoryBytes;
  std::optional<int64_t> processors; ///< Time of so many, rounded up.
};

/// The limits of the process whose groups are listed in `membership`, read
/// below `mount`, where the groups' files are. Version 2 (cgroup.controllers at
/// the mount) or version 1 (a folder per controller).
ControlGroupLimits
controlGroupLimits(const std::string &membership = "/proc/self/cgroup",
                   const std::string &mount = "/sys/fs/cgroup");

} // namespace llmir

#endif // LLMIR_LIB_RUNTIME_CONTROLGROUP_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses the names of CPU levels in options.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TARGET_CPU_TARGETNAMES_H
#define LLMIR_TARGET_CPU_TARGETNAMES_H

#include "llmir/Codegen/CPULevel.h"
#include "llmir/Support/Status.h"

#include <string>
#include <vector>

namespace llmir {

/// The highest level that this processor supports. Fails with
/// IncompatibleTarget if there is none.
Expected<const CPULevel *> nativeCPULevel();

/// Parses a comma-separated list of levels:
///   native      the best level of this machine
///   LEVEL       a level of CPULevels.def
///   LEVEL+      that level and all that include it ("aarch64+")
///   x86-64      all levels of x86-64 (a baseline without code of its own)
/// Returns each level once, in the order of the table. Fails with
/// InvalidArgument for an unknown name and IncompatibleTarget if this machine
/// supports no level.
Expected<std::vector<const CPULevel *>>
targetsFromNames(const std::string &list);

} // namespace llmir

#endif // LLMIR_TARGET_CPU_TARGETNAMES_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How --target names the CPU levels that an artifact gets code for.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_PIPELINES_TARGETNAMES_H
#define LLMIR_PIPELINES_TARGETNAMES_H

#include "llmir/Codegen/CPULevel.h"
#include "llmir/Support/Status.h"

#include <string>
#include <vector>

namespace llmir {

/// The levels of a list with commas between:
///   native      the best level of this machine
///   LEVEL       a level of CPULevels.def
///   LEVEL+      that level and all that include it ("aarch64+")
///   x86-64      all levels of x86-64 (a baseline without code of its own)
/// Each level once, in the order of the table. Fails with InvalidArgument for
/// an unknown name, IncompatibleTarget where this machine has no level.
Expected<std::vector<const CPULevel *>>
targetsFromNames(const std::string &list);

} // namespace llmir

#endif // LLMIR_PIPELINES_TARGETNAMES_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --pin and --numa: placement of threads and memory.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_PLACEMENT_H
#define LLMIR_TOOLS_LLMIR_PLACEMENT_H

#include "Command.h"

#include "llmir/Runtime/Executor.h"

#include <string>

namespace llmir::cli {

struct PlacementRequest {
  bool pin = false;
  std::string numa = "off";

  void apply(ExecutorOptions &options) const;
};

/// Adds the flags to a command.
void addPlacementOptions(Command command, PlacementRequest &request);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_PLACEMENT_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Placement.h"

using namespace llmir;
using namespace llmir::cli;

void PlacementRequest::apply(ExecutorOptions &options) const {
  options.pin = pin;
  options.numa = numaPolicyFromName(numa).value_or(NumaPolicy::Off);
}

void cli::addPlacementOptions(Command command, PlacementRequest &request) {
  addFlag(command, "--pin", request.pin, "bind each thread to a processor");
  addOption(command, "--numa", request.numa,
            "on a machine with several memory nodes: first-touch copies the "
            "data that a thread reads to its node, interleave distributes it "
            "over all nodes")
      .showDefault()
      .check(oneOf({"off", "first-touch", "interleave"}));
}

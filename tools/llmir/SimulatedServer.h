//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A server without a model: the scheduler and the KV cache are those of the
// engine, and a step takes as long as a table says. Time is a number, so that
// hours of load take seconds.
//
// What a server does besides its steps, such as HTTP, takes no time here, and
// no request is refused.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_SIMULATEDSERVER_H
#define LLMIR_TOOLS_LLMIR_SIMULATEDSERVER_H

#include "StepTable.h"

#include "llmir/LoadGenerator/LoadRun.h"

namespace llmir::cli {

struct SimulationResult {
  LoadResult load;
  int64_t steps = 0;
  double stepSeconds = 0; ///< Of all steps, simulated.
  /// Of all plans, measured: what the scheduler asks the cache, and the plan.
  double planSeconds = 0;
  int64_t mostSequences = 0; ///< In a step.
};

/// Simulates a load of conversations that each have one turn, given as token
/// ids. Each answer has as many tokens as its request allows. Fails with
/// InvalidArgument for other conversations.
Expected<SimulationResult> simulateLoad(const Load &load,
                                        const StepTable &table);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_SIMULATEDSERVER_H

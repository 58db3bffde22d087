//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the functions of RuntimeABI.def for one team of workers and one
// cache, as generated code calls them through the step context. The executor
// uses it to run steps; other callers of compiled functions do the same.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_RUNTIME_STEPRUNTIME_H
#define LLMIR_RUNTIME_STEPRUNTIME_H

#include "llmir/ABI/StepContext.h"
#include "llmir/Runtime/StepTrace.h"
#include "llmir/Runtime/WorkerTeam.h"
#include "llmir/Support/Status.h"
#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

namespace llmir {

class StepRuntime {
public:
  /// `cache` may be null for code that uses none. Both must outlive the object.
  StepRuntime(WorkerTeam &team, mlir::llm::runtime::PagedKVCache *cache)
      : team(team), cache(cache) {}
  StepRuntime(const StepRuntime &) = delete;
  StepRuntime &operator=(const StepRuntime &) = delete;

  /// Fills `runtime`, `state` and the fields of the KV and state pools, and
  /// runs the function on every worker. Returns the first failure of a runtime
  /// function. Allocates nothing unless such a function is called.
  Status run(LLMIRStepFunction function, LLMIRStepContext &context);

  /// Records the events of the following runs in `newTrace`, or stops recording
  /// if it is null. The trace must have a ring for each worker of the team and
  /// outlive the runs.
  void setTrace(StepTrace *newTrace) { trace = newTrace; }

private:
  friend struct RuntimeFunctions;

  WorkerTeam &team;
  mlir::llm::runtime::PagedKVCache *cache;
  Status failure; ///< The first one of the current run.
  StepTrace *trace = nullptr;
};

} // namespace llmir

#endif // LLMIR_RUNTIME_STEPRUNTIME_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of RuntimeABI.def for one team of workers and one cache: what
// generated code reaches through the step context. The executor runs steps with
// it, and whoever runs another compiled function does the same.
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
  /// `cache` may be null for code that touches none. Both must outlive the
  /// object.
  StepRuntime(WorkerTeam &team, mlir::llm::runtime::PagedKVCache *cache)
      : team(team), cache(cache) {}
  StepRuntime(const StepRuntime &) = delete;
  StepRuntime &operator=(const StepRuntime &) = delete;

  /// Fills `runtime`, `state`, `kv_pool` and `kv_layer_stride`, and lets every
  /// worker run the function. Gives the first failure of a function of the
  /// runtime. Allocates nothing unless such a function is called.
  Status run(LLMIRStepFunction function, LLMIRStepContext &context);

  /// Lets the runs that follow leave their events there; null: nowhere. The
  /// trace has a ring for each worker of the team, and must outlive the runs.
  void setTrace(StepTrace *newTrace) { trace = newTrace; }

private:
  friend struct RuntimeFunctions;

  WorkerTeam &team;
  mlir::llm::runtime::PagedKVCache *cache;
  Status failure; ///< The first one of this run.
  StepTrace *trace = nullptr;
};

} // namespace llmir

#endif // LLMIR_RUNTIME_STEPRUNTIME_H

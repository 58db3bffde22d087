//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One step by as many threads as it has workers, with nothing of the runtime
// but a barrier: for programs of tests.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_EMULATION_STEPTHREADS_H
#define LLMIR_TEST_EMULATION_STEPTHREADS_H

#include "llmir/ABI/StepContext.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace llmir::test {

/// A step's context followed by the barrier of its workers.
struct SharedStep {
  LLMIRStepContext context{};
  int64_t workers = 1;
  std::mutex mutex;
  std::condition_variable arrived;
  int64_t waiting = 0, generation = 0;

  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    int64_t mine = generation;
    if (++waiting == workers) {
      waiting = 0;
      ++generation;
      arrived.notify_all();
      return;
    }
    arrived.wait(lock, [&] { return generation != mine; });
  }
};

/// Runs the step; `context.runtime` is set here.
inline void runStepThreads(LLMIRStepFunction function,
                           const LLMIRStepContext &context, int64_t workers) {
  LLMIRRuntimeTable table{};
  // The context is the first member of the step that is shared.
  table.barrier = [](const LLMIRStepContext *ctx, int64_t) {
    reinterpret_cast<SharedStep *>(const_cast<LLMIRStepContext *>(ctx))->wait();
  };
  SharedStep step;
  step.context = context;
  step.context.runtime = &table;
  step.workers = workers;
  std::vector<std::thread> threads;
  for (int64_t worker = 1; worker < workers; ++worker)
    threads.emplace_back(
        [&, worker] { function(&step.context, worker, workers); });
  function(&step.context, 0, workers);
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace llmir::test

#endif // LLMIR_TEST_EMULATION_STEPTHREADS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs MLIR's parallel tasks on threads started by parallelFor(): if threads
// cannot be created, the waiting thread runs all tasks. LLVM's own pool would
// terminate the process.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DRIVER_TASKPOOL_H
#define LLMIR_LIB_DRIVER_TASKPOOL_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/ThreadPool.h"

#include <mutex>
#include <vector>

namespace llmir {

/// Tasks start when a thread waits for them, which is how MLIR uses a pool.
class TaskPool : public llvm::ThreadPoolInterface {
public:
  ~TaskPool() override;
  void wait() override;
  void wait(llvm::ThreadPoolTaskGroup &group) override;
  unsigned getMaxConcurrency() const override;

private:
  using Task = llvm::unique_function<void()>;

  void asyncEnqueue(Task task, llvm::ThreadPoolTaskGroup *group) override;
  void run(llvm::ThreadPoolTaskGroup *group);

  std::mutex mutex; ///< Guards `waiting`.
  llvm::DenseMap<llvm::ThreadPoolTaskGroup *, std::vector<Task>> waiting;
};

} // namespace llmir

#endif // LLMIR_LIB_DRIVER_TASKPOOL_H

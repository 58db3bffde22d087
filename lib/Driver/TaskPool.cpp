//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskPool.h"

#include "llmir/Support/ParallelFor.h"

namespace llmir {

TaskPool::~TaskPool() { wait(); }

void TaskPool::asyncEnqueue(Task task, llvm::ThreadPoolTaskGroup *group) {
  std::lock_guard<std::mutex> lock(mutex);
  waiting[group].push_back(std::move(task));
}

/// Runs the tasks of a group until it has no more; a task may add some.
void TaskPool::run(llvm::ThreadPoolTaskGroup *group) {
  while (true) {
    std::vector<Task> tasks;
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto found = waiting.find(group);
      if (found == waiting.end())
        return;
      tasks = std::move(found->second);
      waiting.erase(found);
    }
    if (!parallelFor(0, tasks.size(), 1, [&](int64_t i) { tasks[i](); }))
      throwBadAlloc(); // As in a context without threads.
  }
}

void TaskPool::wait(llvm::ThreadPoolTaskGroup &group) { run(&group); }

void TaskPool::wait() {
  while (true) {
    llvm::ThreadPoolTaskGroup *group = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (waiting.empty())
        return;
      group = waiting.begin()->first;
    }
    run(group);
  }
}

unsigned TaskPool::getMaxConcurrency() const { return maxParallelism(); }

} // namespace llmir

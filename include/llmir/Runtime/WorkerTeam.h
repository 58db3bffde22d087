//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads that run a step.
//
// All workers run the same function (SPMD): the calling thread is worker 0, the
// others are threads that live as long as the team and sleep between runs. At
// barriers, workers spin for a while and then sleep in the kernel. The spin
// budget adapts: long if every worker has a processor to itself, short if the
// machine is shared. If other processes compete for the processors, fewer
// workers take part. A team with more workers than processors is slow but works
// correctly.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_RUNTIME_WORKERTEAM_H
#define LLMIR_RUNTIME_WORKERTEAM_H

#include "llmir/Support/Status.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace llmir {

/// Number of processors that this process may use (its affinity mask, limited
/// by the CPU quota of its control group); at least 1.
int64_t usableProcessors();

/// The processors in the process's affinity mask, ascending; empty if it is not
/// available.
std::vector<int> usableProcessorList();

class WorkerTeam {
public:
  static constexpr int64_t maxWorkers = 1024;

  /// Starts `workers` - 1 threads; 0 workers means one per usable processor.
  /// `pin` binds worker i to the i-th usable processor until the team is
  /// destroyed; this includes the calling thread. Fails with InvalidArgument or
  /// ResourceExhausted.
  static Expected<std::unique_ptr<WorkerTeam>> create(int64_t workers,
                                                      bool pin = false);
  /// The same with one worker for each list in `processors`; worker i (worker 0
  /// is the calling thread) runs on the processors of list i.
  static Expected<std::unique_ptr<WorkerTeam>>
  create(std::vector<std::vector<int>> processors);
  /// The number of workers that create() starts. Fails with InvalidArgument.
  static Expected<int64_t> chooseSize(int64_t workers);
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam &) = delete;
  WorkerTeam &operator=(const WorkerTeam &) = delete;

  int64_t size() const;
  /// The processors of each worker; empty if workers are not bound. Threads
  /// started by the creating thread inherit its binding, so pass these lists to
  /// create() for another team.
  const std::vector<std::vector<int>> &processors() const;

  /// Calls fn(worker) once for every worker in [0, size()) and returns when all
  /// calls have returned. Only one thread at a time may call this, and not from
  /// within fn. Allocates nothing.
  template <typename Fn> void run(Fn &&fn) {
    using Function = std::remove_reference_t<Fn>;
    static_assert(!std::is_const_v<Function>,
                  "pass a callable that is not const");
    runJob([](void *data,
              int64_t worker) { (*static_cast<Function *>(data))(worker); },
           &fn);
  }

  /// The same for a job that works with any number of workers: calls fn(worker,
  /// workers) for every worker in [0, workers). `workers` is size(), or less if
  /// other processes compete for the processors, because all workers would wait
  /// for the one that is descheduled.
  template <typename Fn> void runWithContention(Fn &&fn) {
    const int64_t workers = chooseWorkers();
    auto job = [&fn, workers](int64_t worker) { fn(worker, workers); };
    runJob(
        [](void *data, int64_t worker) {
          (*static_cast<decltype(job) *>(data))(worker);
        },
        &job, workers);
  }

  /// Calls fn(index) once for every index in [0, count), in any order, and
  /// returns when all calls have returned. fn must not call barrier(). As many
  /// workers take part as in the last job that works with any number of them;
  /// whether this one is delayed by other processes does not change that, since
  /// no worker waits for another. May be called as run() may.
  template <typename Fn> void forEach(int64_t count, Fn &&fn) {
    std::atomic<int64_t> next{0};
    auto job = [&](int64_t) {
      for (int64_t index = next++; index < count; index = next++)
        fn(index);
    };
    runPart(
        [](void *data, int64_t worker) {
          (*static_cast<decltype(job) *>(data))(worker);
        },
        &job, count);
  }

  /// Called by every worker of the current run with its number: returns when
  /// all have called it. Memory written before the barrier is visible to all
  /// workers after it.
  void barrier(int64_t worker);

private:
  struct State;
  explicit WorkerTeam(std::unique_ptr<State> state);
  static Expected<std::unique_ptr<WorkerTeam>> start(int64_t workers,
                                                     int64_t numProcessors);
  void runJob(void (*job)(void *, int64_t), void *data);
  int64_t chooseWorkers();
  void runJob(void (*job)(void *, int64_t), void *data, int64_t workers);
  void runPart(void (*job)(void *, int64_t), void *data, int64_t count);
  std::unique_ptr<State> state;
};

} // namespace llmir

#endif // LLMIR_RUNTIME_WORKERTEAM_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads that run a step together.
//
// One function is run by every worker (SPMD): the calling thread is worker 0,
// the others are threads that live as long as the team and sleep between runs.
// Workers meet at barriers where they look for each other for a while and then
// sleep in the kernel. How long they look is learnt: long where each has a
// processor to itself, hardly at all where the machine is shared. Where others
// take a worker's processor away, fewer workers take part. A team with more
// workers than processors is slow but right.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_RUNTIME_WORKERTEAM_H
#define LLMIR_RUNTIME_WORKERTEAM_H

#include "llmir/Support/Status.h"

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace llmir {

/// Processors that this process may use (its affinity mask, and the time that
/// its control group has); at least 1.
int64_t usableProcessors();

/// The numbers of the processors in its affinity mask, ascending; empty where
/// the system does not say.
std::vector<int> usableProcessorList();

class WorkerTeam {
public:
  static constexpr int64_t maxWorkers = 1024;

  /// Starts `workers` - 1 threads; 0 workers means one per usable processor.
  /// `pin` binds worker i to the i-th usable processor, the calling thread
  /// included, until the team is destroyed. Fails with InvalidArgument or
  /// ResourceExhausted.
  static Expected<std::unique_ptr<WorkerTeam>> create(int64_t workers,
                                                      bool pin = false);
  /// The same for as many workers as `processors` has lists; worker i, be it
  /// the calling thread, runs on the processors of list i.
  static Expected<std::unique_ptr<WorkerTeam>>
  create(std::vector<std::vector<int>> processors);
  /// How many workers create() starts. Fails with InvalidArgument.
  static Expected<int64_t> chooseSize(int64_t workers);
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam &) = delete;
  WorkerTeam &operator=(const WorkerTeam &) = delete;

  int64_t size() const;
  /// Where each worker runs; empty where workers are not bound. Threads that
  /// the creating thread starts meanwhile are bound as it is: another team
  /// beside this one is given these.
  const std::vector<std::vector<int>> &processors() const;

  /// Calls fn(worker) once for every worker in [0, size()) and returns when all
  /// have returned. One thread at a time may call it, and not from within.
  /// Allocates nothing.
  template <typename Fn> void run(Fn &&fn) {
    using Function = std::remove_reference_t<Fn>;
    static_assert(!std::is_const_v<Function>,
                  "give a callable that is not const");
    runJob([](void *data,
              int64_t worker) { (*static_cast<Function *>(data))(worker); },
           &fn);
  }

  /// The same for a job that any number of workers does: calls fn(worker,
  /// workers) for every worker in [0, workers). That is size(), but fewer where
  /// the machine is crowded: where others have a worker's processor, all wait
  /// for that one.
  template <typename Fn> void runUncrowded(Fn &&fn) {
    const int64_t workers = chooseWorkers();
    auto job = [&fn, workers](int64_t worker) { fn(worker, workers); };
    runJob(
        [](void *data, int64_t worker) {
          (*static_cast<decltype(job) *>(data))(worker);
        },
        &job, workers);
  }

  /// Called by every worker of the present run: returns when all have called,
  /// and what each wrote before is then seen by all. `worker` is the caller's
  /// number.
  void barrier(int64_t worker);

private:
  struct State;
  explicit WorkerTeam(std::unique_ptr<State> state);
  static Expected<std::unique_ptr<WorkerTeam>> start(int64_t workers,
                                                     int64_t numProcessors);
  void runJob(void (*job)(void *, int64_t), void *data);
  int64_t chooseWorkers();
  void runJob(void (*job)(void *, int64_t), void *data, int64_t workers);
  std::unique_ptr<State> state;
};

} // namespace llmir

#endif // LLMIR_RUNTIME_WORKERTEAM_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Runtime/WorkerTeam.h"
#include "ControlGroup.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstring>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace llmir {

//===----------------------------------------------------------------------===//
// Processors
//===----------------------------------------------------------------------===//

static std::vector<int> affinityList() {
  std::vector<int> list;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set))
        list.push_back(cpu);
  return list;
}

int64_t usableProcessors() {
  auto count = static_cast<int64_t>(affinityList().size());
  if (count == 0) { // More processors than a cpu_set_t holds.
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    count = online > 0 ? online : 1;
  }
  // A container may have all processors, but not all of their time.
  return std::min(count, controlGroupLimits().processors.value_or(count));
}

//===----------------------------------------------------------------------===//
// A number that threads wait for: they spin a little, then sleep
//===----------------------------------------------------------------------===//

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void futex(std::atomic<uint32_t> &word, int operation, uint32_t value) {
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
                    std::atomic<uint32_t>::is_always_lock_free,
                "the kernel sees the atomic as a plain word");
  // Any error means "look again", which every caller does.
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation, value,
          nullptr, nullptr, 0);
}

namespace {
/// How long a worker looks for a change before it sleeps: learnt from how its
/// waits end. Sleeping and being woken costs tens of microseconds, which is
/// much of a step; but where another program has the processor of the worker
/// that is waited for, every look is in vain, and takes time from it.
class Patience {
public:
  explicit Patience(int64_t most) : most(most), time(most) {}

  /// For how many nanoseconds to look this time. Now and then as long as at
  /// first, or a machine that is idle again would not be noticed.
  int64_t next() {
    return ++waits % kProbeEvery == 0 ? most : time;
  }
  void succeeded(int64_t waited) {
    time = std::min(most, std::max(time + time / 8, 2 * waited));
  }
  void failed() { time = std::max(std::min(most, kLeast), time / 2); }

  /// Longer than the unevenness of the phases of a step.
  static constexpr int64_t kMost = 200000;

private:
  static constexpr int64_t kLeast = 4000;
  static constexpr uint32_t kProbeEvery = 32;

  int64_t most, time; ///< Nanoseconds.
  uint32_t waits = 0;
};

int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Goes up by one; whoever waits for the change sees what was written before.
/// No wake-up is lost: the waiter counts itself before its last look, the
/// other side changes the number before it counts the waiters, and both orders
/// are sequentially consistent.
class Signal {
public:
  uint32_t value() const { return number.load(std::memory_order_acquire); }

  void raise() {
    number.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst) != 0)
      futex(number, FUTEX_WAKE_PRIVATE, INT_MAX);
  }

  /// Returns when value() is no longer `old`.
  void waitWhile(uint32_t old, Patience &patience) {
    if (looksUntilChange(old, patience))
      return;
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    while (number.load(std::memory_order_seq_cst) == old)
      futex(number, FUTEX_WAIT_PRIVATE, old);
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }

private:
  /// True when the change came while looking.
  bool looksUntilChange(uint32_t old, Patience &patience) {
    // Most waits are short: these looks cost no clock.
    constexpr int looksPerClock = 64;
    int64_t begin = 0, limit = 0;
    for (;;) {
      for (int i = 0; i < looksPerClock; ++i) {
        if (value() != old) {
          if (begin != 0)
            patience.succeeded(nanoseconds() - begin);
          return true;
        }
        relax();
      }
      int64_t now = nanoseconds();
      if (begin == 0) {
        begin = now;
        limit = patience.next();
      }
      if (now - begin >= limit) {
        patience.failed();
        return value() != old;
      }
    }
  }

  std::atomic<uint32_t> number{0};
  std::atomic<uint32_t> sleepers{0};
};
} // namespace

//===----------------------------------------------------------------------===//
// The team
//===----------------------------------------------------------------------===//

struct WorkerTeam::State {
  struct Thread {
    State *team;
    int64_t worker;
    pthread_t handle;
  };

  /// What one worker has learnt, on a line of its own.
  struct alignas(64) Waits {
    Patience atBarriers, betweenRuns;
    explicit Waits(int64_t most) : atBarriers(most), betweenRuns(most) {}
  };

  int64_t size = 1;
  std::vector<Waits> waits; ///< By worker.
  std::vector<Thread> threads; ///< Workers 1 to size - 1.

  // A run: the job is written before `start` is raised, and read after.
  void (*job)(void *, int64_t) = nullptr;
  void *data = nullptr;
  bool stop = false;
  alignas(64) Signal start;
  alignas(64) std::atomic<int64_t> running{0};
  alignas(64) Signal done;

  // The barrier.
  alignas(64) std::atomic<int64_t> arrived{0};
  alignas(64) Signal passed;

  bool pinnedCaller = false;
  pthread_t caller{};
  cpu_set_t callerMask{};

  ~State();
  Status startThreads(bool pin);
  void workerLoop(int64_t worker);
};

void WorkerTeam::State::workerLoop(int64_t worker) {
  for (uint32_t seen = 0;; ++seen) {
    start.waitWhile(seen, waits[static_cast<size_t>(worker)].betweenRuns);
    if (stop)
      return;
    job(data, worker);
    if (running.fetch_sub(1, std::memory_order_acq_rel) == 1)
      done.raise();
  }
}

static bool pinThread(pthread_t thread, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return pthread_setaffinity_np(thread, sizeof set, &set) == 0;
}

Status WorkerTeam::State::startThreads(bool pin) {
  threads.reserve(static_cast<size_t>(size - 1)); // Their addresses stay.
  for (int64_t worker = 1; worker < size; ++worker) {
    threads.push_back({this, worker, {}});
    int error = pthread_create(
        &threads.back().handle, nullptr,
        [](void *argument) -> void * {
          auto *thread = static_cast<Thread *>(argument);
          thread->team->workerLoop(thread->worker);
          return nullptr;
        },
        &threads.back());
    if (error != 0) {
      threads.pop_back();
      return Status(StatusCode::ResourceExhausted,
                    "cannot start worker thread " + std::to_string(worker) +
                        " of " + std::to_string(size) + ": " +
                        std::strerror(error),
                    "use fewer threads");
    }
  }
  if (!pin)
    return Status::ok();
  std::vector<int> cpus = affinityList();
  if (cpus.empty())
    return Status(StatusCode::Unsupported,
                  "threads cannot be pinned on this machine",
                  "leave out --pin");
  caller = pthread_self();
  pinnedCaller =
      pthread_getaffinity_np(caller, sizeof callerMask, &callerMask) == 0;
  bool pinned = pinnedCaller && pinThread(caller, cpus[0]);
  for (const Thread &thread : threads)
    pinned &= pinThread(thread.handle,
                        cpus[static_cast<size_t>(thread.worker) % cpus.size()]);
  return pinned ? Status::ok()
                : Status(StatusCode::IoError,
                         "the system refused to pin the threads",
                         "leave out --pin");
}

WorkerTeam::State::~State() {
  stop = true;
  start.raise();
  for (const Thread &thread : threads)
    pthread_join(thread.handle, nullptr);
  if (pinnedCaller && pthread_equal(caller, pthread_self()))
    pthread_setaffinity_np(caller, sizeof callerMask, &callerMask);
}

Expected<std::unique_ptr<WorkerTeam>> WorkerTeam::create(int64_t workers,
                                                         bool pin) {
  const int64_t processors = usableProcessors();
  if (workers == 0)
    workers = processors < maxWorkers ? processors : maxWorkers;
  if (workers < 1 || workers > maxWorkers)
    return Status(StatusCode::InvalidArgument,
                  std::to_string(workers) + " worker threads",
                  "use 1 to " + std::to_string(maxWorkers) +
                      ", or 0 for one per processor");
  auto state = std::make_unique<State>();
  state->size = workers;
  // Who spins while another worker waits for the processor only delays it.
  int64_t most = workers <= processors ? Patience::kMost : 0;
  state->waits.assign(static_cast<size_t>(workers), State::Waits(most));
  if (Status status = state->startThreads(pin); !status)
    return status;
  return std::unique_ptr<WorkerTeam>(new WorkerTeam(std::move(state)));
}

WorkerTeam::WorkerTeam(std::unique_ptr<State> state)
    : state(std::move(state)) {}
WorkerTeam::~WorkerTeam() = default;

int64_t WorkerTeam::size() const { return state->size; }

void WorkerTeam::runJob(void (*job)(void *, int64_t), void *data) {
  if (state->size == 1)
    return job(data, 0);
  state->job = job;
  state->data = data;
  state->running.store(state->size, std::memory_order_relaxed);
  uint32_t before = state->done.value();
  state->start.raise();
  job(data, 0);
  if (state->running.fetch_sub(1, std::memory_order_acq_rel) == 1)
    state->done.raise();
  state->done.waitWhile(before, state->waits[0].betweenRuns);
}

void WorkerTeam::barrier(int64_t worker) {
  if (state->size == 1)
    return;
  uint32_t before = state->passed.value();
  if (state->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 ==
      state->size) {
    state->arrived.store(0, std::memory_order_relaxed);
    state->passed.raise();
  } else {
    state->passed.waitWhile(
        before, state->waits[static_cast<size_t>(worker)].atBarriers);
  }
}

} // namespace llmir

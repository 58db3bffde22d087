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
#include <ctime>
#include <linux/futex.h>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <set>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace llmir {

//===----------------------------------------------------------------------===//
// Processors
//===----------------------------------------------------------------------===//

std::vector<int> usableProcessorList() {
  std::vector<int> list;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set))
        list.push_back(cpu);
  return list;
}

int64_t usableProcessors() {
  auto count = static_cast<int64_t>(usableProcessorList().size());
  if (count == 0) { // More processors than a cpu_set_t holds.
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    count = online > 0 ? online : 1;
  }
  // A container may see all processors but have a smaller CPU quota.
  return std::min(count, controlGroupLimits().processors.value_or(count));
}

//===----------------------------------------------------------------------===//
// Signals: waiting threads spin for a while, then sleep
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
                "the kernel accesses the atomic as a plain word");
  // Errors are ignored: every caller checks the value again.
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation, value,
          nullptr, nullptr, 0);
}

namespace {
/// The time that a worker spins before it sleeps. Sleeping and waking up cost
/// tens of microseconds, a large part of a step. But if another process runs on
/// the processor of the awaited worker, spinning is futile and takes processor
/// time from it.
class SpinBudget {
public:
  explicit SpinBudget(int64_t max) : max(max), limit(max), time(max) {}

  /// Starts a run; `isContended`: the last run lost processors to others.
  void begin(bool isContended) {
    limit = isContended ? std::min(max, kMin) : max;
    time = limit;
  }
  int64_t nanoseconds() const { return time; }
  void succeeded() { time = std::min(limit, time + time / 8); }
  void failed() { time = std::max(std::min(limit, kMin), time / 4 * 3); }

  /// Longer than the load imbalance of most phases of a step.
  static constexpr int64_t kMax = 100000;

private:
  static constexpr int64_t kMin = 5000;

  int64_t max, limit, time; ///< Nanoseconds.
};

int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// A counter that threads can wait on. Waiters see everything that was written
/// before the increment. No wake-up is lost: a waiter registers itself before
/// its last check, the other side increments before it reads the number of
/// waiters, and both are sequentially consistent.
class Signal {
public:
  uint32_t value() const { return number.load(std::memory_order_acquire); }

  void raise() {
    if (sleepers.load(std::memory_order_relaxed) != 0)
      raisedAt.store(nanoseconds(), std::memory_order_relaxed);
    number.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst) != 0)
      futex(number, FUTEX_WAKE_PRIVATE, INT_MAX);
  }

  /// The duration of a wait in nanoseconds: asleep until the signal was raised,
  /// and from then until the thread ran again. The latter is long if the
  /// processor is busy.
  struct Wait {
    int64_t asleep = 0, waking = 0;
  };

  /// Returns when value() differs from `old`.
  Wait waitWhile(uint32_t old, SpinBudget &budget) {
    if (spinUntilChange(old, budget))
      return {};
    const int64_t begin = nanoseconds();
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    while (number.load(std::memory_order_seq_cst) == old)
      futex(number, FUTEX_WAIT_PRIVATE, old);
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
    const int64_t end = nanoseconds();
    const int64_t raised =
        std::clamp(raisedAt.load(std::memory_order_relaxed), begin, end);
    return {raised - begin, end - raised};
  }

private:
  /// True if the value changed while spinning.
  bool spinUntilChange(uint32_t old, SpinBudget &budget) {
    // Most waits are short: avoid reading the clock for them.
    constexpr int spinsPerClock = 64;
    int64_t begin = 0;
    for (;;) {
      for (int i = 0; i < spinsPerClock; ++i) {
        if (value() != old) {
          budget.succeeded();
          return true;
        }
        relax();
      }
      int64_t now = nanoseconds();
      if (begin == 0)
        begin = now;
      if (now - begin >= budget.nanoseconds()) {
        budget.failed();
        return value() != old;
      }
    }
  }

  std::atomic<uint32_t> number{0};
  std::atomic<uint32_t> sleepers{0};
  std::atomic<int64_t> raisedAt{0}; ///< Set only if a thread is asleep.
};
} // namespace

//===----------------------------------------------------------------------===//
// The number of workers under contention
//===----------------------------------------------------------------------===//

static int64_t processorTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

namespace {
/// Chooses the number of workers of a run. If another process occupies the
/// processor of a worker, all others wait for it at every barrier; fewer
/// workers are then faster.
class ContentionControl {
public:
  explicit ContentionControl(int64_t max) : max(max), now(max) {}

  /// Workers of the next run; periodically tries one more than the last good
  /// number.
  int64_t next() { return now < max && pause-- <= 0 ? now + 1 : now; }
  /// The last good number.
  int64_t current() const { return now; }
  void finished(int64_t workers, bool isContended) {
    isContended &= workers > 1;
    if (workers > now) {
      nextPause = isContended ? std::min(2 * nextPause, kMaxPause) : kPause;
      pause = nextPause;
      if (!isContended)
        now = workers;
      return;
    }
    contendedRuns = isContended ? contendedRuns + 1 : 0;
    if (contendedRuns < kContendedRuns) // Ignore occasional interruptions.
      return;
    contendedRuns = 0;
    now = workers - 1;
    pause = nextPause;
  }

private:
  static constexpr int64_t kContendedRuns = 2;
  static constexpr int64_t kPause = 8, kMaxPause = 256; ///< Runs.

  int64_t max, now;
  int64_t pause = 0, nextPause = kPause, contendedRuns = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// The team
//===----------------------------------------------------------------------===//

/// Threshold for lost time in nanoseconds: smaller losses are due to waking up
/// and page faults. A worker that lacks a processor waits for milliseconds.
static constexpr int64_t kMinStolen = 200'000;

struct WorkerTeam::State {
  struct alignas(64) Thread {
    State *team;
    int64_t worker;
    pthread_t handle{};
    Signal start;

    Thread(State *team, int64_t worker) : team(team), worker(worker) {}
  };

  /// The adaptive state of one worker, on its own cache line.
  struct alignas(64) Waits {
    SpinBudget atBarriers, betweenRuns;
    int64_t asleep = 0; ///< At barriers of this run, in nanoseconds.
    int64_t stolen = 0; ///< In the last run: neither running nor asleep.
    explicit Waits(int64_t max) : atBarriers(max), betweenRuns(max) {}
  };

  int64_t size = 1;
  std::vector<std::vector<int>> processors;     ///< By worker; empty: unbound.
  std::vector<Waits> waits;                     ///< By worker.
  std::vector<std::unique_ptr<Thread>> threads; ///< Workers 1 to size - 1.
  std::optional<ContentionControl> contention;

  // The current run: `job` is written before `start` is raised, and read after.
  void (*job)(void *, int64_t) = nullptr;
  void *data = nullptr;
  int64_t active = 1; ///< Workers that take part.
  /// Whether a worker neither ran nor slept for much of the last run.
  bool wasContended = false;
  bool stop = false;
  alignas(64) std::atomic<int64_t> running{0};
  alignas(64) Signal done;

  // The barrier.
  alignas(64) std::atomic<int64_t> arrived{0};
  alignas(64) Signal passed;

  bool pinnedCaller = false;
  pthread_t caller{};
  cpu_set_t callerMask{};

  ~State();
  Status startThreads();
  /// Binds worker i to the processors of list i.
  Status bind(const std::vector<std::vector<int>> &processors);
  void workerLoop(Thread &thread);
  /// Runs one worker's part and measures it; `waking` nanoseconds were lost
  /// before it started.
  void work(int64_t worker, int64_t waking);
  void run(int64_t workers);
};

void WorkerTeam::State::work(int64_t worker, int64_t waking) {
  Waits &own = waits[static_cast<size_t>(worker)];
  own.asleep = 0;
  own.atBarriers.begin(wasContended);
  own.betweenRuns.begin(wasContended);
  const int64_t begin = nanoseconds(), ran = processorTime();
  job(data, worker);
  own.stolen =
      waking + nanoseconds() - begin - (processorTime() - ran) - own.asleep;
  if (running.fetch_sub(1, std::memory_order_acq_rel) == 1)
    done.raise();
}

void WorkerTeam::State::workerLoop(Thread &thread) {
  Waits &own = waits[static_cast<size_t>(thread.worker)];
  for (uint32_t seen = 0;; ++seen) {
    Signal::Wait wait = thread.start.waitWhile(seen, own.betweenRuns);
    if (stop)
      return;
    work(thread.worker, wait.waking);
  }
}

void WorkerTeam::State::run(int64_t workers) {
  active = workers;
  const int64_t begin = nanoseconds();
  running.store(workers, std::memory_order_relaxed);
  uint32_t before = done.value();
  for (int64_t worker = 1; worker < workers; ++worker)
    threads[static_cast<size_t>(worker - 1)]->start.raise();
  work(0, /*waking=*/0);
  done.waitWhile(before, waits[0].betweenRuns);
  int64_t stolen = 0;
  for (int64_t worker = 0; worker < workers; ++worker)
    stolen = std::max(stolen, waits[static_cast<size_t>(worker)].stolen);
  wasContended = stolen > std::max(kMinStolen, (nanoseconds() - begin) / 4);
}

static bool bindThread(pthread_t thread, const std::vector<int> &processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : processors)
    if (cpu < CPU_SETSIZE)
      CPU_SET(cpu, &set);
  return pthread_setaffinity_np(thread, sizeof set, &set) == 0;
}

Status WorkerTeam::State::startThreads() {
  for (int64_t worker = 1; worker < size; ++worker) {
    threads.push_back(std::make_unique<Thread>(this, worker));
    int error = pthread_create(
        &threads.back()->handle, nullptr,
        [](void *argument) -> void * {
          auto *thread = static_cast<Thread *>(argument);
          thread->team->workerLoop(*thread);
          return nullptr;
        },
        threads.back().get());
    if (error != 0) {
      threads.pop_back();
      return Status(StatusCode::ResourceExhausted,
                    "cannot start worker thread " + std::to_string(worker) +
                        " of " + std::to_string(size) + ": " +
                        std::strerror(error),
                    "use fewer threads");
    }
  }
  return Status::ok();
}

Status
WorkerTeam::State::bind(const std::vector<std::vector<int>> &processors) {
  caller = pthread_self();
  pinnedCaller =
      pthread_getaffinity_np(caller, sizeof callerMask, &callerMask) == 0;
  bool bound = pinnedCaller && bindThread(caller, processors[0]);
  for (const std::unique_ptr<Thread> &thread : threads)
    bound &= bindThread(thread->handle,
                        processors[static_cast<size_t>(thread->worker)]);
  return bound ? Status::ok()
               : Status(StatusCode::IoError,
                        "the system refused to bind the threads to processors",
                        "leave out --pin and --numa");
}

WorkerTeam::State::~State() {
  stop = true;
  for (const std::unique_ptr<Thread> &thread : threads)
    thread->start.raise();
  for (const std::unique_ptr<Thread> &thread : threads)
    pthread_join(thread->handle, nullptr);
  if (pinnedCaller && pthread_equal(caller, pthread_self()))
    pthread_setaffinity_np(caller, sizeof callerMask, &callerMask);
}

Expected<int64_t> WorkerTeam::chooseSize(int64_t workers) {
  if (workers == 0)
    workers = std::min(usableProcessors(), maxWorkers);
  if (workers < 1 || workers > maxWorkers)
    return Status(StatusCode::InvalidArgument,
                  std::to_string(workers) + " worker threads",
                  "use 1 to " + std::to_string(maxWorkers) +
                      ", or 0 for one per processor");
  return workers;
}

Expected<std::unique_ptr<WorkerTeam>> WorkerTeam::start(int64_t workers,
                                                        int64_t numProcessors) {
  auto state = std::make_unique<State>();
  state->size = workers;
  // With more workers than processors, spinning delays the awaited worker.
  int64_t max = workers <= numProcessors ? SpinBudget::kMax : 0;
  state->waits.assign(static_cast<size_t>(workers), State::Waits(max));
  state->contention.emplace(workers);
  LLMIR_RETURN_IF_ERROR(state->startThreads());
  return std::unique_ptr<WorkerTeam>(new WorkerTeam(std::move(state)));
}

Expected<std::unique_ptr<WorkerTeam>> WorkerTeam::create(int64_t workers,
                                                         bool pin) {
  Expected<int64_t> size = chooseSize(workers);
  if (!size)
    return size.takeStatus();
  if (!pin)
    return start(*size, usableProcessors());
  std::vector<int> cpus = usableProcessorList();
  if (cpus.empty())
    return Status(StatusCode::Unsupported,
                  "threads cannot be pinned on this machine",
                  "leave out --pin");
  std::vector<std::vector<int>> processors;
  for (int64_t worker = 0; worker < *size; ++worker)
    processors.push_back({cpus[static_cast<size_t>(worker) % cpus.size()]});
  return create(std::move(processors));
}

Expected<std::unique_ptr<WorkerTeam>>
WorkerTeam::create(std::vector<std::vector<int>> processors) {
  Expected<int64_t> size = chooseSize(static_cast<int64_t>(processors.size()));
  if (!size || processors.empty())
    return Status(StatusCode::InvalidArgument,
                  "places for " + std::to_string(processors.size()) +
                      " worker threads");
  std::set<int> all;
  for (const std::vector<int> &own : processors)
    all.insert(own.begin(), own.end());
  // A container may have a smaller CPU quota. (This thread's mask is irrelevant
  // here: another team may have bound it.)
  auto numProcessors = static_cast<int64_t>(all.size());
  numProcessors = std::min(
      numProcessors, controlGroupLimits().processors.value_or(numProcessors));
  auto team = start(*size, numProcessors);
  if (team) {
    LLMIR_RETURN_IF_ERROR((*team)->state->bind(processors));
    (*team)->state->processors = std::move(processors);
  }
  return team;
}

WorkerTeam::WorkerTeam(std::unique_ptr<State> state)
    : state(std::move(state)) {}
WorkerTeam::~WorkerTeam() = default;

int64_t WorkerTeam::size() const { return state->size; }

const std::vector<std::vector<int>> &WorkerTeam::processors() const {
  return state->processors;
}

void WorkerTeam::runJob(void (*job)(void *, int64_t), void *data) {
  if (state->size == 1)
    return job(data, 0);
  state->job = job;
  state->data = data;
  state->run(state->size);
}

int64_t WorkerTeam::chooseWorkers() {
  return state->size == 1 ? 1 : state->contention->next();
}

void WorkerTeam::runJob(void (*job)(void *, int64_t), void *data,
                        int64_t workers) {
  if (state->size == 1)
    return job(data, 0);
  state->job = job;
  state->data = data;
  state->run(workers);
  state->contention->finished(workers, state->wasContended);
}

/// Runs a job of `count` independent parts.
void WorkerTeam::runPart(void (*job)(void *, int64_t), void *data,
                         int64_t count) {
  const int64_t workers = std::min(count, state->contention->current());
  if (workers <= 1)
    return job(data, 0);
  state->job = job;
  state->data = data;
  state->run(workers);
}

void WorkerTeam::barrier(int64_t worker) {
  if (state->active == 1)
    return;
  uint32_t before = state->passed.value();
  if (state->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 ==
      state->active) {
    state->arrived.store(0, std::memory_order_relaxed);
    state->passed.raise();
  } else {
    State::Waits &own = state->waits[static_cast<size_t>(worker)];
    own.asleep += state->passed.waitWhile(before, own.atBarriers).asleep;
  }
}

} // namespace llmir

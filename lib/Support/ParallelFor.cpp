//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/ParallelFor.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <sched.h>
#include <thread>
#include <vector>

namespace llmir {

int64_t maxParallelism() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return CPU_COUNT(&set);
  // More than a cpu_set_t holds.
  return std::max(1u, std::thread::hardware_concurrency());
}

bool parallelFor(int64_t first, int64_t end, int64_t chunk,
                 const std::function<void(int64_t)> &body) {
  std::atomic<int64_t> next{first};
  std::atomic<bool> isExhausted{false};
  auto work = [&] {
    try {
      for (int64_t from = next.fetch_add(chunk); from < end && !isExhausted;
           from = next.fetch_add(chunk))
        for (int64_t i = from; i < std::min(end, from + chunk); ++i)
          body(i);
    } catch (const std::bad_alloc &) { // Must not leave the thread.
      isExhausted = true;
    }
  };
  const int64_t chunks = (end - first + chunk - 1) / chunk;
  const int64_t workers = std::min(maxParallelism(), chunks);
  std::vector<std::thread> threads;
  try {
    for (int64_t worker = 1; worker < workers; ++worker)
      threads.emplace_back(work);
  } catch (const std::exception &) {
    // No thread, or no memory for one: those that there are do it.
  }
  work();
  for (std::thread &thread : threads)
    thread.join();
  return !isExhausted;
}

void throwBadAlloc() { throw std::bad_alloc(); }

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures the memory bandwidth of this machine: the limit of decoding.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_MEMORYBANDWIDTH_H
#define LLMIR_TOOLS_LLMIR_MEMORYBANDWIDTH_H

#include "llmir/Support/Status.h"

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace llmir {
class WorkerTeam;
}

namespace llmir::cli {

struct ReadBandwidth {
  double bytesPerSecond = 0; ///< Of the best reader.
  const char *reader = "";   ///< Its name.
};

/// Bytes of memory available to programs, including reclaimable page cache; 0:
/// unknown.
int64_t availableMemory();

/// Reads a buffer repeatedly, as decoding reads weights: each worker its own
/// part. Because the load on the machine changes from second to second, one
/// object serves many short measurements.
class MemoryReader {
public:
  /// Allocates a buffer of `bytes`, the size of the data to compare with, since
  /// small data is read from caches. Sizes above 512 MiB make no difference and
  /// are reduced, as is the buffer if it would exceed a quarter of the
  /// available memory or cannot be allocated; notes a reduction by more than
  /// half. `team` must outlive the object. Fails if no memory can be allocated.
  static Expected<std::unique_ptr<MemoryReader>> create(WorkerTeam &team,
                                                        int64_t bytes);

  /// Runs every reader for `seconds`; returns the mean of the best one.
  ReadBandwidth measure(double seconds);

  /// Size of the buffer, and which level of the memory hierarchy holds it as
  /// far as known: "L2", "L3" or "memory".
  int64_t bytes() const { return part * workers; }
  const char *sizeClass() const;

  static int numReaders();

private:
  MemoryReader(WorkerTeam &team, int64_t bytes);
  double measureReader(int reader, double seconds);

  WorkerTeam &team;
  int64_t workers;
  int64_t part;     ///< Bytes of one worker.
  int64_t chunk;    ///< Bytes of it that one pass reads.
  int64_t next = 0; ///< Start of the next pass in each part.
  std::unique_ptr<char, decltype(&std::free)> buffer{nullptr, &std::free};
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_MEMORYBANDWIDTH_H

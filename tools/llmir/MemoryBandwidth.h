//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How fast this machine reads memory, measured: the limit of decoding.
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

/// Bytes of memory that programs can still have, those of the page cache that
/// can be given up among them; 0: not known.
int64_t availableMemory();

/// Reads a buffer over and over, as decoding reads weights: each worker its own
/// part. What else the machine does changes from second to second, so one
/// object serves many short measurements.
class MemoryReader {
public:
  /// Takes a buffer as large as what is to be compared with, `bytes`: what fits
  /// into a cache is read from there. Above 512 MiB it makes no difference; it
  /// is never more than a quarter of the memory that is available, and less
  /// where that cannot be had; less than half of what is wanted is noted.
  /// `team` must outlive the object. Fails when no memory can be had.
  static Expected<std::unique_ptr<MemoryReader>> create(WorkerTeam &team,
                                                        int64_t bytes);

  /// Lets every reader work for `seconds`; the best one's mean counts.
  ReadBandwidth measure(double seconds);

  /// Bytes that are read over and over, and which level of the memory holds
  /// them as far as the system tells: "L2", "L3" or "memory".
  int64_t bytes() const { return part * workers; }
  const char *sizeClass() const;

  static int numReaders();

private:
  MemoryReader(WorkerTeam &team, int64_t bytes);
  double measureReader(int reader, double seconds);

  WorkerTeam &team;
  int64_t workers;
  int64_t part;     ///< Bytes of one worker.
  int64_t piece;    ///< Of them, what one pass reads.
  int64_t next = 0; ///< Where the next pass begins in each part.
  std::unique_ptr<char, decltype(&std::free)> buffer{nullptr, &std::free};
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_MEMORYBANDWIDTH_H

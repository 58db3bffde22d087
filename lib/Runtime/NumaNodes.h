//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The NUMA nodes of a machine and their processors, from Linux's /sys, and the
// system calls that request placement. Does not need libnuma or its tools.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_RUNTIME_NUMANODES_H
#define LLMIR_LIB_RUNTIME_NUMANODES_H

#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmir {

struct NumaNode {
  int number; ///< As numbered by the system.
  std::vector<int> processors;
};

/// The nodes that have processors of `usable` (ascending), with those
/// processors, in order of their numbers; one node if the system does not
/// report any. `root` has the contents of /sys/devices/system/node and is not
/// trusted. Fails with InvalidFile, naming the file.
Expected<std::vector<NumaNode>> readNumaNodes(const std::string &root,
                                              const std::vector<int> &usable);

/// The placement of a worker.
struct WorkerPlace {
  size_t node; ///< Index into the nodes.
  std::vector<int> processors;
};

/// Assigns workers to the processors of all nodes. Consecutive workers share a
/// node, so that contiguous parts of a matrix are placed together. A worker may
/// run on any processor of its node, or on a single one if `pin`.
std::vector<WorkerPlace> placeWorkers(const std::vector<NumaNode> &nodes,
                                      int64_t workers, bool pin);

/// Requests that untouched whole pages of the memory are interleaved across the
/// nodes. Fails with Unsupported if the system refuses.
Status interleavePages(void *memory, int64_t bytes,
                       const std::vector<NumaNode> &nodes);

} // namespace llmir

#endif // LLMIR_LIB_RUNTIME_NUMANODES_H

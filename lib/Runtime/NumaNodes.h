//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A machine's nodes of memory: which processors are near to which, as Linux
// says in /sys, and the system calls that ask for a node. Neither libnuma nor
// its tools are needed.
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
  int number; ///< The system's.
  std::vector<int> processors;
};

/// The nodes that have processors of `usable` (ascending), each with those, in
/// the order of their numbers; one node where the system knows of none. `root`
/// holds what /sys/devices/system/node does; its files are not trusted. Fails
/// with InvalidFile, naming the file.
Expected<std::vector<NumaNode>> readNumaNodes(const std::string &root,
                                              const std::vector<int> &usable);

/// Where a worker runs.
struct WorkerPlace {
  size_t node; ///< Index into the nodes.
  std::vector<int> processors;
};

/// Deals workers out to the processors of all nodes, neighbours to neighbours,
/// so that contiguous shares of a matrix lie together. A worker may run on any
/// processor of its node, or on one only where `pin`.
std::vector<WorkerPlace> placeWorkers(const std::vector<NumaNode> &nodes,
                                      int64_t workers, bool pin);

/// Asks that the whole pages of memory that nobody has touched yet come from
/// the nodes in turn. Fails with Unsupported where the system refuses.
Status interleavePages(void *memory, int64_t bytes,
                       const std::vector<NumaNode> &nodes);

} // namespace llmir

#endif // LLMIR_LIB_RUNTIME_NUMANODES_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Places the memory that a step accesses on the NUMA nodes of the workers that
// access it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_RUNTIME_NUMAPLACEMENT_H
#define LLMIR_LIB_RUNTIME_NUMAPLACEMENT_H

#include "NumaNodes.h"
#include "StepMemory.h"

#include "llmir/Runtime/Executor.h"
#include "llmir/Runtime/WorkerTeam.h"

#include <optional>

namespace llmir {

class NumaPlacement {
public:
  /// Creates the workers, bound to nodes if the policy is FirstTouch. Fails if
  /// the policy is not available.
  Expected<std::unique_ptr<WorkerTeam>>
  startTeam(const ExecutorOptions &options);

  /// Places untouched memory. Returns the weights that steps read: `weights`
  /// itself, or a copy owned by this object.
  Expected<const uint8_t *> place(WorkerTeam &team, const ArtifactInfo &info,
                                  Span<const uint8_t> weights,
                                  const StepMemory &memory,
                                  PagedKVCache &cache);

  /// Size of the copy.
  int64_t bytes() const { return copy ? copy->bytes() : 0; }
  const std::string &text() const { return sentence; }

private:
  bool isActive() const { return nodes.size() > 1; }
  Status prepare(void *memory, int64_t bytes) const;

  NumaPolicy policy = NumaPolicy::Off;
  std::vector<NumaNode> nodes; ///< Empty if the policy is Off.
  std::optional<PageMemory> copy;
  std::string sentence;
};

} // namespace llmir

#endif // LLMIR_LIB_RUNTIME_NUMAPLACEMENT_H

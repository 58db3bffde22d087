//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All memory of a step except the KV pool, allocated once.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_RUNTIME_STEPMEMORY_H
#define LLMIR_LIB_RUNTIME_STEPMEMORY_H

#include "llmir/Artifact/ArtifactInfo.h"
#include "llmir/Support/Status.h"

#include <cstdint>

namespace llmir {

/// Zeroed pages, 64-byte aligned, freed with the object. With guard pages, the
/// memory (its size rounded up to 64) is followed by unreadable pages.
class PageMemory {
public:
  PageMemory() = default;
  ~PageMemory();
  PageMemory(const PageMemory &) = delete;
  PageMemory &operator=(const PageMemory &) = delete;

  /// Called once per object. `what` names the memory in error messages.
  Status allocate(int64_t bytes, bool guardPages, const char *what);
  uint8_t *data() const { return base; }
  int64_t bytes() const { return static_cast<int64_t>(mappedBytes); }
  /// Calls fn(memory, bytes) for the whole mapping, including guard pages.
  template <typename Fn> Status forPages(Fn &&fn) const {
    return fn(mapping, bytes());
  }

private:
  void *mapping = nullptr;
  uint64_t mappedBytes = 0;
  uint8_t *base = nullptr;
};

/// The arena, the logits and the arrays of the step context. T is the token
/// budget, which also bounds the number of sequences of a step.
struct StepMemory {
  uint8_t *arena = nullptr;        ///< Followed by each worker's own memory.
  float *logits = nullptr;         ///< [max logit rows][logits row stride]
  int32_t *tokenIds = nullptr;     ///< [T]
  int32_t *positions = nullptr;    ///< [T]
  int32_t *slots = nullptr;        ///< [groups][T]
  int32_t *queryOffsets = nullptr; ///< [T + 1]
  int32_t *seqLens = nullptr;      ///< [T]
  int32_t *stateSlots = nullptr;   ///< [T]
  int32_t *logitRows = nullptr;    ///< [max logit rows]
  int32_t *blockTables = nullptr;  ///< [groups][T][blocks per sequence]

  Status allocate(const ArtifactInfo &info, int64_t groups,
                  int64_t blocksPerSequence, int64_t workers, bool guardPages);
  int64_t bytes() const;
  const PageMemory &pagesOfArena() const { return arenaPages; }

private:
  PageMemory arenaPages, logitsPages, arrayPages, tablePages;
};

} // namespace llmir

#endif // LLMIR_LIB_RUNTIME_STEPMEMORY_H

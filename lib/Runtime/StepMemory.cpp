//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepMemory.h"

#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace llmir {

PageMemory::~PageMemory() {
  if (mapping)
    munmap(mapping, mappedBytes);
}

/// Unreadable bytes on each side of guarded memory: more than the distance of a
/// typical wrong row or column.
static constexpr int64_t kGuardBytes = int64_t(64) << 20;

Status PageMemory::allocate(int64_t bytes, bool guardPages, const char *what) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t used = (bytes + 63) / 64 * 64;
  const int64_t pages = (used + page - 1) / page * page;
  // At least one page, because vector reads may touch memory of size zero.
  const int64_t inner = pages > 0 ? pages : page;
  const int64_t total = inner + (guardPages ? 2 * kGuardBytes : 0);
  void *memory = mmap(nullptr, static_cast<size_t>(total),
                      guardPages ? PROT_NONE : PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status(StatusCode::ResourceExhausted,
                  std::string("cannot allocate memory for the ") + what + ": " +
                      std::to_string(total) + " bytes",
                  "free memory, or compile with a smaller token budget");
  mapping = memory;
  mappedBytes = static_cast<uint64_t>(total);
  base = static_cast<uint8_t *>(memory);
  if (guardPages) {
    base += kGuardBytes;
    if (mprotect(base, static_cast<size_t>(inner), PROT_READ | PROT_WRITE) != 0)
      return Status(StatusCode::ResourceExhausted,
                    std::string("the system refused guard pages for the ") +
                        what);
    base += inner - used;
  } else {
    madvise(mapping, mappedBytes, MADV_HUGEPAGE); // A hint: may fail.
  }
  return Status::ok();
}

Status StepMemory::allocate(const ArtifactInfo &info, int64_t groups,
                            int64_t blocksPerSequence, int64_t workers,
                            bool guardPages) {
  // validateArtifactInfo bounds every factor: the products do not overflow.
  const int64_t budget = info.tokenBudget;
  LLMIR_RETURN_IF_ERROR(arenaPages.allocate(
      info.arenaBytes + workers * info.workerBytes, guardPages, "arena"));
  LLMIR_RETURN_IF_ERROR(
      logitsPages.allocate(info.maxLogitRows * info.logitsRowStride *
                               static_cast<int64_t>(sizeof(float)),
                           guardPages, "logits"));
  const int64_t arrayEntries = (5 + groups) * budget + 1 + info.maxLogitRows;
  LLMIR_RETURN_IF_ERROR(
      arrayPages.allocate(arrayEntries * static_cast<int64_t>(sizeof(int32_t)),
                          guardPages, "arrays of a step"));
  LLMIR_RETURN_IF_ERROR(
      tablePages.allocate(groups * budget * blocksPerSequence *
                              static_cast<int64_t>(sizeof(int32_t)),
                          guardPages, "block tables"));
  arena = arenaPages.data();
  logits = reinterpret_cast<float *>(logitsPages.data());
  tokenIds = reinterpret_cast<int32_t *>(arrayPages.data());
  positions = tokenIds + budget;
  slots = positions + budget;
  seqLens = slots + groups * budget;
  stateSlots = seqLens + budget;
  queryOffsets = stateSlots + budget;
  logitRows = queryOffsets + budget + 1;
  blockTables = reinterpret_cast<int32_t *>(tablePages.data());
  return Status::ok();
}

int64_t StepMemory::bytes() const {
  return arenaPages.bytes() + logitsPages.bytes() + arrayPages.bytes() +
         tablePages.bytes();
}

} // namespace llmir

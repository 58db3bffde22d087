//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/StatePool.h"

#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using llmir::Status;
using llmir::StatusCode;

namespace mlir::llm::runtime {

StatePool::~StatePool() {
  if (mapping)
    munmap(mapping, mappingBytes);
}

Status StatePool::allocate(const StateGeometry &geometry, bool guardPages) {
  if (geometry.layers == 0)
    return Status::ok();
  if (geometry.layers < 0 || geometry.layers > 65536 || geometry.slots < 1 ||
      geometry.slots > 65536 || geometry.recordBytes < 64 ||
      geometry.recordBytes % 64 != 0)
    return Status(StatusCode::InvalidArgument,
                  "states of layers: " + std::to_string(geometry.slots) +
                      " slots of " + std::to_string(geometry.recordBytes) +
                      " bytes in " + std::to_string(geometry.layers) +
                      " layers",
                  "give 1 to 65536 slots and layers, and a multiple of 64 "
                  "bytes");
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t mostBytes = int64_t(1) << 46; // Half of an address space.
  int64_t used = 0;
  bool tooMuch = __builtin_mul_overflow(geometry.slots * geometry.layers,
                                        geometry.recordBytes, &used) ||
                 used > mostBytes;
  if (!tooMuch) {
    // The end of the pool is that of its last page.
    const int64_t inner = (used + page - 1) / page * page;
    mappingBytes = static_cast<uint64_t>(inner + 2 * page);
    void *memory = mmap(nullptr, mappingBytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    tooMuch = memory == MAP_FAILED;
    mapping = tooMuch ? nullptr : memory;
    if (mapping) {
      uint8_t *first = static_cast<uint8_t *>(mapping) + page;
      tooMuch = mprotect(first, static_cast<size_t>(inner),
                         PROT_READ | PROT_WRITE) != 0;
      base = first + (guardPages ? inner - used : 0);
    }
  }
  if (tooMuch)
    return Status(StatusCode::ResourceExhausted,
                  "cannot allocate memory for the states of " +
                      std::to_string(geometry.slots) + " sequences of " +
                      std::to_string(geometry.recordBytes) + " bytes in " +
                      std::to_string(geometry.layers) + " layers",
                  "use fewer sequences");
  sizes = geometry;
  touched.assign(static_cast<size_t>(sizes.slots), 0);
  free.reserve(static_cast<size_t>(sizes.slots));
  for (int64_t slot = sizes.slots; slot-- > 0;)
    free.push_back(static_cast<int32_t>(slot));
  return Status::ok();
}

Status StatePool::checkRoom(int64_t count) const {
  if (isEmpty() || count <= numFree())
    return Status::ok();
  return Status(StatusCode::ResourceExhausted,
                "the pool of states has room for " +
                    std::to_string(sizes.slots) + " sequences, of which " +
                    std::to_string(sizes.slots - numFree()) + " are used; " +
                    std::to_string(count) + " more are needed",
                "free a sequence, or create the pool for more sequences");
}

int32_t StatePool::take() {
  if (isEmpty())
    return -1;
  const int32_t slot = free.back();
  free.pop_back();
  uint8_t &wasUsed = touched[static_cast<size_t>(slot)];
  if (wasUsed) // Untouched pages are already zero.
    clear(slot);
  wasUsed = 1;
  return slot;
}

void StatePool::release(int32_t slot) {
  if (slot >= 0)
    free.push_back(slot);
}

void StatePool::clear(int32_t slot) {
  for (int64_t layer = 0; slot >= 0 && layer < sizes.layers; ++layer)
    std::memset(record(layer, slot), 0, static_cast<size_t>(sizes.recordBytes));
}

void StatePool::copy(int32_t from, int32_t to) {
  for (int64_t layer = 0; from >= 0 && layer < sizes.layers; ++layer)
    std::memcpy(record(layer, to), record(layer, from),
                static_cast<size_t>(sizes.recordBytes));
}

} // namespace mlir::llm::runtime

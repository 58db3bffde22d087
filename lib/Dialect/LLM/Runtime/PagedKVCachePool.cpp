//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pool and its blocks, with those of windows.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using llmir::Span;
using llmir::Status;
using llmir::StatusCode;

namespace mlir::llm::runtime {

static int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

//===----------------------------------------------------------------------===//
// Groups of layers
//===----------------------------------------------------------------------===//

std::vector<int64_t> distinctWindows(Span<const int64_t> windows) {
  std::vector<int64_t> result(windows.begin(), windows.end());
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  if (!result.empty() && result.front() == 0)
    result.erase(result.begin());
  return result;
}

Status PagedKVCache::initializeWindows(const PagedKVCacheOptions &options,
                                       int64_t numBlocks) {
  const std::vector<int64_t> windows = distinctWindows(options.windows);
  auto refuse = [](const std::string &cause, const char *advice) {
    return Status(StatusCode::InvalidArgument, "KV cache: " + cause, advice);
  };
  if (!options.windows.empty() &&
      static_cast<int64_t>(options.windows.size()) != layers)
    return refuse(std::to_string(options.windows.size()) + " windows for " +
                      std::to_string(layers) + " layers",
                  "give one for each layer, or none");
  if (!windows.empty() && windows.front() < 0)
    return refuse("a window of " + std::to_string(windows.front()) + " tokens",
                  "give a number from 1, or 0 for all tokens");
  if (!options.windowBlocks.empty() &&
      options.windowBlocks.size() != windows.size())
    return refuse("numbers of blocks for " +
                      std::to_string(options.windowBlocks.size()) + " of " +
                      std::to_string(windows.size()) + " windows",
                  "give one for each different window, or none");
  for (size_t w = 0; w < windows.size(); ++w) {
    const int64_t blocks =
        options.windowBlocks.empty() ? numBlocks : options.windowBlocks[w];
    if (blocks < 1 || blocks > numBlocks)
      return refuse(std::to_string(blocks) + " blocks for windows of " +
                        std::to_string(windows[w]) + " tokens",
                    "give a number from 1 to that of all blocks");
    windowGroups.emplace_back(windows[w], layout.blockSize, blocks, numBlocks);
  }
  if (windows.empty())
    return Status::ok();
  for (int64_t window : options.windows)
    groups.push_back(static_cast<int32_t>(
        window == 0
            ? 0
            : 1 + (std::lower_bound(windows.begin(), windows.end(), window) -
                   windows.begin())));
  return Status::ok();
}

const int32_t *PagedKVCache::layerGroups() const {
  return groups.empty() ? singleGroup() : groups.data();
}

const int32_t *PagedKVCache::singleGroup() {
  static const int32_t zeros[llmir::kvMaxLayers] = {};
  return zeros;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Maps all layers at once, at the distance of the largest one. With guard
/// pages, the end of each such layer (rounded down to 64 bytes) is followed by
/// an unreadable page. With windows, the rest of smaller layers is unreadable,
/// and takes no memory.
Status PagedKVCache::mapPool(bool lazy, bool guardPages) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t mostBytes = int64_t(1) << 46; // Half of an address space.
  const bool hasGaps = guardPages || !groups.empty();
  int64_t most = groups.empty() ? mainBlocks : 0, layerBytes, total;
  for (int64_t layer = 0; !groups.empty() && layer < layers; ++layer)
    most = std::max(most, blocksOfLayer(layer));
  bool tooMuch =
      __builtin_mul_overflow(most, layout.blockBytes(), &layerBytes) ||
      layerBytes > mostBytes;
  if (!tooMuch) {
    strideBytes = hasGaps ? roundUp(layerBytes, page) + (guardPages ? page : 0)
                          : roundUp(layerBytes, 64);
    tooMuch = __builtin_mul_overflow(strideBytes, layers, &total) ||
              total > mostBytes;
  }
  if (!tooMuch) {
    mappingBytes = static_cast<uint64_t>(total + (guardPages ? page : 0));
    void *memory = mmap(
        nullptr, mappingBytes, hasGaps ? PROT_NONE : PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | (lazy ? MAP_NORESERVE : 0), -1, 0);
    tooMuch = memory == MAP_FAILED;
    mapping = tooMuch ? nullptr : memory;
  }
  if (tooMuch)
    return Status(StatusCode::ResourceExhausted,
                  "KV cache: cannot allocate memory for " +
                      std::to_string(mainBlocks) + " blocks of " +
                      std::to_string(layout.blockBytes()) + " bytes in " +
                      std::to_string(layers) + " layers",
                  "use a shorter context or fewer blocks");
  poolBase = static_cast<uint8_t *>(mapping);
  poolBytes = strideBytes * layers;
  if (guardPages)
    poolBase += page + (strideBytes - page - layerBytes) / 64 * 64;
  if (!groups.empty()) {
    poolBytes = 0;
    for (int64_t layer = 0; layer < layers; ++layer)
      poolBytes += blocksOfLayer(layer) * layout.blockBytes();
  }
  if (hasGaps)
    LLMIR_RETURN_IF_ERROR(protectLayers(page));
  if (!guardPages && !lazy)
    madvise(mapping, mappingBytes, MADV_HUGEPAGE); // A hint: may fail.
  return Status::ok();
}

/// Makes the pages of each layer's blocks readable and writable.
Status PagedKVCache::protectLayers(int64_t page) {
  for (int64_t layer = 0; layer < layers; ++layer) {
    const auto begin =
        reinterpret_cast<intptr_t>(poolBase + layer * strideBytes);
    const intptr_t end = begin + blocksOfLayer(layer) * layout.blockBytes();
    const intptr_t first = begin / page * page;
    if (mprotect(reinterpret_cast<void *>(first),
                 static_cast<size_t>(roundUp(end - first, page)),
                 PROT_READ | PROT_WRITE) != 0)
      return Status(StatusCode::ResourceExhausted,
                    "KV cache: the system refused the memory of a layer",
                    "use a shorter context or fewer blocks");
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// A block with one owner, and one of each window for it.
int32_t PagedKVCache::takeBlock() {
  if (manager.numFree() == 0)
    evictOldest();
  const int32_t block = manager.allocate();
  for (WindowBlocks &window : windowGroups)
    window.attach(block);
  return block;
}

int32_t PagedKVCache::takeZeroedBlock() {
  const int32_t block = takeBlock();
  uint8_t &wasUsed = touched[static_cast<size_t>(block)];
  for (int64_t layer = 0; layer < layers; ++layer) {
    const WindowBlocks *window = windowOf(layer);
    // Untouched pages are already zero.
    if (window ? window->wasUsedBefore(block) : wasUsed)
      std::memset(blockAddress(layer, blockIn(layer, block)), 0,
                  static_cast<size_t>(layout.blockBytes()));
  }
  wasUsed = 1;
  return block;
}

void PagedKVCache::copyBlock(int32_t from, int32_t to) {
  for (int64_t layer = 0; layer < layers; ++layer)
    std::memcpy(blockAddress(layer, blockIn(layer, to)),
                blockAddress(layer, blockIn(layer, from)),
                static_cast<size_t>(layout.blockBytes()));
  touched[static_cast<size_t>(to)] = 1;
  ++copiedBlocks;
}

void PagedKVCache::addOwner(int32_t block) {
  if (prefixes.isIdle(block))
    prefixes.setUsed(block);
  manager.addReference(block);
}

void PagedKVCache::removeOwner(int32_t block) {
  manager.release(block);
  if (prefixes.contains(block) && manager.refCount(block) == 1)
    prefixes.setIdle(block);
}

void PagedKVCache::releaseBlocks(Sequence &sequence, size_t keep) {
  while (sequence.table.size() > keep) {
    const int32_t block = sequence.table.back();
    forWindows(sequence, sequence.table.size() - 1,
               [&](WindowBlocks &window) { window.release(block); });
    removeOwner(block);
    sequence.table.pop_back();
  }
}

void PagedKVCache::releasePassed(Sequence &sequence) {
  for (size_t w = 0; w < windowGroups.size(); ++w) {
    int32_t &kept = sequence.firstKept[w];
    for (const int64_t needed = windowGroups[w].firstNeeded(sequence.length);
         kept < needed; ++kept)
      windowGroups[w].release(sequence.table[static_cast<size_t>(kept)]);
  }
}

void PagedKVCache::releasePassed(SequenceId sequence) {
  if (Sequence *found = find(sequence))
    releasePassed(*found);
}

//===----------------------------------------------------------------------===//
// Arrays of a step
//===----------------------------------------------------------------------===//

/// Writes the slots of the tokens from `first` on, in each group `stride`
/// entries after those of the group before.
void PagedKVCache::writeSlots(const Sequence &sequence, int64_t first,
                              int32_t *slots, size_t stride) const {
  const int64_t size = layout.blockSize;
  for (int64_t group = 0; group < numGroups(); ++group, slots += stride) {
    int32_t *slot = slots;
    for (int64_t token = first; token < sequence.length; ++token) {
      int64_t block = sequence.table[static_cast<size_t>(token / size)];
      if (group > 0)
        block = windowGroups[static_cast<size_t>(group) - 1].of(
            static_cast<int32_t>(block));
      *slot++ = static_cast<int32_t>(block * size + token % size);
    }
  }
}

void PagedKVCache::fillGroupTable(SequenceId id, int64_t group, int32_t *row,
                                  int64_t size) const {
  const Sequence *sequence = find(id);
  std::fill(row, row + size, 0);
  if (!sequence)
    return;
  if (group == 0) {
    std::copy(sequence->table.begin(), sequence->table.end(), row);
    return;
  }
  const auto window = static_cast<size_t>(group) - 1;
  for (auto i = static_cast<size_t>(sequence->firstKept[window]);
       i < sequence->table.size(); ++i)
    row[i] = windowGroups[window].of(sequence->table[i]);
}

} // namespace mlir::llm::runtime

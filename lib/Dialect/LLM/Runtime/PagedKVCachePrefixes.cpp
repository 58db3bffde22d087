//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks and states that outlive their sequences, for later sequences with the
// same first tokens.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <cassert>
#include <string>

using llmir::Expected;
using llmir::Span;
using llmir::Status;
using llmir::StatusCode;

namespace mlir::llm::runtime {

//===----------------------------------------------------------------------===//
// Eviction
//===----------------------------------------------------------------------===//

void PagedKVCache::evictOldest() {
  const int32_t block = prefixes.oldestIdle();
  assert(block >= 0 && "the caller checks numAvailable()");
  statePool.release(prefixes.remove(block));
  for (WindowBlocks &window : windowGroups)
    window.unshare(block);
  manager.release(block);
  ++evictedBlocks;
}

int64_t PagedKVCache::evict(int64_t count) {
  const int64_t freed =
      std::min(std::max<int64_t>(count, 0), prefixes.numIdle());
  for (int64_t i = 0; i < freed; ++i)
    evictOldest();
  return freed;
}

//===----------------------------------------------------------------------===//
// States of layers: checkpoints give way to sequences
//===----------------------------------------------------------------------===//

Status PagedKVCache::checkStateRoom(int64_t count) const {
  return statePool.checkRoom(count - prefixes.numCheckpoints());
}

void PagedKVCache::dropOldestCheckpoint() {
  const int32_t block = prefixes.oldestCheckpoint();
  statePool.release(prefixes.checkpoint(block));
  prefixes.setCheckpoint(block, PrefixTree::none);
}

int32_t PagedKVCache::takeStateSlot() {
  if (!statePool.isEmpty() && statePool.numFree() == 0)
    dropOldestCheckpoint();
  return statePool.take();
}

/// Copies the state of a sequence that ends with `lastBlock`, or notes that the
/// copy was used.
void PagedKVCache::keepState(const Sequence &sequence, int32_t lastBlock) {
  int32_t slot = prefixes.checkpoint(lastBlock);
  if (slot == PrefixTree::none) {
    if (statePool.numFree() == 0 && prefixes.numCheckpoints() == 0)
      return;
    slot = takeStateSlot();
    statePool.copy(sequence.stateSlot, slot);
  }
  prefixes.setCheckpoint(lastBlock, slot);
}

//===----------------------------------------------------------------------===//
// Sharing
//===----------------------------------------------------------------------===//

Status PagedKVCache::share(SequenceId id, Span<const int32_t> tokens,
                           uint64_t salt, SharedBlocks blocks) {
  LLMIR_RETURN_IF_ERROR(constructed);
  auto refuse = [&](const char *cause, const char *advice) {
    return Status(StatusCode::InvalidArgument,
                  "sequence " + std::to_string(id) + " " + cause, advice);
  };
  Sequence *sequence = find(id);
  if (!sequence)
    return refuse("does not exist", "create it first with createSequence()");
  if (!prefixes.isEnabled())
    return refuse("cannot be shared: the cache keeps no prefixes",
                  "create the cache with keepsPrefixes");
  if (!sequence->evenLayers)
    return refuse("has a different number of tokens in each layer",
                  "append the missing layers first");
  const int64_t length =
      std::min(sequence->length, static_cast<int64_t>(tokens.size()));
  const int64_t numBlocks = length / layout.blockSize;
  int32_t parent = PrefixTree::none;
  for (int64_t i = 0; i < numBlocks; ++i) {
    int32_t &block = sequence->table[static_cast<size_t>(i)];
    const Span<const int32_t> blockTokens =
        tokens.subspan(static_cast<size_t>(i * layout.blockSize),
                       static_cast<size_t>(layout.blockSize));
    const int32_t known = prefixes.find(parent, salt, blockTokens);
    if (known != block && prefixes.contains(block))
      return refuse("was shared with other tokens or another salt",
                    "give the tokens of the sequence");
    if (known == PrefixTree::none) {
      manager.addReference(block);
      prefixes.insert(block, parent, salt, blockTokens);
      for (WindowBlocks &window : windowGroups)
        window.share(block);
    } else if (known != block) {
      // Forks share all blocks before a shared one (I5): one of them alone
      // cannot replace a block.
      if (manager.refCount(block) > 1)
        return Status::ok();
      replaceBlock(*sequence, static_cast<size_t>(i), known);
    }
    parent = block;
  }
  if (!statePool.isEmpty() && numBlocks > 0 &&
      sequence->length == numBlocks * layout.blockSize)
    keepState(*sequence, parent);
  if (blocks == SharedBlocks::All)
    shareLastBlock(*sequence, tokens.subspan(0, static_cast<size_t>(length)),
                   parent, salt);
  return Status::ok();
}

/// Replaces a block that only the sequence has by an offered one with the same
/// tokens.
void PagedKVCache::replaceBlock(Sequence &sequence, size_t entry,
                                int32_t known) {
  int32_t &block = sequence.table[entry];
  addOwner(known);
  forWindows(sequence, entry, [&](WindowBlocks &window) {
    if (!window.has(known)) { // It was needed for something else.
      window.move(block, known);
      window.share(known);
    } else {
      window.hold(known);
      window.release(block);
    }
  });
  removeOwner(block);
  block = known;
}

bool PagedKVCache::isInAllWindows(int32_t block) const {
  return std::all_of(
      windowGroups.begin(), windowGroups.end(),
      [&](const WindowBlocks &window) { return window.has(block); });
}

/// Offers the block that is not full, if the tokens end there. `tokens`: those
/// that the sequence has.
void PagedKVCache::shareLastBlock(Sequence &sequence,
                                  Span<const int32_t> tokens, int32_t parent,
                                  uint64_t salt) {
  const auto length = static_cast<int64_t>(tokens.size());
  const int64_t inBlock = length % layout.blockSize;
  if (inBlock < prefixes.minTokens() || length != sequence.length)
    return;
  const Span<const int32_t> last = tokens.subspan(
      static_cast<size_t>(length - inBlock), static_cast<size_t>(inBlock));
  const int32_t block = sequence.table.back();
  // A fork may have more tokens in a block that it shares; so may the tree.
  if (manager.refCount(block) > 1)
    return;
  int32_t known = prefixes.find(parent, salt, last);
  if (known == PrefixTree::none && statePool.isEmpty()) {
    const PartialMatch longer = prefixes.findBeginning(
        parent, salt, last, /*needsCheckpoint=*/false,
        [this](int32_t other) { return isInAllWindows(other); });
    if (longer.tokens == inBlock)
      known = longer.block;
  }
  if (known == PrefixTree::none) {
    known = block;
    manager.addReference(block);
    prefixes.insert(block, parent, salt, last);
    for (WindowBlocks &window : windowGroups)
      window.share(block);
  } else if (isInAllWindows(known)) { // Note that it was used.
    addOwner(known);
    removeOwner(known);
    for (WindowBlocks &window : windowGroups) {
      window.hold(known);
      window.release(known);
    }
  } else { // It has the same tokens, and gets the windows that it lacks.
    replaceBlock(sequence, sequence.table.size() - 1, known);
    // The block of a window may have had more tokens before.
    sequence.dirtyTail = true;
  }
  if (!statePool.isEmpty())
    keepState(sequence, known);
}

namespace {
/// Counts, for each window, the last blocks of a prefix that have one there.
class WindowRuns {
public:
  explicit WindowRuns(const std::vector<WindowBlocks> &windows)
      : windows(windows), runs(windows.size(), 0) {}

  void add(int32_t block) {
    ++count;
    for (size_t w = 0; w < windows.size(); ++w)
      runs[w] = windows[w].has(block) ? runs[w] + 1 : 0;
  }
  /// Whether a sequence can start with the blocks so far and with so many
  /// tokens of another one in all windows.
  bool suffice(int64_t blockSize, int64_t tokens = 0) const {
    for (size_t w = 0; w < windows.size(); ++w)
      if (count - runs[w] > windows[w].firstNeeded(count * blockSize + tokens))
        return false;
    return true;
  }

private:
  const std::vector<WindowBlocks> &windows;
  std::vector<int64_t> runs;
  int64_t count = 0;
};
} // namespace

/// The blocks of the longest prefix that a sequence can start with. If layers
/// keep a state, only where a copy of it was kept; if they keep windows, only
/// where all blocks in them exist.
PagedKVCache::PrefixBlocks PagedKVCache::findPrefix(Span<const int32_t> tokens,
                                                    uint64_t salt) const {
  PrefixBlocks prefix;
  if (!prefixes.isEnabled())
    return prefix;
  const bool hasStates = !statePool.isEmpty();
  const size_t count = std::min(tokens.size(), static_cast<size_t>(longest));
  const auto blockSize = static_cast<size_t>(layout.blockSize);
  size_t usable = 0;     // Full blocks.
  size_t beforeLast = 0; // Full blocks before prefix.last.
  int32_t parent = PrefixTree::none;
  WindowRuns windows(windowGroups);
  for (size_t end = 0;; end += blockSize) {
    const int32_t block =
        end + blockSize <= count
            ? prefixes.find(parent, salt, tokens.subspan(end, blockSize))
            : PrefixTree::none;
    if (block == PrefixTree::none || hasStates || !isInAllWindows(block)) {
      const PartialMatch beginning = prefixes.findBeginning(
          parent, salt, tokens.subspan(end, count - end), hasStates,
          [this](int32_t other) { return isInAllWindows(other); });
      if (beginning.tokens > 0 &&
          windows.suffice(layout.blockSize, beginning.tokens)) {
        prefix.last = beginning;
        beforeLast = prefix.full.size();
      }
    }
    if (block == PrefixTree::none)
      break;
    prefix.full.push_back(parent = block);
    windows.add(block);
    if ((!hasStates || prefixes.checkpoint(block) != PrefixTree::none) &&
        windows.suffice(layout.blockSize))
      usable = prefix.full.size();
  }
  if (prefix.last.tokens > 0 && usable <= beforeLast) {
    prefix.full.resize(beforeLast);
    if (hasRoomToCopy(prefix))
      return prefix;
  }
  prefix.last = {};
  prefix.full.resize(usable);
  return prefix;
}

/// Available blocks of a window that a start takes, as CachedPrefix.
int64_t PagedKVCache::windowStartBlocks(const PrefixBlocks &prefix,
                                        size_t window) const {
  const WindowBlocks &blocks = windowGroups[window];
  int64_t count = prefix.last.tokens > 0;
  for (auto i = static_cast<size_t>(blocks.firstNeeded(tokensOf(prefix)));
       i < prefix.full.size(); ++i)
    count += blocks.isIdle(prefix.full[i]);
  return count;
}

/// While the last block is copied, it must not be evicted either.
bool PagedKVCache::hasRoomToCopy(const PrefixBlocks &prefix) const {
  int64_t needed = 1 + prefixes.isIdle(prefix.last.block);
  for (int32_t block : prefix.full)
    needed += prefixes.isIdle(block);
  for (size_t w = 0; w < windowGroups.size(); ++w)
    if (windowStartBlocks(prefix, w) +
            windowGroups[w].isIdle(prefix.last.block) >
        windowGroups[w].numAvailable())
      return false;
  return needed <= numAvailable();
}

void PagedKVCache::copyBeginning(const PartialMatch &match,
                                 Sequence &sequence) {
  addOwner(match.block);
  for (WindowBlocks &window : windowGroups)
    window.hold(match.block);
  const int32_t copy = takeBlock();
  copyBlock(match.block, copy);
  for (WindowBlocks &window : windowGroups)
    window.release(match.block);
  removeOwner(match.block);
  sequence.table.push_back(copy);
  sequence.length += match.tokens;
  sequence.dirtyTail = true;
}

Expected<int64_t> PagedKVCache::createSequence(SequenceId id,
                                               Span<const int32_t> tokens,
                                               uint64_t salt) {
  // The sequence's slot may be that of the oldest checkpoint: not of this one,
  // unless it is the only one.
  auto lastBlock = [](const PrefixBlocks &prefix) {
    if (prefix.last.tokens > 0)
      return prefix.last.block;
    return prefix.full.empty() ? PrefixTree::none : prefix.full.back();
  };
  PrefixBlocks prefix = findPrefix(tokens, salt);
  if (const int32_t last = lastBlock(prefix);
      !statePool.isEmpty() && last != PrefixTree::none)
    prefixes.setCheckpoint(last, prefixes.checkpoint(last));
  LLMIR_RETURN_IF_ERROR(createSequence(id));
  Sequence &sequence = *find(id);
  if (!statePool.isEmpty())
    prefix = findPrefix(tokens, salt);
  const int64_t start = tokensOf(prefix);
  for (size_t w = 0; w < windowGroups.size(); ++w)
    sequence.firstKept[w] =
        static_cast<int32_t>(windowGroups[w].firstNeeded(start));
  for (int32_t block : prefix.full) {
    addOwner(block);
    forWindows(sequence, sequence.table.size(),
               [&](WindowBlocks &window) { window.hold(block); });
    sequence.table.push_back(block);
  }
  sequence.length = static_cast<int64_t>(prefix.full.size()) * layout.blockSize;
  if (prefix.last.tokens > 0)
    copyBeginning(prefix.last, sequence);
  std::fill(sequence.layerLengths.begin(), sequence.layerLengths.end(),
            static_cast<int32_t>(sequence.length));
  if (const int32_t last = lastBlock(prefix);
      !statePool.isEmpty() && last != PrefixTree::none)
    statePool.copy(prefixes.checkpoint(last), sequence.stateSlot);
  lookedUpTokens += static_cast<int64_t>(tokens.size());
  foundTokens += sequence.length;
  return sequence.length;
}

CachedPrefix PagedKVCache::lookUp(Span<const int32_t> tokens,
                                  uint64_t salt) const {
  const PrefixBlocks prefix = findPrefix(tokens, salt);
  CachedPrefix result;
  result.tokens = tokensOf(prefix);
  result.startBlocks = prefix.last.tokens > 0;
  for (int32_t block : prefix.full)
    result.startBlocks += prefixes.isIdle(block);
  for (size_t w = 0; w < windowGroups.size(); ++w)
    result.windowStartBlocks.push_back(windowStartBlocks(prefix, w));
  return result;
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

int64_t PagedKVCache::numOwnBlocks(SequenceId id) const {
  int64_t count = 0;
  for (int32_t block : blockTable(id))
    count += manager.refCount(block) - prefixes.contains(block) == 1;
  return count;
}

int64_t PagedKVCache::numOwnWindowBlocks(SequenceId id, size_t window) const {
  const Sequence *sequence = find(id);
  int64_t count = 0;
  for (size_t i = sequence ? sequence->firstKept[window] : 0;
       sequence && i < sequence->table.size(); ++i)
    count += windowGroups[window].numHolders(sequence->table[i]) == 1;
  return count;
}

int64_t PagedKVCache::numWindowBlocks(SequenceId id, size_t window) const {
  const Sequence *sequence = find(id);
  return sequence ? static_cast<int64_t>(sequence->table.size()) -
                        sequence->firstKept[window]
                  : 0;
}

bool PagedKVCache::copiesLastBlock(SequenceId id) const {
  const Sequence *sequence = find(id);
  return sequence && sequence->length % layout.blockSize != 0 &&
         manager.refCount(sequence->table.back()) > 1;
}

CacheStatistics PagedKVCache::statistics() const {
  CacheStatistics result;
  result.numBlocks = manager.numBlocks();
  result.freeBlocks = manager.numFree();
  result.idleBlocks = prefixes.numIdle();
  result.usedBlocks = manager.numUsed() - prefixes.numIdle();
  result.sequences = getNumSequences();
  result.checkpoints = prefixes.numCheckpoints();
  result.lookedUpTokens = lookedUpTokens;
  result.foundTokens = foundTokens;
  result.evictedBlocks = evictedBlocks;
  result.copiedBlocks = copiedBlocks;
  for (const WindowBlocks &window : windowGroups) {
    result.windowBlocks += window.numBlocks();
    result.freeWindowBlocks += window.numFree();
    result.idleWindowBlocks += window.numIdle();
    result.evictedWindowBlocks += window.numEvicted();
  }
  result.usedWindowBlocks =
      result.windowBlocks - result.freeWindowBlocks - result.idleWindowBlocks;
  return result;
}

std::vector<int32_t> PagedKVCache::blockUses() const {
  std::vector<int32_t> uses;
  uses.reserve(static_cast<size_t>(manager.numBlocks()));
  for (int32_t block = 0; block < manager.numBlocks(); ++block)
    // The tree itself is an owner.
    uses.push_back(prefixes.isIdle(block)
                       ? -1
                       : manager.refCount(block) - prefixes.contains(block));
  return uses;
}

} // namespace mlir::llm::runtime

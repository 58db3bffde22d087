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

/// Copies the state of a sequence that ends with `lastBlock`.
void PagedKVCache::keepState(const Sequence &sequence, int32_t lastBlock) {
  if (prefixes.checkpoint(lastBlock) != PrefixTree::none ||
      (statePool.numFree() == 0 && prefixes.numCheckpoints() == 0))
    return;
  const int32_t slot = takeStateSlot();
  statePool.copy(sequence.stateSlot, slot);
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
    const int32_t known = prefixes.find(parent, salt, blockTokens.data());
    if (known != block && prefixes.contains(block))
      return refuse("was shared with other tokens or another salt",
                    "give the tokens of the sequence");
    if (known == PrefixTree::none) {
      manager.addReference(block);
      prefixes.insert(block, parent, salt, blockTokens);
    } else if (known != block) {
      // Forks share all blocks before a shared one (I5): one of them alone
      // cannot replace a block.
      if (manager.refCount(block) > 1)
        return Status::ok();
      addOwner(known);
      removeOwner(block);
      block = known;
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

/// Offers the block that is not full, if the tokens end there. `tokens`: those
/// that the sequence has.
void PagedKVCache::shareLastBlock(const Sequence &sequence,
                                  Span<const int32_t> tokens, int32_t parent,
                                  uint64_t salt) {
  const auto length = static_cast<int64_t>(tokens.size());
  const int64_t inBlock = length % layout.blockSize;
  if (inBlock < prefixes.fewestTokens() || length != sequence.length)
    return;
  const Span<const int32_t> last = tokens.subspan(
      static_cast<size_t>(length - inBlock), static_cast<size_t>(inBlock));
  int32_t block = sequence.table.back();
  // A fork may have more tokens in a block that it shares; so may the tree.
  if (manager.refCount(block) > 1)
    return;
  const PartialMatch known = prefixes.findBeginning(
      parent, salt, last,
      statePool.isEmpty() ? Beginning::Any : Beginning::WholeNode);
  if (known.tokens == inBlock) {
    block = known.block;
  } else {
    manager.addReference(block);
    prefixes.insert(block, parent, salt, last);
  }
  if (!statePool.isEmpty())
    keepState(sequence, block);
}

/// The blocks of the longest prefix that a sequence can start with.
PagedKVCache::PrefixBlocks PagedKVCache::findPrefix(Span<const int32_t> tokens,
                                                    uint64_t salt) const {
  PrefixBlocks prefix;
  if (!prefixes.isEnabled())
    return prefix;
  const size_t count = std::min(tokens.size(), static_cast<size_t>(longest));
  const auto blockSize = static_cast<size_t>(layout.blockSize);
  size_t end = 0, usable = 0;
  int32_t parent = PrefixTree::none;
  for (; end + blockSize <= count; end += blockSize) {
    const int32_t block = prefixes.find(parent, salt, tokens.data() + end);
    if (block == PrefixTree::none)
      break;
    prefix.full.push_back(parent = block);
    if (statePool.isEmpty() || prefixes.checkpoint(block) != PrefixTree::none)
      usable = prefix.full.size();
  }
  prefix.last = prefixes.findBeginning(
      parent, salt, tokens.subspan(end, count - end),
      statePool.isEmpty() ? Beginning::Any : Beginning::WithCheckpoint);
  if (prefix.last.tokens > 0 && hasRoomToCopy(prefix))
    return prefix;
  prefix.last = {};
  prefix.full.resize(usable);
  return prefix;
}

/// While the last block is copied, it must not be evicted either.
bool PagedKVCache::hasRoomToCopy(const PrefixBlocks &prefix) const {
  int64_t needed = 1 + prefixes.isIdle(prefix.last.block);
  for (int32_t block : prefix.full)
    needed += prefixes.isIdle(block);
  return needed <= numAvailable();
}

void PagedKVCache::copyBeginning(const PartialMatch &match,
                                 Sequence &sequence) {
  addOwner(match.block);
  const int32_t copy = takeBlock();
  copyBlock(match.block, copy);
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
  for (int32_t block : prefix.full) {
    addOwner(block);
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
  result.tokens = static_cast<int64_t>(prefix.full.size()) * layout.blockSize +
                  prefix.last.tokens;
  result.newBlocks = prefix.last.tokens > 0;
  for (int32_t block : prefix.full)
    result.newBlocks += prefixes.isIdle(block);
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

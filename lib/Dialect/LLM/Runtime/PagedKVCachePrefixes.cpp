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
  return statePool.checkRoom(count - prefixes.numCheckpoints() -
                             last.has_value());
}

void PagedKVCache::dropOldestCheckpoint() {
  const int32_t block = prefixes.oldestCheckpoint();
  statePool.release(prefixes.checkpoint(block));
  prefixes.setCheckpoint(block, PrefixTree::none);
}

int32_t PagedKVCache::takeStateSlot() {
  const bool isFull = !statePool.isEmpty() && statePool.numFree() == 0;
  if (isFull && last)
    freeLast();
  else if (isFull)
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
                           uint64_t salt) {
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
    const int32_t *blockTokens = tokens.data() + i * layout.blockSize;
    const int32_t known = prefixes.find(parent, salt, blockTokens);
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
  return Status::ok();
}

/// The blocks of the longest prefix that a sequence can start with.
std::vector<int32_t> PagedKVCache::findPrefix(Span<const int32_t> tokens,
                                              uint64_t salt) const {
  if (!prefixes.isEnabled())
    return {};
  const int64_t most =
      std::min(static_cast<int64_t>(tokens.size()), longest) / layout.blockSize;
  std::vector<int32_t> blocks;
  size_t usable = 0;
  for (int64_t i = 0; i < most; ++i) {
    const int32_t parent = blocks.empty() ? PrefixTree::none : blocks.back();
    const int32_t block =
        prefixes.find(parent, salt, tokens.data() + i * layout.blockSize);
    if (block == PrefixTree::none)
      break;
    blocks.push_back(block);
    if (statePool.isEmpty() || prefixes.checkpoint(block) != PrefixTree::none)
      usable = blocks.size();
  }
  blocks.resize(usable);
  return blocks;
}

Expected<int64_t> PagedKVCache::createSequence(SequenceId id,
                                               Span<const int32_t> tokens,
                                               uint64_t salt) {
  if (isLastKept)
    return continueLast(id, tokens, salt);
  // The sequence's slot may be that of the oldest checkpoint: not of this one,
  // unless it is the only one.
  std::vector<int32_t> blocks = findPrefix(tokens, salt);
  if (!statePool.isEmpty() && !blocks.empty())
    prefixes.setCheckpoint(blocks.back(), prefixes.checkpoint(blocks.back()));
  LLMIR_RETURN_IF_ERROR(createSequence(id));
  Sequence &sequence = *find(id);
  if (!statePool.isEmpty())
    blocks = findPrefix(tokens, salt);
  for (int32_t block : blocks) {
    addOwner(block);
    sequence.table.push_back(block);
  }
  sequence.length = static_cast<int64_t>(blocks.size()) * layout.blockSize;
  std::fill(sequence.layerLengths.begin(), sequence.layerLengths.end(),
            static_cast<int32_t>(sequence.length));
  if (!statePool.isEmpty() && !blocks.empty())
    statePool.copy(prefixes.checkpoint(blocks.back()), sequence.stateSlot);
  lookedUpTokens += static_cast<int64_t>(tokens.size());
  foundTokens += sequence.length;
  return sequence.length;
}

CachedPrefix PagedKVCache::lookUp(Span<const int32_t> tokens,
                                  uint64_t salt) const {
  CachedPrefix prefix;
  if (isLastKept) {
    // Its blocks after the common ones will be free.
    prefix.tokens = commonWithLast(tokens, salt);
    for (int64_t i = 0; i * layout.blockSize < prefix.tokens; ++i)
      prefix.idleBlocks +=
          manager.refCount(last->sequence.table[static_cast<size_t>(i)]) == 1;
    return prefix;
  }
  const std::vector<int32_t> blocks = findPrefix(tokens, salt);
  prefix.tokens = static_cast<int64_t>(blocks.size()) * layout.blockSize;
  for (int32_t block : blocks)
    prefix.idleBlocks += prefixes.isIdle(block);
  return prefix;
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
  result.idleBlocks = numIdle();
  result.usedBlocks = manager.numUsed() - numIdle();
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
  if (last)
    for (int32_t block : last->sequence.table)
      if (int32_t &count = uses[static_cast<size_t>(block)]; --count == 0)
        count = -1;
  return uses;
}

} // namespace mlir::llm::runtime

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PrefixTree.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <random>
#include <string>

using llmir::Span;
using llmir::Status;
using llmir::StatusCode;

namespace mlir::llm::runtime {

//===----------------------------------------------------------------------===//
// The queue
//===----------------------------------------------------------------------===//

IndexQueue::IndexQueue(int64_t size)
    : next(static_cast<size_t>(size) + 1, absent),
      previous(static_cast<size_t>(size) + 1, absent) {
  next.back() = previous.back() = end();
}

int32_t IndexQueue::front() const { return count ? next.back() : absent; }

void IndexQueue::pushBack(int32_t index) {
  assert(!contains(index) && index < end());
  const int32_t last = previous.back();
  next[static_cast<size_t>(last)] = index;
  previous[static_cast<size_t>(index)] = last;
  next[static_cast<size_t>(index)] = end();
  previous.back() = index;
  ++count;
}

void IndexQueue::remove(int32_t index) {
  assert(contains(index) && index < end());
  const int32_t before = previous[static_cast<size_t>(index)];
  const int32_t after = next[static_cast<size_t>(index)];
  next[static_cast<size_t>(before)] = after;
  previous[static_cast<size_t>(after)] = before;
  next[static_cast<size_t>(index)] = absent;
  --count;
}

//===----------------------------------------------------------------------===//
// The tree
//===----------------------------------------------------------------------===//

static uint64_t randomSeed() {
  std::random_device device;
  return uint64_t(device()) << 32 | device();
}

/// The power of two that holds all blocks in buckets of one on average.
static size_t bucketsFor(int64_t numBlocks) {
  size_t size = 1;
  while (size < static_cast<size_t>(numBlocks))
    size *= 2;
  return size;
}

/// Of a block: fewer tokens are not worth a copy.
static constexpr int64_t minSharedFraction = 8;
/// Of the suitable nodes with the same first tokens; others are not compared.
static constexpr int mostCandidates = 16;

PrefixTree::PrefixTree(int64_t numBlocks, int64_t blockSize)
    : blockSize(blockSize),
      leastTokens(std::max<int64_t>(blockSize / minSharedFraction, 1)),
      seed(numBlocks ? randomSeed() : 0), nodes(static_cast<size_t>(numBlocks)),
      tokens(static_cast<size_t>(numBlocks * blockSize)),
      buckets(bucketsFor(numBlocks), none), starts(bucketsFor(numBlocks), none),
      idle(numBlocks), withCheckpoint(numBlocks) {}

size_t PrefixTree::bucketOf(int32_t parent, uint64_t salt,
                            const int32_t *tokens, int64_t count) const {
  const uint64_t above = seed ^ (salt * 0x9e3779b97f4a7c15u) ^
                         (static_cast<uint64_t>(parent) << 32);
  const uint64_t hash = XXH3_64bits_withSeed(
      tokens, static_cast<size_t>(count) * sizeof(int32_t), above);
  return hash & (buckets.size() - 1);
}

size_t PrefixTree::bucketOf(int32_t block, int64_t count) const {
  const Node &node = nodes[static_cast<size_t>(block)];
  return bucketOf(node.parent, node.salt, tokensOf(block), count);
}

int32_t PrefixTree::find(int32_t parent, uint64_t salt,
                         Span<const int32_t> tokens) const {
  if (!isEnabled())
    return none;
  const auto count = static_cast<int64_t>(tokens.size());
  int32_t block = buckets[bucketOf(parent, salt, tokens.data(), count)];
  while (block != none) {
    const Node &node = nodes[static_cast<size_t>(block)];
    if (node.parent == parent && node.salt == salt && node.numTokens == count &&
        std::equal(tokens.begin(), tokens.end(), tokensOf(block)))
      return block;
    block = node.nextInBucket;
  }
  return none;
}

PartialMatch
PrefixTree::findBeginning(int32_t parent, uint64_t salt,
                          Span<const int32_t> tokens, bool needsCheckpoint,
                          const std::function<bool(int32_t)> &mayUse) const {
  PartialMatch best;
  const auto count = static_cast<int64_t>(tokens.size());
  if (!isEnabled() || count < leastTokens)
    return best;
  int32_t block = starts[bucketOf(parent, salt, tokens.data(), leastTokens)];
  for (int compared = 0; block != none && compared < mostCandidates;
       block = nodes[static_cast<size_t>(block)].nextWithStart) {
    const Node &node = nodes[static_cast<size_t>(block)];
    const int32_t *known = tokensOf(block);
    if (node.parent != parent || node.salt != salt ||
        (needsCheckpoint && node.checkpoint == none) ||
        !std::equal(known, known + leastTokens, tokens.begin()))
      continue;
    ++compared;
    if (mayUse && !mayUse(block))
      continue;
    const int64_t most = std::min<int64_t>(node.numTokens, count);
    const int64_t same =
        std::mismatch(known, known + most, tokens.begin()).first - known;
    if (same > best.tokens && (!needsCheckpoint || same == node.numTokens))
      best = {block, same};
  }
  return best;
}

void PrefixTree::insert(int32_t block, int32_t parent, uint64_t salt,
                        Span<const int32_t> tokens) {
  const auto count = static_cast<int64_t>(tokens.size());
  assert(isEnabled() && !contains(block));
  assert(count >= leastTokens && count <= blockSize);
  assert(parent == none ||
         (contains(parent) && numTokens(parent) == blockSize));
  std::copy(tokens.begin(), tokens.end(),
            this->tokens.begin() + block * blockSize);
  Node &node = nodes[static_cast<size_t>(block)];
  node = Node();
  node.parent = parent;
  node.salt = salt;
  node.numTokens = static_cast<int32_t>(count);
  node.isPresent = true;
  int32_t &first = buckets[bucketOf(block, count)];
  node.nextInBucket = first;
  first = block;
  int32_t &firstWithStart = starts[bucketOf(block, leastTokens)];
  node.nextWithStart = firstWithStart;
  if (firstWithStart != none)
    nodes[static_cast<size_t>(firstWithStart)].previousWithStart = block;
  firstWithStart = block;
  if (parent != none)
    ++nodes[static_cast<size_t>(parent)].children;
  ++this->count;
}

void PrefixTree::setIdle(int32_t block) {
  assert(contains(block));
  idle.pushBack(block);
}

void PrefixTree::setUsed(int32_t block) {
  assert(contains(block));
  idle.remove(block);
}

/// Takes a node out of the lists by which it is found.
void PrefixTree::unlink(int32_t block) {
  const Node &node = nodes[static_cast<size_t>(block)];
  int32_t *link = &buckets[bucketOf(block, node.numTokens)];
  while (*link != block)
    link = &nodes[static_cast<size_t>(*link)].nextInBucket;
  *link = node.nextInBucket;
  if (node.nextWithStart != none)
    nodes[static_cast<size_t>(node.nextWithStart)].previousWithStart =
        node.previousWithStart;
  if (node.previousWithStart != none)
    nodes[static_cast<size_t>(node.previousWithStart)].nextWithStart =
        node.nextWithStart;
  else
    starts[bucketOf(block, leastTokens)] = node.nextWithStart;
}

int32_t PrefixTree::remove(int32_t block) {
  assert(isIdle(block) && nodes[static_cast<size_t>(block)].children == 0);
  unlink(block);
  Node &node = nodes[static_cast<size_t>(block)];
  if (node.parent != none)
    --nodes[static_cast<size_t>(node.parent)].children;
  const int32_t slot = node.checkpoint;
  setCheckpoint(block, none);
  idle.remove(block);
  node.isPresent = false;
  --count;
  return slot;
}

void PrefixTree::setCheckpoint(int32_t block, int32_t slot) {
  assert(contains(block));
  if (withCheckpoint.contains(block))
    withCheckpoint.remove(block);
  if (slot != none)
    withCheckpoint.pushBack(block);
  nodes[static_cast<size_t>(block)].checkpoint = slot;
}

/// Whether a node is found by its tokens, and is in the list of its first ones.
bool PrefixTree::isListed(int32_t block) const {
  const Node &node = nodes[static_cast<size_t>(block)];
  const Span<const int32_t> own(tokensOf(block),
                                static_cast<size_t>(node.numTokens));
  if (find(node.parent, node.salt, own) != block)
    return false;
  int32_t before = none;
  int32_t listed = starts[bucketOf(block, leastTokens)];
  while (listed != none && listed != block) {
    before = listed;
    listed = nodes[static_cast<size_t>(listed)].nextWithStart;
  }
  return listed == block && node.previousWithStart == before;
}

Status PrefixTree::checkInvariants() const {
  std::vector<int32_t> children(nodes.size(), 0);
  int64_t present = 0, checkpoints = 0;
  auto broken = [](size_t block, const char *what) {
    return Status(StatusCode::Internal,
                  "prefix tree: block " + std::to_string(block) + " " + what);
  };
  for (size_t block = 0; block < nodes.size(); ++block) {
    const Node &node = nodes[block];
    if (!node.isPresent) {
      if (idle.contains(static_cast<int32_t>(block)))
        return broken(block, "is idle, but not a node");
      continue;
    }
    ++present;
    checkpoints += node.checkpoint != none;
    if (!isListed(static_cast<int32_t>(block)))
      return broken(block, "is not found by its tokens");
    if (node.numTokens != blockSize && node.children != 0)
      return broken(block, "is not full and has children");
    if ((node.checkpoint != none) !=
        withCheckpoint.contains(static_cast<int32_t>(block)))
      return broken(block, "has a checkpoint that is not listed");
    if (node.parent == none)
      continue;
    if (!contains(node.parent))
      return broken(block, "has no parent");
    if (isIdle(node.parent) && !isIdle(static_cast<int32_t>(block)))
      return broken(block, "has owners that do not own its parent");
    ++children[static_cast<size_t>(node.parent)];
  }
  for (size_t block = 0; block < nodes.size(); ++block)
    if (nodes[block].isPresent && nodes[block].children != children[block])
      return broken(block, "counts its children wrong");
  if (present != count || checkpoints != withCheckpoint.size())
    return Status(StatusCode::Internal, "prefix tree: it counts " +
                                            std::to_string(count) + " of " +
                                            std::to_string(present) + " nodes");
  if (const int32_t oldest = oldestIdle();
      oldest != none && children[static_cast<size_t>(oldest)] != 0)
    return broken(static_cast<size_t>(oldest), "is the oldest, but no leaf");
  return Status::ok();
}

} // namespace mlir::llm::runtime

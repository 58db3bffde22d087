//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/WindowBlocks.h"
#include "llmir/ABI/AttentionSplit.h"

#include <algorithm>
#include <cassert>
#include <string>

using llmir::kAttentionSpan;
using llmir::Status;
using llmir::StatusCode;

namespace mlir::llm::runtime {

WindowBlocks::WindowBlocks(int64_t window, int64_t blockSize, int64_t numBlocks,
                           int64_t numMainBlocks)
    : size(window), tokensPerBlock(blockSize), manager(numBlocks),
      blockOf(static_cast<size_t>(numMainBlocks), -1),
      owner(static_cast<size_t>(numBlocks), -1),
      isShared(static_cast<size_t>(numBlocks), 0),
      uses(static_cast<size_t>(numBlocks), 0), idle(numBlocks) {}

int64_t WindowBlocks::firstNeeded(int64_t position) const {
  const int64_t first = std::max<int64_t>(position - size + 1, 0);
  return first / kAttentionSpan * kAttentionSpan / tokensPerBlock;
}

int64_t WindowBlocks::mostHeld(int64_t window, int64_t blockSize,
                               int64_t newTokens) {
  // The first block starts at a multiple of the greater of the two.
  const int64_t before = window - 1 + std::max(blockSize, kAttentionSpan) - 1;
  return (newTokens + before + blockSize - 1) / blockSize;
}

int32_t WindowBlocks::numHolders(int32_t mainBlock) const {
  const int32_t block = of(mainBlock);
  return block < 0
             ? 0
             : manager.refCount(block) - isShared[static_cast<size_t>(block)];
}

void WindowBlocks::attach(int32_t mainBlock) {
  assert(!has(mainBlock) && "a main block has at most one block");
  if (manager.numFree() == 0)
    evictOldest();
  const int32_t block = manager.allocate();
  blockOf[static_cast<size_t>(mainBlock)] = block;
  owner[static_cast<size_t>(block)] = mainBlock;
  uint8_t &used = uses[static_cast<size_t>(block)];
  used = static_cast<uint8_t>(std::min(used + 1, 2));
}

void WindowBlocks::hold(int32_t mainBlock) {
  const int32_t block = of(mainBlock);
  if (idle.contains(block))
    idle.remove(block);
  manager.addReference(block);
}

void WindowBlocks::release(int32_t mainBlock) {
  const int32_t block = of(mainBlock);
  if (manager.release(block))
    detach(mainBlock);
  else if (numHolders(mainBlock) == 0)
    idle.pushBack(block);
}

void WindowBlocks::detach(int32_t mainBlock) {
  owner[static_cast<size_t>(of(mainBlock))] = -1;
  blockOf[static_cast<size_t>(mainBlock)] = -1;
}

void WindowBlocks::move(int32_t from, int32_t to) {
  const int32_t block = of(from);
  assert(!has(to) && !isShared[static_cast<size_t>(block)]);
  detach(from);
  blockOf[static_cast<size_t>(to)] = block;
  owner[static_cast<size_t>(block)] = to;
}

void WindowBlocks::share(int32_t mainBlock) {
  const int32_t block = of(mainBlock);
  if (block < 0)
    return;
  manager.addReference(block);
  isShared[static_cast<size_t>(block)] = 1;
}

void WindowBlocks::unshare(int32_t mainBlock) {
  const int32_t block = of(mainBlock);
  if (block < 0)
    return;
  idle.remove(block);
  isShared[static_cast<size_t>(block)] = 0;
  manager.release(block);
  detach(mainBlock);
}

void WindowBlocks::evictOldest() {
  const int32_t block = idle.front();
  assert(block >= 0 && "the caller checks numAvailable()");
  unshare(owner[static_cast<size_t>(block)]);
  ++evicted;
}

Status WindowBlocks::checkInvariants(const std::vector<int32_t> &holders,
                                     const PrefixTree &prefixes) const {
  if (Status status = manager.checkInvariants(); !status)
    return status;
  auto broken = [&](int64_t block, const std::string &what) {
    return Status(StatusCode::Internal, "window of " + std::to_string(size) +
                                            ": block " + std::to_string(block) +
                                            " " + what);
  };
  int64_t attached = 0;
  for (size_t main = 0; main < blockOf.size(); ++main) {
    const auto mainBlock = static_cast<int32_t>(main);
    const int32_t block = blockOf[main];
    if (block < 0) {
      if (holders[main] != 0)
        return broken(mainBlock, "is needed and has none");
      continue;
    }
    ++attached;
    const bool shared = isShared[static_cast<size_t>(block)];
    if (owner[static_cast<size_t>(block)] != mainBlock)
      return broken(block, "belongs to another block");
    if (manager.refCount(block) != holders[main] + shared)
      return broken(block, "has " + std::to_string(holders[main] + shared) +
                               " owners and counts " +
                               std::to_string(manager.refCount(block)));
    if (shared != prefixes.contains(mainBlock))
      return broken(block, "is in the tree, or its main block, not both");
    if (idle.contains(block) != (holders[main] == 0))
      return broken(block, "is idle and has owners, or neither");
  }
  if (attached != manager.numUsed())
    return broken(attached, "and others are used and belong to no block");
  return Status::ok();
}

} // namespace mlir::llm::runtime

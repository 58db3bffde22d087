//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which blocks of a pool hold the keys and values of which tokens, so that
// sequences with the same first tokens share them.
//
// A node of the tree is a block; its path from the root spells the tokens from
// the start of a sequence to the last one of the block. A block that is not
// full is always a leaf. Blocks are found by a hash of their parent and tokens,
// and then compared by these; a block that only begins with the same tokens is
// found among those of its parent with the same first few tokens.
// Nodes with different salts never match: requests of different users do not
// learn from each other's response times what the others asked.
//
// The tree does not count owners: its user tells it when a node loses its last
// owner outside of the tree (setIdle()) and when it gets one (setUsed()). An
// owner of a node owns all nodes above it, and releases the deepest first.
// Idle nodes are therefore queued after all nodes below them, and the oldest
// one is always a leaf, which can be removed.
//
// All memory is allocated by the constructor. Not thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef MLIR_DIALECT_LLM_RUNTIME_PREFIXTREE_H
#define MLIR_DIALECT_LLM_RUNTIME_PREFIXTREE_H

#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace mlir::llm::runtime {

/// Some of the indices [0, size), in the order in which they were added.
class IndexQueue {
public:
  explicit IndexQueue(int64_t size = 0);

  bool contains(int32_t index) const {
    return next[static_cast<size_t>(index)] != absent;
  }
  int64_t size() const { return count; }
  /// The index that was added first; -1 if there is none.
  int32_t front() const;
  void pushBack(int32_t index); ///< Must not be in the queue.
  void remove(int32_t index);   ///< Must be in the queue.

private:
  static constexpr int32_t absent = -1;

  int32_t end() const { return static_cast<int32_t>(next.size()) - 1; }

  /// A ring of the queued indices and end().
  std::vector<int32_t> next, previous;
  int64_t count = 0;
};

/// A block that begins with given tokens.
struct PartialMatch {
  int32_t block = -1; ///< -1: there is none.
  int64_t tokens = 0; ///< Of the block's first ones, as many as are the same.
};

class PrefixTree {
public:
  /// The parent of roots, and what find() returns if there is no such node.
  static constexpr int32_t none = -1;

  /// For blocks [0, numBlocks) of `blockSize` tokens.
  PrefixTree(int64_t numBlocks, int64_t blockSize);
  /// A tree that remains empty.
  PrefixTree() : PrefixTree(0, 1) {}

  bool isEnabled() const { return !nodes.empty(); }
  int64_t numNodes() const { return count; }
  int64_t numIdle() const { return idle.size(); }
  bool contains(int32_t block) const {
    return isEnabled() && nodes[static_cast<size_t>(block)].isPresent;
  }
  bool isIdle(int32_t block) const {
    return isEnabled() && idle.contains(block);
  }

  /// Nodes and partial matches have at least as many tokens: sharing fewer
  /// saves nothing.
  int64_t minTokens() const { return leastTokens; }
  /// Tokens of a node, at most the block size.
  int64_t numTokens(int32_t block) const {
    return nodes[static_cast<size_t>(block)].numTokens;
  }

  /// The child of `parent` (or a root if that is `none`) with exactly these
  /// tokens, at least minTokens(), and this salt.
  int32_t find(int32_t parent, uint64_t salt,
               ::llmir::Span<const int32_t> tokens) const;
  /// The child of `parent` that begins with the most of `tokens`, at least
  /// minTokens(). Of equally good ones, it is the last inserted one; only some
  /// of those with the same first tokens are compared. `needsCheckpoint`: only
  /// nodes that have one and whose tokens are all the same. `mayUse`, if any:
  /// only blocks for which it is true.
  PartialMatch
  findBeginning(int32_t parent, uint64_t salt,
                ::llmir::Span<const int32_t> tokens,
                bool needsCheckpoint = false,
                const std::function<bool(int32_t)> &mayUse = {}) const;
  /// Adds a block that is not in the tree and has an owner besides the tree,
  /// with at least minTokens() tokens, which find() does not find.
  void insert(int32_t block, int32_t parent, uint64_t salt,
              ::llmir::Span<const int32_t> tokens);

  void setIdle(int32_t block);
  void setUsed(int32_t block);
  /// The idle node that has been idle the longest; none if there is none.
  int32_t oldestIdle() const { return idle.front(); }
  /// Removes an idle node without children. Returns its checkpoint, which the
  /// caller releases, or none.
  int32_t remove(int32_t block);

  /// The slot of the states after the node's tokens; none without one.
  int32_t checkpoint(int32_t block) const {
    return nodes[static_cast<size_t>(block)].checkpoint;
  }
  /// Sets or clears (none) the slot. The node is then the last one that
  /// oldestCheckpoint() returns.
  void setCheckpoint(int32_t block, int32_t slot);
  /// The node with the least recently set checkpoint; none if there is none.
  int32_t oldestCheckpoint() const { return withCheckpoint.front(); }
  int64_t numCheckpoints() const { return withCheckpoint.size(); }

  /// Slow; for tests: nodes are found by their tokens, and parents exist.
  ::llmir::Status checkInvariants() const;

private:
  struct Node {
    int32_t parent = none;
    int32_t nextInBucket = none;
    /// Neighbors in the list of the nodes with the same hash of their first
    /// tokens; the last inserted one is the first.
    int32_t nextWithStart = none, previousWithStart = none;
    int32_t numTokens = 0;
    int32_t children = 0;
    int32_t checkpoint = none;
    uint64_t salt = 0;
    bool isPresent = false;
  };

  /// Of the first `count` tokens.
  size_t bucketOf(int32_t parent, uint64_t salt, const int32_t *tokens,
                  int64_t count) const;
  size_t bucketOf(int32_t block, int64_t count) const;
  void unlink(int32_t block);
  bool isListed(int32_t block) const;
  const int32_t *tokensOf(int32_t block) const {
    return &tokens[static_cast<size_t>(block * blockSize)];
  }

  int64_t blockSize, leastTokens;
  uint64_t seed;               ///< So that collisions cannot be prepared.
  std::vector<Node> nodes;     ///< [block]
  std::vector<int32_t> tokens; ///< [block][block size]
  /// First node of each; powers of two. By all tokens of a node, and by its
  /// first minTokens().
  std::vector<int32_t> buckets, starts;
  IndexQueue idle, withCheckpoint;
  int64_t count = 0;
};

} // namespace mlir::llm::runtime

#endif // MLIR_DIALECT_LLM_RUNTIME_PREFIXTREE_H

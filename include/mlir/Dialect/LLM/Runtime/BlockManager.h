//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allocation of the blocks of a pool: reference counts and a free list. Does
// not know the contents of blocks.
//
// Invariants, checked by checkInvariants():
//   I1  free + used = total
//   I3  the free list contains each block at most once, and only blocks without
//       references
// Every function either succeeds or changes nothing (I8). Nothing is allocated
// after construction. Not thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef MLIR_DIALECT_LLM_RUNTIME_BLOCKMANAGER_H
#define MLIR_DIALECT_LLM_RUNTIME_BLOCKMANAGER_H

#include "llmir/Support/Status.h"

#include <cstdint>
#include <vector>

namespace mlir::llm::runtime {

class BlockManager {
public:
  /// All blocks [0, numBlocks) are free; the lowest is allocated first.
  explicit BlockManager(int64_t numBlocks = 0);

  int64_t numBlocks() const { return static_cast<int64_t>(refs.size()); }
  int64_t numFree() const { return static_cast<int64_t>(freeList.size()); }
  int64_t numUsed() const { return numBlocks() - numFree(); }

  /// Number of owners of a block; 0 = free.
  int32_t refCount(int32_t block) const { return refs[block]; }
  bool isBlock(int32_t block) const {
    return block >= 0 && block < numBlocks();
  }

  /// Returns a free block with one reference. Requires numFree() > 0.
  int32_t allocate();
  /// Adds an owner to a used block.
  void addReference(int32_t block);
  /// Removes an owner; true if it was the last one and the block is now free.
  bool release(int32_t block);

  ::llmir::Status checkInvariants() const;

private:
  std::vector<int32_t> refs;     ///< [block]
  std::vector<int32_t> freeList; ///< A stack: taken from the back.
};

} // namespace mlir::llm::runtime

#endif // MLIR_DIALECT_LLM_RUNTIME_BLOCKMANAGER_H

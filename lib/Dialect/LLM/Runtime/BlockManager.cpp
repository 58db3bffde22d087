//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/BlockManager.h"

#include <cassert>
#include <string>

using llmir::Status;
using llmir::StatusCode;

namespace mlir::llm::runtime {

BlockManager::BlockManager(int64_t numBlocks)
    : refs(static_cast<size_t>(numBlocks), 0),
      freeList(static_cast<size_t>(numBlocks)) {
  for (int64_t i = 0; i < numBlocks; ++i)
    freeList[static_cast<size_t>(i)] = static_cast<int32_t>(numBlocks - 1 - i);
}

int32_t BlockManager::allocate() {
  assert(!freeList.empty() && "the caller checks numFree()");
  int32_t block = freeList.back();
  freeList.pop_back();
  refs[static_cast<size_t>(block)] = 1;
  return block;
}

void BlockManager::addReference(int32_t block) {
  assert(isBlock(block) && refs[static_cast<size_t>(block)] > 0);
  ++refs[static_cast<size_t>(block)];
}

bool BlockManager::release(int32_t block) {
  assert(isBlock(block) && refs[static_cast<size_t>(block)] > 0);
  if (--refs[static_cast<size_t>(block)] > 0)
    return false;
  freeList.push_back(block); // Within the initial capacity.
  return true;
}

Status BlockManager::checkInvariants() const {
  std::vector<uint8_t> isFree(refs.size(), 0);
  for (int32_t block : freeList) {
    if (!isBlock(block) || isFree[static_cast<size_t>(block)])
      return Status(StatusCode::Internal, "I3: block " + std::to_string(block) +
                                              " is in the free list twice or "
                                              "does not exist");
    if (refs[static_cast<size_t>(block)] != 0)
      return Status(StatusCode::Internal,
                    "I3: free block " + std::to_string(block) + " has owners");
    isFree[static_cast<size_t>(block)] = 1;
  }
  for (size_t block = 0; block < refs.size(); ++block)
    if (!isFree[block] && refs[block] <= 0)
      return Status(StatusCode::Internal, "I1: block " + std::to_string(block) +
                                              " is neither free nor used");
  return Status::ok();
}

} // namespace mlir::llm::runtime

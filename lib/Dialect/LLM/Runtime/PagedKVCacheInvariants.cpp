//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The invariants of the cache, for tests.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <string>

using llmir::Status;
using llmir::StatusCode;

namespace mlir::llm::runtime {

/// I5: a block has the same index in all tables that contain it, and the
/// entries before it are equal.
Status PagedKVCache::checkSharedPrefixes() const {
  struct Place {
    SequenceId sequence;
    size_t entry;
    int32_t before; ///< The preceding block, or -1.
  };
  std::unordered_map<int32_t, Place> places;
  for (const auto &[id, sequence] : sequences)
    for (size_t i = 0; i < sequence.table.size(); ++i) {
      const int32_t before = i == 0 ? -1 : sequence.table[i - 1];
      const Place &known =
          places.insert({sequence.table[i], {id, i, before}}).first->second;
      if (known.entry != i || known.before != before)
        return Status(StatusCode::Internal,
                      "I5: block " + std::to_string(sequence.table[i]) +
                          " follows a different block in sequence " +
                          std::to_string(id) + " than in sequence " +
                          std::to_string(known.sequence));
    }
  return Status::ok();
}

/// I2: blocks count the tables that contain them, and the prefix tree.
Status PagedKVCache::checkOwners(std::vector<int32_t> owners) const {
  for (int32_t block = 0; block < manager.numBlocks(); ++block) {
    int32_t &owned = owners[static_cast<size_t>(block)];
    if (prefixes.contains(block) && prefixes.isIdle(block) != (owned == 0))
      return Status(StatusCode::Internal, "I2: block " + std::to_string(block) +
                                              " is idle and has owners, or "
                                              "neither");
    owned += prefixes.contains(block);
    if (owned != manager.refCount(block))
      return Status(StatusCode::Internal,
                    "I2: block " + std::to_string(block) + " has " +
                        std::to_string(owned) + " owners and counts " +
                        std::to_string(manager.refCount(block)));
  }
  return Status::ok();
}

Status PagedKVCache::checkInvariants() const {
  LLMIR_RETURN_IF_ERROR(constructed);
  LLMIR_RETURN_IF_ERROR(manager.checkInvariants());
  std::vector<int32_t> owners(static_cast<size_t>(manager.numBlocks()), 0);
  auto broken = [](SequenceId id, const std::string &what) {
    return Status(StatusCode::Internal,
                  "sequence " + std::to_string(id) + ": " + what);
  };
  for (const auto &[id, sequence] : sequences) {
    if (static_cast<int64_t>(sequence.table.size()) !=
        (sequence.length + layout.blockSize - 1) / layout.blockSize)
      return broken(id, "I7: the size of the table does not match the length");
    for (int32_t block : sequence.table) {
      if (!manager.isBlock(block))
        return broken(id, "its table has an invalid block");
      ++owners[static_cast<size_t>(block)];
    }
    if ((sequence.stateSlot < 0) != statePool.isEmpty())
      return broken(id, "it has no state");
    int32_t most = *std::max_element(sequence.layerLengths.begin(),
                                     sequence.layerLengths.end());
    int32_t least = *std::min_element(sequence.layerLengths.begin(),
                                      sequence.layerLengths.end());
    if (most != sequence.length || sequence.evenLayers != (most == least))
      return broken(id, "the lengths of its layers do not match its length");
  }
  if (!statePool.isEmpty() &&
      statePool.numFree() + getNumSequences() + prefixes.numCheckpoints() !=
          statePool.geometry().slots)
    return Status(StatusCode::Internal, "a slot of the states has no owner");
  for (size_t w = 0; w < windowGroups.size(); ++w) {
    std::vector<int32_t> holders(owners.size(), 0);
    for (const auto &[id, sequence] : sequences) {
      if (sequence.firstKept[w] > windowGroups[w].firstNeeded(sequence.length))
        return broken(id, "it has given back blocks that it needs");
      for (size_t i = static_cast<size_t>(sequence.firstKept[w]);
           i < sequence.table.size(); ++i)
        ++holders[static_cast<size_t>(sequence.table[i])];
    }
    LLMIR_RETURN_IF_ERROR(windowGroups[w].checkInvariants(holders, prefixes));
  }
  LLMIR_RETURN_IF_ERROR(checkOwners(std::move(owners)));
  LLMIR_RETURN_IF_ERROR(prefixes.checkInvariants());
  LLMIR_RETURN_IF_ERROR(checkSharedPrefixes());
  for (int32_t copies : planned)
    if (copies != 0)
      return Status(StatusCode::Internal, "a plan was not discarded");
  return Status::ok();
}

} // namespace mlir::llm::runtime

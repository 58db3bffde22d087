//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskStore.h"

namespace llmir::constraint {

static constexpr size_t mostBytes = size_t(2) << 20;

static size_t bytesOf(const std::vector<uint64_t> &mask) {
  return mask.size() * sizeof(uint64_t) + 128; // With the entry.
}

TokenMask MaskStore::find(const Digest &place) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = index.find(place);
  if (found == index.end())
    return nullptr;
  entries.splice(entries.begin(), entries, found->second);
  return found->second->mask;
}

TokenMask MaskStore::add(const Digest &place, std::vector<uint64_t> mask) {
  const auto made =
      std::make_shared<const std::vector<uint64_t>>(std::move(mask));
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = index.find(place);
  if (found != index.end()) // Another thread was quicker.
    return found->second->mask;
  entries.push_front({place, made});
  index.emplace(place, entries.begin());
  bytes += bytesOf(*made);
  while (bytes > mostBytes && entries.size() > 1) {
    bytes -= bytesOf(*entries.back().mask);
    index.erase(entries.back().place);
    entries.pop_back();
  }
  return made;
}

} // namespace llmir::constraint

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tokens that may come next, by where a text is in a program.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONSTRAINT_MASKSTORE_H
#define LLMIR_LIB_CONSTRAINT_MASKSTORE_H

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace llmir::constraint {

/// Identifies a set of places by 128 bits, so that no two sets have the same by
/// chance.
struct Digest {
  uint64_t low = 0, high = 0;
  bool operator==(const Digest &other) const {
    return low == other.low && high == other.high;
  }
};

using TokenMask = std::shared_ptr<const std::vector<uint64_t>>;

/// Keeps 2 MiB of masks; the least recently used ones go first. Thread-safe.
class MaskStore {
public:
  /// Null if it is not kept.
  TokenMask find(const Digest &place);
  /// Keeps a mask; returns the one that is kept.
  TokenMask add(const Digest &place, std::vector<uint64_t> mask);

private:
  struct Hash {
    size_t operator()(const Digest &digest) const { return digest.low; }
  };
  struct Entry {
    Digest place;
    TokenMask mask;
  };

  std::mutex mutex;
  std::list<Entry> entries; ///< The most recently used one first.
  std::unordered_map<Digest, std::list<Entry>::iterator, Hash> index;
  size_t bytes = 0;
};

} // namespace llmir::constraint

#endif // LLMIR_LIB_CONSTRAINT_MASKSTORE_H

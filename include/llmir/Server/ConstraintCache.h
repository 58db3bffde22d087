//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled constraints, which requests with the same one share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_CONSTRAINTCACHE_H
#define LLMIR_SERVER_CONSTRAINTCACHE_H

#include "llmir/Constraint/Constraint.h"

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace llmir {

/// Keeps 32 constraints, each of a few MiB at most with its masks; the least
/// recently used ones go first. Thread-safe.
class ConstraintCache {
public:
  /// As Constraint::create(). `vocabulary` is the same in all calls.
  Expected<std::shared_ptr<const Constraint>>
  get(const Grammar &grammar,
      std::shared_ptr<const TokenVocabulary> vocabulary);

private:
  struct Entry {
    std::string key; ///< All of the grammar.
    std::shared_ptr<const Constraint> constraint;
  };
  std::shared_ptr<const Constraint> find(const std::string &key);

  std::mutex mutex;
  std::list<Entry> entries; ///< The most recently used one first.
  std::unordered_map<std::string_view, std::list<Entry>::iterator> index;
};

} // namespace llmir

#endif // LLMIR_SERVER_CONSTRAINTCACHE_H

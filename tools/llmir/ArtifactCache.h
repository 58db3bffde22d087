//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cache of compiled artifacts. An entry is two files: HASH.llmir, the
// artifact, and HASH.key, a description of everything that it was made from.
// The key is compared before the artifact is used; its modification time is the
// time of the last use.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_ARTIFACTCACHE_H
#define LLMIR_TOOLS_LLMIR_ARTIFACTCACHE_H

#include "llmir/Support/Status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace llmir::cli {

/// Directory and size limit of a cache.
struct CacheOptions {
  std::string folder;  ///< Empty: $XDG_CACHE_HOME/llmir or ~/.cache/llmir.
  double limitGB = 64; ///< Least recently used artifacts beyond it are removed.
};

struct CacheEntry {
  std::string path;  ///< Of the artifact.
  std::string model; ///< The source model; empty if the key is missing.
  int64_t bytes = 0;
  int64_t lastUsedNs = 0; ///< Since 1970.
};

class ArtifactCache {
public:
  /// The directory's name, without accessing it. NotFound if neither the flag
  /// nor the environment specifies one.
  static Expected<std::string> folderOf(const CacheOptions &options);

  /// Creates the directory (mode 0700) if needed, and rejects one that another
  /// user owns or may write to, because artifacts are programs.
  static Expected<ArtifactCache> open(const CacheOptions &options);

  const std::string &folder() const { return path; }

  /// The path of the artifact for `key`; if there is none, `make` writes it to
  /// the path that it is passed. Only one process at a time creates an entry,
  /// others wait for it. `model` is for display; `neededBytes` must be free. A
  /// file that another user owns or may write to, or that is not a regular
  /// file, is removed with a note, and created again.
  Expected<std::string>
  findOrMake(const std::string &model, const std::string &key,
             int64_t neededBytes,
             const std::function<Status(const std::string &path)> &make);

  /// Removes the entry of an unusable artifact.
  void remove(const std::string &artifactPath);

  /// Most recently used first.
  Expected<std::vector<CacheEntry>> entries() const;
  /// Removes every file of the cache; returns the number of artifacts removed.
  Expected<int64_t> clear();

private:
  Status checkSpace(int64_t neededBytes) const;
  void shrink(const std::string &keep) const;

  std::string path;
  int64_t limitBytes = 0;
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_ARTIFACTCACHE_H

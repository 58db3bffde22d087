//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The folder of compiled artifacts. An entry is two files: HASH.llmir, the
// artifact, and HASH.key, the text of everything that it was made from, which
// is compared before the artifact is used and whose time of modification says
// when that was last.
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

/// Folder and size limit of a cache.
struct CacheOptions {
  std::string folder;  ///< Empty: $XDG_CACHE_HOME/llmir or ~/.cache/llmir.
  double limitGB = 64; ///< Artifacts used least recently go beyond it.
};

struct CacheEntry {
  std::string path;  ///< Of the artifact.
  std::string model; ///< What it was made from; empty where the key is lost.
  int64_t bytes = 0;
  int64_t lastUsedNs = 0; ///< Since 1970.
};

class ArtifactCache {
public:
  /// The folder's name, without touching it. NotFound where neither the flag
  /// nor the environment names one.
  static Expected<std::string> folderOf(const CacheOptions &options);

  /// Makes the folder where it is missing (0700), and refuses one that another
  /// user owns or may write to: artifacts are programs.
  static Expected<ArtifactCache> open(const CacheOptions &options);

  const std::string &folder() const { return path; }

  /// The path of the artifact for `key`; where there is none yet, `make` writes
  /// it to the path that it is given. One process at a time makes an entry,
  /// others wait for it. `model` is for people; `neededBytes` must be free. A
  /// file that another user owns or may write to, and what is no file, is not
  /// used: it is removed, with a note, and made again.
  Expected<std::string>
  findOrMake(const std::string &model, const std::string &key,
             int64_t neededBytes,
             const std::function<Status(const std::string &path)> &make);

  /// Removes the entry of an artifact that turned out to be unusable.
  void remove(const std::string &artifactPath);

  /// Most recently used first.
  Expected<std::vector<CacheEntry>> entries() const;
  /// Removes every file of the cache; returns how many artifacts there were.
  Expected<int64_t> clear();

private:
  Status checkSpace(int64_t neededBytes) const;
  void shrink(const std::string &keep) const;

  std::string path;
  int64_t limitBytes = 0;
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_ARTIFACTCACHE_H

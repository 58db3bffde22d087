//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cache of the Hub's own client, which other programs share:
//
//   models--ORG--NAME/blobs/HASH              contents, by SHA-256 or Git SHA-1
//   models--ORG--NAME/snapshots/COMMIT/PATH   relative links to blobs
//   models--ORG--NAME/refs/REVISION           the commit of a branch or tag
//   .locks/models--ORG--NAME/HASH.lock        held while a blob is written
//
// Reading it needs no network.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_HUB_CACHE_H
#define LLMIR_HUB_CACHE_H

#include "llmir/Hub/FileChoice.h"
#include "llmir/Hub/ModelReference.h"

#include <string>
#include <vector>

namespace llmir::hub {

class Cache {
public:
  explicit Cache(std::string folder) : root(std::move(folder)) {}

  const std::string &folder() const { return root; }
  std::string repositoryFolder(const std::string &repository) const;
  std::string blobPath(const std::string &repository,
                       const std::string &hash) const;
  std::string lockPath(const std::string &repository,
                       const std::string &hash) const;
  std::string snapshotFolder(const std::string &repository,
                             const std::string &commit) const;
  std::string refPath(const std::string &repository,
                      const std::string &revision) const;

  /// True if anything of the repository is in the cache.
  bool has(const std::string &repository) const;
  /// The commit of the revision. NotFound if the cache does not know it.
  Expected<std::string> commitOf(const ModelReference &reference) const;
  /// The files of a snapshot, without broken links.
  Expected<std::vector<FileEntry>> listing(const std::string &repository,
                                           const std::string &commit) const;
  /// The path of a complete model: a snapshot's directory, or a file in it.
  /// NotFound, with the command that downloads it, if any file is missing.
  Expected<std::string> find(const ModelReference &reference) const;

private:
  std::string root;
};

} // namespace llmir::hub

#endif // LLMIR_HUB_CACHE_H

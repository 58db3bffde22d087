//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names under which the Hub's cache shows blobs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_HUB_SNAPSHOT_H
#define LLMIR_LIB_HUB_SNAPSHOT_H

#include "llmir/Hub/Cache.h"

namespace llmir::hub {

/// True for a regular file, not for a link to one.
bool isPlainFile(const std::string &path);

/// Makes snapshots/COMMIT/PATH a relative link to the blob, replacing what is
/// there. Where there are no symbolic links, the blob is linked or moved there.
Status linkIntoSnapshot(const Cache &cache, const std::string &repository,
                        const std::string &commit, const FileEntry &file);

/// Makes refs/REVISION contain the commit, unless the revision is a commit.
Status writeReference(const Cache &cache, const ModelReference &reference,
                      const std::string &commit);

} // namespace llmir::hub

#endif // LLMIR_LIB_HUB_SNAPSHOT_H

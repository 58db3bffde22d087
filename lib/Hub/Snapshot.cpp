//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Snapshot.h"
#include "BlobWriter.h"

#include "llmir/Support/FileWriter.h"
#include "llmir/Support/MappedFile.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <sys/stat.h>
#include <unistd.h>

using namespace llmir;
using namespace llmir::hub;

bool hub::isPlainFile(const std::string &path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

/// The target of a link; empty if `path` is none.
static std::string linkTarget(const std::string &path) {
  char target[PATH_MAX];
  const ssize_t size = readlink(path.c_str(), target, sizeof target);
  return size > 0 ? std::string(target, static_cast<size_t>(size)) : "";
}

Status hub::linkIntoSnapshot(const Cache &cache, const std::string &repository,
                             const std::string &commit, const FileEntry &file) {
  const std::string path =
      cache.snapshotFolder(repository, commit) + "/" + file.path;
  LLMIR_RETURN_IF_ERROR(makeFolder(path.substr(0, path.rfind('/'))));
  std::string target = "../../blobs/" + file.hash;
  for (auto depth = std::count(file.path.begin(), file.path.end(), '/');
       depth > 0; --depth)
    target = "../" + target;
  if (linkTarget(path) == target)
    return Status::ok();
  const std::string temporary = path.substr(0, path.rfind('/') + 1) + ".link-" +
                                std::to_string(getpid()) + ".tmp";
  unlink(temporary.c_str());
  const std::string blob = cache.blobPath(repository, file.hash);
  if (symlink(target.c_str(), temporary.c_str()) != 0) {
    const bool hasNoLinks =
        errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS;
    if (!hasNoLinks)
      return cacheFailure(errno, "cannot write", temporary);
    if (link(blob.c_str(), temporary.c_str()) != 0 &&
        rename(blob.c_str(), temporary.c_str()) != 0)
      return cacheFailure(errno, "cannot write", temporary);
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(temporary.c_str());
    return cacheFailure(error, "cannot write", path);
  }
  return Status::ok();
}

Status hub::writeReference(const Cache &cache, const ModelReference &reference,
                           const std::string &commit) {
  if (reference.revision == commit)
    return Status::ok();
  const std::string path =
      cache.refPath(reference.repository, reference.revision);
  Expected<MappedFile> old = MappedFile::open(path, 1024);
  if (old && old->text() == commit)
    return Status::ok();
  LLMIR_RETURN_IF_ERROR(makeFolder(path.substr(0, path.rfind('/'))));
  return writeFileAtomically(path, commit);
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArtifactCache.h"
#include "Console.h"
#include "Hash.h"

#include "llmir/Support/FileWriter.h"
#include "llmir/Support/MappedFile.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

using namespace llmir;
using namespace llmir::cli;

static const char *const elsewhere =
    "choose another directory with --cache-dir, or create the artifact "
    "yourself: "
    "`llmir compile MODEL -o FILE.llmir`";

static Status systemFailure(const std::string &what) {
  int error = errno;
  return Status(error == ENOSPC || error == EDQUOT
                    ? StatusCode::ResourceExhausted
                    : StatusCode::IoError,
                "cache: " + what + ": " + std::strerror(error), elsewhere);
}

/// "dir/HASH.key" for "dir/HASH.llmir".
static std::string keyPath(const std::string &artifactPath) {
  return artifactPath.substr(0, artifactPath.rfind('.')) + ".key";
}

//===----------------------------------------------------------------------===//
// The directory
//===----------------------------------------------------------------------===//

Expected<std::string> ArtifactCache::folderOf(const CacheOptions &options) {
  if (!options.folder.empty())
    return options.folder;
  const char *xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg && xdg[0] == '/') // Relative paths are ignored, as specified.
    return std::string(xdg) + "/llmir";
  const char *home = std::getenv("HOME");
  if (home && home[0] == '/')
    return std::string(home) + "/.cache/llmir";
  return Status(StatusCode::NotFound,
                "no directory for compiled artifacts: neither HOME nor "
                "XDG_CACHE_HOME is set",
                "give one with --cache-dir");
}

/// Creates `directory` and its parents.
static Status makeFolders(const std::string &folder) {
  for (size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    std::string part = folder.substr(0, end);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      // A read-only parent of an existing directory results in EROFS or EACCES.
      struct stat info;
      int error = errno;
      if (stat(part.c_str(), &info) != 0) {
        errno = error;
        return systemFailure("cannot create '" + part + "'");
      }
    }
    if (end == std::string::npos)
      return Status::ok();
  }
}

Expected<ArtifactCache> ArtifactCache::open(const CacheOptions &options) {
  Expected<std::string> folder = folderOf(options);
  if (!folder)
    return folder.takeStatus();
  LLMIR_RETURN_IF_ERROR(makeFolders(*folder));

  struct stat info;
  if (stat(folder->c_str(), &info) != 0)
    return systemFailure("'" + *folder + "'");
  if (!S_ISDIR(info.st_mode))
    return Status(StatusCode::IoError,
                  "cache: '" + *folder + "' is not a directory", elsewhere);
  if (info.st_uid != geteuid())
    return Status(StatusCode::IoError,
                  "cache: '" + *folder + "' belongs to user " +
                      std::to_string(info.st_uid) + ", not to you (" +
                      std::to_string(geteuid()) + ")",
                  elsewhere);
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return Status(StatusCode::IoError,
                  "cache: other users may write to '" + *folder +
                      "', and artifacts are programs",
                  "run `chmod 700 " + *folder +
                      "` after a look at what is in it, or " + elsewhere);

  ArtifactCache cache;
  cache.path = *folder;
  cache.limitBytes =
      static_cast<int64_t>(std::clamp(options.limitGB, 0.0, 1e9) * 1e9);
  return cache;
}

/// Calls `fn(name)` for each name in the directory.
template <typename Fn>
static Status forEachFile(const std::string &folder, Fn &&fn) {
  DIR *handle = opendir(folder.c_str());
  if (!handle)
    return systemFailure("cannot read '" + folder + "'");
  while (const dirent *entry = readdir(handle)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..")
      fn(name);
  }
  closedir(handle);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

namespace {

/// Held by the process that creates or uses an entry; released by the system
/// when the process ends for any reason.
class FileLock {
public:
  static Expected<FileLock> take(const std::string &path) {
    FileLock lock;
    lock.descriptor =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock.descriptor < 0)
      return systemFailure("cannot write '" + path + "'");
    if (flock(lock.descriptor, LOCK_EX | LOCK_NB) == 0)
      return lock;
    if (errno == EWOULDBLOCK)
      note("waiting for another llmir process that compiles this model");
    while (flock(lock.descriptor, LOCK_EX) != 0)
      if (errno != EINTR)
        return systemFailure("cannot lock '" + path + "'");
    return lock;
  }

  FileLock(FileLock &&other) noexcept : descriptor(other.descriptor) {
    other.descriptor = -1;
  }
  FileLock &operator=(FileLock &&) = delete;
  ~FileLock() {
    if (descriptor >= 0)
      close(descriptor);
  }

private:
  FileLock() = default;
  int descriptor = -1;
};

/// While an object exists, new files are accessible to this user only,
/// independent of the user's umask.
class PrivateFiles {
public:
  PrivateFiles() : before(umask(0077)) {}
  ~PrivateFiles() { umask(before); }
  PrivateFiles(const PrivateFiles &) = delete;
  PrivateFiles &operator=(const PrivateFiles &) = delete;

private:
  mode_t before;
};

} // namespace

/// Why the object at `path` must not be used: it is owned by another user, or
/// another user can modify it. Empty for a file of this user, and if nothing
/// exists there.
static std::string intruderAt(const std::string &path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0)
    return {};
  if (S_ISDIR(info.st_mode))
    return "is a directory";
  if (S_ISLNK(info.st_mode))
    return "is a symbolic link";
  if (!S_ISREG(info.st_mode))
    return "is not a file";
  if (info.st_uid != geteuid())
    return "belongs to user " + std::to_string(info.st_uid);
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return "may be written by other users";
  return {};
}

/// Removes a file or an empty directory; other directories must be removed by
/// the user. `problem` is the result of intruderAt().
static Status removeIntruder(const std::string &path,
                             const std::string &problem) {
  if (unlink(path.c_str()) == 0 || rmdir(path.c_str()) == 0)
    return Status::ok();
  return Status(StatusCode::IoError,
                "cache: '" + path + "' " + problem +
                    " and cannot be removed: " + std::strerror(errno),
                "remove it: rm -r '" + path + "'");
}

/// Makes room for a file of this cache.
static Status expelIntruder(const std::string &path) {
  const std::string problem = intruderAt(path);
  if (problem.empty())
    return Status::ok();
  LLMIR_RETURN_IF_ERROR(removeIntruder(path, problem));
  note("cache: '" + path + "' " + problem +
       "; it was removed and will be created again");
  return Status::ok();
}

static bool isUsable(const std::string &artifactPath, const std::string &key) {
  struct stat info;
  if (stat(artifactPath.c_str(), &info) != 0 ||
      !intruderAt(artifactPath).empty() ||
      !intruderAt(keyPath(artifactPath)).empty())
    return false;
  Expected<MappedFile> stored = MappedFile::open(keyPath(artifactPath));
  return stored && stored->text() == key;
}

Expected<std::string> ArtifactCache::findOrMake(
    const std::string &model, const std::string &key, int64_t neededBytes,
    const std::function<Status(const std::string &path)> &make) {
  std::string text = "model " + model + "\n" + key;
  std::string artifact = path + "/" + hashText(text) + ".llmir";
  auto touch = [&] {
    utimensat(AT_FDCWD, keyPath(artifact).c_str(), nullptr, 0);
  };
  if (isUsable(artifact, text)) {
    touch(); // Fails in a read-only cache, which can still be used.
    return artifact;
  }

  const PrivateFiles isPrivate;
  const std::string lockPath = path + "/" + hashText(text) + ".lock";
  LLMIR_RETURN_IF_ERROR(expelIntruder(lockPath));
  Expected<FileLock> lock = FileLock::take(lockPath);
  if (!lock)
    return lock.takeStatus();
  if (isUsable(artifact, text)) { // Created while this process waited.
    touch();
    return artifact;
  }
  for (const std::string &file : {artifact, keyPath(artifact)})
    LLMIR_RETURN_IF_ERROR(expelIntruder(file));
  LLMIR_RETURN_IF_ERROR(checkSpace(neededBytes));
  // Remove the old key first, so that it never describes another artifact.
  unlink(keyPath(artifact).c_str());
  LLMIR_RETURN_IF_ERROR(make(artifact));
  LLMIR_RETURN_IF_ERROR(writeFileAtomically(keyPath(artifact), text));
  shrink(artifact);
  return artifact;
}

Status ArtifactCache::checkSpace(int64_t neededBytes) const {
  struct statvfs disk;
  if (statvfs(path.c_str(), &disk) != 0)
    return systemFailure("'" + path + "'");
  double room =
      static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  if (room >= static_cast<double>(neededBytes))
    return Status::ok();
  return Status(StatusCode::ResourceExhausted,
                "cache: '" + path + "' has " + formatBytes(room) +
                    " free, but the artifact takes about " +
                    formatBytes(static_cast<double>(neededBytes)),
                std::string("free some (`llmir cache clear`), or ") +
                    elsewhere);
}

void ArtifactCache::remove(const std::string &artifactPath) {
  unlink(keyPath(artifactPath).c_str());
  unlink(artifactPath.c_str());
}

Expected<std::vector<CacheEntry>> ArtifactCache::entries() const {
  std::vector<CacheEntry> list;
  Status read = forEachFile(path, [&](const std::string &name) {
    if (!endsWith(name, ".llmir"))
      return;
    CacheEntry entry;
    entry.path = path + "/" + name;
    struct stat info;
    if (lstat(entry.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      return;
    entry.bytes = info.st_size;
    if (Expected<MappedFile> key = MappedFile::open(keyPath(entry.path))) {
      std::string_view line = key->text().substr(0, key->text().find('\n'));
      if (line.substr(0, 6) == "model ")
        entry.model = line.substr(6);
      entry.lastUsedNs = key->modifiedNs();
    }
    list.push_back(std::move(entry));
  });
  if (!read)
    return read;
  std::sort(list.begin(), list.end(),
            [](const CacheEntry &a, const CacheEntry &b) {
              return a.lastUsedNs > b.lastUsedNs;
            });
  return list;
}

/// Removes the least recently used entries until the size is below the limit.
void ArtifactCache::shrink(const std::string &keep) const {
  Expected<std::vector<CacheEntry>> list = entries();
  if (!list)
    return; // The new entry exists; the next call tries again.
  int64_t total = 0;
  for (const CacheEntry &entry : *list) {
    total += entry.bytes;
    if (total <= limitBytes || entry.path == keep)
      continue;
    // A process that has the artifact mapped keeps it until it ends.
    unlink(keyPath(entry.path).c_str());
    unlink(entry.path.c_str());
    total -= entry.bytes;
  }
}

Expected<int64_t> ArtifactCache::clear() {
  int64_t artifacts = 0;
  Status failure;
  Status read = forEachFile(path, [&](const std::string &name) {
    // Only files created by this class; ".HASH.llmir.tmp-…" may be left by a
    // process that was killed while writing.
    if (!endsWith(name, ".key") && !endsWith(name, ".lock") &&
        name.find(".llmir") == std::string::npos)
      return;
    const std::string file = path + "/" + name;
    if (unlink(file.c_str()) != 0 && errno != ENOENT && failure.isOk())
      failure = errno == EISDIR ? removeIntruder(file, "is a directory")
                                : systemFailure("cannot remove '" + file + "'");
    artifacts += endsWith(name, ".llmir");
  });
  LLMIR_RETURN_IF_ERROR(std::move(read));
  if (!failure)
    return failure;
  return artifacts;
}

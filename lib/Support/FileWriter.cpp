//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/FileWriter.h"
#include "Errno.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace llmir {

/// Files are written in chunks of this size and alignment, that of a huge page,
/// so that the page cache can use huge pages for large files.
static constexpr size_t pieceBytes = size_t(2) << 20;

/// "dir/" of "dir/name", "./" of "name".
static std::string folderOf(const std::string &target) {
  size_t slash = target.rfind('/');
  return slash == std::string::npos ? "./" : target.substr(0, slash + 1);
}

/// "dir/.name.tmp-<process>-<count>": hidden, and in the target's directory,
/// so that the rename stays within one file system.
static std::string temporaryName(const std::string &target) {
  static std::atomic<uint64_t> count{0};
  std::string name = target.substr(target.rfind('/') + 1); // npos + 1 is 0.
  return folderOf(target) + "." + name.substr(0, 200) + ".tmp-" +
         std::to_string(getpid()) + "-" + std::to_string(count++);
}

/// Opens an unnamed file, which disappears with the process; -1 if the file
/// system does not support it or /proc is missing.
static int openNameless(const std::string &target) {
  if (access("/proc/self/fd", X_OK) != 0)
    return -1;
  return ::open(folderOf(target).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
}

/// Calls `take(name)`, which sets errno, with temporary names until one is
/// unused. Returns that name, or "" with errno set.
template <typename Take>
static std::string takeTemporaryName(const std::string &target, Take &&take) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = temporaryName(target);
    if (take(name))
      return name;
    if (errno != EEXIST)
      break;
  }
  return "";
}

Expected<AtomicFile> AtomicFile::create(const std::string &path) {
  if (path.empty() || path.back() == '/' ||
      path.find('\0') != std::string::npos)
    return Status(StatusCode::InvalidArgument,
                  "'" + path + "' is not a file name");
  struct stat facts;
  if (stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
    return Status(StatusCode::InvalidArgument,
                  "'" + path + "' exists and is not a regular file",
                  "choose another name");
  AtomicFile file;
  file.targetPath = path;
  file.descriptor = openNameless(path);
  if (file.descriptor >= 0)
    return file;
  file.temporaryPath = takeTemporaryName(path, [&](const std::string &name) {
    file.descriptor =
        ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return file.descriptor >= 0;
  });
  if (file.descriptor < 0)
    return systemError(errno, "cannot create", path);
  return file;
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : targetPath(std::move(other.targetPath)),
      temporaryPath(std::exchange(other.temporaryPath, {})),
      buffer(std::move(other.buffer)), appended(other.appended),
      syncing(other.syncing), descriptor(std::exchange(other.descriptor, -1)) {}

AtomicFile &AtomicFile::operator=(AtomicFile &&other) noexcept {
  if (this != &other) {
    discard();
    targetPath = std::move(other.targetPath);
    temporaryPath = std::exchange(other.temporaryPath, {});
    buffer = std::move(other.buffer);
    appended = other.appended;
    syncing = other.syncing;
    descriptor = std::exchange(other.descriptor, -1);
  }
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (descriptor >= 0)
    ::close(std::exchange(descriptor, -1));
  if (!temporaryPath.empty())
    ::unlink(temporaryPath.c_str());
  temporaryPath.clear();
}

Status AtomicFile::writeFully(uint64_t offset, const uint8_t *data,
                              size_t size) {
  while (size > 0) {
    ssize_t written =
        ::pwrite(descriptor, data, size, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return systemError(errno, "cannot write", targetPath);
    if (written == 0)
      return systemError(ENOSPC, "cannot write", targetPath);
    data += written;
    size -= static_cast<size_t>(written);
    offset += static_cast<uint64_t>(written);
  }
  return Status::ok();
}

Status AtomicFile::flush() {
  Status status =
      writeFully(appended - buffer.size(), buffer.data(), buffer.size());
  if (status)
    buffer.clear();
  return status;
}

void AtomicFile::startSync() {
  const uint64_t flushed = appended - buffer.size();
  if (descriptor < 0 || flushed - syncing < pieceBytes)
    return;
#ifdef SYNC_FILE_RANGE_WRITE
  // Where a file system cannot, commit() does it all.
  (void)::sync_file_range(descriptor, static_cast<off64_t>(syncing),
                          static_cast<off64_t>(flushed - syncing),
                          SYNC_FILE_RANGE_WRITE);
#endif
  syncing = flushed;
}

Status AtomicFile::write(const void *data, size_t size) {
  if (descriptor < 0)
    return Status(StatusCode::Internal,
                  "'" + targetPath + "' was written to after its commit");
  const uint8_t *bytes = static_cast<const uint8_t *>(data);
  while (size > 0) {
    size_t room = pieceBytes - appended % pieceBytes;
    size_t part = std::min(size, room);
    if (buffer.empty() && size >= room && appended % pieceBytes == 0) {
      part = size / pieceBytes * pieceBytes;
      LLMIR_RETURN_IF_ERROR(writeFully(appended, bytes, part));
    } else {
      buffer.insert(buffer.end(), bytes, bytes + part);
    }
    appended += part;
    bytes += part;
    size -= part;
    if (appended % pieceBytes == 0)
      LLMIR_RETURN_IF_ERROR(flush());
  }
  return Status::ok();
}

Status AtomicFile::padTo(uint64_t alignment) {
  static constexpr uint8_t zeros[4096] = {};
  if (alignment == 0)
    return Status(StatusCode::InvalidArgument, "cannot align to 0 bytes");
  uint64_t rest = appended % alignment;
  for (uint64_t missing = rest ? alignment - rest : 0; missing > 0;) {
    size_t part =
        static_cast<size_t>(std::min<uint64_t>(missing, sizeof zeros));
    LLMIR_RETURN_IF_ERROR(write(zeros, part));
    missing -= part;
  }
  return Status::ok();
}

Status AtomicFile::writeAt(uint64_t offset, const void *data, size_t size) {
  if (descriptor < 0 || offset > appended || size > appended - offset)
    return Status(StatusCode::Internal,
                  "'" + targetPath + "': bytes from " + std::to_string(offset) +
                      " cannot be overwritten, only " +
                      std::to_string(appended) + " are written");
  LLMIR_RETURN_IF_ERROR(flush());
  return writeFully(offset, static_cast<const uint8_t *>(data), size);
}

Status AtomicFile::commit(bool durable) {
  if (descriptor < 0)
    return Status(StatusCode::Internal,
                  "'" + targetPath + "' was committed twice");
  LLMIR_RETURN_IF_ERROR(flush());
  if (durable && ::fsync(descriptor) != 0)
    return systemError(errno, "cannot write", targetPath);
  if (temporaryPath.empty()) {
    std::string open = "/proc/self/fd/" + std::to_string(descriptor);
    temporaryPath = takeTemporaryName(targetPath, [&](const std::string &name) {
      return ::linkat(AT_FDCWD, open.c_str(), AT_FDCWD, name.c_str(),
                      AT_SYMLINK_FOLLOW) == 0;
    });
    if (temporaryPath.empty())
      return systemError(errno, "cannot create", targetPath);
  }
  // Network file systems may report a full disk only at this point.
  if (::close(std::exchange(descriptor, -1)) != 0)
    return systemError(errno, "cannot write", targetPath);
  if (::rename(temporaryPath.c_str(), targetPath.c_str()) != 0)
    return systemError(errno, "cannot create", targetPath);
  temporaryPath.clear();
  return Status::ok();
}

Status writeFileAtomically(const std::string &path, std::string_view text) {
  Expected<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file.takeStatus();
  LLMIR_RETURN_IF_ERROR(file->write(text));
  return file->commit();
}

} // namespace llmir

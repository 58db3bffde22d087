//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlobWriter.h"
#include "Digest.h"

#include "llmir/Support/Json.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>

using namespace llmir;
using namespace llmir::hub;

namespace fs = std::filesystem;

Descriptor::~Descriptor() {
  if (number >= 0)
    close(number);
}

//===----------------------------------------------------------------------===//
// Files of the cache
//===----------------------------------------------------------------------===//

static std::string megabytes(uint64_t bytes) {
  return std::to_string((bytes + 999999) / 1000000) + " MB";
}

Status hub::cacheFailure(int error, const std::string &what,
                         const std::string &path, uint64_t neededBytes) {
  const bool isFull = error == ENOSPC || error == EDQUOT || error == EFBIG;
  std::string cause = what + " '" + path + "': " + std::strerror(error);
  if (!isFull)
    return Status(StatusCode::IoError, cause,
                  "check the permissions of the Hub's cache, or set "
                  "HF_HUB_CACHE to another directory");
  struct statvfs disk;
  const std::string folder = path.substr(0, path.rfind('/'));
  if (neededBytes)
    cause += "; the file needs " + megabytes(neededBytes) + " more";
  if (statvfs(folder.c_str(), &disk) == 0)
    cause += (neededBytes ? " and " : "; ") +
             megabytes(uint64_t(disk.f_bavail) * disk.f_frsize) + " are free";
  return Status(
      StatusCode::ResourceExhausted, cause,
      "free some space, or set HF_HUB_CACHE to a directory on another "
      "disk, then run the command again");
}

Status hub::makeFolder(const std::string &path) {
  std::error_code error;
  fs::create_directories(path, error);
  std::error_code ignored;
  if (!error || fs::is_directory(path, ignored))
    return Status::ok();
  return cacheFailure(error.value(), "cannot create", path);
}

bool hub::regularFileSize(const std::string &path, uint64_t &size) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return false;
  size = static_cast<uint64_t>(info.st_size);
  return true;
}

Status hub::writeAt(int descriptor, uint64_t offset, const void *data,
                    size_t size, const std::string &path,
                    uint64_t neededBytes) {
  const char *bytes = static_cast<const char *>(data);
  while (size > 0) {
    const ssize_t wrote =
        pwrite(descriptor, bytes, size, static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0)
      return cacheFailure(wrote < 0 ? errno : ENOSPC, "cannot write", path,
                          neededBytes);
    bytes += wrote;
    offset += static_cast<uint64_t>(wrote);
    size -= static_cast<size_t>(wrote);
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// The file of parts
//===----------------------------------------------------------------------===//

namespace {

/// The header of the file of parts; one uint64_t per piece follows. In the
/// machine's byte order: the file does not leave the machine.
struct PartsHeader {
  std::array<char, 8> magic = {'L', 'L', 'M', 'I', 'R', 'P', 'R', 'T'};
  uint64_t version = 1;
  uint64_t size = 0;
  uint64_t pieceBytes = BlobWriter::pieceBytes;

  bool operator==(const PartsHeader &other) const {
    return magic == other.magic && version == other.version &&
           size == other.size && pieceBytes == other.pieceBytes;
  }
};

} // namespace

static size_t numPiecesOf(uint64_t size) {
  return static_cast<size_t>(std::max<uint64_t>(
      1, (size + BlobWriter::pieceBytes - 1) / BlobWriter::pieceBytes));
}

static uint64_t pieceSizeOf(uint64_t size, size_t piece) {
  return std::min(BlobWriter::pieceBytes,
                  size - piece * BlobWriter::pieceBytes);
}

/// The bytes of each piece, if the file of parts is valid for a blob of `size`
/// bytes whose content is in a file of `contentSize` bytes.
static std::vector<uint64_t> partsOf(int descriptor, uint64_t size,
                                     uint64_t contentSize) {
  PartsHeader header, expected;
  expected.size = size;
  std::vector<uint64_t> pieces(numPiecesOf(size));
  const size_t bytes = pieces.size() * sizeof(uint64_t);
  if (pread(descriptor, &header, sizeof header, 0) != ssize_t(sizeof header) ||
      !(header == expected) ||
      pread(descriptor, pieces.data(), bytes, sizeof header) != ssize_t(bytes))
    return {};
  for (size_t i = 0; i < pieces.size(); ++i)
    if (pieces[i] > pieceSizeOf(size, i) ||
        (pieces[i] > 0 && i * BlobWriter::pieceBytes + pieces[i] > contentSize))
      return {};
  return pieces;
}

/// How much of the start of a blob the Hub's own client has left; 0 if another
/// process may still write it: some clients do not take the lock.
static uint64_t prefixBytes(const std::string &blob, uint64_t size) {
  constexpr time_t secondsUntouched = 60;
  struct stat info;
  if (lstat((blob + ".incomplete").c_str(), &info) != 0 ||
      !S_ISREG(info.st_mode) ||
      info.st_mtime > std::time(nullptr) - secondsUntouched)
    return 0;
  const auto bytes = static_cast<uint64_t>(info.st_size);
  return bytes <= size ? bytes : 0;
}

uint64_t BlobWriter::presentBytes(const Cache &cache,
                                  const std::string &repository,
                                  const FileEntry &file) {
  const std::string blob = cache.blobPath(repository, file.hash);
  uint64_t contentSize = 0, total = 0;
  if (!regularFileSize(blob + ".llmir.incomplete", contentSize))
    return prefixBytes(blob, file.size);
  Descriptor state(
      ::open((blob + ".llmir.parts").c_str(), O_RDONLY | O_CLOEXEC));
  if (state)
    for (uint64_t bytes : partsOf(state.get(), file.size, contentSize))
      total += bytes;
  return total;
}

uint64_t BlobWriter::allocatedBytes(const Cache &cache,
                                    const std::string &repository,
                                    const FileEntry &file) {
  const std::string blob = cache.blobPath(repository, file.hash);
  struct stat info;
  if (stat((blob + ".llmir.incomplete").c_str(), &info) != 0)
    return presentBytes(cache, repository, file);
  return std::min(file.size, uint64_t(info.st_blocks) * 512);
}

bool BlobWriter::readParts() {
  uint64_t contentSize = 0;
  if (!regularFileSize(content, contentSize))
    return false;
  std::vector<uint64_t> pieces = partsOf(state.get(), entry.size, contentSize);
  for (size_t i = 0; i < pieces.size(); ++i)
    done[i] = pieces[i];
  return !pieces.empty();
}

Status BlobWriter::writeParts() {
  std::vector<uint64_t> pieces(done.size());
  for (size_t i = 0; i < pieces.size(); ++i)
    pieces[i] = done[i];
  PartsHeader header;
  header.size = entry.size;
  LLMIR_RETURN_IF_ERROR(
      writeAt(state.get(), 0, &header, sizeof header, parts, entry.size));
  return writeAt(state.get(), sizeof header, pieces.data(),
                 pieces.size() * sizeof(uint64_t), parts, entry.size);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

BlobWriter::BlobWriter(const FileEntry &file, std::string blobPath)
    : entry(file), blob(std::move(blobPath)), done(numPiecesOf(file.size)) {}

BlobWriter::~BlobWriter() {
  // A name of this process alone is of no use to others.
  if (!locked && !installed && data)
    remove();
}

void BlobWriter::remove() {
  unlink(content.c_str());
  unlink(parts.c_str());
}

uint64_t BlobWriter::pieceSize(size_t piece) const {
  return pieceSizeOf(entry.size, piece);
}

uint64_t BlobWriter::doneBytes() const {
  uint64_t total = 0;
  for (size_t i = 0; i < done.size(); ++i)
    total += pieceDone(i);
  return total;
}

/// Takes the lock; `locked` stays false where the file system has no locks.
Status
BlobWriter::takeLock(const std::string &path, const std::atomic<bool> &stop,
                     const std::function<void(const std::string &)> &note) {
  bool hasNoted = false;
  while (!stop) {
    lock = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0664));
    if (!lock)
      return cacheFailure(errno, "cannot write", path);
    if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
      // Another process may have removed the file meanwhile.
      struct stat held, current;
      locked = fstat(lock.get(), &held) == 0 &&
               stat(path.c_str(), &current) == 0 &&
               held.st_ino == current.st_ino && held.st_dev == current.st_dev;
      if (locked)
        return Status::ok();
      continue;
    }
    if (errno != EWOULDBLOCK && errno != EINTR)
      return Status::ok();
    if (!hasNoted)
      note("waiting for another process that downloads '" +
           printable(entry.path) + "'");
    hasNoted = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return Status(StatusCode::IoError, "the download was stopped");
}

void BlobWriter::adoptPrefix() {
  uint64_t size = prefixBytes(blob, entry.size), exists = 0;
  if (!locked || size == 0 || regularFileSize(content, exists) ||
      rename((blob + ".incomplete").c_str(), content.c_str()) != 0)
    return;
  for (size_t i = 0; i < done.size() && size > 0; ++i) {
    const uint64_t here = std::min(size, pieceSize(i));
    done[i] = here;
    size -= here;
  }
}

Status BlobWriter::openFiles() {
  if (locked) {
    content = blob + ".llmir.incomplete";
    parts = blob + ".llmir.parts";
  } else {
    std::random_device random;
    char suffix[16];
    std::snprintf(suffix, sizeof suffix, ".%08x", random());
    content = blob + suffix + ".incomplete";
    parts = blob + suffix + ".parts";
  }
  adoptPrefix();
  constexpr int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
  state = Descriptor(::open(parts.c_str(), flags, 0666));
  if (!state)
    return cacheFailure(errno, "cannot write", parts);
  if (doneBytes() == 0)
    readParts();
  data = Descriptor(::open(content.c_str(), flags, 0666));
  if (!data)
    return cacheFailure(errno, "cannot write", content);
  resumed = doneBytes();
  if (resumed == 0 && ftruncate(data.get(), 0) != 0)
    return cacheFailure(errno, "cannot write", content);
  return writeParts();
}

Expected<std::unique_ptr<BlobWriter>>
BlobWriter::open(const Cache &cache, const std::string &repository,
                 const FileEntry &file, const std::atomic<bool> &stop,
                 const std::function<void(const std::string &)> &note) {
  std::unique_ptr<BlobWriter> writer(
      new BlobWriter(file, cache.blobPath(repository, file.hash)));
  const std::string lockPath = cache.lockPath(repository, file.hash);
  for (const std::string &path : {writer->blob, lockPath})
    LLMIR_RETURN_IF_ERROR(makeFolder(path.substr(0, path.rfind('/'))));
  LLMIR_RETURN_IF_ERROR(writer->takeLock(lockPath, stop, note));
  uint64_t size = 0;
  if (regularFileSize(writer->blob, size) && size == file.size) {
    writer->installed = true;
    writer->lock = Descriptor();
    return writer;
  }
  LLMIR_RETURN_IF_ERROR(writer->openFiles());
  return writer;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Status BlobWriter::reserve() {
  if (entry.size == 0)
    return Status::ok();
  if (fallocate(data.get(), 0, 0, static_cast<off_t>(entry.size)) == 0 ||
      (errno != ENOSPC && errno != EDQUOT && errno != EFBIG))
    return Status::ok(); // Or the file system cannot reserve space.
  return cacheFailure(errno, "cannot write", content, entry.size - doneBytes());
}

Status BlobWriter::write(uint64_t offset, const char *bytes, size_t size) {
  if (offset > entry.size || size > entry.size - offset)
    return Status(StatusCode::InvalidFile,
                  "'" + printable(entry.path) + "' has more than its " +
                      std::to_string(entry.size) + " bytes",
                  "the server sends another file: run the command again, and "
                  "check HF_ENDPOINT and proxies");
  while (size > 0) {
    const auto piece = static_cast<size_t>(offset / pieceBytes);
    if (offset != pieceStart(piece) + pieceDone(piece))
      return Status(StatusCode::Internal, "bytes of '" + printable(entry.path) +
                                              "' were received out of order");
    const auto here = static_cast<size_t>(
        std::min<uint64_t>(size, pieceSize(piece) - pieceDone(piece)));
    LLMIR_RETURN_IF_ERROR(writeAt(data.get(), offset, bytes, here, content,
                                  entry.size - doneBytes()));
    // After the content: what the parts say is always there.
    const uint64_t now = done[piece] += here;
    LLMIR_RETURN_IF_ERROR(
        writeAt(state.get(), sizeof(PartsHeader) + piece * sizeof now, &now,
                sizeof now, parts, entry.size - doneBytes()));
    // The disk starts to write now, so that finish() waits less for it.
    if (isPieceDone(piece))
      sync_file_range(data.get(), static_cast<off_t>(pieceStart(piece)),
                      static_cast<off_t>(pieceSize(piece)),
                      SYNC_FILE_RANGE_WRITE);
    bytes += here;
    offset += here;
    size -= here;
  }
  return Status::ok();
}

Status BlobWriter::restart() {
  for (std::atomic<uint64_t> &bytes : done)
    bytes = 0;
  resumed = 0;
  return writeParts();
}

Status BlobWriter::finish(const std::atomic<bool> &stop, bool &isWrong) {
  Expected<std::string> hash =
      hashLike(entry.hash, data.get(), entry.size, content, &stop);
  if (!hash)
    return hash.takeStatus();
  isWrong = *hash != entry.hash;
  if (isWrong) {
    LLMIR_RETURN_IF_ERROR(restart());
    return Status(StatusCode::InvalidFile,
                  "'" + printable(entry.path) + "' is damaged: its hash is " +
                      *hash + ", but the Hub gives " + entry.hash,
                  "what was downloaded was removed; run the command again, and "
                  "check HF_ENDPOINT and proxies if it happens twice");
  }
  if (ftruncate(data.get(), static_cast<off_t>(entry.size)) != 0 ||
      fdatasync(data.get()) != 0)
    return cacheFailure(errno, "cannot write", content);
  if (rename(content.c_str(), blob.c_str()) != 0)
    return cacheFailure(errno, "cannot write", blob);
  unlink(parts.c_str());
  installed = true;
  data = Descriptor();
  state = Descriptor();
  lock = Descriptor();
  return Status::ok();
}

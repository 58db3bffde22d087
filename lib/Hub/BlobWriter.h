//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A blob of the Hub's cache under construction. Its pieces may be written in
// any order and by several threads. What was written survives the process:
//
//   blobs/HASH.llmir.incomplete   the content so far
//   blobs/HASH.llmir.parts        how much of each piece is there
//
// The blob itself appears once it is whole and its hash is right. The lock of
// the Hub's own client keeps other processes away meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_HUB_BLOBWRITER_H
#define LLMIR_LIB_HUB_BLOBWRITER_H

#include "llmir/Hub/Cache.h"
#include "llmir/Support/Status.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace llmir::hub {

/// A file descriptor that is closed by the destructor.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int number) : number(number) {}
  Descriptor(Descriptor &&other) noexcept : number(other.number) {
    other.number = -1;
  }
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~Descriptor();
  int get() const { return number; }
  explicit operator bool() const { return number >= 0; }

private:
  int number = -1;
};

/// The failure of a system call on a file of the cache; `error` is an errno.
/// A full disk is described with what the download still needs.
Status cacheFailure(int error, const std::string &what, const std::string &path,
                    uint64_t neededBytes = 0);
/// Writes all bytes at an offset; a full disk is described as above.
Status writeAt(int descriptor, uint64_t offset, const void *data, size_t size,
               const std::string &path, uint64_t neededBytes = 0);
/// Creates a directory of the cache and its parents.
Status makeFolder(const std::string &path);
/// The size of a regular file; false if there is none.
bool regularFileSize(const std::string &path, uint64_t &size);

class BlobWriter {
public:
  static constexpr uint64_t pieceBytes = uint64_t(16) << 20;

  /// How many bytes of the blob an earlier process has left.
  static uint64_t presentBytes(const Cache &cache,
                               const std::string &repository,
                               const FileEntry &file);

  /// How many bytes of the disk the blob has already: reserve() allocates all.
  static uint64_t allocatedBytes(const Cache &cache,
                                 const std::string &repository,
                                 const FileEntry &file);

  /// Takes the lock, waiting for other processes (which `note` reports), and
  /// continues what was left. `file` is copied.
  static Expected<std::unique_ptr<BlobWriter>>
  open(const Cache &cache, const std::string &repository, const FileEntry &file,
       const std::atomic<bool> &stop,
       const std::function<void(const std::string &)> &note);
  ~BlobWriter();
  BlobWriter(const BlobWriter &) = delete;
  BlobWriter &operator=(const BlobWriter &) = delete;

  const FileEntry &file() const { return entry; }
  /// The blob exists: another process completed it meanwhile.
  bool isInstalled() const { return installed; }

  size_t numPieces() const { return done.size(); }
  uint64_t pieceStart(size_t piece) const { return piece * pieceBytes; }
  uint64_t pieceSize(size_t piece) const;
  /// Bytes of the piece that were written, from its start. Thread-safe.
  uint64_t pieceDone(size_t piece) const {
    return done[piece].load(std::memory_order_relaxed);
  }
  bool isPieceDone(size_t piece) const {
    return pieceDone(piece) == pieceSize(piece);
  }
  uint64_t doneBytes() const;
  /// Bytes that were found when the blob was opened, or 0 after restart().
  uint64_t resumedBytes() const { return resumed; }

  /// Writes bytes at `offset`, which must be where a piece's content ends so
  /// far; they may extend into the following, empty pieces. Only one thread at
  /// a time may write to a piece.
  Status write(uint64_t offset, const char *data, size_t size);
  /// Forgets all content.
  Status restart();
  /// Reserves the disk space of the blob.
  Status reserve();
  /// Checks the hash and installs the blob. A wrong hash sets `isWrong`, and
  /// all content is forgotten.
  Status finish(const std::atomic<bool> &stop, bool &isWrong);
  /// Removes the files of an unfinished blob, which cannot be continued.
  void remove();

private:
  BlobWriter(const FileEntry &file, std::string blob);
  Status takeLock(const std::string &path, const std::atomic<bool> &stop,
                  const std::function<void(const std::string &)> &note);
  Status openFiles();
  bool readParts();
  void adoptPrefix();
  Status writeParts();

  FileEntry entry;
  std::string blob, content, parts; ///< Paths.
  Descriptor lock, data, state;
  std::vector<std::atomic<uint64_t>> done;
  uint64_t resumed = 0;
  std::atomic<bool> installed{false};
  bool locked = false; ///< Without a lock, nothing is kept or continued.
};

} // namespace llmir::hub

#endif // LLMIR_LIB_HUB_BLOBWRITER_H

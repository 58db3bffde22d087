//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Atomic file writing: readers never see a partial file. The bytes are written
// to a temporary file that replaces the target on commit().
//
//   Expected<AtomicFile> file = AtomicFile::create(path);
//   LLMIR_RETURN_IF_ERROR(file->write(header, sizeof header));
//   LLMIR_RETURN_IF_ERROR(file->commit());
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_FILEWRITER_H
#define LLMIR_SUPPORT_FILEWRITER_H

#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// A file under construction. Without a successful commit() nothing remains of
/// it and an existing file at the target is unchanged, even if the process is
/// killed (where the file system supports unnamed files). Not thread-safe.
/// Errors name the target: NotFound (no such directory), IoError (read-only,
/// permission, …), ResourceExhausted (no space, quota, file too large).
class AtomicFile {
public:
  /// An existing target must be a regular file (not a device or directory).
  static Expected<AtomicFile> create(const std::string &path);

  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&other) noexcept;
  ~AtomicFile();

  /// Appends; buffered.
  Status write(const void *data, size_t size);
  Status write(Span<const uint8_t> bytes) {
    return write(bytes.data(), bytes.size());
  }
  Status write(std::string_view text) {
    return write(text.data(), text.size());
  }
  /// Appends zero bytes until position() is a multiple of `alignment`.
  Status padTo(uint64_t alignment);
  /// Overwrites bytes that were already written (e.g. a header).
  Status writeAt(uint64_t offset, const void *data, size_t size);
  /// Bytes appended so far.
  uint64_t position() const { return appended; }
  /// Writes out the buffer, so that a later commit() cannot fail because the
  /// disk is full. When several files belong together, flush all of them before
  /// the first commit().
  Status flush();
  /// Starts to write flushed data to the disk, and does not wait for it: a
  /// durable commit() after it has less to wait for.
  void startSync();

  /// Writes out the buffer and renames the file over the target. If `durable`,
  /// the data is synced to disk first (fsync).
  Status commit(bool durable = false);

private:
  AtomicFile() = default;
  Status writeFully(uint64_t offset, const uint8_t *data, size_t size);
  void discard();

  std::string targetPath;
  std::string temporaryPath;   ///< Empty while the file is unnamed.
  std::vector<uint8_t> buffer; ///< Appended bytes not yet written.
  uint64_t appended = 0;
  uint64_t syncing = 0; ///< Bytes that the system is writing to the disk.
  int descriptor = -1;
};

/// Writes a whole small file atomically.
Status writeFileAtomically(const std::string &path, std::string_view text);

} // namespace llmir

#endif // LLMIR_SUPPORT_FILEWRITER_H

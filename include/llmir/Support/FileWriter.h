//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writing a file so that nobody ever sees half of it: the bytes go into a file
// beside the target, which takes the target's name when it is complete.
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
/// it and an older file at the target stays as it was, also when the process is
/// killed (where the file system knows files without a name). Not thread-safe.
/// Errors name the target: NotFound (no such folder), IoError (read-only,
/// permission, …), ResourceExhausted (no space, quota, file too large).
class AtomicFile {
public:
  /// A target that exists must be a regular file (never a device or folder).
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
  /// Overwrites bytes that were already written (a header, say).
  Status writeAt(uint64_t offset, const void *data, size_t size);
  /// Bytes appended so far.
  uint64_t position() const { return appended; }
  /// Writes out what is buffered: a commit() after it finds no full disk. Where
  /// several files belong together each is flushed before the first commit().
  Status flush();

  /// Writes everything out and renames the file over the target. With
  /// `durable` the data is on the disk before (fsync).
  Status commit(bool durable = false);

private:
  AtomicFile() = default;
  Status writeFully(uint64_t offset, const uint8_t *data, size_t size);
  void discard();

  std::string targetPath;
  std::string temporaryPath;   ///< Empty while the file has no name.
  std::vector<uint8_t> buffer; ///< The last bytes appended, not yet written.
  uint64_t appended = 0;
  int descriptor = -1;
};

/// Writes a whole small file in this way.
Status writeFileAtomically(const std::string &path, std::string_view text);

} // namespace llmir

#endif // LLMIR_SUPPORT_FILEWRITER_H

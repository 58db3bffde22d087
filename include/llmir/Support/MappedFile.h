//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A read-only memory-mapped file.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_MAPPEDFILE_H
#define LLMIR_SUPPORT_MAPPEDFILE_H

#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace llmir {

/// Owns one read-only mapping of a whole regular file. Any number of threads
/// may read it. The size is that of the file when it was opened; accessing a
/// mapping whose file has been truncated since raises SIGBUS.
class MappedFile {
public:
  /// Maps `path`, following symbolic links. Fails with NotFound when there is
  /// no such file, InvalidFile when it is not a regular file or longer than
  /// `maxBytes`, IoError when the system refuses. An empty file maps to an
  /// empty span.
  static Expected<MappedFile> open(const std::string &path,
                                   uint64_t maxBytes = UINT64_MAX);

  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// The path passed to open().
  const std::string &path() const { return filePath; }
  /// The last path component, for messages.
  std::string_view name() const;
  Span<const uint8_t> bytes() const { return content; }
  std::string_view text() const {
    return {reinterpret_cast<const char *>(content.data()), content.size()};
  }
  /// Hints that a part of bytes() is not needed now: its pages no longer count
  /// as resident memory of the process. Later reads find them in the page cache
  /// or read them from disk again.
  void release(Span<const uint8_t> part) const;
  /// Last modification, in nanoseconds since 1970.
  int64_t modifiedNs() const { return modified; }

private:
  MappedFile() = default;

  std::string filePath;
  Span<const uint8_t> content;
  int64_t modified = 0;
};

} // namespace llmir

#endif // LLMIR_SUPPORT_MAPPEDFILE_H

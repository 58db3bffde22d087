//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file mapped for reading. Its bytes are never copied.
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

/// Owns one read-only mapping of a whole regular file; unmaps it when it dies.
/// Safe to read from any number of threads. The size is the file's at the time
/// of opening; who truncates a mapped file takes its pages away (SIGBUS), as
/// with every program that maps.
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

  /// The path as it was given.
  const std::string &path() const { return filePath; }
  /// The last part of the path, for messages.
  std::string_view name() const;
  Span<const uint8_t> bytes() const { return content; }
  std::string_view text() const {
    return {reinterpret_cast<const char *>(content.data()), content.size()};
  }
  /// Says that a part of bytes() is not needed now: its pages no longer count
  /// as memory of the process, and are found in the system's cache, or read
  /// again, by who reads them later.
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

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/MappedFile.h"
#include "Errno.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace llmir {

/// Maps an open file after checking it; `bytes` is not null unless it is empty.
static Status mapDescriptor(int descriptor, const std::string &path,
                            uint64_t maxBytes, Span<const uint8_t> &bytes,
                            int64_t &modifiedNs) {
  struct stat facts;
  if (fstat(descriptor, &facts) != 0)
    return systemError(errno, "cannot examine", path);
  if (!S_ISREG(facts.st_mode))
    return Status(
        StatusCode::InvalidFile,
        "'" + path + "' is " +
            (S_ISDIR(facts.st_mode) ? "a directory" : "not a regular file"),
        "give the path of a regular file");
  uint64_t size = static_cast<uint64_t>(facts.st_size);
  if (size > maxBytes)
    return Status(StatusCode::InvalidFile,
                  "'" + path + "' has " + std::to_string(size) +
                      " bytes; at most " + std::to_string(maxBytes) +
                      " are read");
  modifiedNs = int64_t(facts.st_mtim.tv_sec) * 1000000000 +
               int64_t(facts.st_mtim.tv_nsec);
  if (size == 0)
    return Status::ok();
  void *address =
      mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, /*offset=*/0);
  if (address == MAP_FAILED)
    return systemError(errno, "cannot map", path);
  bytes = Span<const uint8_t>(static_cast<const uint8_t *>(address), size);
  return Status::ok();
}

Expected<MappedFile> MappedFile::open(const std::string &path,
                                      uint64_t maxBytes) {
  if (path.find('\0') != std::string::npos)
    return Status(StatusCode::InvalidArgument, "the path contains a zero byte");
  // Non-blocking, so that a named pipe is rejected instead of waited for.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return systemError(errno, "cannot open", path);
  MappedFile file;
  file.filePath = path;
  Status status =
      mapDescriptor(descriptor, path, maxBytes, file.content, file.modified);
  ::close(descriptor);
  if (!status)
    return status;
  return file;
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : filePath(std::move(other.filePath)),
      content(std::exchange(other.content, {})), modified(other.modified) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(filePath, other.filePath);
  std::swap(content, other.content);
  std::swap(modified, other.modified);
  return *this;
}

MappedFile::~MappedFile() {
  if (!content.empty())
    munmap(const_cast<uint8_t *>(content.data()), content.size());
}

void MappedFile::release(Span<const uint8_t> part) const {
  // Only whole pages of the mapping.
  uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t begin = reinterpret_cast<uintptr_t>(part.data());
  uintptr_t end = begin + part.size();
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  uintptr_t first = reinterpret_cast<uintptr_t>(content.data());
  if (begin < end && begin >= first && end <= first + content.size())
    (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

std::string_view MappedFile::name() const {
  std::string_view path = filePath;
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0.
}

} // namespace llmir

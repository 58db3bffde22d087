//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Artifact/CodeImage.h"
#include "CodeImagePlan.h"
#include "llmir/Artifact/Artifact.h"
#include "llmir/Artifact/CodeNote.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace llmir {

CodeImage::CodeImage(CodeImage &&other) noexcept { *this = std::move(other); }

CodeImage &CodeImage::operator=(CodeImage &&other) noexcept {
  std::swap(reserved, other.reserved);
  std::swap(reservedBytes, other.reservedBytes);
  std::swap(entry, other.entry);
  return *this;
}

CodeImage::~CodeImage() {
  if (reserved)
    munmap(reserved, reservedBytes);
}

static Status mappingFailed(const std::string &name) {
  if (errno == EPERM || errno == EACCES)
    return Status(StatusCode::IoError,
                  name +
                      ": the system does not allow its code to be executed (" +
                      std::strerror(errno) + ")",
                  "keep the file on a file system mounted without 'noexec' "
                  "(--cache-dir for the cache)");
  return Status(StatusCode::IoError,
                name + ": its code cannot be mapped: " + std::strerror(errno));
}

/// Maps one segment into its part of the reserved range. `bias` is added to
/// addresses of the image.
static Status mapSegment(const CodeSegment &segment, uintptr_t bias, int fd,
                         uint64_t imageOffset, uint64_t pageBytes,
                         const std::string &name) {
  const int protection = segment.executable ? PROT_READ | PROT_EXEC : PROT_READ;
  const uint64_t lead = segment.address % pageBytes;
  const uintptr_t start = bias + segment.address - lead;
  uint64_t mapped = 0;
  if (segment.fileBytes > 0) {
    mapped = (lead + segment.fileBytes + pageBytes - 1) / pageBytes * pageBytes;
    if (mmap(reinterpret_cast<void *>(start), lead + segment.fileBytes,
             protection, MAP_PRIVATE | MAP_FIXED, fd,
             static_cast<off_t>(imageOffset + segment.offset - lead)) ==
        MAP_FAILED)
      return mappingFailed(name);
  }
  // Zero pages follow the segment's bytes in the file; only a read-only dynamic
  // section padded by the linker has any.
  if (lead + segment.memoryBytes > mapped &&
      mmap(reinterpret_cast<void *>(start + mapped),
           lead + segment.memoryBytes - mapped, PROT_READ,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    return mappingFailed(name);
  return Status::ok();
}

Expected<CodeImage> CodeImage::map(const CodeImagePlan &plan, int fd,
                                   uint64_t offset, uint64_t pageBytes,
                                   const std::string &name) {
  if (offset % pageBytes != 0)
    return Status(StatusCode::InvalidFile,
                  name + ": code at offset " + std::to_string(offset) +
                      " cannot be mapped in pages of " +
                      std::to_string(pageBytes) + " bytes",
                  "compile it again with 'llmir compile'");
  // The range starts at a multiple of the maximum alignment, as does the lowest
  // address of the image, so that all addresses keep their alignment.
  const uint64_t lowest = plan.firstAddress / plan.alignment * plan.alignment;
  const uint64_t span = plan.endAddress - lowest + plan.alignment;
  CodeImage result;
  void *range =
      mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (range == MAP_FAILED)
    return mappingFailed(name);
  result.reserved = range;
  result.reservedBytes = span;
  uintptr_t base = reinterpret_cast<uintptr_t>(range) + plan.alignment - 1;
  base -= base % plan.alignment;
  const uintptr_t bias = base - lowest;
  for (const CodeSegment &segment : plan.segments)
    if (Status status = mapSegment(segment, bias, fd, offset, pageBytes, name);
        !status)
      return status;
  result.entry = reinterpret_cast<LLMIRStepFunction>(bias + plan.entry);
  return result;
}

Expected<CodeImage> CodeImage::load(int fd, uint64_t offset,
                                    Span<const uint8_t> image,
                                    const std::string &name) {
  const auto pageBytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  Expected<CodeImagePlan> plan = planCodeImage(image, name, pageBytes);
  if (!plan)
    return plan.takeStatus();
  return map(*plan, fd, offset, pageBytes, name);
}

Expected<CodeImage> CodeImage::load(const Artifact &artifact, size_t target) {
  Span<const uint8_t> code = artifact.section(ArtifactSection::Code, target);
  uint64_t offset = 0;
  for (const ArtifactSectionEntry &entry : artifact.sections())
    if (entry.id == static_cast<uint32_t>(ArtifactSection::Code) &&
        entry.number == target)
      offset = entry.offset;
  const auto pageBytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  Expected<CodeImagePlan> plan =
      planCodeImage(code, artifact.path(), pageBytes);
  if (!plan)
    return plan.takeStatus();
  Status fits = checkCodeNote(plan->note, artifact.info(), target,
                              static_cast<int64_t>(artifact.weights().size()));
  if (!fits)
    return std::move(fits).withContext(artifact.path());
  return map(*plan, artifact.fileDescriptor(), offset, pageBytes,
             artifact.path());
}

} // namespace llmir

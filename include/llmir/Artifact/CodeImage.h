//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiled step function in memory, mapped from the artifact's file.
//
// The image is a self-contained ELF64 shared object for this machine: no
// relocations, no libraries, no writable data. The loader verifies that,
// reserves one address range, and maps each segment from the file read-only or
// executable, never both writable and executable. No dynamic loader is
// involved.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ARTIFACT_CODEIMAGE_H
#define LLMIR_ARTIFACT_CODEIMAGE_H

#include "llmir/ABI/StepContext.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>

namespace llmir {

class Artifact;
struct CodeImagePlan;

/// Validates the image without loading it. `name` is used in messages. Fails
/// with InvalidFile, or with IncompatibleTarget for another machine type.
Status validateCodeImage(Span<const uint8_t> image, const std::string &name);

class CodeImage {
public:
  /// Maps the code section of entry `target` of ArtifactInfo::code. InvalidFile
  /// if the code was generated for other sizes than those of the info and the
  /// weights (CodeNote.h). The artifact may be closed afterwards.
  static Expected<CodeImage> load(const Artifact &artifact, size_t target);

  /// Maps an image from the open file `fd` at `offset` (a multiple of the
  /// system's page size); `image` is the same bytes, already readable.
  static Expected<CodeImage> load(int fd, uint64_t offset,
                                  Span<const uint8_t> image,
                                  const std::string &name);

  CodeImage(CodeImage &&other) noexcept;
  CodeImage &operator=(CodeImage &&other) noexcept;
  ~CodeImage();

  /// The step function; valid during the lifetime of this object.
  LLMIRStepFunction step() const { return entry; }

  /// The address range of the image, for profilers.
  const void *base() const { return reserved; }
  uint64_t bytes() const { return reservedBytes; }

private:
  CodeImage() = default;
  static Expected<CodeImage> map(const CodeImagePlan &plan, int fd,
                                 uint64_t offset, uint64_t pageBytes,
                                 const std::string &name);

  void *reserved = nullptr;
  uint64_t reservedBytes = 0;
  LLMIRStepFunction entry = nullptr;
};

} // namespace llmir

#endif // LLMIR_ARTIFACT_CODEIMAGE_H

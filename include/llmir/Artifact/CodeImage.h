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
// The image is an ELF64 shared object for this machine that needs nothing: no
// relocation, no library, no writable data. The loader checks that, reserves
// one range of addresses, and maps each segment from the file, readable or
// executable, never both writable and executable. There is no dynamic loader.
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

/// Checks everything that loading relies on, and loads nothing. `name` goes
/// into the messages. Fails with InvalidFile, or IncompatibleTarget for another
/// kind of machine.
Status validateCodeImage(Span<const uint8_t> image, const std::string &name);

class CodeImage {
public:
  /// Maps a code section of the artifact: entry `target` of ArtifactInfo::code.
  /// InvalidFile where the code was generated for other sizes than the info and
  /// the weights have (CodeNote.h). The artifact may be closed afterwards.
  static Expected<CodeImage> load(const Artifact &artifact, size_t target);

  /// Maps an image that lies in the open file `fd` at `offset` (a multiple of
  /// the system's page size); `image` is the same bytes, already readable.
  static Expected<CodeImage> load(int fd, uint64_t offset,
                                  Span<const uint8_t> image,
                                  const std::string &name);

  CodeImage(CodeImage &&other) noexcept;
  CodeImage &operator=(CodeImage &&other) noexcept;
  ~CodeImage();

  /// The step function; valid while this object lives.
  LLMIRStepFunction step() const { return entry; }

  /// The range of addresses that the image occupies, for profilers.
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

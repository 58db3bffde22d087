//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a `.llmir` file section by section without holding it in memory.
//
//   Expected<ArtifactWriter> writer = ArtifactWriter::begin("model.llmir");
//   …
//   LLMIR_RETURN_IF_ERROR(writer->setInfo(info));
//   LLMIR_RETURN_IF_ERROR(writer->addSection(ArtifactSection::Code, image));
//   LLMIR_RETURN_IF_ERROR(writer->beginSection(ArtifactSection::Weights));
//   LLMIR_RETURN_IF_ERROR(writer->append(chunk)); // repeatedly
//   LLMIR_RETURN_IF_ERROR(writer->endSection());
//   LLMIR_RETURN_IF_ERROR(writer->finish());
//
// The bytes go to a hidden file in the same directory; finish() makes it
// durable and renames it, so that readers see either the old or the complete
// new file. A writer that is destroyed unfinished removes its file.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ARTIFACT_ARTIFACTWRITER_H
#define LLMIR_ARTIFACT_ARTIFACTWRITER_H

#include "llmir/Artifact/ArtifactFormat.h"
#include "llmir/Artifact/ArtifactInfo.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <memory>
#include <string>

namespace llmir {

class ArtifactWriter {
public:
  /// Creates the hidden file. Fails with IoError if the directory is not
  /// writable, InvalidArgument if `path` is a directory.
  static Expected<ArtifactWriter> begin(const std::string &path);

  ArtifactWriter(ArtifactWriter &&) noexcept;
  ArtifactWriter &operator=(ArtifactWriter &&) noexcept;
  ~ArtifactWriter();

  /// Validates `info` (validateArtifactInfo) and writes it as a section. Its
  /// ABI version is stored in the file.
  Status setInfo(const ArtifactInfo &info);

  /// Writes a whole section. Code and weights are 64 KiB aligned, others 64
  /// bytes. There is one code section for each entry of ArtifactInfo::code, in
  /// that order, and at most one of each other kind.
  Status addSection(ArtifactSection id, Span<const uint8_t> bytes);

  /// Writes a section in pieces. `alignment` is a power of two from 64 to 2
  /// MiB, or 0 for the section's default; only one section is open at a time.
  Status beginSection(ArtifactSection id, uint64_t alignment = 0);
  Status append(Span<const uint8_t> bytes);
  Status endSection();

  /// Bytes written to the open section.
  uint64_t sectionBytes() const;

  /// Writes the header, makes the file durable and renames it to `path`. Fails
  /// if info, code, weights or program are missing, and after the failure of
  /// any other function.
  Status finish();

private:
  struct State;
  explicit ArtifactWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace llmir

#endif // LLMIR_ARTIFACT_ARTIFACTWRITER_H

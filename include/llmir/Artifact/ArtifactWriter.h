//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a `.llmir` file, section by section, without holding it in memory.
//
//   Expected<ArtifactWriter> writer = ArtifactWriter::begin("model.llmir");
//   …
//   LLMIR_RETURN_IF_ERROR(writer->setInfo(info));
//   LLMIR_RETURN_IF_ERROR(writer->addSection(ArtifactSection::Code, image));
//   LLMIR_RETURN_IF_ERROR(writer->beginSection(ArtifactSection::Weights));
//   LLMIR_RETURN_IF_ERROR(writer->append(chunk)); // as often as needed
//   LLMIR_RETURN_IF_ERROR(writer->endSection());
//   LLMIR_RETURN_IF_ERROR(writer->finish());
//
// The bytes go to a hidden file in the same folder; finish() makes them durable
// and renames it, so that a reader sees the old file, or the whole new one. A
// writer that goes away unfinished removes what it wrote.
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
  /// Opens the file beside `path`. Fails with IoError when the folder cannot be
  /// written, InvalidArgument when `path` is a folder.
  static Expected<ArtifactWriter> begin(const std::string &path);

  ArtifactWriter(ArtifactWriter &&) noexcept;
  ArtifactWriter &operator=(ArtifactWriter &&) noexcept;
  ~ArtifactWriter();

  /// Checks `info` (validateArtifactInfo) and writes it as a section. Its ABI
  /// version becomes the file's.
  Status setInfo(const ArtifactInfo &info);

  /// Writes one whole section. Code and weights are 64 KiB aligned, the others
  /// 64 bytes. There is one code section for each entry of ArtifactInfo::code,
  /// in that order, and one of each other kind.
  Status addSection(ArtifactSection id, Span<const uint8_t> bytes);

  /// The same in pieces. `alignment` is a power of two from 64 to 2 MiB, or 0
  /// for the section's own; one section is open at a time.
  Status beginSection(ArtifactSection id, uint64_t alignment = 0);
  Status append(Span<const uint8_t> bytes);
  Status endSection();

  /// Bytes of the open section so far.
  uint64_t sectionBytes() const;

  /// Writes the header, makes the file durable and renames it to `path`. Fails
  /// when info, an image, weights or program are missing. After a failure of
  /// any function the file cannot be finished.
  Status finish();

private:
  struct State;
  explicit ArtifactWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace llmir

#endif // LLMIR_ARTIFACT_ARTIFACTWRITER_H

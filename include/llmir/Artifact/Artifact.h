//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiled model, mapped from its `.llmir` file.
//
//   Expected<std::shared_ptr<const Artifact>> artifact = Artifact::open(path);
//   if (!artifact)
//     return artifact.takeStatus();
//
// An open artifact is immutable and may be used from several threads. The file
// must not be modified in place while it is mapped; ArtifactWriter replaces it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ARTIFACT_ARTIFACT_H
#define LLMIR_ARTIFACT_ARTIFACT_H

#include "llmir/Artifact/ArtifactFormat.h"
#include "llmir/Artifact/ArtifactInfo.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

class Artifact {
public:
  /// Maps `path` and checks its structure: magic, versions, bounds and order of
  /// the sections, the checksum of everything except the weights, the ranges of
  /// the info, and that its matrices are within the weights. Only the info is
  /// copied; no code is mapped executable.
  ///
  /// Fails with NotFound or IoError (the file cannot be read), InvalidFile (not
  /// an artifact, or a damaged one) or IncompatibleTarget (another format or
  /// ABI version).
  static Expected<std::shared_ptr<const Artifact>>
  open(const std::string &path);

  /// True if the file starts with the magic of an artifact; false for all other
  /// files, including unreadable ones.
  static bool looksLikeArtifact(const std::string &path);

  ~Artifact();
  Artifact(const Artifact &) = delete;
  Artifact &operator=(const Artifact &) = delete;

  const std::string &path() const { return filePath; }
  const ArtifactInfo &info() const { return artifactInfo; }
  uint64_t fileBytes() const { return mappedBytes; }
  /// The checksum of the header, which covers the checksums of all sections: it
  /// differs between files with different contents, whatever their names and
  /// dates.
  uint64_t fileChecksum() const { return headerChecksum; }
  const std::vector<ArtifactSectionEntry> &sections() const { return table; }

  /// The section's bytes in the mapping; empty if there is none. `number`
  /// selects among code sections.
  Span<const uint8_t> section(ArtifactSection id, size_t number = 0) const;
  Span<const uint8_t> weights() const {
    return section(ArtifactSection::Weights);
  }
  Span<const uint8_t> tokenizer() const {
    return section(ArtifactSection::Tokenizer);
  }
  Span<const uint8_t> chatTemplates() const {
    return section(ArtifactSection::ChatTemplates);
  }
  std::string_view program() const;

  /// Reads all weights and verifies their checksum.
  Status verifyWeights() const;

  /// The open file, for mapping the code; owned by the artifact.
  int fileDescriptor() const { return fd; }

private:
  Artifact() = default;
  Status mapFile();
  Status readHeader();
  Status checkTable() const;
  Status checkSections() const;
  Status damaged(const std::string &what) const;
  Status checkEntry(const ArtifactSectionEntry &entry, uint64_t end) const;
  Status checkCodeSections() const;
  Status checkMatrices() const;
  const ArtifactSectionEntry *find(ArtifactSection id,
                                   uint64_t number = 0) const;

  std::string filePath;
  int fd = -1;
  const uint8_t *mapped = nullptr;
  uint64_t mappedBytes = 0;
  uint64_t headerChecksum = 0;
  std::vector<ArtifactSectionEntry> table;
  ArtifactInfo artifactInfo;
};

} // namespace llmir

#endif // LLMIR_ARTIFACT_ARTIFACT_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format of a `.llmir` file. Little-endian, no implicit padding:
//
//   0      ArtifactHeader (64 bytes)
//   64     sectionCount × ArtifactSectionEntry (40 bytes each)
//   4096   the sections, each at a multiple of its alignment
//
// Header and table occupy one page of 4096 bytes, zero-filled. Checksums are
// XXH3 (64 bits): they detect corruption, not tampering.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ARTIFACT_ARTIFACTFORMAT_H
#define LLMIR_ARTIFACT_ARTIFACTFORMAT_H

#include <cstddef>
#include <cstdint>

namespace llmir {

/// First bytes of every artifact; the line ends detect text-mode copies.
inline constexpr uint8_t artifactMagic[8] = {0x93, 'L', 'L',  'M',
                                             'I',  'R', '\r', '\n'};

/// Increased whenever this layout or the meaning of a section changes.
inline constexpr uint32_t artifactFormatVersion = 8;

/// Bytes of the header page; the sections follow.
inline constexpr uint64_t artifactHeaderBytes = 4096;

/// Alignment of sections that are mapped: the largest page size of any target.
inline constexpr uint64_t artifactMapAlignment = 64 * 1024;

/// The contents of a section. The numbers are stored in files.
enum class ArtifactSection : uint32_t {
  Info = 1,          ///< ArtifactInfo as JSON.
  Code = 2,          ///< ELF image of the step function with its note
                     ///< (CodeNote.h), 64 KiB aligned; one per CPU level,
                     ///< numbered as in ArtifactInfo::code.
  Weights = 3,       ///< Packed weights, 64 KiB aligned.
  Tokenizer = 4,     ///< Tokenizer::serialize(); optional.
  Program = 5,       ///< Text of the mllm.program IR.
  ChatTemplates = 6, ///< ModelTemplates::serialize(); optional.
};

/// "info", "code", …; "unknown" for invalid values.
const char *artifactSectionName(ArtifactSection section);

struct ArtifactHeader {
  uint8_t magic[8];
  uint32_t formatVersion;
  uint32_t abiVersion; ///< LLMIR_ABI_VERSION of the code.
  uint32_t sectionCount;
  uint32_t reserved; ///< Zero.
  uint64_t fileBytes;
  uint64_t headerChecksum; ///< Of the header page with this field zero.
  uint8_t unused[24];      ///< Zero.
};
static_assert(sizeof(ArtifactHeader) == 64, "part of the file format");

struct ArtifactSectionEntry {
  uint32_t id;     ///< ArtifactSection.
  uint32_t number; ///< Index of a code section; zero for others.
  uint64_t offset; ///< From the start of the file.
  uint64_t size;   ///< Bytes.
  uint64_t alignment;
  uint64_t checksum; ///< Of the section's bytes.
};
static_assert(sizeof(ArtifactSectionEntry) == 40, "part of the file format");

/// Maximum number of images of the step function in one file.
inline constexpr uint32_t artifactMaxCodeSections = 64;

inline constexpr uint32_t artifactMaxSections =
    static_cast<uint32_t>((artifactHeaderBytes - sizeof(ArtifactHeader)) /
                          sizeof(ArtifactSectionEntry));

} // namespace llmir

#endif // LLMIR_ARTIFACT_ARTIFACTFORMAT_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Artifact/Artifact.h"
#include "Checksum.h"
#include "llmir/ABI/StepContext.h"
#include "llmir/Artifact/ArtifactInfoJSON.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace llmir {

static constexpr const char *compileAgain =
    "compile it again with 'llmir compile'";

/// Largest section that is read as a whole when the artifact is opened.
static constexpr uint64_t maxReadSection = uint64_t(256) << 20;
static constexpr uint64_t maxSectionAlignment = uint64_t(2) << 20;

const char *artifactSectionName(ArtifactSection section) {
  switch (section) {
  case ArtifactSection::Info:
    return "info";
  case ArtifactSection::Code:
    return "code";
  case ArtifactSection::Weights:
    return "weights";
  case ArtifactSection::Tokenizer:
    return "tokenizer";
  case ArtifactSection::Program:
    return "program";
  case ArtifactSection::ChatTemplates:
    return "chat templates";
  }
  return "unknown";
}

static const char *entryName(const ArtifactSectionEntry &entry) {
  return artifactSectionName(static_cast<ArtifactSection>(entry.id));
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

bool Artifact::looksLikeArtifact(const std::string &path) {
  // Non-blocking, because the path may name a pipe.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return false;
  uint8_t begin[sizeof artifactMagic];
  bool same = ::read(fd, begin, sizeof begin) == sizeof begin &&
              std::memcmp(begin, artifactMagic, sizeof begin) == 0;
  ::close(fd);
  return same;
}

Artifact::~Artifact() {
  if (mapped)
    munmap(const_cast<uint8_t *>(mapped), mappedBytes);
  if (fd >= 0)
    ::close(fd);
}

Status Artifact::damaged(const std::string &what) const {
  return Status(StatusCode::InvalidFile,
                filePath + ": damaged artifact: " + what, compileAgain);
}

Status Artifact::mapFile() {
  fd = ::open(filePath.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status{};
  if (fd < 0 || fstat(fd, &status) != 0)
    return Status(errno == ENOENT || errno == ENOTDIR ? StatusCode::NotFound
                                                      : StatusCode::IoError,
                  filePath + ": " + std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return Status(StatusCode::InvalidFile, filePath + " is not a file",
                  "give a .llmir file");
  mappedBytes = static_cast<uint64_t>(status.st_size);
  if (mappedBytes == 0)
    return Status::ok();
  void *memory = mmap(nullptr, mappedBytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (memory == MAP_FAILED)
    return Status(StatusCode::IoError,
                  filePath + ": cannot be mapped: " + std::strerror(errno));
  mapped = static_cast<const uint8_t *>(memory);
  // A step reads all weights once: with small pages, page table walks take a
  // tenth of its time. File systems that support huge pages use them for data
  // read from now on; others ignore the hint.
  madvise(memory, mappedBytes, MADV_HUGEPAGE);
  return Status::ok();
}

/// Magic, versions, size and the header's checksum; fills `table`.
Status Artifact::readHeader() {
  if (mappedBytes < sizeof artifactMagic ||
      std::memcmp(mapped, artifactMagic, sizeof artifactMagic) != 0)
    return Status(StatusCode::InvalidFile,
                  filePath + " is not an LLMIR artifact",
                  "give a .llmir file, or create one with 'llmir compile'");
  if (mappedBytes < artifactHeaderBytes)
    return damaged("it ends after " + std::to_string(mappedBytes) +
                   " bytes, inside its header");
  ArtifactHeader header;
  std::memcpy(&header, mapped, sizeof header);
  if (header.formatVersion != artifactFormatVersion)
    return Status(StatusCode::IncompatibleTarget,
                  filePath + ": artifact of format version " +
                      std::to_string(header.formatVersion) +
                      "; this build reads version " +
                      std::to_string(artifactFormatVersion),
                  compileAgain);
  std::vector<uint8_t> page(mapped, mapped + artifactHeaderBytes);
  std::memset(page.data() + offsetof(ArtifactHeader, headerChecksum), 0,
              sizeof header.headerChecksum);
  if (checksum(page) != header.headerChecksum)
    return damaged("the checksum of its header is wrong");
  headerChecksum = header.headerChecksum;
  if (header.abiVersion != LLMIR_ABI_VERSION)
    return Status(StatusCode::IncompatibleTarget,
                  filePath + ": its code is for runtime ABI version " +
                      std::to_string(header.abiVersion) + "; this build has " +
                      std::to_string(LLMIR_ABI_VERSION),
                  compileAgain);
  if (header.fileBytes != mappedBytes)
    return damaged("it has " + std::to_string(mappedBytes) + " bytes of " +
                   std::to_string(header.fileBytes));
  if (header.sectionCount > artifactMaxSections || header.reserved != 0)
    return damaged("its header claims " + std::to_string(header.sectionCount) +
                   " sections");
  table.resize(header.sectionCount);
  if (!table.empty())
    std::memcpy(table.data(), mapped + sizeof header,
                table.size() * sizeof(ArtifactSectionEntry));
  return Status::ok();
}

/// Checks one entry of the table; the preceding contents end at `end`.
Status Artifact::checkEntry(const ArtifactSectionEntry &entry,
                            uint64_t end) const {
  const auto id = static_cast<ArtifactSection>(entry.id);
  const bool isCode = id == ArtifactSection::Code;
  const std::string name = entryName(entry);
  if (name == "unknown")
    return damaged("section number " + std::to_string(entry.id) +
                   " is unknown");
  if (entry.number >= (isCode ? artifactMaxCodeSections : 1))
    return damaged("section '" + name + "' has the number " +
                   std::to_string(entry.number));
  if (std::count_if(
          table.begin(), table.end(), [&](const ArtifactSectionEntry &other) {
            return other.id == entry.id && other.number == entry.number;
          }) != 1)
    return damaged("section '" + name + "' occurs twice");
  const uint64_t least =
      isCode || id == ArtifactSection::Weights ? artifactMapAlignment : 1;
  if (entry.alignment < least || entry.alignment > maxSectionAlignment ||
      (entry.alignment & (entry.alignment - 1)) != 0 ||
      entry.offset % entry.alignment != 0)
    return damaged("section '" + name + "' at offset " +
                   std::to_string(entry.offset) + " with the alignment " +
                   std::to_string(entry.alignment));
  if (entry.offset > mappedBytes || entry.size > mappedBytes - entry.offset)
    return damaged(
        "section '" + name + "' at offset " + std::to_string(entry.offset) +
        " of " + std::to_string(entry.size) +
        " bytes exceeds the file's end at " + std::to_string(mappedBytes));
  if (entry.offset < end)
    return damaged("section '" + name + "' at offset " +
                   std::to_string(entry.offset) + " overlaps what ends at " +
                   std::to_string(end));
  if (id != ArtifactSection::Weights && entry.size > maxReadSection)
    return damaged("section '" + name + "' has " + std::to_string(entry.size) +
                   " bytes, more than " + std::to_string(maxReadSection));
  return Status::ok();
}

/// Checks bounds, alignment and order, and that no section is missing or
/// duplicated.
Status Artifact::checkTable() const {
  std::vector<ArtifactSectionEntry> byOffset = table;
  std::sort(byOffset.begin(), byOffset.end(),
            [](const ArtifactSectionEntry &a, const ArtifactSectionEntry &b) {
              return a.offset < b.offset;
            });
  uint64_t end = artifactHeaderBytes;
  for (const ArtifactSectionEntry &entry : byOffset) {
    LLMIR_RETURN_IF_ERROR(checkEntry(entry, end));
    end = entry.offset + entry.size;
  }
  for (ArtifactSection needed :
       {ArtifactSection::Info, ArtifactSection::Code, ArtifactSection::Weights,
        ArtifactSection::Program})
    if (!find(needed))
      return damaged(std::string("it has no section '") +
                     artifactSectionName(needed) + "'");
  return Status::ok();
}

/// Checks that there is one image for each target of the info.
Status Artifact::checkCodeSections() const {
  const auto images = static_cast<size_t>(std::count_if(
      table.begin(), table.end(), [](const ArtifactSectionEntry &entry) {
        return entry.id == static_cast<uint32_t>(ArtifactSection::Code);
      }));
  bool all = images == artifactInfo.code.size();
  for (size_t i = 0; all && i < images; ++i)
    all = find(ArtifactSection::Code, i) != nullptr;
  if (all)
    return Status::ok();
  return damaged("its info names " + std::to_string(artifactInfo.code.size()) +
                 " levels of code, but it has " + std::to_string(images) +
                 " code sections");
}

/// Checks that every matrix is within the section of weights.
Status Artifact::checkMatrices() const {
  const auto bytes = static_cast<int64_t>(weights().size());
  for (const MatrixPlace &place : artifactInfo.matrices)
    // Both are below 2^44, see validateArtifactInfo.
    if (place.offset + place.bytes * place.count > bytes)
      return damaged("its info has a matrix that ends at byte " +
                     std::to_string(place.offset + place.bytes * place.count) +
                     " of the weights, which are " + std::to_string(bytes));
  return Status::ok();
}

Status Artifact::checkSections() const {
  for (const ArtifactSectionEntry &entry : table)
    if (entry.id != static_cast<uint32_t>(ArtifactSection::Weights) &&
        checksum({mapped + entry.offset, entry.size}) != entry.checksum)
      return damaged(std::string("the checksum of section '") +
                     entryName(entry) + "' is wrong");
  return Status::ok();
}

Expected<std::shared_ptr<const Artifact>>
Artifact::open(const std::string &path) {
  std::shared_ptr<Artifact> artifact(new Artifact());
  artifact->filePath = path;
  for (Status (Artifact::*step)() : {&Artifact::mapFile, &Artifact::readHeader})
    if (Status status = (artifact.get()->*step)(); !status)
      return status;
  for (Status (Artifact::*check)() const :
       {&Artifact::checkTable, &Artifact::checkSections})
    if (Status status = (artifact.get()->*check)(); !status)
      return status;
  Span<const uint8_t> text = artifact->section(ArtifactSection::Info);
  Expected<ArtifactInfo> info = artifactInfoFromJSON(
      {reinterpret_cast<const char *>(text.data()), text.size()});
  if (!info)
    return info.takeStatus().withContext(path);
  if (info->abiVersion != LLMIR_ABI_VERSION)
    return artifact->damaged("its info and its header name different ABI "
                             "versions");
  artifact->artifactInfo = std::move(*info);
  for (Status (Artifact::*check)() const :
       {&Artifact::checkCodeSections, &Artifact::checkMatrices})
    if (Status status = (artifact.get()->*check)(); !status)
      return status;
  return std::shared_ptr<const Artifact>(std::move(artifact));
}

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

const ArtifactSectionEntry *Artifact::find(ArtifactSection id,
                                           uint64_t number) const {
  for (const ArtifactSectionEntry &entry : table)
    if (entry.id == static_cast<uint32_t>(id) && entry.number == number)
      return &entry;
  return nullptr;
}

Span<const uint8_t> Artifact::section(ArtifactSection id, size_t number) const {
  const ArtifactSectionEntry *entry = find(id, number);
  return entry ? Span<const uint8_t>(mapped + entry->offset, entry->size)
               : Span<const uint8_t>();
}

std::string_view Artifact::program() const {
  Span<const uint8_t> bytes = section(ArtifactSection::Program);
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

Status Artifact::verifyWeights() const {
  const ArtifactSectionEntry *entry = find(ArtifactSection::Weights);
  if (entry && checksum(weights()) != entry->checksum)
    return damaged("the checksum of its weights is wrong");
  return Status::ok();
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Artifact/ArtifactWriter.h"
#include "Checksum.h"
#include "llmir/Artifact/ArtifactInfoJSON.h"
#include "llmir/Support/FileWriter.h"

#include <algorithm>
#include <cstring>
#include <sys/stat.h>
#include <vector>

namespace llmir {

static constexpr uint64_t smallAlignment = 64;
static constexpr uint64_t maxAlignment = uint64_t(2) << 20;

static bool isMappedSection(ArtifactSection id) {
  return id == ArtifactSection::Code || id == ArtifactSection::Weights;
}

struct ArtifactWriter::State {
  State(AtomicFile file, std::string path)
      : file(std::move(file)), path(std::move(path)) {}

  AtomicFile file;
  std::string path;
  std::vector<ArtifactSectionEntry> table;
  RunningChecksum running; ///< Of the open section.
  bool open = false;       ///< The last entry of the table is being written.
  bool broken = false;     ///< A call failed: finish() must fail.
  bool finished = false;
  int64_t abiVersion = 0;
  size_t targets = 0; ///< Expected number of code sections.

  /// Number of sections of that kind written so far.
  uint32_t count(ArtifactSection id) const {
    return static_cast<uint32_t>(std::count_if(
        table.begin(), table.end(), [&](const ArtifactSectionEntry &entry) {
          return entry.id == static_cast<uint32_t>(id);
        }));
  }
  Status misuse(const std::string &what) {
    broken = true;
    return Status(StatusCode::Internal, path + ": artifact writer: " + what);
  }
  /// Records a failure.
  Status note(Status status) {
    broken |= !status;
    return status;
  }
};

ArtifactWriter::ArtifactWriter(std::unique_ptr<State> state)
    : state(std::move(state)) {}
ArtifactWriter::ArtifactWriter(ArtifactWriter &&) noexcept = default;
ArtifactWriter &ArtifactWriter::operator=(ArtifactWriter &&) noexcept = default;
ArtifactWriter::~ArtifactWriter() = default;

Expected<ArtifactWriter> ArtifactWriter::begin(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    return Status(StatusCode::InvalidArgument, path + " is a directory",
                  "give a file, for example model.llmir");
  Expected<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file.takeStatus();
  auto state = std::make_unique<State>(std::move(*file), path);
  const std::vector<uint8_t> place(artifactHeaderBytes, 0);
  if (Status written = state->file.write(place); !written)
    return written;
  return ArtifactWriter(std::move(state));
}

Status ArtifactWriter::setInfo(const ArtifactInfo &info) {
  LLMIR_RETURN_IF_ERROR(state->note(validateArtifactInfo(info)));
  const std::string text = artifactInfoToJSON(info);
  state->abiVersion = info.abiVersion;
  state->targets = info.code.size();
  LLMIR_RETURN_IF_ERROR(beginSection(ArtifactSection::Info));
  LLMIR_RETURN_IF_ERROR(append(Span<const uint8_t>(
      reinterpret_cast<const uint8_t *>(text.data()), text.size())));
  return endSection();
}

Status ArtifactWriter::addSection(ArtifactSection id,
                                  Span<const uint8_t> bytes) {
  LLMIR_RETURN_IF_ERROR(beginSection(id));
  LLMIR_RETURN_IF_ERROR(append(bytes));
  return endSection();
}

Status ArtifactWriter::beginSection(ArtifactSection id, uint64_t alignment) {
  const std::string name = artifactSectionName(id);
  const uint64_t own =
      isMappedSection(id) ? artifactMapAlignment : smallAlignment;
  if (alignment == 0)
    alignment = own;
  if (state->open || state->finished)
    return state->misuse("section '" + name + "' begun out of order");
  if (id == ArtifactSection::Info && state->abiVersion == 0)
    return state->misuse("the info section is written by setInfo()");
  if (name == "unknown" || alignment < own || alignment > maxAlignment ||
      (alignment & (alignment - 1)) != 0)
    return state->misuse("section '" + name + "' with the alignment " +
                         std::to_string(alignment));
  const uint32_t number = state->count(id);
  if (number >= (id == ArtifactSection::Code ? artifactMaxCodeSections : 1))
    return state->misuse("section '" + name + "' written twice");
  LLMIR_RETURN_IF_ERROR(state->note(state->file.padTo(alignment)));
  state->table.push_back({static_cast<uint32_t>(id), number,
                          state->file.position(), 0, alignment, 0});
  state->running.restart();
  state->open = true;
  return Status::ok();
}

Status ArtifactWriter::append(Span<const uint8_t> bytes) {
  if (!state->open)
    return state->misuse("bytes outside a section");
  state->running.add(bytes);
  state->table.back().size += bytes.size();
  LLMIR_RETURN_IF_ERROR(state->note(state->file.write(bytes)));
  // The disk works while the next bytes are made.
  state->file.startSync();
  return Status::ok();
}

Status ArtifactWriter::endSection() {
  if (!state->open)
    return state->misuse("a section ended that was not begun");
  state->table.back().checksum = state->running.value();
  state->open = false;
  return Status::ok();
}

uint64_t ArtifactWriter::sectionBytes() const {
  return state->open ? state->table.back().size : 0;
}

Status ArtifactWriter::finish() {
  if (state->broken || state->open || state->finished)
    return state->misuse(state->open ? "finished inside a section"
                                     : "finished after a failure, or twice");
  for (ArtifactSection needed :
       {ArtifactSection::Info, ArtifactSection::Code, ArtifactSection::Weights,
        ArtifactSection::Program})
    if (state->count(needed) == 0)
      return state->misuse(std::string("finished without the section '") +
                           artifactSectionName(needed) + "'");
  if (state->count(ArtifactSection::Code) != state->targets)
    return state->misuse(
        "finished with " + std::to_string(state->count(ArtifactSection::Code)) +
        " images for " + std::to_string(state->targets) + " targets");
  ArtifactHeader header{};
  std::memcpy(header.magic, artifactMagic, sizeof artifactMagic);
  header.formatVersion = artifactFormatVersion;
  header.abiVersion = static_cast<uint32_t>(state->abiVersion);
  header.sectionCount = static_cast<uint32_t>(state->table.size());
  header.fileBytes = state->file.position();
  std::vector<uint8_t> page(artifactHeaderBytes, 0);
  std::memcpy(page.data() + sizeof header, state->table.data(),
              state->table.size() * sizeof(ArtifactSectionEntry));
  std::memcpy(page.data(), &header, sizeof header);
  header.headerChecksum = checksum(page);
  std::memcpy(page.data(), &header, sizeof header);
  LLMIR_RETURN_IF_ERROR(
      state->note(state->file.writeAt(0, page.data(), page.size())));
  LLMIR_RETURN_IF_ERROR(state->note(state->file.commit(/*durable=*/true)));
  state->finished = true;
  return Status::ok();
}

} // namespace llmir

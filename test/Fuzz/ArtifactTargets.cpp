//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "../Artifact/Handmade.h"
#include "Checksum.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/Artifact/ArtifactInfoJSON.h"
#include "llmir/Artifact/CodeImage.h"

using namespace llmir;
using namespace llmir::fuzz;
using llmir::test::sampleImage;
using llmir::test::sampleInfo;

static std::string textOf(const std::vector<uint8_t> &bytes) {
  return std::string(bytes.begin(), bytes.end());
}

/// A whole artifact with little in it.
static const std::string &sample() {
  static const std::string bytes = [] {
    const std::string path = write("sample.llmir", "");
    auto writer = ArtifactWriter::begin(path);
    expect(writer.status().isOk(), "the sample can be written");
    const std::string program = "mllm.program {}\n";
    const bool ok =
        writer->setInfo(sampleInfo()) &&
        writer->addSection(ArtifactSection::Code, sampleImage()) &&
        writer->addSection(ArtifactSection::Weights,
                           std::vector<uint8_t>(test::sampleWeightBytes, 1)) &&
        writer->addSection(
            ArtifactSection::Program,
            std::vector<uint8_t>(program.begin(), program.end())) &&
        writer->finish();
    expect(ok, "the sample can be written");
    return textOf(test::readBytes(path));
  }();
  return bytes;
}

/// Recomputes the checksums, which no fuzzer finds.
static void repair(std::string &file) {
  ArtifactHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  auto bytesAt = [&](uint64_t offset, uint64_t size) {
    return checksum(
        {reinterpret_cast<const uint8_t *>(file.data()) + offset, size});
  };
  for (uint32_t i = 0; i < std::min(header.sectionCount, artifactMaxSections);
       ++i) {
    char *at = file.data() + sizeof header + i * sizeof(ArtifactSectionEntry);
    ArtifactSectionEntry entry;
    std::memcpy(&entry, at, sizeof entry);
    if (entry.offset > file.size() || entry.size > file.size() - entry.offset)
      continue;
    entry.checksum = bytesAt(entry.offset, entry.size);
    std::memcpy(at, &entry, sizeof entry);
  }
  char *place = file.data() + offsetof(ArtifactHeader, headerChecksum);
  std::memset(place, 0, sizeof header.headerChecksum);
  const uint64_t sum = bytesAt(0, artifactHeaderBytes);
  std::memcpy(place, &sum, sizeof sum);
}

static void readHeader(std::string_view input) {
  std::string file = sample();
  input = input.substr(0, artifactHeaderBytes);
  file.replace(0, input.size(), input);
  repair(file);
  auto artifact = Artifact::open(write("m.llmir", file));
  if (!artifact)
    return checkStatus(artifact.status());
  (void)(*artifact)->verifyWeights();
  unsigned sum = 0;
  for (const ArtifactSectionEntry &entry : (*artifact)->sections())
    for (uint8_t byte : (*artifact)->section(
             static_cast<ArtifactSection>(entry.id), entry.number))
      sum += byte;
  expect(sum > 0, "the sections can be read");
}

static std::vector<std::string> headerSeeds() {
  return {sample().substr(0, 64 + 4 * sizeof(ArtifactSectionEntry))};
}

static void readInfo(std::string_view input) {
  auto info = artifactInfoFromJSON(input);
  if (!info)
    return checkStatus(info.status());
  auto again = artifactInfoFromJSON(artifactInfoToJSON(*info));
  expect(again.status().isOk(), "what was written can be read");
}

static std::vector<std::string> infoSeeds() {
  return {artifactInfoToJSON(sampleInfo())};
}

/// The headers and the note of a code image. Validation maps nothing.
static void validateImage(std::string_view input) {
  std::string image = textOf(sampleImage());
  input = input.substr(0, image.size());
  image.replace(0, input.size(), input);
  Status status = validateCodeImage(
      {reinterpret_cast<const uint8_t *>(image.data()), image.size()}, "t");
  if (!status)
    checkStatus(status);
}

static std::vector<std::string> imageSeeds() {
  return {textOf(sampleImage()).substr(0, 1024)};
}

std::vector<Target> fuzz::artifactTargets() {
  return {
      {"artifact", "the header page of an artifact; checksums are repaired",
       readHeader, headerSeeds},
      {"artifact-info", "the info of an artifact", readInfo, infoSeeds},
      {"code-image", "the headers of a code image", validateImage, imageSeeds},
  };
}

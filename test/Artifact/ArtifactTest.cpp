// RUN: llmir-artifact-tests --gtest_filter='Artifact.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Artifact/Artifact.h"
#include "Artifact/Handmade.h"
#include "llmir/Artifact/ArtifactInfoJSON.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <chrono>
#include <functional>

using namespace llmir;
using namespace llmir::test;

namespace {
ArtifactHeader header(const Bytes &file) {
  ArtifactHeader result;
  std::memcpy(&result, file.data(), sizeof result);
  return result;
}

ArtifactSectionEntry entry(const Bytes &file, size_t index) {
  ArtifactSectionEntry result;
  std::memcpy(&result, &file[sizeof(ArtifactHeader) + index * sizeof result],
              sizeof result);
  return result;
}

/// Makes the header's checksum right again after a change.
void reseal(Bytes &file) {
  ArtifactHeader h = header(file);
  h.headerChecksum = 0;
  std::memcpy(file.data(), &h, sizeof h);
  h.headerChecksum = XXH3_64bits(file.data(), artifactHeaderBytes);
  std::memcpy(file.data(), &h, sizeof h);
}

using HeaderChange = std::function<void(ArtifactHeader &)>;
using EntryChange = std::function<void(ArtifactSectionEntry &)>;
using FileChange = std::function<void(Bytes &)>;

FileChange inHeader(HeaderChange change) {
  return [change](Bytes &file) {
    ArtifactHeader h = header(file);
    change(h);
    std::memcpy(file.data(), &h, sizeof h);
    reseal(file);
  };
}

FileChange inEntry(ArtifactSection id, EntryChange change) {
  return [id, change](Bytes &file) {
    for (size_t i = 0; i < header(file).sectionCount; ++i) {
      ArtifactSectionEntry e = entry(file, i);
      if (e.id != static_cast<uint32_t>(id))
        continue;
      change(e);
      std::memcpy(&file[sizeof(ArtifactHeader) + i * sizeof e], &e, sizeof e);
      reseal(file);
      return;
    }
  };
}

/// Flips a bit of a section's first byte.
FileChange inSection(ArtifactSection id) {
  return [id](Bytes &file) {
    for (size_t i = 0; i < header(file).sectionCount; ++i)
      if (entry(file, i).id == static_cast<uint32_t>(id))
        file[entry(file, i).offset] ^= 1;
  };
}

/// Replaces the info's text and makes every checksum right.
FileChange infoText(std::function<void(std::string &)> change) {
  return [change](Bytes &file) {
    for (size_t i = 0; i < header(file).sectionCount; ++i) {
      ArtifactSectionEntry e = entry(file, i);
      if (e.id != static_cast<uint32_t>(ArtifactSection::Info))
        continue;
      std::string text(file.begin() + static_cast<int64_t>(e.offset),
                       file.begin() + static_cast<int64_t>(e.offset + e.size));
      size_t before = text.size();
      change(text);
      ASSERT_LE(text.size(), before);
      text.resize(before, ' ');
      std::copy(text.begin(), text.end(),
                file.begin() + static_cast<int64_t>(e.offset));
      e.checksum = XXH3_64bits(text.data(), text.size());
      std::memcpy(&file[sizeof(ArtifactHeader) + i * sizeof e], &e, sizeof e);
      reseal(file);
      return;
    }
  };
}

FileChange infoReplace(const std::string &from, const std::string &to) {
  return infoText([from, to](std::string &text) {
    size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  });
}

/// Gives the info another list of targets.
FileChange codeList(const std::string &list) {
  return infoText([list](std::string &text) {
    // Truncated, for every list.
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    size_t from = text.find("\"code\":") + 7, to = text.find("\n],", from) + 2;
    ASSERT_LT(to, text.size());
    text.replace(from, to - from, list);
  });
}

struct Damage {
  const char *name;
  FileChange change;
  StatusCode code;
  const char *cause; ///< Part of the message.
};

std::vector<Damage> damages() {
  using Section = ArtifactSection;
  const auto invalid = StatusCode::InvalidFile;
  const auto incompatible = StatusCode::IncompatibleTarget;
  const auto cut = [](size_t size) {
    return [size](Bytes &file) { file.resize(size); };
  };
  return {
      {"empty", cut(0), invalid, "is not an LLMIR artifact"},
      {"seven bytes", cut(7), invalid, "is not an LLMIR artifact"},
      {"magic only", cut(8), invalid, "ends after 8 bytes"},
      {"half a header", cut(2000), invalid, "ends after 2000 bytes"},
      {"header only", cut(4096), invalid, "it has 4096 bytes of "},
      {"last byte missing", [](Bytes &file) { file.pop_back(); }, invalid,
       "bytes of "},
      {"one byte more", [](Bytes &file) { file.push_back(0); }, invalid,
       "bytes of "},
      {"magic", [](Bytes &file) { file[0] ^= 1; }, invalid, "is not an LLMIR"},
      {"text mode copy", [](Bytes &file) { file.erase(file.begin() + 6); },
       invalid, "is not an LLMIR artifact"},
      {"a GGUF file",
       [](Bytes &file) { std::memcpy(file.data(), "GGUF\3\0\0\0", 8); },
       invalid, "is not an LLMIR artifact"},
      {"next format version",
       inHeader([](ArtifactHeader &h) { ++h.formatVersion; }), incompatible,
       "format version 9; this build reads version 8"},
      {"format version 0",
       inHeader([](ArtifactHeader &h) { h.formatVersion = 0; }), incompatible,
       "format version 0"},
      {"next ABI", inHeader([](ArtifactHeader &h) { ++h.abiVersion; }),
       incompatible, "runtime ABI version "},
      {"header bit", [](Bytes &file) { file[20] ^= 4; }, invalid,
       "checksum of its header"},
      {"table bit", [](Bytes &file) { file[70] ^= 4; }, invalid,
       "checksum of its header"},
      {"unused header byte", [](Bytes &file) { file[4000] = 1; }, invalid,
       "checksum of its header"},
      {"too many sections",
       inHeader([](ArtifactHeader &h) { h.sectionCount = 0xffffffff; }),
       invalid, "4294967295 sections"},
      {"no section", inHeader([](ArtifactHeader &h) { h.sectionCount = 0; }),
       invalid, "no section 'info'"},
      {"last section missing",
       inHeader([](ArtifactHeader &h) { --h.sectionCount; }), invalid,
       "no section 'program'"},
      {"empty section entries",
       inHeader([](ArtifactHeader &h) { h.sectionCount = 20; }), invalid,
       "section number 0 is unknown"},
      {"reserved field", inHeader([](ArtifactHeader &h) { h.reserved = 1; }),
       invalid, "sections"},
      {"unknown section",
       inEntry(Section::Tokenizer, [](ArtifactSectionEntry &e) { e.id = 77; }),
       invalid, "section number 77 is unknown"},
      {"section twice",
       inEntry(Section::Tokenizer, [](ArtifactSectionEntry &e) { e.id = 1; }),
       invalid, "section 'info' occurs twice"},
      {"number of a section that has none",
       inEntry(Section::Info, [](ArtifactSectionEntry &e) { e.number = 1; }),
       invalid, "section 'info' has the number 1"},
      {"huge number of a code section",
       inEntry(Section::Code, [](ArtifactSectionEntry &e) { e.number = 64; }),
       invalid, "section 'code' has the number 64"},
      {"no first code section",
       inEntry(Section::Code, [](ArtifactSectionEntry &e) { e.number = 1; }),
       invalid, "no section 'code'"},
      {"a code section that the info does not name",
       inEntry(Section::Tokenizer,
               [](ArtifactSectionEntry &e) {
                 e.id = static_cast<uint32_t>(Section::Code);
                 e.number = 1;
                 e.alignment = 1 << 16;
                 e.offset = 1 << 16;
               }),
       invalid, "overlaps"},
      {"code for no target", codeList("[]"), invalid, "'code'"},
      {"code that is no list", codeList("1"), invalid, "code"},
      {"a target that is no object", codeList("[7]"), invalid, "artifact info"},
      {"two targets, one image",
       codeList(
           R"([{"level":"a","triple":"b","cpuFeatures":[]},{"level":"b","triple":"b","cpuFeatures":[]}])"),
       invalid, "names 2 levels of code, but it has 1 code sections"},
      {"a target without a level", infoReplace("\"level\"", "\"lever\""),
       invalid, "level"},
      {"offset past the end",
       inEntry(Section::Program,
               [](ArtifactSectionEntry &e) { e.offset = 1 << 30; }),
       invalid, "exceeds the file's end"},
      {"size past the end",
       inEntry(Section::Program, [](ArtifactSectionEntry &e) { e.size += 1; }),
       invalid, "exceeds the file's end"},
      {"offset and size that wrap",
       inEntry(Section::Weights,
               [](ArtifactSectionEntry &e) { e.size = ~uint64_t(0); }),
       invalid, "exceeds the file's end"},
      {"huge offset",
       inEntry(Section::Weights,
               [](ArtifactSectionEntry &e) {
                 e.offset = ~uint64_t(0) & ~uint64_t(0xffff);
               }),
       invalid, "exceeds the file's end"},
      {"section in the header",
       inEntry(Section::Info, [](ArtifactSectionEntry &e) { e.offset = 64; }),
       invalid, "overlaps what ends at 4096"},
      {"overlap",
       inEntry(Section::Code,
               [](ArtifactSectionEntry &e) { e.size += 0x10000; }),
       invalid, "overlaps"},
      {"misaligned code",
       inEntry(Section::Code, [](ArtifactSectionEntry &e) { e.offset += 64; }),
       invalid, "section 'code' at offset 65600"},
      {"small alignment of code",
       inEntry(Section::Code,
               [](ArtifactSectionEntry &e) { e.alignment = 4096; }),
       invalid, "with the alignment 4096"},
      {"alignment 0",
       inEntry(Section::Info, [](ArtifactSectionEntry &e) { e.alignment = 0; }),
       invalid, "with the alignment 0"},
      {"alignment 48",
       inEntry(Section::Info,
               [](ArtifactSectionEntry &e) { e.alignment = 48; }),
       invalid, "with the alignment 48"},
      {"info bit", inSection(Section::Info), invalid,
       "checksum of section 'info'"},
      {"code bit", inSection(Section::Code), invalid,
       "checksum of section 'code'"},
      {"tokenizer bit", inSection(Section::Tokenizer), invalid,
       "checksum of section 'tokenizer'"},
      {"program bit", inSection(Section::Program), invalid,
       "checksum of section 'program'"},
      {"info is not JSON", infoText([](std::string &text) { text[0] = '?'; }),
       invalid, "artifact info"},
      {"info is a list", infoText([](std::string &text) { text = "[]"; }),
       invalid, "artifact info"},
      {"info is nested deeply",
       infoText([](std::string &text) { text.assign(text.size(), '['); }),
       invalid, "artifact info"},
      {"info without a field", infoReplace("\"vocabSize\"", "\"vocabSizf\""),
       invalid, "vocabSize"},
      {"vocabulary 0", infoReplace("\"vocabSize\": 50", "\"vocabSize\": 0"),
       invalid, "'vocabSize' is 0; expected an integer from 1"},
      {"budget too large",
       infoReplace("\"tokenBudget\": 32,\n  ", "\"tokenBudget\":65537,"),
       invalid, "'tokenBudget' is 65537"},
      {"stride below the vocabulary",
       infoReplace("\"logitsRowStride\": 64", "\"logitsRowStride\": 49"),
       invalid, "'logitsRowStride' is 49"},
      {"a text for a number",
       infoReplace("\"headDim\": 4,\n", "\"headDim\":\"4\","), invalid,
       "headDim"},
      {"fraction for an integer",
       infoReplace("\"headDim\": 4,\n", "\"headDim\":4.5,"), invalid,
       "headDim"},
      {"another ABI in the info",
       infoReplace("\"abiVersion\": " + std::to_string(LLMIR_ABI_VERSION),
                   "\"abiVersion\": " + std::to_string(LLMIR_ABI_VERSION + 1)),
       invalid, "different ABI versions"},
      {"quantized KV",
       infoReplace("\"kvFormat\": \"f32\",\n", "\"kvFormat\":\"q8_0\","),
       invalid, "kvFormat"},
      {"a matrix past the weights",
       infoReplace("\"offset\": 1024,\n      \"bytes\": 960,",
                   "\"offset\": 1096,\n      \"bytes\": 960,"),
       invalid,
       "a matrix that ends at byte 3016 of the weights, which are 3000"},
      {"weights shorter than their matrices",
       inEntry(Section::Weights, [](ArtifactSectionEntry &e) { e.size = 999; }),
       invalid,
       "a matrix that ends at byte 1024 of the weights, which are 999"},
      {"unknown KV format",
       infoReplace("\"kvFormat\": \"f32\"", "\"kvFormat\": \"f33\""), invalid,
       "kvFormat"},
  };
}
} // namespace

TEST(Artifact, GivesBackWhatWasWritten) {
  TemporaryPath path("whole.llmir");
  writeSample(path.str());
  Expected<std::shared_ptr<const Artifact>> artifact =
      Artifact::open(path.str());
  ASSERT_TRUE(artifact) << artifact.status().message();
  const Artifact &a = **artifact;
  EXPECT_EQ(artifactInfoToJSON(a.info()), artifactInfoToJSON(sampleInfo()));
  const Bytes image = sampleImage();
  Span<const uint8_t> code = a.section(ArtifactSection::Code);
  EXPECT_EQ(Bytes(code.begin(), code.end()), image);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a.weights().data()) % 4096, 0u);
  ASSERT_EQ(a.weights().size(), 3000u);
  EXPECT_EQ(a.weights()[0], 1);
  EXPECT_EQ(a.weights()[2999], 3);
  EXPECT_EQ(a.tokenizer().size(), 3u);
  EXPECT_EQ(a.program(), "mllm.program {}\n");
  EXPECT_EQ(a.sections().size(), 5u);
  for (const ArtifactSectionEntry &e : a.sections())
    EXPECT_EQ(e.offset % e.alignment, 0u);
  EXPECT_TRUE(a.verifyWeights());
  EXPECT_TRUE(Artifact::looksLikeArtifact(path.str()));
}

TEST(Artifact, EveryDamageIsOneClearError) {
  TemporaryPath good("good.llmir"), bad("bad.llmir");
  writeSample(good.str());
  const Bytes whole = readBytes(good.str());
  ASSERT_GE(damages().size(), 45u);
  for (const Damage &damage : damages()) {
    SCOPED_TRACE(damage.name);
    Bytes file = whole;
    damage.change(file);
    ASSERT_NE(file, whole);
    writeBytes(bad.str(), file);
    auto start = std::chrono::steady_clock::now();
    Expected<std::shared_ptr<const Artifact>> artifact =
        Artifact::open(bad.str());
    EXPECT_LT(std::chrono::steady_clock::now() - start,
              std::chrono::seconds(1));
    ASSERT_FALSE(artifact);
    const Status &status = artifact.status();
    EXPECT_EQ(status.code(), damage.code) << status.message();
    EXPECT_NE(status.cause().find(damage.cause), std::string::npos)
        << status.message();
    EXPECT_NE(status.cause().find(bad.str()), std::string::npos)
        << status.message();
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
  }
}

TEST(Artifact, DamagedWeightsAreFoundOnDemand) {
  TemporaryPath path("weights.llmir");
  writeSample(path.str());
  Bytes file = readBytes(path.str());
  inSection(ArtifactSection::Weights)(file);
  writeBytes(path.str(), file);
  Expected<std::shared_ptr<const Artifact>> artifact =
      Artifact::open(path.str());
  ASSERT_TRUE(artifact) << artifact.status().message();
  Status status = (*artifact)->verifyWeights();
  EXPECT_EQ(status.code(), StatusCode::InvalidFile);
  EXPECT_NE(status.cause().find("checksum of its weights"), std::string::npos);
}

// Any single wrong bit of the header page is noticed, and no bit of the file
// makes opening crash.
TEST(Artifact, SurvivesEveryBitOfItsHeaderAndTable) {
  TemporaryPath path("bits.llmir");
  writeSample(path.str());
  const Bytes whole = readBytes(path.str());
  const size_t used = sizeof(ArtifactHeader) + 5 * sizeof(ArtifactSectionEntry);
  std::fstream file(path.str(),
                    std::ios::binary | std::ios::in | std::ios::out);
  for (size_t bit = 0; bit < used * 8; ++bit)
    for (bool sealed : {false, true}) {
      Bytes page(whole.begin(), whole.begin() + artifactHeaderBytes);
      page[bit / 8] = static_cast<uint8_t>(page[bit / 8] ^ (1 << (bit % 8)));
      if (sealed)
        reseal(page);
      if (std::equal(page.begin(), page.end(), whole.begin()))
        continue; // The checksum's own bits, made right again.
      file.seekp(0);
      file.write(reinterpret_cast<const char *>(page.data()),
                 artifactHeaderBytes);
      file.flush();
      ASSERT_TRUE(file.good());
      bool opened = static_cast<bool>(Artifact::open(path.str()));
      // A file with valid checksums may differ only in data that is checked
      // later or never.
      EXPECT_TRUE(!opened || sealed) << "bit " << bit;
    }
}

TEST(Artifact, WhatCannotBeRead) {
  Expected<std::shared_ptr<const Artifact>> missing =
      Artifact::open("/nonexistent/model.llmir");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.status().code(), StatusCode::NotFound);
  Expected<std::shared_ptr<const Artifact>> folder = Artifact::open("/tmp");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.status().code(), StatusCode::InvalidFile);
  EXPECT_FALSE(Artifact::looksLikeArtifact("/tmp"));
  EXPECT_FALSE(Artifact::looksLikeArtifact("/nonexistent/model.llmir"));
}

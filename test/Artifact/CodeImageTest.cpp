// RUN: llmir-artifact-tests --gtest_filter='CodeImage.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Artifact/CodeImage.h"
#include "Artifact/Handmade.h"
#include "llmir/Artifact/Artifact.h"

#include <fcntl.h>
#include <functional>

using namespace llmir;
using namespace llmir::test;

namespace {
using Change = std::function<void(Bytes &)>;

template <typename T>
void edit(Bytes &image, size_t offset, std::function<void(T &)> change) {
  T value;
  std::memcpy(&value, &image[offset], sizeof value);
  change(value);
  std::memcpy(&image[offset], &value, sizeof value);
}

Change elf(std::function<void(Elf64_Ehdr &)> change) {
  return [change](Bytes &image) { edit<Elf64_Ehdr>(image, 0, change); };
}

/// Segments of the handmade image: 0 headers, 1 code, 2 dynamic (writable),
/// 3 PT_DYNAMIC, 4 PT_GNU_RELRO, 5 PT_GNU_STACK, 6 PT_NOTE.
Change segment(size_t index, std::function<void(Elf64_Phdr &)> change) {
  return [index, change](Bytes &image) {
    edit<Elf64_Phdr>(image, sizeof(Elf64_Ehdr) + index * sizeof(Elf64_Phdr),
                     change);
  };
}

/// Puts `tag` before the end of the dynamic section.
Change dynamic(int64_t tag, uint64_t value) {
  return [tag, value](Bytes &image) {
    image.resize(imageDynamic + 2 * sizeof(Elf64_Dyn), 0);
    edit<Elf64_Dyn>(image, imageDynamic, [&](Elf64_Dyn &entry) {
      entry.d_tag = tag;
      entry.d_un.d_val = value;
    });
    for (size_t i : {2u, 3u})
      segment(i, [](Elf64_Phdr &p) { p.p_filesz += sizeof(Elf64_Dyn); })(image);
    segment(3, [](Elf64_Phdr &p) { p.p_memsz = p.p_filesz; })(image);
  };
}

struct Case {
  const char *name;
  Change change;
  const char *cause;
};

std::vector<Case> cases() {
  return {
      {"empty", [](Bytes &i) { i.clear(); }, "0 bytes, less than an ELF"},
      {"half a header", [](Bytes &i) { i.resize(40); }, "less than an ELF"},
      {"magic", [](Bytes &i) { i[0] = 0; }, "not an ELF file"},
      {"32 bit", elf([](Elf64_Ehdr &e) { e.e_ident[EI_CLASS] = 1; }), "ELF64"},
      {"big endian", elf([](Elf64_Ehdr &e) { e.e_ident[EI_DATA] = 2; }),
       "little-endian"},
      {"ELF version", elf([](Elf64_Ehdr &e) { e.e_ident[EI_VERSION] = 2; }),
       "version 1"},
      {"OS ABI", elf([](Elf64_Ehdr &e) { e.e_ident[EI_OSABI] = 9; }),
       "OS ABI is 9"},
      {"executable", elf([](Elf64_Ehdr &e) { e.e_type = ET_EXEC; }),
       "a shared object (3)"},
      {"object file", elf([](Elf64_Ehdr &e) { e.e_type = ET_REL; }),
       "a shared object (3)"},
      {"header size", elf([](Elf64_Ehdr &e) { e.e_phentsize = 32; }),
       "program headers of 32"},
      {"no headers", elf([](Elf64_Ehdr &e) { e.e_phnum = 0; }), "0 program"},
      {"many headers", elf([](Elf64_Ehdr &e) { e.e_phnum = 0xffff; }),
       "65535 program headers"},
      {"headers outside", elf([](Elf64_Ehdr &e) { e.e_phoff = 1 << 30; }),
       "are out of bounds"},
      {"headers wrap", elf([](Elf64_Ehdr &e) { e.e_phoff = ~0ull - 8; }),
       "are out of bounds"},
      {"only one header, not loaded",
       [](Bytes &i) {
         elf([](Elf64_Ehdr &e) { e.e_phnum = 1; })(i);
         segment(0, [](Elf64_Phdr &p) { p.p_type = PT_NOTE; })(i);
       },
       "no segment to load"},
      {"entry in data", elf([](Elf64_Ehdr &e) { e.e_entry = 0; }),
       "entry point 0"},
      {"entry after the code",
       elf([](Elf64_Ehdr &e) { e.e_entry = imageCode + 64; }), "entry point"},
      {"entry far away", elf([](Elf64_Ehdr &e) { e.e_entry = ~0ull; }),
       "entry point"},
      {"truncated", [](Bytes &i) { i.resize(imageCode + 10); },
       "is out of bounds"},
      {"segment outside",
       segment(1, [](Elf64_Phdr &p) { p.p_offset = 1 << 30; }),
       "is out of bounds"},
      {"segment wraps", segment(1, [](Elf64_Phdr &p) { p.p_filesz = ~0ull; }),
       "is out of bounds"},
      {"address too high",
       segment(1, [](Elf64_Phdr &p) { p.p_vaddr = 1ull << 60; }), "too far"},
      {"too large in memory",
       segment(1, [](Elf64_Phdr &p) { p.p_memsz = 1ull << 40; }), "too large"},
      {"image too long",
       [](Bytes &i) {
         for (size_t s : {2u, 3u, 4u})
           segment(s, [](Elf64_Phdr &p) { p.p_vaddr += 1ull << 31; })(i);
       },
       "spans more than"},
      {"file larger than memory",
       segment(1, [](Elf64_Phdr &p) { p.p_memsz = 1; }),
       "more bytes in the file"},
      {"zero-initialized data",
       segment(1, [](Elf64_Phdr &p) { p.p_memsz = 4096; }),
       "zero-initialized data"},
      {"alignment 3", segment(1, [](Elf64_Phdr &p) { p.p_align = 3; }),
       "alignment 3"},
      {"alignment 1 GiB",
       segment(1, [](Elf64_Phdr &p) { p.p_align = 1 << 30; }), "alignment"},
      {"offset against address",
       segment(1, [](Elf64_Phdr &p) { p.p_vaddr += 64; }), "cannot map"},
      {"writable and executable",
       segment(1, [](Elf64_Phdr &p) { p.p_flags |= PF_W; }),
       "both writable and executable"},
      {"writable data",
       [](Bytes &i) {
         for (size_t s : {3u, 4u})
           segment(s, [](Elf64_Phdr &p) { p.p_type = PT_NOTE; })(i);
       },
       "contains writable data"},
      {"data after the dynamic section",
       segment(2, [](Elf64_Phdr &p) { p.p_memsz = 0x2000; }),
       "contains writable data"},
      {"descending",
       [](Bytes &i) {
         segment(0, [](Elf64_Phdr &p) { p.p_vaddr = imageDynamic * 4; })(i);
       },
       "ascending order"},
      {"overlap",
       [](Bytes &i) {
         segment(2, [](Elf64_Phdr &p) {
           p.p_flags = PF_R;
           p.p_vaddr = imageCode;
           p.p_memsz = p.p_filesz;
         })(i);
       },
       "overlaps"},
      {"interpreter", segment(5, [](Elf64_Phdr &p) { p.p_type = PT_INTERP; }),
       "interpreter"},
      {"thread-local data",
       segment(5, [](Elf64_Phdr &p) { p.p_type = PT_TLS; }), "thread-local"},
      {"executable stack",
       segment(5, [](Elf64_Phdr &p) { p.p_flags = PF_R | PF_W | PF_X; }),
       "executable stack"},
      {"needed library", dynamic(DT_NEEDED, 1), "requires a library"},
      {"relocations with addend", dynamic(DT_RELA, 64), "relocations"},
      {"relocations", dynamic(DT_REL, 64), "relocations"},
      {"packed relocations", dynamic(DT_RELR, 64), "relocations"},
      {"procedure linkage", dynamic(DT_JMPREL, 64), "relocations"},
      {"text relocations", dynamic(DT_TEXTREL, 0), "relocations"},
      {"constructor", dynamic(DT_INIT_ARRAY, 64), "code to run at load"},
      {"old constructor", dynamic(DT_INIT, 64), "code to run at load"},
  };
}
} // namespace

TEST(CodeImage, RunsFromTheArtifact) {
  TemporaryPath path("code.llmir");
  writeSample(path.str());
  Expected<std::shared_ptr<const Artifact>> artifact =
      Artifact::open(path.str());
  ASSERT_TRUE(artifact) << artifact.status().message();
  Expected<CodeImage> code = CodeImage::load(**artifact, 0);
  ASSERT_TRUE(code) << code.status().message();
  artifact->reset(); // The code remains mapped.
  float logit = 0;
  LLMIRStepContext context{};
  context.logits = &logit;
  code->step()(&context, 0, 1);
  EXPECT_EQ(logit, 1.0f);
  CodeImage moved = std::move(*code);
  logit = 0;
  moved.step()(&context, 0, 1);
  EXPECT_EQ(logit, 1.0f);
}

TEST(CodeImage, NoPageIsWritable) {
  TemporaryPath path("protection.llmir");
  writeSample(path.str());
  Expected<std::shared_ptr<const Artifact>> artifact =
      Artifact::open(path.str());
  ASSERT_TRUE(artifact);
  Expected<CodeImage> code = CodeImage::load(**artifact, 0);
  ASSERT_TRUE(code);
  uintptr_t first = reinterpret_cast<uintptr_t>(code->base());
  std::ifstream maps("/proc/self/maps");
  std::string line;
  int executable = 0, seen = 0;
  while (std::getline(maps, line)) {
    unsigned long begin, end;
    char protection[5];
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, protection) !=
            3 ||
        begin < first || end > first + code->bytes())
      continue;
    ++seen;
    EXPECT_NE(protection[1], 'w') << line;
    executable += protection[2] == 'x';
  }
  EXPECT_GE(seen, 3);
  EXPECT_EQ(executable, 1);
}

TEST(CodeImage, EveryOtherImageIsRefused) {
  EXPECT_TRUE(validateCodeImage(sampleImage(), "good"));
  for (const Case &c : cases()) {
    SCOPED_TRACE(c.name);
    Bytes image = sampleImage();
    c.change(image);
    Status status = validateCodeImage(image, "name.llmir");
    EXPECT_EQ(status.code(), StatusCode::InvalidFile) << status.message();
    EXPECT_NE(status.cause().find(c.cause), std::string::npos)
        << status.message();
    EXPECT_EQ(status.cause().rfind("name.llmir: code image: ", 0), 0u)
        << status.message();
  }
}

/// The loader's message for an artifact whose info was changed after its code
/// was made.
std::string loadedWith(const ArtifactInfo &info, const Bytes &image) {
  TemporaryPath path("note.llmir");
  writeSample(path.str(), info, image);
  Expected<std::shared_ptr<const Artifact>> artifact =
      Artifact::open(path.str());
  if (!artifact)
    return artifact.status().message();
  Expected<CodeImage> code = CodeImage::load(**artifact, 0);
  return code ? "loaded" : code.status().message();
}

// Code contains these values as constants: with other values in the artifact,
// it would read and write out of bounds.
TEST(CodeImage, TheInfoIsThatOfTheCode) {
  EXPECT_EQ(loadedWith(sampleInfo(), sampleImage()), "loaded");
  struct Change {
    const char *name;
    int64_t ArtifactInfo::*field;
    int64_t value;
  };
  for (auto [name, field, value] :
       {Change{"vocabSize", &ArtifactInfo::vocabSize, 51},
        {"logitsRowStride", &ArtifactInfo::logitsRowStride, 80},
        {"tokenBudget", &ArtifactInfo::tokenBudget, 33},
        {"maxLogitRows", &ArtifactInfo::maxLogitRows, 9},
        {"arenaBytes", &ArtifactInfo::arenaBytes, 0},
        {"workerBytes", &ArtifactInfo::workerBytes, 64},
        {"contextLength", &ArtifactInfo::contextLength, 41},
        {"numLayers", &ArtifactInfo::numLayers, 3},
        {"numKVHeads", &ArtifactInfo::numKVHeads, 2},
        {"headDim", &ArtifactInfo::headDim, 8},
        {"valuesInKeys", &ArtifactInfo::valuesInKeys, 2},
        {"kvBlockSize", &ArtifactInfo::kvBlockSize, 8}}) {
    ArtifactInfo changed = sampleInfo();
    const std::string expected =
        std::string("its info and its code disagree on '") + name +
        "', which is " + std::to_string(value) + " and " +
        std::to_string(changed.*field);
    changed.*field = value;
    const std::string message = loadedWith(changed, sampleImage());
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
  ArtifactInfo info = sampleInfo();
  info.kvFormat = KVFormat::F16;
  EXPECT_NE(loadedWith(info, sampleImage()).find("disagree on 'kvFormat';"),
            std::string::npos);
  info = sampleInfo();
  info.pooling = Pooling::Last;
  info.embeddingSize = info.vocabSize;
  EXPECT_NE(loadedWith(info, sampleImage()).find("disagree on 'pooling';"),
            std::string::npos);
  info = sampleInfo();
  info.code[0].triple += "x";
  EXPECT_NE(loadedWith(info, sampleImage()).find("disagree on 'code';"),
            std::string::npos);
}

TEST(CodeImage, TheWeightsAreAsLongAsTheCodeReads) {
  const ArtifactInfo info = sampleInfo();
  EXPECT_NE(loadedWith(
                info, sampleImage(makeCodeNote(info, 0, sampleWeightBytes + 1)))
                .find("it has 3000 bytes of weights; its code reads 3001"),
            std::string::npos);
}

TEST(CodeImage, EveryOtherNoteIsNone) {
  const ArtifactInfo info = sampleInfo();
  const Bytes whole = makeCodeNote(info, 0, sampleWeightBytes);
  auto says = [&](const Bytes &note) {
    return loadedWith(info, sampleImage(note));
  };
  const std::string none = "its code does not record what it was generated for";
  for (size_t bytes = 0; bytes < whole.size(); bytes += 7)
    EXPECT_NE(says(Bytes(whole.begin(),
                         whole.begin() + static_cast<ptrdiff_t>(bytes)))
                  .find(none),
              std::string::npos)
        << bytes;
  for (size_t byte = 0; byte < 18; ++byte) { // Sizes, type and name.
    Bytes note = whole;
    note[byte] ^= 0x40;
    EXPECT_NE(says(note).find(none), std::string::npos) << byte;
  }
  Bytes second(16, 0); // After a note with another owner.
  second[4] = 4;
  second.insert(second.end(), whole.begin(), whole.end());
  EXPECT_EQ(says(second), "loaded");
}

TEST(CodeImage, AnotherMachineIsIncompatible) {
  Bytes image = sampleImage();
  elf([](Elf64_Ehdr &e) { e.e_machine = EM_RISCV; })(image);
  EXPECT_EQ(validateCodeImage(image, "name").code(),
            StatusCode::IncompatibleTarget);
}

// For any headers, an image is rejected or mapped, without a crash.
TEST(CodeImage, SurvivesEveryBitOfItsHeaders) {
  const Bytes whole = sampleImage();
  TemporaryPath path("bits.elf");
  const size_t used = sizeof(Elf64_Ehdr) + 7 * sizeof(Elf64_Phdr);
  writeBytes(path.str(), whole);
  int fd = open(path.str().c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  for (size_t bit = 0; bit < used * 8; ++bit) {
    Bytes image = whole;
    image[bit / 8] = static_cast<uint8_t>(image[bit / 8] ^ (1 << (bit % 8)));
    // The plan comes from the changed bytes, the mapping from the file, which
    // is as long.
    Expected<CodeImage> code = CodeImage::load(fd, 0, image, "bits");
    EXPECT_TRUE(!code || code->step() != nullptr);
  }
  close(fd);
}

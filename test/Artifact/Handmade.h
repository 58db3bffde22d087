//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small artifacts made by hand, for the tests of Artifact, Runtime and Serving.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_ARTIFACT_HANDMADE_H
#define LLMIR_TEST_ARTIFACT_HANDMADE_H

#include "llmir/ABI/StepContext.h"
#include "llmir/Artifact/ArtifactInfo.h"
#include "llmir/Artifact/ArtifactWriter.h"
#include "llmir/Artifact/CodeNote.h"
#include "llmir/Artifact/CpuFeatures.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace llmir::test {

using Bytes = std::vector<uint8_t>;

/// A path of this process, removed at the end.
class TemporaryPath {
public:
  explicit TemporaryPath(const std::string &name)
      : path(testing::TempDir() + "llmir-" + std::to_string(getpid()) + "-" +
             name) {}
  ~TemporaryPath() { std::remove(path.c_str()); }
  TemporaryPath(const TemporaryPath &) = delete;
  TemporaryPath &operator=(const TemporaryPath &) = delete;
  const std::string &str() const { return path; }

private:
  std::string path;
};

inline Bytes readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

inline void writeBytes(const std::string &path, const Bytes &bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

/// What the tests' models have in common.
inline ArtifactInfo sampleInfo() {
  ArtifactInfo info;
  info.modelName = "tiny";
  info.architecture = "llama";
  info.weightsDescription = "f32";
  info.parameterCount = 123456789012;
  info.sites.resize(2);
  info.sites[0].name = "linear_f32_50x64";
  info.sites[0].kind = "linear";
  info.sites[0].calls = 2;
  info.sites[0].inLayerRun = true;
  info.sites[0].sourceBytes = 12800;
  info.sites[0].packedBytes = 16384;
  info.sites[0].products = 3200;
  info.sites[0].inputs = "f32";
  info.sites[1].name = info.sites[1].kind = "barrier";
  info.matrices = {{0, 1024, 1}, {1024, 960, 2}}; // Of 3000 bytes.
  info.abiVersion = LLMIR_ABI_VERSION;
  const std::string &arch = CpuFeatures::host().architecture();
  info.code = {{arch == "aarch64" ? "aarch64" : "x86-64",
                arch + "-unknown-linux-gnu",
                {}}};
  info.vocabSize = 50;
  info.logitsRowStride = 64;
  info.tokenBudget = 32;
  info.maxLogitRows = 8;
  info.arenaBytes = 4096;
  info.workerBytes = 8192;
  info.contextLength = 40;
  info.numLayers = 2;
  info.numKVHeads = 1;
  info.headDim = 4;
  info.kvBlockSize = 4;
  info.kvFormat = KVFormat::F32;
  info.bosToken = 1;
  info.eosTokens = {2, 7};
  info.generation.doSample = true;
  info.generation.temperature = 0.7;
  info.generation.topK = 20;
  info.generation.topP = 0.8;
  info.generation.minP = 0.05;
  info.generation.repetitionPenalty = 1.5;
  return info;
}

/// Bytes of the weights that writeSample() writes.
constexpr int64_t sampleWeightBytes = 3000;

/// Offsets of the parts of the handmade image, in the file and in memory.
constexpr uint64_t imageCode = 0x10000;
constexpr uint64_t imageDynamic = 0x20000;

/// An image as ld.lld makes it: headers and `note`, code, and the dynamic
/// section in a segment that is writable before relocation. Its step function
/// writes 1.0 to the first logit.
inline Bytes sampleImage(const Bytes &note = makeCodeNote(sampleInfo(), 0,
                                                          sampleWeightBytes)) {
  Bytes image(imageDynamic + sizeof(Elf64_Dyn), 0);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  constexpr uint32_t logits = offsetof(LLMIRStepContext, logits);
  static_assert(logits % 8 == 0 && logits < 4096 * 8, "as the code takes it");
#if defined(__aarch64__)
  header.e_machine = EM_AARCH64;
  const uint32_t words[] = {0xf9400000 | (logits / 8) << 10, // ldr x0, [x0, …]
                            0x52a7f001,  // mov w1, #0x3f800000
                            0xb9000001,  // str w1, [x0]
                            0xd65f03c0}; // ret
  std::memcpy(&image[imageCode], words, sizeof words);
#else
  header.e_machine = EM_X86_64;
  const uint8_t code[] = {0x48,        0x8b, 0x87, logits & 0xff,
                          logits >> 8, 0,    0, // mov rax,[rdi+…]
                          0xc7,        0x00, 0,    0,
                          0x80,        0x3f, // mov dword [rax],1.0f
                          0xc3};             // ret
  std::memcpy(&image[imageCode], code, sizeof code);
#endif
  header.e_version = EV_CURRENT;
  header.e_entry = imageCode;
  header.e_phoff = sizeof header;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  Elf64_Phdr segments[7] = {};
  const uint64_t noteAt = sizeof header + sizeof segments;
  auto define = [](Elf64_Phdr &segment, uint32_t type, uint32_t flags,
                   uint64_t at, uint64_t bytes, uint64_t alignment) {
    segment.p_type = type;
    segment.p_flags = flags;
    segment.p_offset = segment.p_vaddr = segment.p_paddr = at;
    segment.p_filesz = segment.p_memsz = bytes;
    segment.p_align = alignment;
  };
  define(segments[0], PT_LOAD, PF_R, 0, noteAt + note.size(), 0x10000);
  define(segments[1], PT_LOAD, PF_R | PF_X, imageCode, 64, 0x10000);
  define(segments[2], PT_LOAD, PF_R | PF_W, imageDynamic, sizeof(Elf64_Dyn),
         0x10000);
  segments[2].p_memsz = 0x1000; // Padded to a page, as lld does.
  define(segments[3], PT_DYNAMIC, PF_R | PF_W, imageDynamic, sizeof(Elf64_Dyn),
         8);
  define(segments[4], PT_GNU_RELRO, PF_R, imageDynamic, sizeof(Elf64_Dyn), 1);
  segments[4].p_memsz = 0x1000;
  define(segments[5], PT_GNU_STACK, PF_R | PF_W, 0, 0, 1);
  define(segments[6], PT_NOTE, PF_R, noteAt, note.size(), 4);
  std::copy(note.begin(), note.end(), image.begin() + noteAt);
  header.e_phnum = 7;
  std::memcpy(image.data(), &header, sizeof header);
  std::memcpy(image.data() + sizeof header, segments, sizeof segments);
  return image;
}

/// Writes a whole artifact; fails the test on an error. Each target of the info
/// gets an image made for it, or `image`.
inline void writeSample(const std::string &path,
                        const ArtifactInfo &info = sampleInfo(),
                        const Bytes &image = {}) {
  Expected<ArtifactWriter> writer = ArtifactWriter::begin(path);
  ASSERT_TRUE(writer) << writer.status().message();
  auto ok = [](const Status &status) {
    EXPECT_TRUE(status) << status.message();
  };
  ok(writer->setInfo(info));
  for (size_t i = 0; i < info.code.size(); ++i)
    ok(writer->addSection(
        ArtifactSection::Code,
        image.empty() ? sampleImage(makeCodeNote(info, i, sampleWeightBytes))
                      : image));
  ok(writer->beginSection(ArtifactSection::Weights));
  for (int piece = 0; piece < 3; ++piece)
    ok(writer->append(
        Bytes(sampleWeightBytes / 3, static_cast<uint8_t>(piece + 1))));
  ok(writer->endSection());
  ok(writer->addSection(ArtifactSection::Tokenizer, Bytes{4, 5, 6}));
  const std::string program = "mllm.program {}\n";
  ok(writer->addSection(ArtifactSection::Program,
                        Bytes(program.begin(), program.end())));
  ok(writer->finish());
}

} // namespace llmir::test

#endif // LLMIR_TEST_ARTIFACT_HANDMADE_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Artifact/CodeNote.h"
#include "Checksum.h"

#include <cstring>
#include <elf.h>
#include <string>

namespace llmir {

/// The note's name (including the terminating zero) and type.
static constexpr char noteName[] = "LLMIR";
static constexpr uint32_t noteType = 1;

namespace {
/// A value that generated code has as a constant. Values that are not numbers
/// are hashed.
struct Constant {
  const char *name;
  int64_t value;
  bool isHash = false;
};
} // namespace

static int64_t hashOf(const std::vector<int64_t> &numbers) {
  return static_cast<int64_t>(
      checksum({reinterpret_cast<const uint8_t *>(numbers.data()),
                numbers.size() * sizeof(int64_t)}));
}

/// The values in the order of the note, after the bytes of the weights.
static std::vector<Constant> constantsOf(const ArtifactInfo &info,
                                         size_t target) {
  const CodeTarget &code = info.code[target];
  std::string platform = code.level + "\n" + code.triple;
  for (const std::string &feature : code.cpuFeatures)
    platform += "\n" + feature;
  const uint64_t hash = checksum(
      {reinterpret_cast<const uint8_t *>(platform.data()), platform.size()});
  return {{"vocabSize", info.vocabSize},
          {"logitsRowStride", info.logitsRowStride},
          {"tokenBudget", info.tokenBudget},
          {"maxLogitRows", info.maxLogitRows},
          {"arenaBytes", info.arenaBytes},
          {"workerBytes", info.workerBytes},
          {"contextLength", info.contextLength},
          {"pooling", static_cast<int64_t>(info.pooling), true},
          {"embeddingSize", info.embeddingSize},
          {"wholeSequences", info.wholeSequences},
          {"numLayers", info.numLayers},
          {"numKVHeads", info.numKVHeads},
          {"headDim", info.headDim},
          {"valuesInKeys", info.valuesInKeys},
          {"kvBlockSize", info.kvBlockSize},
          {"kvFormat", static_cast<int64_t>(info.kvFormat), true},
          {"windows", hashOf(info.windows), true},
          {"stateLayers", info.stateLayers},
          {"stateRecordBytes", info.stateRecordBytes},
          {"code", static_cast<int64_t>(hash), true}};
}

/// Parts of a note are aligned to 4 bytes.
static size_t padded(size_t bytes) { return (bytes + 3) / 4 * 4; }

std::vector<uint8_t> makeCodeNote(const ArtifactInfo &info, size_t target,
                                  int64_t weightBytes) {
  std::vector<int64_t> numbers{weightBytes};
  for (const Constant &constant : constantsOf(info, target))
    numbers.push_back(constant.value);
  const size_t bytes = numbers.size() * sizeof(int64_t);
  const Elf64_Nhdr header{sizeof noteName, static_cast<uint32_t>(bytes),
                          noteType};
  const size_t name = sizeof header, content = name + padded(sizeof noteName);
  std::vector<uint8_t> note(content + bytes, 0);
  std::memcpy(note.data(), &header, sizeof header);
  std::memcpy(note.data() + name, noteName, sizeof noteName);
  std::memcpy(note.data() + content, numbers.data(), bytes);
  return note;
}

std::vector<int64_t> readCodeNote(Span<const uint8_t> notes) {
  for (size_t at = 0; notes.size() - at >= sizeof(Elf64_Nhdr);) {
    Elf64_Nhdr header;
    std::memcpy(&header, notes.data() + at, sizeof header);
    at += sizeof header;
    // 32 bits each: the sums do not overflow.
    const size_t name = padded(header.n_namesz),
                 content = padded(header.n_descsz);
    if (name + content > notes.size() - at)
      break;
    if (header.n_type == noteType && header.n_namesz == sizeof noteName &&
        std::memcmp(notes.data() + at, noteName, sizeof noteName) == 0) {
      std::vector<int64_t> numbers(header.n_descsz / sizeof(int64_t));
      if (!numbers.empty()) // Otherwise there is no address.
        std::memcpy(numbers.data(), notes.data() + at + name,
                    numbers.size() * sizeof(int64_t));
      return numbers;
    }
    at += name + content;
  }
  return {};
}

static Status disagrees(const std::string &what) {
  return Status(StatusCode::InvalidFile, "damaged artifact: " + what,
                "compile it again with 'llmir compile'");
}

Status checkCodeNote(const std::vector<int64_t> &note, const ArtifactInfo &info,
                     size_t target, int64_t weightBytes) {
  const std::vector<Constant> constants = constantsOf(info, target);
  if (note.size() != constants.size() + 1)
    return disagrees("its code does not record what it was generated for");
  for (size_t i = 0; i < constants.size(); ++i) {
    const Constant &constant = constants[i];
    if (constant.value == note[i + 1])
      continue;
    std::string what = std::string("its info and its code disagree on '") +
                       constant.name + "'";
    if (!constant.isHash)
      what += ", which is " + std::to_string(constant.value) + " and " +
              std::to_string(note[i + 1]);
    return disagrees(what);
  }
  if (weightBytes < note[0])
    return disagrees("it has " + std::to_string(weightBytes) +
                     " bytes of weights; its code reads " +
                     std::to_string(note[0]));
  return Status::ok();
}

} // namespace llmir

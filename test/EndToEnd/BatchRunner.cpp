//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BatchRunner.h"
#include "Emulation/TileEmulation.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/Artifact/CodeNote.h"
#include "llmir/Artifact/CpuFeatures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

namespace llmir::test {

/// Replaces a code note in the mapping of an artifact, which is private. The
/// bytes of weights, with which a note begins, remain.
static void replaceNote(Span<const uint8_t> code,
                        const std::vector<uint8_t> &before,
                        const std::vector<uint8_t> &after) {
  constexpr size_t compared = 64; // The last values, the one of the code too.
  auto *at = const_cast<uint8_t *>(std::search(
      code.begin(), code.end(), before.end() - compared, before.end()));
  ASSERT_NE(at, code.end()) << "the image has no note of what it is for";
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(at) / page * page;
  const size_t bytes = reinterpret_cast<uintptr_t>(at) + compared - start;
  ASSERT_EQ(
      mprotect(reinterpret_cast<void *>(start), bytes, PROT_READ | PROT_WRITE),
      0);
  std::copy(after.end() - compared, after.end(), at);
}

/// Lets code with tiles of AMX run where only their instructions are missing:
/// the loader takes it for code of the level below.
static void emulateTiles(const Artifact &artifact) {
  auto &info = const_cast<ArtifactInfo &>(artifact.info());
  for (size_t i = 0; i < info.code.size(); ++i) {
    CodeTarget &target = info.code[i];
    if (!canEmulateTiles(target.level))
      continue;
    const std::vector<uint8_t> before = makeCodeNote(info, i, 0);
    target.level = "x86-64-v4-bf16";
    target.cpuFeatures = cpuLevelFeatures(target.level);
    replaceNote(artifact.section(ArtifactSection::Code, i), before,
                makeCodeNote(info, i, 0));
    startTileEmulation();
  }
}

std::vector<std::string> namedDecoders() {
  const char *given = std::getenv("LLMIR_BATCH_DECODERS");
  std::istringstream list(given ? given : "");
  return {std::istream_iterator<std::string>(list), {}};
}

std::unique_ptr<Executor> openExecutor(const std::string &model,
                                       const ExecutorOptions &options) {
  const char *folder = std::getenv("LLMIR_BATCH_MODELS");
  if (!folder) {
    ADD_FAILURE() << "LLMIR_BATCH_MODELS names no directory: make one with "
                     "test/EndToEnd/batch_models.py";
    return nullptr;
  }
  Expected<std::shared_ptr<const Artifact>> artifact =
      Artifact::open(std::string(folder) + "/" + model + ".llmir");
  if (!artifact) {
    ADD_FAILURE() << artifact.status().message();
    return nullptr;
  }
  emulateTiles(**artifact);
  Expected<std::unique_ptr<Executor>> executor =
      Executor::create(*artifact, options);
  EXPECT_TRUE(executor) << executor.status().message();
  return executor ? std::move(*executor) : nullptr;
}

/// One token per step, one thread, fresh memory.
static std::vector<float> computeAlone(const std::string &model,
                                       const TokenIds &text) {
  ExecutorOptions options;
  options.threads = 1;
  std::unique_ptr<Executor> executor = openExecutor(model, options);
  std::vector<float> all;
  if (!executor)
    return all;
  EXPECT_TRUE(executor->cache().createSequence(0));
  for (const int32_t &token : text) {
    SequenceStep part;
    part.tokens = Span<const int32_t>(&token, 1);
    Expected<StepLogits> logits =
        executor->step(Span<const SequenceStep>(&part, 1));
    if (!logits) {
      ADD_FAILURE() << logits.status().message();
      return {};
    }
    Span<const float> row = logits->row(0);
    EXPECT_TRUE(std::all_of(row.begin(), row.end(), [](float value) {
      return std::isfinite(value);
    })) << model;
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

const std::vector<float> &logitsAlone(const std::string &model,
                                      const TokenIds &text) {
  static std::map<std::pair<std::string, TokenIds>, std::vector<float>> known;
  auto [entry, isNew] = known.try_emplace({model, text});
  if (isNew)
    entry->second = computeAlone(model, text);
  return entry->second;
}

BatchRunner::BatchRunner(const std::string &model, int64_t threads,
                         int64_t kvBlocks)
    : model(model) {
  ExecutorOptions options;
  options.threads = threads;
  options.kvBlocks = kvBlocks;
  options.guardPages = true;
  executor = openExecutor(model, options);
}

size_t BatchRunner::budget() const {
  return static_cast<size_t>(executor->tokenBudget());
}

size_t BatchRunner::context() const {
  return static_cast<size_t>(executor->contextLength());
}

TokenIds BatchRunner::text(unsigned seed, size_t length) const {
  std::mt19937 random(seed);
  TokenIds ids(length);
  for (size_t i = 0; i < length; ++i) {
    auto drawn = static_cast<int32_t>(
        random() % static_cast<uint32_t>(executor->info().vocabSize));
    ids[i] = i % 8 == 5 ? 7 : drawn;
  }
  return ids;
}

Story BatchRunner::begin(TokenIds text) {
  Story story;
  story.id = nextId++;
  story.text = std::move(text);
  EXPECT_TRUE(executor->cache().createSequence(story.id));
  return story;
}

void BatchRunner::end(const Story &story) {
  EXPECT_TRUE(executor->cache().freeSequence(story.id));
}

Story BatchRunner::branch(const Story &source, size_t shared, TokenIds text) {
  Story story;
  story.id = nextId++;
  story.text = std::move(text);
  story.done = shared;
  Status forked =
      executor->cache().fork(source.id, story.id, static_cast<int64_t>(shared));
  EXPECT_TRUE(forked) << forked.message();
  return story;
}

/// At most `most` of `tokens`, the last one among them, spread evenly.
std::vector<int32_t> BatchRunner::chooseRows(size_t tokens, size_t most) const {
  size_t count = std::min(tokens, most);
  if (steps % 4 == 3) // Usually a prompt requests one row, and a long one none.
    count = tokens > 20 ? 0 : 1;
  std::vector<int32_t> rows(count);
  for (size_t i = 0; i < count; ++i)
    rows[i] = static_cast<int32_t>((i + 1) * tokens / count - 1);
  return rows;
}

void BatchRunner::compare(const Story &story, size_t position,
                          Span<const float> row) {
  const std::vector<float> &all = logitsAlone(model, story.text);
  ASSERT_GE(all.size(), (position + 1) * row.size());
  const float *alone = all.data() + position * row.size();
  if (std::memcmp(row.data(), alone, row.size() * sizeof(float)) == 0)
    return;
  size_t at = 0;
  while (std::memcmp(&row[at], alone + at, sizeof(float)) == 0)
    ++at;
  char numbers[80];
  std::snprintf(numbers, sizeof(numbers), "%a, alone %a", row[at], alone[at]);
  FAIL() << model << ", " << executor->threads() << " threads, sequence "
         << story.id << ", position " << position << ", logit " << at << ": "
         << numbers;
}

void BatchRunner::step(const Parts &parts) {
  ++steps;
  const size_t share =
      static_cast<size_t>(executor->maxLogitRows()) / parts.size();
  std::vector<std::vector<int32_t>> rows;
  std::vector<SequenceStep> batch;
  for (auto [story, tokens] : parts) {
    ASSERT_LE(tokens, story->left());
    SequenceStep part;
    part.sequence = story->id;
    part.tokens = Span<const int32_t>(story->text).subspan(story->done, tokens);
    rows.push_back(chooseRows(tokens, share));
    part.want = WantLogits::Listed;
    if (rows.back().size() == tokens)
      part.want = tokens > 1 ? WantLogits::All : WantLogits::Last;
    batch.push_back(part);
  }
  for (size_t i = 0; i < parts.size(); ++i)
    batch[i].rows = rows[i];
  Expected<StepLogits> logits = executor->step(batch);
  ASSERT_TRUE(logits) << logits.status().message();
  int64_t row = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    auto [story, tokens] = parts[i];
    for (int32_t listed : rows[i])
      ASSERT_NO_FATAL_FAILURE(compare(*story,
                                      story->done + static_cast<size_t>(listed),
                                      logits->row(row++)));
    story->done += tokens;
  }
  ASSERT_EQ(logits->numRows, row);
}

void BatchRunner::finish(Story &story, size_t piece) {
  while (story.left() > 0)
    ASSERT_NO_FATAL_FAILURE(step(story, std::min(piece, story.left())));
}

void BatchRunner::poisonFreeBlocks() {
  PagedKVCache &cache = executor->cache();
  const int64_t blockSize = cache.getBlockSize();
  std::vector<int32_t> slots(
      static_cast<size_t>(blockSize * cache.numGroups()));
  std::vector<SequenceId> fillers;
  std::vector<std::vector<int32_t>> filled; // [filler][group]
  while (cache.blocks().numFree() > 0) {
    fillers.push_back(nextId++);
    ASSERT_TRUE(cache.createSequence(fillers.back()));
    ASSERT_TRUE(cache.reserve(fillers.back(), blockSize, slots));
    std::vector<int32_t> &blocks = filled.emplace_back();
    for (size_t slot = 0; slot < slots.size();
         slot += static_cast<size_t>(blockSize))
      blocks.push_back(slots[slot] / static_cast<int32_t>(blockSize));
  }
  for (SequenceId filler : fillers)
    ASSERT_TRUE(cache.freeSequence(filler));
  const int64_t bytes = cache.blockLayout().blockBytes();
  for (const std::vector<int32_t> &blocks : filled)
    for (int64_t layer = 0; layer < cache.getNumLayers(); ++layer) {
      const auto group = static_cast<size_t>(cache.layerGroups()[layer]);
      std::memset(cache.pool() + layer * cache.layerStride() +
                      blocks[group] * bytes,
                  0xFF, static_cast<size_t>(bytes));
    }
}

} // namespace llmir::test

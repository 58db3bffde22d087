//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Runtime/Executor.h"
#include "CacheSize.h"
#include "NumaPlacement.h"
#include "StepMemory.h"
#include "llmir/ABI/AttentionSplit.h"
#include "llmir/Artifact/Artifact.h"
#include "llmir/Artifact/ArtifactInfoJSON.h"
#include "llmir/Artifact/CodeImage.h"
#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Runtime/StepRuntime.h"
#include "llmir/Runtime/UsableMemory.h"

#include <algorithm>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

namespace llmir {

using mlir::llm::runtime::KVReservation;
using mlir::llm::runtime::PagedKVCacheOptions;
using mlir::llm::runtime::StateGeometry;

struct Executor::State {
  ArtifactInfo info;
  std::shared_ptr<const Artifact> artifact; ///< Keeps the weights mapped.
  std::optional<CodeImage> code;
  std::string level; ///< Of `code`.
  LLMIRStepFunction function = nullptr;
  const uint8_t *weights = nullptr;

  std::unique_ptr<PagedKVCache> cache;
  std::unique_ptr<WorkerTeam> team;
  std::optional<StepRuntime> runtime;
  std::unique_ptr<StepTrace> trace;
  StepMemory memory;
  NumaPlacement numa;
  std::vector<KVReservation> reservations; ///< Capacity: the token budget.

  Status prepare(Span<const uint8_t> weightBytes,
                 const ExecutorOptions &options);
  Status checkBatch(Span<const SequenceStep> batch);
  Status checkRows(const SequenceStep &part, int64_t &rows) const;
  LLMIRStepContext fillContext(Span<const SequenceStep> batch);
};

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// The pool of the states of layers. chooseCacheSize() has checked the number
/// of sequences.
static StateGeometry chooseStates(const ArtifactInfo &info,
                                  const ExecutorOptions &options) {
  constexpr int64_t mostByDefault = 64;
  StateGeometry states;
  if (info.stateLayers == 0)
    return states;
  states.layers = info.stateLayers;
  states.recordBytes = info.stateRecordBytes;
  states.slots = options.sequences;
  if (states.slots == 0) // validateArtifactInfo bounds the product.
    states.slots = std::clamp<int64_t>(usableMemory() / 4 /
                                           (states.layers * states.recordBytes),
                                       1, mostByDefault);
  return states;
}

Status Executor::State::prepare(Span<const uint8_t> weightBytes,
                                const ExecutorOptions &options) {
  if (reinterpret_cast<uintptr_t>(weightBytes.data()) % 64 != 0)
    return Status(StatusCode::InvalidArgument,
                  "the weights are not aligned to 64 bytes");
  Expected<CacheSize> size = chooseCacheSize(info, options);
  if (!size)
    return size.takeStatus();
  PagedKVCacheOptions cacheOptions;
  cacheOptions.numBlocks = size->blocks;
  cacheOptions.windows = info.windows;
  cacheOptions.windowBlocks = size->windowBlocks;
  cacheOptions.guardPages = options.guardPages;
  cacheOptions.keepsPrefixes = options.keepsPrefixes;
  cacheOptions.valueDim = info.valuesInKeys;
  cacheOptions.valuesInKeys = info.valuesInKeys > 0;
  cacheOptions.states = chooseStates(info, options);
  cache = std::make_unique<PagedKVCache>(
      info.numLayers, info.numKVHeads, info.headDim, info.kvBlockSize,
      size->contextLength, info.kvFormat, cacheOptions);
  LLMIR_RETURN_IF_ERROR(cache->status());
  reservations.reserve(static_cast<size_t>(info.tokenBudget));
  Expected<std::unique_ptr<WorkerTeam>> workers = numa.startTeam(options);
  if (!workers)
    return workers.takeStatus();
  team = std::move(*workers);
  LLMIR_RETURN_IF_ERROR(
      memory.allocate(info, cache->numGroups(),
                      std::min(cache->blocksPerSequence(), size->blocks),
                      team->size(), options.guardPages));
  Expected<const uint8_t *> placed =
      numa.place(*team, info, weightBytes, memory, *cache);
  if (!placed)
    return placed.takeStatus();
  weights = *placed;
  runtime.emplace(*team, cache.get());
  return Status::ok();
}

Expected<std::unique_ptr<Executor>>
Executor::create(std::shared_ptr<const Artifact> artifact,
                 const ExecutorOptions &options) {
  if (!artifact)
    return Status(StatusCode::InvalidArgument, "the artifact is null");
  Expected<size_t> target = chooseCode(artifact->info(), options.level);
  if (!target)
    return target.takeStatus().withContext(artifact->path());
  const CodeTarget &chosen = artifact->info().code[*target];
  if (Status status = enableCpuState(chosen); !status)
    return std::move(status).withContext(artifact->path());
  Expected<CodeImage> code = CodeImage::load(*artifact, *target);
  if (!code)
    return code.takeStatus();
  auto state = std::make_unique<State>();
  state->info = artifact->info();
  state->artifact = artifact;
  state->level = chosen.level;
  state->function = code->step();
  state->code = std::move(*code);
  Span<const uint8_t> weights = artifact->weights();
  if (Status status = state->prepare(weights, options); !status)
    return status;
  // Start reading ahead; this may fail without consequences. The section is
  // aligned to 64 KiB.
  if (!weights.empty() && state->weights == weights.data())
    madvise(const_cast<uint8_t *>(weights.data()), weights.size(),
            MADV_WILLNEED);
  return std::unique_ptr<Executor>(new Executor(std::move(state)));
}

Expected<std::unique_ptr<Executor>>
Executor::create(const ArtifactInfo &info, LLMIRStepFunction step,
                 Span<const uint8_t> weights, const ExecutorOptions &options) {
  if (Status status = validateArtifactInfo(info); !status)
    return status;
  if (!step)
    return Status(StatusCode::InvalidArgument, "the step function is null");
  auto state = std::make_unique<State>();
  state->info = info;
  state->function = step;
  if (Status status = state->prepare(weights, options); !status)
    return status;
  return std::unique_ptr<Executor>(new Executor(std::move(state)));
}

Executor::Executor(std::unique_ptr<State> state) : state(std::move(state)) {}
Executor::~Executor() = default;

Status Executor::startTrace(int64_t eventsPerWorker) {
  auto trace = StepTrace::create(state->team->size(), eventsPerWorker);
  if (!trace)
    return trace.takeStatus();
  state->trace = std::move(*trace);
  state->runtime->setTrace(state->trace.get());
  return Status::ok();
}

void Executor::stopTrace() { state->runtime->setTrace(nullptr); }
const StepTrace *Executor::trace() const { return state->trace.get(); }

PagedKVCache &Executor::cache() { return *state->cache; }
const std::string &Executor::level() const { return state->level; }
const ArtifactInfo &Executor::info() const { return state->info; }
int64_t Executor::tokenBudget() const { return state->info.tokenBudget; }
int64_t Executor::maxLogitRows() const { return state->info.maxLogitRows; }
void Executor::forEach(int64_t count, const std::function<void(int64_t)> &fn) {
  state->team->forEach(count, fn);
}

int64_t Executor::contextLength() const { return state->cache->getMaxSeqLen(); }
int64_t Executor::threads() const { return state->team->size(); }
const std::vector<std::vector<int>> &Executor::processors() const {
  return state->team->processors();
}
int64_t Executor::memoryBytes() const {
  return state->memory.bytes() + state->cache->getTotalMemoryUsage() +
         state->cache->states().bytes() + state->numa.bytes();
}
const std::string &Executor::placement() const { return state->numa.text(); }

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

/// Adds the logits rows requested by `part`.
Status Executor::State::checkRows(const SequenceStep &part,
                                  int64_t &rows) const {
  const bool pools = info.pooling != Pooling::None;
  if (pools && part.want != WantLogits::None && part.want != WantLogits::Last)
    return Status(StatusCode::InvalidArgument,
                  "rows of single tokens of sequence " +
                      std::to_string(part.sequence) +
                      "; the model yields one embedding of a sequence",
                  "use a language model, or 'llmir embed'");
  if (info.pooling == Pooling::Mean && part.want == WantLogits::None)
    return Status(StatusCode::InvalidArgument,
                  "no row of sequence " + std::to_string(part.sequence) +
                      "; the model yields one for each sequence",
                  "leave the sequence out of the step");
  if (info.wholeSequences && cache->getSequenceLength(part.sequence) > 0)
    return Status(StatusCode::InvalidArgument,
                  "sequence " + std::to_string(part.sequence) +
                      " has tokens of an earlier step; the model needs all "
                      "tokens of a sequence in one step",
                  "free the sequence and create it again");
  switch (part.want) {
  case WantLogits::None:
    return Status::ok();
  case WantLogits::Last:
    ++rows;
    return Status::ok();
  case WantLogits::All:
    rows += static_cast<int64_t>(part.tokens.size());
    return Status::ok();
  case WantLogits::Listed:
    break;
  }
  int64_t previous = -1;
  for (int32_t row : part.rows) {
    if (row <= previous || row >= static_cast<int64_t>(part.tokens.size()))
      return Status(StatusCode::OutOfRange,
                    "sequence " + std::to_string(part.sequence) +
                        ": logits row " + std::to_string(row) + " of " +
                        std::to_string(part.tokens.size()) + " tokens",
                    "list rows in ascending order, each once");
    previous = row;
  }
  rows += static_cast<int64_t>(part.rows.size());
  return Status::ok();
}

/// Checks everything that can be wrong with a batch except the KV blocks, and
/// writes the reservations that it needs.
Status Executor::State::checkBatch(Span<const SequenceStep> batch) {
  int64_t tokens = 0, rows = 0;
  reservations.clear();
  if (batch.empty())
    return Status(StatusCode::InvalidArgument, "the step is empty",
                  "give at least one sequence");
  for (const SequenceStep &part : batch) {
    if (part.tokens.empty())
      return Status(StatusCode::InvalidArgument,
                    "sequence " + std::to_string(part.sequence) +
                        " has no new token in this step",
                    "leave it out");
    // Before the sum exceeds the budget, which is the capacity of the arrays.
    if (static_cast<int64_t>(part.tokens.size()) > info.tokenBudget - tokens)
      return Status(StatusCode::OutOfRange,
                    "more than " + std::to_string(info.tokenBudget) +
                        " tokens in one step",
                    "split the step: the token budget is a constant of the "
                    "compiled model");
    for (int32_t token : part.tokens)
      if (token < 0 || token >= info.vocabSize)
        return Status(StatusCode::OutOfRange,
                      "token id " + std::to_string(token) +
                          " is not in the vocabulary of " +
                          std::to_string(info.vocabSize),
                      "use ids from 0 to " +
                          std::to_string(info.vocabSize - 1));
    tokens += static_cast<int64_t>(part.tokens.size());
    LLMIR_RETURN_IF_ERROR(checkRows(part, rows));
    reservations.push_back(
        {part.sequence, static_cast<int64_t>(part.tokens.size())});
  }
  if (rows > info.maxLogitRows)
    return Status(StatusCode::OutOfRange,
                  std::to_string(rows) +
                      " rows of logits in one step; the limit is " +
                      std::to_string(info.maxLogitRows),
                  "split the step, or ask for fewer rows");
  return Status::ok();
}

/// Writes the arrays that describe the batch, except slot_mapping, which the
/// cache has written when it reserved the tokens. The runtime sets its own
/// fields.
LLMIRStepContext Executor::State::fillContext(Span<const SequenceStep> batch) {
  int64_t tokens = 0, rows = 0, stride = 1;
  AttentionLoad load;
  for (const SequenceStep &part : batch)
    stride = std::max(
        stride, static_cast<int64_t>(cache->blockTable(part.sequence).size()));
  for (size_t s = 0; s < batch.size(); ++s) {
    const SequenceStep &part = batch[s];
    const int64_t count = static_cast<int64_t>(part.tokens.size());
    const int64_t length = cache->getSequenceLength(part.sequence);
    load.add(count, length);
    memory.queryOffsets[s] = static_cast<int32_t>(tokens);
    memory.seqLens[s] = static_cast<int32_t>(length);
    memory.stateSlots[s] = cache->stateSlot(part.sequence);
    for (int64_t group = 0; group < cache->numGroups(); ++group)
      cache->fillGroupTable(part.sequence, group,
                            memory.blockTables +
                                (group * static_cast<int64_t>(batch.size()) +
                                 static_cast<int64_t>(s)) *
                                    stride,
                            stride);
    for (int64_t t = 0; t < count; ++t) {
      memory.tokenIds[tokens + t] = part.tokens[static_cast<size_t>(t)];
      memory.positions[tokens + t] = static_cast<int32_t>(length - count + t);
    }
    if (part.want == WantLogits::Last)
      memory.logitRows[rows++] = static_cast<int32_t>(
          info.pooling == Pooling::First ? tokens : tokens + count - 1);
    else if (part.want == WantLogits::All)
      for (int64_t t = 0; t < count; ++t)
        memory.logitRows[rows++] = static_cast<int32_t>(tokens + t);
    else if (part.want == WantLogits::Listed)
      for (int32_t listed : part.rows)
        memory.logitRows[rows++] = static_cast<int32_t>(tokens + listed);
    tokens += count;
  }
  memory.queryOffsets[batch.size()] = static_cast<int32_t>(tokens);

  LLMIRStepContext context{};
  context.arena = memory.arena;
  context.weights = weights;
  context.num_tokens = tokens;
  context.num_sequences = static_cast<int64_t>(batch.size());
  context.num_logit_rows = rows;
  context.token_ids = memory.tokenIds;
  context.positions = memory.positions;
  context.query_offsets = memory.queryOffsets;
  context.seq_lens = memory.seqLens;
  context.slot_mapping = memory.slots;
  context.block_tables = memory.blockTables;
  context.block_table_stride = stride;
  context.state_slots = memory.stateSlots;
  context.split_attention = load.splits(info.numKVHeads, team->size());
  context.logit_rows = memory.logitRows;
  context.logits = memory.logits;
  return context;
}

Expected<StepLogits> Executor::step(Span<const SequenceStep> batch) {
  if (Status status = state->checkBatch(batch); !status)
    return status;
  size_t tokens = 0;
  for (const SequenceStep &part : batch)
    tokens += part.tokens.size();
  // From here on only the reservation can fail, and it changes all or nothing.
  if (Status status = state->cache->reserve(
          state->reservations,
          Span<int32_t>(state->memory.slots,
                        tokens *
                            static_cast<size_t>(state->cache->numGroups())));
      !status)
    return status;
  LLMIRStepContext context = state->fillContext(batch);
  LLMIR_RETURN_IF_ERROR(state->runtime->run(state->function, context));
  StepLogits logits;
  logits.data = state->memory.logits;
  logits.numRows = context.num_logit_rows;
  logits.rowStride = state->info.logitsRowStride;
  logits.rowSize = state->info.rowSize();
  return logits;
}

} // namespace llmir

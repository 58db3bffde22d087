//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/Embedder.h"

#include <algorithm>
#include <string>

namespace llmir {

Expected<Embedder> Embedder::create(Executor &executor) {
  if (executor.info().pooling == Pooling::None)
    return Status(StatusCode::InvalidArgument,
                  "'" + executor.info().modelName +
                      "' is a language model, which yields no embeddings",
                  "use an embedding model: one with 1_Pooling/config.json, or "
                  "a GGUF file with a pooling_type");
  return Embedder(executor);
}

int64_t Embedder::maxTokens() const {
  const int64_t context = executor->contextLength();
  return executor->info().wholeSequences
             ? std::min(context, executor->tokenBudget())
             : context;
}

static Status checkTexts(Span<const std::vector<int32_t>> texts,
                         int64_t maxTokens) {
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty())
      return Status(StatusCode::InvalidArgument,
                    "text " + std::to_string(i) + " has no tokens",
                    "give at least one token");
    if (static_cast<int64_t>(texts[i].size()) > maxTokens)
      return Status(StatusCode::ContextLengthExceeded,
                    "text " + std::to_string(i) + " has " +
                        std::to_string(texts[i].size()) +
                        " tokens; the model takes at most " +
                        std::to_string(maxTokens),
                    "shorten the text");
  }
  return Status::ok();
}

namespace {
/// Divides texts, in order, into steps that have room for them.
class TextBatches {
public:
  TextBatches(Executor &executor, Span<const std::vector<int32_t>> texts)
      : executor(executor), cache(executor.cache()), texts(texts) {}
  ~TextBatches() { freeSequences(); }
  TextBatches(const TextBatches &) = delete;
  TextBatches &operator=(const TextBatches &) = delete;

  bool isDone() const { return next == texts.size(); }
  /// Runs a step, and appends the embeddings of its finished texts to `rows`.
  Status step(std::vector<float> &rows);

private:
  Status addText(int64_t &budget);
  Status fillStep();
  void freeSequences();

  Executor &executor;
  PagedKVCache &cache;
  Span<const std::vector<int32_t>> texts;
  size_t next = 0; ///< The first text that is not finished.
  size_t done = 0; ///< Tokens of that one in earlier steps.
  std::vector<SequenceStep> parts;
  std::vector<SequenceId> sequences; ///< That exist, of `parts`.
};
} // namespace

void TextBatches::freeSequences() {
  for (SequenceId sequence : sequences)
    (void)cache.freeSequence(sequence); // It exists.
  sequences.clear();
}

/// Adds the rest of text number `next + parts.size()`, or of a text that
/// exceeds the budget of a step as much as fits.
Status TextBatches::addText(int64_t &budget) {
  Span<const int32_t> rest = texts[next + parts.size()];
  SequenceStep part;
  if (parts.empty() && done > 0) {
    rest = rest.subspan(done, rest.size() - done);
    part.sequence = sequences.front();
  } else {
    part.sequence = sequences.empty() ? 0 : sequences.back() + 1;
    while (cache.hasSequence(part.sequence))
      ++part.sequence;
    LLMIR_RETURN_IF_ERROR(cache.createSequence(part.sequence));
    sequences.push_back(part.sequence);
  }
  const auto most = static_cast<size_t>(budget);
  part.tokens = rest.subspan(0, std::min(rest.size(), most));
  part.want =
      part.tokens.size() == rest.size() ? WantLogits::Last : WantLogits::None;
  budget -= static_cast<int64_t>(part.tokens.size());
  parts.push_back(part);
  return Status::ok();
}

/// A text that does not fit into the rest of a step starts the next one.
Status TextBatches::fillStep() {
  parts.clear();
  int64_t budget = executor.tokenBudget();
  const int64_t blockSize = executor.info().kvBlockSize;
  int64_t blocks = cache.blocks().numFree();
  const int64_t sequences =
      cache.states().isEmpty()
          ? executor.maxLogitRows()
          : std::min(executor.maxLogitRows(), cache.states().numFree());
  for (size_t i = next; i < texts.size(); ++i) {
    const auto length = static_cast<int64_t>(texts[i].size());
    const int64_t needed = (length - 1) / blockSize + 1;
    const bool fits = length <= budget && needed <= blocks &&
                      static_cast<int64_t>(parts.size()) < sequences;
    if (!parts.empty() && !fits)
      break;
    LLMIR_RETURN_IF_ERROR(addText(budget));
    if (parts.back().want == WantLogits::None)
      break;
    blocks -= needed;
  }
  return Status::ok();
}

Status TextBatches::step(std::vector<float> &rows) {
  LLMIR_RETURN_IF_ERROR(fillStep());
  Expected<StepLogits> result = executor.step(parts);
  if (!result)
    return result.takeStatus();
  for (int64_t i = 0; i < result->numRows; ++i) {
    Span<const float> row = result->row(i);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  if (result->numRows == 0) {
    done += parts.front().tokens.size();
    return Status::ok();
  }
  next += parts.size();
  done = 0;
  freeSequences();
  return Status::ok();
}

Expected<std::vector<float>>
Embedder::embed(Span<const std::vector<int32_t>> texts) {
  LLMIR_RETURN_IF_ERROR(checkTexts(texts, maxTokens()));
  std::vector<float> rows;
  rows.reserve(texts.size() * static_cast<size_t>(size()));
  TextBatches batches(*executor, texts);
  while (!batches.isDone())
    LLMIR_RETURN_IF_ERROR(batches.step(rows));
  return rows;
}

} // namespace llmir

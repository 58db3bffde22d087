//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs compiled models step by step and holds every row of logits, bit by bit,
// with those of the same text alone: in new memory, one token per step, one
// thread.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_ENDTOEND_BATCHRUNNER_H
#define LLMIR_TEST_ENDTOEND_BATCHRUNNER_H

#include "llmir/Runtime/Executor.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace llmir::test {

using TokenIds = std::vector<int32_t>;

/// An executor of the artifact that batch_models.py compiled from `model`, in
/// the directory that LLMIR_BATCH_MODELS names. Null with a failed expectation
/// where there is none.
std::unique_ptr<Executor> openExecutor(const std::string &model,
                                       const ExecutorOptions &options);

/// The names in LLMIR_BATCH_DECODERS, for models that a test makes at random.
std::vector<std::string> namedDecoders();

/// The logits [text, vocabulary] of `text` alone; computed once per text and
/// kept. Empty with a failed expectation if that is not possible.
const std::vector<float> &logitsAlone(const std::string &model,
                                      const TokenIds &text);

/// A text on its way through an executor.
struct Story {
  SequenceId id = 0;
  TokenIds text;
  size_t done = 0; ///< Tokens that the executor has seen.

  size_t left() const { return text.size() - done; }
};

class BatchRunner {
public:
  using Parts = std::vector<std::pair<Story *, size_t>>;

  /// With guard pages.
  BatchRunner(const std::string &model, int64_t threads, int64_t kvBlocks);

  bool ready() const { return executor != nullptr; }
  Executor &operator*() { return *executor; }
  Executor *operator->() { return executor.get(); }
  size_t budget() const;
  size_t context() const;

  /// Random token ids, the same for the same seed. Some positions of all texts
  /// hold the same token.
  TokenIds text(unsigned seed, size_t length) const;

  /// Starts a new sequence for `text`.
  Story begin(TokenIds text);
  void end(const Story &story);

  /// A fork of the first `shared` tokens of `source`, to go on with `text`,
  /// which begins with them too.
  Story branch(const Story &source, size_t shared, TokenIds text);

  /// Runs the next tokens of each story, as many as its part specifies, in one
  /// step and compares the requested rows, which change from step to step.
  void step(const Parts &parts);
  void step(Story &story, size_t tokens) { step({{&story, tokens}}); }
  /// The rest of the story, alone, at most `piece` tokens per step.
  void finish(Story &story, size_t piece);

  /// Uses every free block once, gives it back, and fills it with NaN.
  void poisonFreeBlocks();

private:
  std::vector<int32_t> chooseRows(size_t tokens, size_t most) const;
  void compare(const Story &story, size_t position, Span<const float> row);

  std::string model;
  std::unique_ptr<Executor> executor;
  SequenceId nextId = 1;
  size_t steps = 0;
};

/// `first`, then `second`.
inline TokenIds joined(TokenIds first, const TokenIds &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

inline TokenIds prefix(const TokenIds &text, size_t length) {
  return TokenIds(text.begin(), text.begin() + static_cast<ptrdiff_t>(length));
}

/// A test that is parameterized with models (names of batch_models.py) and
/// numbers of threads.
class BatchTest
    : public testing::TestWithParam<std::tuple<std::string, int64_t>> {
public:
  static std::string nameOf(const testing::TestParamInfo<ParamType> &info) {
    return std::get<0>(info.param) + "_" +
           std::to_string(std::get<1>(info.param)) + "threads";
  }

protected:
  BatchRunner runner(int64_t kvBlocks) {
    return BatchRunner(std::get<0>(GetParam()), std::get<1>(GetParam()),
                       kvBlocks);
  }
};

} // namespace llmir::test

#endif // LLMIR_TEST_ENDTOEND_BATCHRUNNER_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The measurements of `llmir bench`: one test with one number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_BENCHTEST_H
#define LLMIR_TOOLS_LLMIR_BENCHTEST_H

#include "StepCost.h"

#include "llmir/Runtime/Executor.h"

#include <functional>
#include <string>
#include <vector>

namespace llmir::cli {

/// `prompt` tokens at once, or `tokens` one by one in each of `sequences`, all
/// behind `depth` tokens that are there already.
struct BenchTest {
  int64_t prompt = 0, tokens = 0, depth = 0, sequences = 1;

  /// "pp512", "tg128 @ d4096", "tg128 x 4".
  std::string name() const;
  int64_t longest() const { return depth + prompt + tokens; }
  /// Tokens that a repetition goes through.
  double count() const {
    return static_cast<double>(prompt ? prompt : tokens * sequences);
  }
};

/// What one test gave.
struct BenchResult {
  BenchTest test;
  int64_t threads = 0;
  std::string placement;     ///< Of the executor.
  std::string level;         ///< Of the code.
  std::vector<double> rates; ///< Tokens per second of each repetition.
  /// The limits beside each repetition: the mean of what was measured right
  /// before and right after, as machines change their mode from one second to
  /// the next.
  std::vector<MachineLimits> limits;
  StepCost cost;         ///< Of a repetition.
  const char *sizeClass; ///< Where the weights lie: "L2", "L3", "memory".

  double median() const;
  /// Half the distance of the quartiles.
  double spread() const;
  /// Median over the repetitions of least time / time.
  double share() const;
  /// Medians of each limit over the repetitions.
  MachineLimits medianLimits() const;
  bool isBoundByReading() const;
};

/// The middle of the values, between two neighbours their mean; q = 0.25 and
/// 0.75 are the quartiles. NaN without values.
double quantile(std::vector<double> values, double q);

/// Runs tests on one executor. Token ids are arbitrary, but the same each time.
class BenchRunner {
public:
  /// `piece`: tokens of one step of a prompt.
  BenchRunner(Executor &executor, LimitMeter &meter, int64_t piece,
              int64_t repetitions);

  /// `progress` is called before each repetition with its number, from 0 (the
  /// one to warm up).
  Expected<BenchResult> run(const BenchTest &test,
                            const std::function<void(int64_t)> &progress);
  /// One more repetition, without measuring: for a trace.
  Status repeatOnce(const BenchTest &test);

private:
  Status prepare(const BenchTest &test);
  Status finish(const BenchTest &test);
  Expected<double> repeat(const BenchTest &test);
  /// `count` tokens of one sequence; logits where decoding would make them.
  Status feed(SequenceId sequence, int64_t count);
  /// One token of each sequence.
  Status decode(int64_t sequences);
  StepCost cost(const BenchTest &test) const;
  int32_t nextToken();

  Executor &executor;
  LimitMeter &meter;
  int64_t piece, repetitions;
  uint64_t random = 1;
  std::vector<int32_t> ids;
  std::vector<SequenceStep> batch;
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_BENCHTEST_H

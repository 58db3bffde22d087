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

/// `prompt` tokens at once, or `tokens` one by one in each of `sequences`, with
/// `depth` tokens already in the context.
struct BenchTest {
  int64_t prompt = 0, tokens = 0, depth = 0, sequences = 1;

  /// "pp512", "tg128 @ d4096", "tg128 x 4".
  std::string name() const;
  int64_t longest() const { return depth + prompt + tokens; }
  /// Tokens processed by a repetition.
  double count() const {
    return static_cast<double>(prompt ? prompt : tokens * sequences);
  }
};

/// The result of a test.
struct BenchResult {
  BenchTest test;
  int64_t threads = 0;
  std::string placement;     ///< Executor::placement().
  std::string level;         ///< Executor::level().
  std::vector<double> rates; ///< Tokens per second of each repetition.
  /// The limits for each repetition: the mean of those measured directly before
  /// and after it, because machines may change their speed within seconds.
  std::vector<MachineLimits> limits;
  StepCost cost;         ///< Of a repetition.
  const char *sizeClass; ///< Where the weights reside: "L2", "L3", "memory".

  double median() const;
  /// Half the interquartile range.
  double spread() const;
  /// Median over the repetitions of minimum time / time.
  double share() const;
  /// Medians of each limit over the repetitions.
  MachineLimits medianLimits() const;
  bool isBoundByReading() const;
};

/// The quantile with linear interpolation; q = 0.25 and 0.75 are the quartiles.
/// NaN without values.
double quantile(std::vector<double> values, double q);

/// Runs tests on one executor. Token ids are arbitrary but fixed.
class BenchRunner {
public:
  /// `chunk`: tokens of a prefill step.
  BenchRunner(Executor &executor, LimitMeter &meter, int64_t chunk,
              int64_t repetitions);

  /// `progress` is called before each repetition with its number; number 0 is
  /// the warm-up.
  Expected<BenchResult> run(const BenchTest &test,
                            const std::function<void(int64_t)> &progress);
  /// Runs one more repetition without measuring, for a trace.
  Status repeatOnce(const BenchTest &test);

private:
  Status prepare(const BenchTest &test);
  Status finish(const BenchTest &test);
  Status goBack(SequenceId sequence, int64_t depth);
  Expected<double> repeat(const BenchTest &test);
  /// Processes `count` tokens of one sequence, computing logits like decoding.
  Status feed(SequenceId sequence, int64_t count);
  /// Decodes one token of each sequence.
  Status decode(int64_t sequences);
  StepCost cost(const BenchTest &test) const;
  int32_t nextToken();

  Executor &executor;
  LimitMeter &meter;
  int64_t chunk, repetitions;
  uint64_t random = 1;
  std::vector<int32_t> ids;
  std::vector<SequenceStep> batch;
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_BENCHTEST_H

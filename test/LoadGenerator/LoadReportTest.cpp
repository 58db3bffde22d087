// RUN: llmir-load-generator-tests --gtest_filter='LoadReport.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/LoadGenerator/LoadReport.h"

#include <gtest/gtest.h>
#include <limits>

using namespace llmir;

static AnswerRecord record(double first, double latency, int64_t tokens,
                           std::vector<double> gaps,
                           std::optional<int64_t> cached = std::nullopt) {
  AnswerRecord made;
  made.firstToken = first;
  made.latency = latency;
  made.promptTokens = 10;
  made.outputTokens = tokens;
  made.cachedTokens = cached;
  made.gaps = std::move(gaps);
  return made;
}

static LoadResult someResult() {
  LoadResult result;
  result.records = {record(0.1, 0.5, 5, {0.1, 0.3}, 4),
                    record(0.3, 0.3, 1, {}, 0)};
  AnswerRecord failed = record(9, 9, 9, {9});
  failed.failure = "status 429: full";
  result.records.push_back(failed);
  result.records.push_back(failed);
  result.duration = 2;
  result.peakConcurrency = 3;
  return result;
}

TEST(LoadReport, CountsWhatSucceeded) {
  const LoadReport report = makeReport(someResult(), {50, 99.9});
  EXPECT_EQ(report.completed, 2);
  EXPECT_EQ(report.failed, 2);
  EXPECT_EQ(report.failures.at("status 429: full"), 2);
  EXPECT_EQ(report.inputTokens, 20);
  EXPECT_EQ(report.outputTokens, 6);
  EXPECT_EQ(report.cachedTokens, 4);
  EXPECT_DOUBLE_EQ(report.requestsPerSecond(), 1);
  EXPECT_DOUBLE_EQ(report.outputTokensPerSecond(), 3);
  EXPECT_DOUBLE_EQ(report.totalTokensPerSecond(), 13);
  // In milliseconds. An answer of one token has no time per token.
  EXPECT_DOUBLE_EQ(report.summaries.at(LoadMetric::TTFT).mean, 200);
  EXPECT_DOUBLE_EQ(report.summaries.at(LoadMetric::TPOT).mean, 100);
  EXPECT_DOUBLE_EQ(report.summaries.at(LoadMetric::ITL).median, 200);
  EXPECT_DOUBLE_EQ(report.summaries.at(LoadMetric::E2EL).mean, 400);
}

TEST(LoadReport, HasTheFormOfVLLM) {
  const LoadReport report = makeReport(someResult(), {50, 99.9});
  LoadSettings settings;
  settings.requestRate = std::numeric_limits<double>::infinity();
  settings.metrics = {LoadMetric::TTFT};
  EXPECT_EQ(reportText(report, settings),
            "============ Serving Benchmark Result ============\n"
            "Successful requests:                     2\n"
            "Failed requests:                         2\n"
            "Benchmark duration (s):                  2.00\n"
            "Total input tokens:                      20\n"
            "Input tokens found in the cache:         4\n"
            "Total generated tokens:                  6\n"
            "Request throughput (req/s):              1.00\n"
            "Output token throughput (tok/s):         3.00\n"
            "Peak concurrent requests:                3\n"
            "Total token throughput (tok/s):          13.00\n"
            "---------------Time to First Token----------------\n"
            "Mean TTFT (ms):                          200.00\n"
            "Median TTFT (ms):                        200.00\n"
            "P50 TTFT (ms):                           200.00\n"
            "P99.9 TTFT (ms):                         299.80\n"
            "==================================================\n");
  const Json json = reportJson(report, settings);
  EXPECT_EQ(json["completed"], 2);
  EXPECT_EQ(json["request_rate"], "inf");
  EXPECT_EQ(json["max_concurrency"], nullptr);
  EXPECT_EQ(json["total_cached_tokens"], 4);
  EXPECT_DOUBLE_EQ(json["p99.9_ttft_ms"].get<double>(), 299.8);
  EXPECT_DOUBLE_EQ(json["mean_e2el_ms"].get<double>(), 400);
}

TEST(LoadReport, TellsWhenNothingSucceeded) {
  const LoadReport report = makeReport(LoadResult(), {99});
  EXPECT_EQ(report.completed, 0);
  EXPECT_EQ(report.requestsPerSecond(), 0);
  EXPECT_FALSE(report.cachedTokens.has_value());
  EXPECT_EQ(reportJson(report, {})["total_cached_tokens"], nullptr);
}

TEST(LoadReport, HasEachRequest) {
  const Json json = detailsJson(someResult());
  EXPECT_EQ(json["ttfts"].size(), 4u);
  EXPECT_EQ(json["itls"][0], Json({0.1, 0.3}));
  EXPECT_EQ(json["cached_lens"], Json({4, 0, nullptr, nullptr}));
  EXPECT_EQ(json["errors"][2], "status 429: full");
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The report of a load, with the metrics and names of vLLM's.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LOADGENERATOR_LOADREPORT_H
#define LLMIR_LOADGENERATOR_LOADREPORT_H

#include "llmir/LoadGenerator/LoadRun.h"
#include "llmir/LoadGenerator/Statistics.h"
#include "llmir/Support/Json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// TTFT: time to the first token. TPOT: (E2EL - TTFT) / (output tokens - 1).
/// ITL: time between chunks. E2EL: latency, from sending to the last chunk.
enum class LoadMetric { TTFT, TPOT, ITL, E2EL };
constexpr LoadMetric allLoadMetrics[] = {LoadMetric::TTFT, LoadMetric::TPOT,
                                         LoadMetric::ITL, LoadMetric::E2EL};
/// "ttft", "tpot", "itl", "e2el".
std::string_view loadMetricName(LoadMetric metric);

struct LoadReport {
  int64_t completed = 0, failed = 0;
  double duration = 0; ///< Seconds.
  int64_t peakConcurrency = 0;
  /// Of the requests that succeeded, as the server counts them.
  int64_t inputTokens = 0, outputTokens = 0;
  /// Tokens of prompts that the server did not compute again; absent if it
  /// does not say so for any request.
  std::optional<int64_t> cachedTokens;
  std::vector<double> percents;
  std::map<LoadMetric, Summary> summaries; ///< Milliseconds.
  std::map<std::string, int64_t> failures; ///< How many have which reason.

  double requestsPerSecond() const { return perSecond(completed); }
  double outputTokensPerSecond() const { return perSecond(outputTokens); }
  double totalTokensPerSecond() const {
    return perSecond(inputTokens + outputTokens);
  }

private:
  double perSecond(int64_t count) const {
    return duration > 0 ? static_cast<double>(count) / duration : 0;
  }
};

/// The statistics of the requests that succeeded. `percents` has the
/// percentiles to compute.
LoadReport makeReport(const LoadResult &result, std::vector<double> percents);

/// What was asked for, for the report.
struct LoadSettings {
  std::string model, endpoint, dataset;
  int64_t numPrompts = 0, maxConcurrency = 0;
  double requestRate = 0, burstiness = 1;
  uint64_t seed = 0;
  std::vector<LoadMetric> metrics; ///< Those that the text shows.
};

/// A table for people, in the form of `vllm bench serve`.
std::string reportText(const LoadReport &report, const LoadSettings &settings);

/// An object with the keys of vLLM's --save-result.
Json reportJson(const LoadReport &report, const LoadSettings &settings);

/// The keys of vLLM's --save-detailed: lists with an element for each request.
Json detailsJson(const LoadResult &result);

} // namespace llmir

#endif // LLMIR_LOADGENERATOR_LOADREPORT_H

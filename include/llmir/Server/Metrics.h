//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counters and histograms of a server, in the text format of Prometheus, with
// vLLM's names and buckets.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_METRICS_H
#define LLMIR_SERVER_METRICS_H

#include "llmir/Serving/Engine.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// Writes the text format, version 0.0.4.
class MetricsText {
public:
  /// Begins the samples of a metric; `type` is gauge, counter or histogram.
  void begin(std::string_view name, std::string_view type,
             std::string_view help);
  /// A sample; `labels` is `a="b",c="d"`, with values of escapeLabel().
  void sample(std::string_view name, std::string_view labels, double value);

  std::string text;
};

/// A value within quotation marks.
std::string escapeLabel(std::string_view value);

class Histogram {
public:
  /// `bounds` ascend; the last bucket, without a bound, is added.
  explicit Histogram(std::vector<double> bounds);
  void observe(double value);
  void write(MetricsText &out, const std::string &name,
             const std::string &labels, std::string_view help) const;

private:
  std::vector<double> bounds;
  std::vector<uint64_t> counts; ///< [bound], then the rest.
  double sum = 0;
};

/// What is known of a request when it ends. Times are in seconds.
struct RequestRecord {
  std::string finishReason; ///< "stop", "length", "abort" or "error".
  int64_t promptTokens = 0, generatedTokens = 0;
  int64_t count = 1;                ///< `n`
  std::optional<int64_t> maxTokens; ///< If the request has it.
  double total = 0;
  /// Those that are known: a request may end before its first token.
  std::optional<double> waiting, untilFirstToken;
};

/// Thread-safe.
class ServerMetrics {
public:
  /// `contextLength` bounds the buckets of numbers of tokens.
  ServerMetrics(const std::string &modelName, int64_t contextLength);

  void observeStep(const StepRecord &step);
  void observeInterTokenTime(double seconds);
  void observeRequest(const RequestRecord &record);

  /// All metrics; of the engine's as it is now.
  std::string text(const EngineStatistics &engine, int64_t blockSize) const;

private:
  void writeEngine(MetricsText &out, const EngineStatistics &engine,
                   int64_t blockSize) const;

  const std::string labels;
  mutable std::mutex mutex;                 ///< Of the following.
  std::map<std::string, uint64_t> finished; ///< By reason.
  Histogram firstToken, interToken, endToEnd, queueTime, prefillTime,
      decodeTime, inferenceTime;
  Histogram promptTokens, generationTokens, maxTokens, counts, stepTokens;
};

} // namespace llmir

#endif // LLMIR_SERVER_METRICS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/LoadGenerator/LoadReport.h"

#include "llmir/Support/MessageLine.h"

#include <cmath>
#include <cstdio>

using namespace llmir;

namespace {
struct MetricNames {
  LoadMetric metric;
  std::string_view key;  ///< In flags and in JSON.
  std::string_view name; ///< In rows.
  std::string_view title;
};
} // namespace

static constexpr MetricNames metricNames[] = {
    {LoadMetric::TTFT, "ttft", "TTFT", "Time to First Token"},
    {LoadMetric::TPOT, "tpot", "TPOT",
     "Time per Output Token (excl. 1st token)"},
    {LoadMetric::ITL, "itl", "ITL", "Inter-token Latency"},
    {LoadMetric::E2EL, "e2el", "E2EL", "End-to-end Latency"}};

static const MetricNames &namesOf(LoadMetric metric) {
  return metricNames[static_cast<int>(metric)];
}

std::string_view llmir::loadMetricName(LoadMetric metric) {
  return namesOf(metric).key;
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

LoadReport llmir::makeReport(const LoadResult &result,
                             std::vector<double> percents) {
  LoadReport report;
  report.duration = result.duration;
  report.peakConcurrency = result.peakConcurrency;
  std::map<LoadMetric, std::vector<double>> values;
  const auto add = [&](LoadMetric metric, double seconds) {
    values[metric].push_back(1000 * seconds);
  };
  for (const AnswerRecord &record : result.records) {
    if (!record.hasSucceeded()) {
      ++report.failed;
      ++report.failures[record.failure];
      continue;
    }
    ++report.completed;
    report.inputTokens += record.promptTokens;
    report.outputTokens += record.outputTokens;
    if (record.cachedTokens)
      report.cachedTokens =
          report.cachedTokens.value_or(0) + *record.cachedTokens;
    add(LoadMetric::TTFT, record.firstToken);
    add(LoadMetric::E2EL, record.latency);
    if (const auto time = record.timePerToken())
      add(LoadMetric::TPOT, *time);
    for (double gap : record.gaps)
      add(LoadMetric::ITL, gap);
  }
  for (LoadMetric metric : allLoadMetrics)
    report.summaries[metric] = summarize(std::move(values[metric]), percents);
  report.percents = std::move(percents);
  return report;
}

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

constexpr int textWidth = 50, nameWidth = 40;

static std::string heading(std::string_view title, char fill) {
  const size_t missing =
      title.size() < textWidth ? textWidth - title.size() : 0;
  return std::string(missing / 2, fill) + std::string(title) +
         std::string(missing - missing / 2, fill) + "\n";
}

static std::string row(const std::string &name, const std::string &value) {
  const size_t used = name.size() + 1;
  return name + ":" +
         std::string(used < nameWidth ? nameWidth - used : 1, ' ') + " " +
         value + "\n";
}

static std::string row(const std::string &name, int64_t value) {
  return row(name, std::to_string(value));
}

static std::string row(const std::string &name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", value);
  return row(name, text);
}

/// "99", "99.9"
static std::string percentName(double percent) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", percent);
  return text;
}

static std::string metricText(const LoadReport &report, LoadMetric metric) {
  const MetricNames &names = namesOf(metric);
  const Summary &summary = report.summaries.at(metric);
  const std::string unit = std::string(names.name) + " (ms)";
  std::string text = heading(names.title, '-');
  text += row("Mean " + unit, summary.mean);
  text += row("Median " + unit, summary.median);
  for (size_t i = 0; i < report.percents.size(); ++i)
    text += row("P" + percentName(report.percents[i]) + " " + unit,
                summary.percentiles[i]);
  return text;
}

std::string llmir::reportText(const LoadReport &report,
                              const LoadSettings &settings) {
  std::string text = heading(" Serving Benchmark Result ", '=');
  text += row("Successful requests", report.completed);
  text += row("Failed requests", report.failed);
  if (settings.maxConcurrency > 0)
    text += row("Maximum request concurrency", settings.maxConcurrency);
  if (std::isfinite(settings.requestRate))
    text += row("Request rate configured (RPS)", settings.requestRate);
  text += row("Benchmark duration (s)", report.duration);
  text += row("Total input tokens", report.inputTokens);
  if (report.cachedTokens)
    text += row("Input tokens found in the cache", *report.cachedTokens);
  text += row("Total generated tokens", report.outputTokens);
  text += row("Request throughput (req/s)", report.requestsPerSecond());
  text +=
      row("Output token throughput (tok/s)", report.outputTokensPerSecond());
  text += row("Peak concurrent requests", report.peakConcurrency);
  text += row("Total token throughput (tok/s)", report.totalTokensPerSecond());
  for (LoadMetric metric : settings.metrics)
    text += metricText(report, metric);
  return text + heading("", '=');
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

Json llmir::reportJson(const LoadReport &report, const LoadSettings &settings) {
  Json json = {{"model_id", settings.model},
               {"endpoint", settings.endpoint},
               {"dataset", settings.dataset},
               {"num_prompts", settings.numPrompts},
               {"request_rate", std::isfinite(settings.requestRate)
                                    ? Json(settings.requestRate)
                                    : Json("inf")},
               {"burstiness", settings.burstiness},
               {"max_concurrency", settings.maxConcurrency > 0
                                       ? Json(settings.maxConcurrency)
                                       : Json(nullptr)},
               {"seed", settings.seed},
               {"duration", report.duration},
               {"completed", report.completed},
               {"failed", report.failed},
               {"failures", report.failures},
               {"total_input_tokens", report.inputTokens},
               {"total_output_tokens", report.outputTokens},
               {"total_cached_tokens", report.cachedTokens
                                           ? Json(*report.cachedTokens)
                                           : Json(nullptr)},
               {"request_throughput", report.requestsPerSecond()},
               {"output_throughput", report.outputTokensPerSecond()},
               {"total_token_throughput", report.totalTokensPerSecond()},
               {"max_concurrent_requests", report.peakConcurrency}};
  for (const auto &[metric, summary] : report.summaries) {
    const std::string key(loadMetricName(metric));
    json["mean_" + key + "_ms"] = summary.mean;
    json["median_" + key + "_ms"] = summary.median;
    json["std_" + key + "_ms"] = summary.deviation;
    for (size_t i = 0; i < report.percents.size(); ++i)
      json["p" + percentName(report.percents[i]) + "_" + key + "_ms"] =
          summary.percentiles[i];
  }
  return json;
}

Json llmir::detailsJson(const LoadResult &result) {
  Json json = {
      {"start_times", Json::array()}, {"input_lens", Json::array()},
      {"output_lens", Json::array()}, {"cached_lens", Json::array()},
      {"ttfts", Json::array()},       {"itls", Json::array()},
      {"latencies", Json::array()},   {"generated_texts", Json::array()},
      {"errors", Json::array()}};
  for (const AnswerRecord &record : result.records) {
    json["start_times"].push_back(record.sent);
    json["input_lens"].push_back(record.promptTokens);
    json["output_lens"].push_back(record.outputTokens);
    json["cached_lens"].push_back(
        record.cachedTokens ? Json(*record.cachedTokens) : Json(nullptr));
    json["ttfts"].push_back(record.firstToken);
    json["itls"].push_back(record.gaps);
    json["latencies"].push_back(record.latency);
    json["generated_texts"].push_back(record.text);
    json["errors"].push_back(record.failure);
  }
  return json;
}

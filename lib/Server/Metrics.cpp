//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/Metrics.h"

#include <algorithm>
#include <cstdio>

namespace llmir {

//===----------------------------------------------------------------------===//
// The text format
//===----------------------------------------------------------------------===//

static std::string formatValue(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  char shorter[40];
  std::snprintf(shorter, sizeof shorter, "%.9g", value);
  return std::strtod(shorter, nullptr) == value ? shorter : text;
}

std::string escapeLabel(std::string_view value) {
  std::string result;
  for (char c : value) {
    if (c == '\\' || c == '"')
      result += '\\';
    result += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return result;
}

void MetricsText::begin(std::string_view name, std::string_view type,
                        std::string_view help) {
  text.append("# HELP ").append(name).append(" ").append(help).append("\n");
  text.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void MetricsText::sample(std::string_view name, std::string_view labels,
                         double value) {
  text.append(name).append("{").append(labels).append("} ");
  text += formatValue(value) + "\n";
}

Histogram::Histogram(std::vector<double> given)
    : bounds(std::move(given)), counts(bounds.size() + 1) {}

void Histogram::observe(double value) {
  const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), value);
  ++counts[static_cast<size_t>(bucket - bounds.begin())];
  sum += value;
}

void Histogram::write(MetricsText &out, const std::string &name,
                      const std::string &labels, std::string_view help) const {
  out.begin(name, "histogram", help);
  uint64_t total = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    const std::string bound =
        i < bounds.size() ? formatValue(bounds[i]) : "+Inf";
    out.sample(name + "_bucket", labels + ",le=\"" + bound + "\"",
               static_cast<double>(total));
  }
  out.sample(name + "_sum", labels, sum);
  out.sample(name + "_count", labels, static_cast<double>(total));
}

//===----------------------------------------------------------------------===//
// The server's metrics
//===----------------------------------------------------------------------===//

static std::vector<double> firstTokenBuckets() {
  return {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
          1,     2.5,   5,    7.5,  10,   20,   40,   80,  160,  640, 2560};
}

static std::vector<double> interTokenBuckets() {
  return {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5,
          0.75, 1,     2.5,  5,     7.5, 10,   20,  40,  80};
}

static std::vector<double> requestTimeBuckets() {
  return {0.3, 0.5, 0.8, 1,  1.5, 2,   2.5, 5,   10,   15,  20,
          30,  40,  50,  60, 120, 240, 480, 960, 1920, 7680};
}

/// 1, 2, 5, 10, 20, … up to the first one that is not less than `most`.
static std::vector<double> tokenBuckets(int64_t most) {
  std::vector<double> bounds;
  for (double decade = 1; bounds.empty() || bounds.back() < double(most);
       decade *= 10)
    for (double factor : {1, 2, 5})
      if (bounds.empty() || bounds.back() < double(most))
        bounds.push_back(factor * decade);
  return bounds;
}

ServerMetrics::ServerMetrics(const std::string &modelName,
                             int64_t contextLength)
    : labels("model_name=\"" + escapeLabel(modelName) + "\",engine=\"0\""),
      firstToken(firstTokenBuckets()), interToken(interTokenBuckets()),
      endToEnd(requestTimeBuckets()), queueTime(requestTimeBuckets()),
      prefillTime(requestTimeBuckets()), decodeTime(requestTimeBuckets()),
      inferenceTime(requestTimeBuckets()),
      promptTokens(tokenBuckets(contextLength)),
      generationTokens(tokenBuckets(contextLength)),
      maxTokens(tokenBuckets(contextLength)), counts({1, 2, 5, 10, 20}),
      stepTokens(
          {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}) {
  for (const char *reason : {"stop", "length", "abort", "error"})
    finished[reason] = 0;
}

void ServerMetrics::observeStep(const StepRecord &step) {
  std::lock_guard<std::mutex> lock(mutex);
  stepTokens.observe(static_cast<double>(step.tokens));
}

void ServerMetrics::observeInterTokenTime(double seconds) {
  std::lock_guard<std::mutex> lock(mutex);
  interToken.observe(seconds);
}

void ServerMetrics::observeRequest(const RequestRecord &record) {
  std::lock_guard<std::mutex> lock(mutex);
  ++finished[record.finishReason];
  endToEnd.observe(record.total);
  promptTokens.observe(static_cast<double>(record.promptTokens));
  generationTokens.observe(static_cast<double>(record.generatedTokens));
  counts.observe(static_cast<double>(record.count));
  if (record.maxTokens)
    maxTokens.observe(static_cast<double>(*record.maxTokens));
  if (!record.waiting)
    return;
  queueTime.observe(*record.waiting);
  inferenceTime.observe(record.total - *record.waiting);
  if (!record.untilFirstToken)
    return;
  firstToken.observe(*record.untilFirstToken);
  prefillTime.observe(*record.untilFirstToken - *record.waiting);
  decodeTime.observe(record.total - *record.untilFirstToken);
}

void ServerMetrics::writeEngine(MetricsText &out,
                                const EngineStatistics &engine,
                                int64_t blockSize) const {
  const auto write = [&](const std::string &name, const char *type,
                         const char *help, double value) {
    out.begin(name, type, help);
    out.sample(name, labels, value);
  };
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  write("vllm:num_requests_running", "gauge", "Sequences that are computed.",
        number(engine.running));
  write("vllm:num_requests_waiting", "gauge",
        "Sequences that wait to be computed.", number(engine.waiting));
  const int64_t blocks = engine.cache.numBlocks;
  const auto usage = [&](int64_t used, int64_t all) {
    return all ? number(used) / number(all) : 0;
  };
  write("vllm:kv_cache_usage_perc", "gauge",
        "Fraction of the blocks of the KV cache that sequences use; of those "
        "for layers with windows, if it is greater.",
        std::max(
            usage(engine.cache.usedBlocks, blocks),
            usage(engine.cache.usedWindowBlocks, engine.cache.windowBlocks)));
  out.begin("vllm:cache_config_info", "gauge", "Sizes of the KV cache.");
  out.sample("vllm:cache_config_info",
             labels + ",block_size=\"" + std::to_string(blockSize) +
                 "\",num_cpu_blocks=\"" + std::to_string(blocks) + "\"",
             1);
  write("vllm:prefix_cache_queries_total", "counter",
        "Tokens that were looked up in the prefix cache.",
        number(engine.cache.lookedUpTokens));
  write("vllm:prefix_cache_hits_total", "counter",
        "Tokens that were found in the prefix cache.",
        number(engine.cache.foundTokens));
  write("vllm:num_preemptions_total", "counter",
        "Sequences whose blocks were taken.", number(engine.preemptions));
  write("vllm:prompt_tokens_total", "counter", "Prompt tokens computed.",
        number(engine.promptTokens));
  write("vllm:generation_tokens_total", "counter", "Tokens generated.",
        number(engine.generatedTokens));
}

std::string ServerMetrics::text(const EngineStatistics &engine,
                                int64_t blockSize) const {
  MetricsText out;
  writeEngine(out, engine, blockSize);
  std::lock_guard<std::mutex> lock(mutex);
  out.begin("vllm:request_success_total", "counter",
            "Requests that have ended, by reason.");
  for (const auto &[reason, count] : finished)
    out.sample("vllm:request_success_total",
               labels + ",finished_reason=\"" + reason + "\"",
               static_cast<double>(count));
  firstToken.write(out, "vllm:time_to_first_token_seconds", labels,
                   "From a request's arrival to its first token.");
  interToken.write(out, "vllm:inter_token_latency_seconds", labels,
                   "From a token of a sequence to the next one.");
  endToEnd.write(out, "vllm:e2e_request_latency_seconds", labels,
                 "From a request's arrival to its end.");
  queueTime.write(out, "vllm:request_queue_time_seconds", labels,
                  "From a request's arrival to its first step.");
  prefillTime.write(out, "vllm:request_prefill_time_seconds", labels,
                    "From a request's first step to its first token.");
  decodeTime.write(out, "vllm:request_decode_time_seconds", labels,
                   "From a request's first token to its end.");
  inferenceTime.write(out, "vllm:request_inference_time_seconds", labels,
                      "From a request's first step to its end.");
  promptTokens.write(out, "vllm:request_prompt_tokens", labels,
                     "Tokens of a request's prompts.");
  generationTokens.write(out, "vllm:request_generation_tokens", labels,
                         "Tokens generated for a request.");
  maxTokens.write(out, "vllm:request_params_max_tokens", labels,
                  "The limit of tokens that a request has.");
  counts.write(out, "vllm:request_params_n", labels,
               "The number of continuations that a request has.");
  stepTokens.write(out, "vllm:iteration_tokens_total", labels,
                   "Tokens computed by a step.");
  return out.text;
}

} // namespace llmir

// RUN: llmir-server-tests --gtest_filter='Metrics.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/Metrics.h"

#include <gtest/gtest.h>

using namespace llmir;

TEST(Metrics, WritesTheTextFormat) {
  MetricsText out;
  out.begin("a_total", "counter", "What it counts.");
  out.sample("a_total", "model=\"" + escapeLabel("x\"\\\n") + "\"", 3);
  EXPECT_EQ(out.text, "# HELP a_total What it counts.\n"
                      "# TYPE a_total counter\n"
                      "a_total{model=\"x\\\"\\\\\\n\"} 3\n");
}

TEST(Metrics, CountsInBucketsUpToTheirBounds) {
  Histogram histogram({0.5, 1});
  for (double value : {0.25, 0.5, 0.75, 2.0})
    histogram.observe(value);
  MetricsText out;
  histogram.write(out, "h", "a=\"b\"", "Help.");
  EXPECT_EQ(out.text, "# HELP h Help.\n# TYPE h histogram\n"
                      "h_bucket{a=\"b\",le=\"0.5\"} 2\n"
                      "h_bucket{a=\"b\",le=\"1\"} 3\n"
                      "h_bucket{a=\"b\",le=\"+Inf\"} 4\n"
                      "h_sum{a=\"b\"} 3.5\n"
                      "h_count{a=\"b\"} 4\n");
}

TEST(Metrics, ObservesOnlyWhatIsKnownOfARequest) {
  ServerMetrics metrics("m", 100);
  RequestRecord early;
  early.finishReason = "abort";
  early.total = 1;
  metrics.observeRequest(early);
  RequestRecord whole = early;
  whole.finishReason = "stop";
  whole.waiting = 0.25;
  whole.untilFirstToken = 0.5;
  metrics.observeRequest(whole);
  const std::string text = metrics.text({}, 16);
  const auto has = [&](const std::string &line) {
    return text.find("\n" + line + "\n") != std::string::npos;
  };
  const std::string labels = "{model_name=\"m\",engine=\"0\"} ";
  EXPECT_TRUE(has("vllm:e2e_request_latency_seconds_count" + labels + "2"));
  EXPECT_TRUE(has("vllm:time_to_first_token_seconds_count" + labels + "1"));
  EXPECT_TRUE(has("vllm:request_prefill_time_seconds_sum" + labels + "0.25"));
  EXPECT_TRUE(has("vllm:request_decode_time_seconds_sum" + labels + "0.5"));
  EXPECT_TRUE(has("vllm:request_success_total{model_name=\"m\",engine=\"0\","
                  "finished_reason=\"abort\"} 1"));
  EXPECT_TRUE(has("vllm:request_success_total{model_name=\"m\",engine=\"0\","
                  "finished_reason=\"length\"} 0"));
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the stream that answers a request, and what it tells about times.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LOADGENERATOR_ANSWERREADER_H
#define LLMIR_LOADGENERATOR_ANSWERREADER_H

#include "llmir/Http/EventStream.h"
#include "llmir/Http/StreamClient.h"
#include "llmir/LoadGenerator/Target.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// What became of one request. Times are in seconds.
struct AnswerRecord {
  double sent = 0;          ///< Since the load began.
  double firstToken = 0;    ///< From `sent` to the first chunk with output.
  double latency = 0;       ///< From `sent` to the last chunk.
  std::vector<double> gaps; ///< Between chunks with output.
  int64_t promptTokens = 0, outputTokens = 0; ///< As the server counts them.
  std::optional<int64_t> cachedTokens;        ///< Of the prompt.
  std::string text;
  std::string failure; ///< Empty if the request succeeded.

  bool hasSucceeded() const { return failure.empty(); }
  /// Seconds per token after the first; absent for fewer than two tokens.
  std::optional<double> timePerToken() const;
};

/// Takes the answer to one request, and makes its record.
class AnswerReader {
public:
  /// `sent`: seconds since the load began, as all times here.
  AnswerReader(LoadApi api, double sent) : api(api) { record.sent = sent; }

  /// The next bytes, of an answer with this status, which arrived at `now`.
  Status take(long status, std::string_view bytes, double now);
  /// The record, once the answer has ended. A request fails if the connection
  /// does, if the status is not 200, if the stream has an error or ends early,
  /// or if it has no usage, without which its tokens are unknown.
  AnswerRecord finish(const HttpEnd &end);

private:
  void takeEvent(const ServerSentEvent &event, double now);
  void takeChoice(const Json &choice, double now);
  void takeOutput(double now);
  void takeUsage(const Json &usage);
  std::string failureOf(const HttpEnd &end) const;
  double latest(double now) const { return now - record.sent; }

  const LoadApi api;
  EventStreamParser parser;
  AnswerRecord record;
  double lastOutput = 0;
  bool hasOutput = false, hasUsage = false, isFinished = false;
  bool hasEvents = false;
  std::string streamFailure;
  std::string body; ///< The beginning of an answer that is not a stream.
};

} // namespace llmir

#endif // LLMIR_LOADGENERATOR_ANSWERREADER_H

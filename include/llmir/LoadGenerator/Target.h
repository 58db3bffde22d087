//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A server with OpenAI's API, and the requests it gets.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LOADGENERATOR_TARGET_H
#define LLMIR_LOADGENERATOR_TARGET_H

#include "llmir/Http/StreamClient.h"
#include "llmir/Support/Json.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llmir {

enum class LoadApi { Completions, Chat };

struct LoadTarget {
  std::string base;     ///< "http://127.0.0.1:8080"
  std::string endpoint; ///< "/v1/completions"
  std::string model;    ///< Empty: the first one that the server lists.
  bool ignoresEos = false;
  std::optional<double> temperature; ///< Absent: the server's default.
  Json extra = Json::object();       ///< Further fields of each request.

  /// That of the endpoint's name. InvalidArgument for other endpoints.
  Expected<LoadApi> api() const;
  std::string url() const { return base + endpoint; }
};

/// The address without slashes at its end, and without the "/v1" that clients
/// of OpenAI's API have in theirs. InvalidArgument unless it starts with
/// http:// or https://.
Expected<std::string> serverAddress(const std::string &given);

/// A request for a stream with usage. `content` is the prompt (a text or token
/// ids) or the list of messages.
std::string requestBody(const LoadTarget &target, LoadApi api, Json content,
                        int64_t maxTokens);

/// Asks for the models until the server answers, for at most `patience`, and
/// sets `target.model` if it is empty. `onWait` is called before each further
/// attempt. Fails with the reason for which the last attempt failed.
Status waitUntilReady(StreamClient &client, LoadTarget &target,
                      std::chrono::seconds patience,
                      const std::function<void()> &onWait);

/// The different token ids of `text`, by the server's /tokenize, in the form of
/// vLLM or of llama.cpp. Unsupported if it has none that answers so.
Expected<std::vector<int32_t>> tokensOf(StreamClient &client,
                                        const LoadTarget &target,
                                        const std::string &text);

/// The message in the JSON of a refusal, or the beginning of another body.
std::string refusalMessage(const std::string &body);
/// "status 429: the queue is full"
std::string describeRefusal(long status, const std::string &body);

} // namespace llmir

#endif // LLMIR_LOADGENERATOR_TARGET_H

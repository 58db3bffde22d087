//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RequestChecks.h"

namespace llmir {

Status refuseRequest(const std::string &cause, const std::string &advice) {
  return Status(StatusCode::InvalidArgument, cause, advice);
}

/// `what` names a token: "token id".
static Status checkTokens(Span<const int32_t> tokens, const char *what,
                          int64_t vocabulary) {
  for (int32_t token : tokens)
    if (token < 0 || token >= vocabulary)
      return refuseRequest(
          std::string(what) + " " + std::to_string(token) +
              " is not in the vocabulary of " + std::to_string(vocabulary),
          "use ids from 0 to " + std::to_string(vocabulary - 1));
  return Status::ok();
}

static Status checkPrompt(Span<const int32_t> prompt,
                          const RequestLimits &limits) {
  if (prompt.empty())
    return refuseRequest("the prompt has no tokens", "give at least one token");
  LLMIR_RETURN_IF_ERROR(checkTokens(prompt, "token id", limits.vocabulary));
  if (static_cast<int64_t>(prompt.size()) <= limits.contextLength)
    return Status::ok();
  return Status(StatusCode::ContextLengthExceeded,
                "the prompt has " + std::to_string(prompt.size()) +
                    " tokens; the context is " +
                    std::to_string(limits.contextLength),
                "shorten the prompt, or use a larger context");
}

static Status checkLimits(const Request &request, int64_t vocabulary) {
  LLMIR_RETURN_IF_ERROR(
      checkTokens(request.stopTokens, "stop token", vocabulary));
  LLMIR_RETURN_IF_ERROR(
      checkTokens(request.allowedTokens, "allowed token", vocabulary));
  for (const std::vector<int32_t> &word : request.badWords) {
    if (word.empty())
      return refuseRequest("a bad word has no tokens",
                           "give at least one token");
    LLMIR_RETURN_IF_ERROR(checkTokens(word, "token of a bad word", vocabulary));
  }
  return Status::ok();
}

static Status checkLogprobs(const std::optional<int64_t> &count,
                            const char *name) {
  if (!count || (*count >= 0 && *count <= mostTopLogprobs))
    return Status::ok();
  return refuseRequest(std::string(name) + " is " + std::to_string(*count),
                       "give a number from 0 to " +
                           std::to_string(mostTopLogprobs));
}

static Status checkCounts(const Request &request, int64_t continuations) {
  if (request.count < 1 || request.count > continuations)
    return refuseRequest(
        "the number of continuations is " + std::to_string(request.count),
        "give a number from 1 to " + std::to_string(continuations));
  if (request.maxTokens < -1)
    return refuseRequest("the number of tokens to generate is " +
                             std::to_string(request.maxTokens),
                         "give a number from 0, or -1 for no limit");
  if (request.minTokens < 0 ||
      (request.maxTokens >= 0 && request.minTokens > request.maxTokens))
    return refuseRequest(
        "minTokens is " + std::to_string(request.minTokens) +
            ", but maxTokens is " + std::to_string(request.maxTokens),
        "give a number from 0 to the greatest number of tokens");
  LLMIR_RETURN_IF_ERROR(checkLogprobs(request.logprobs, "logprobs"));
  return checkLogprobs(request.promptLogprobs, "promptLogprobs");
}

Status checkRequest(const Request &request, Span<const int32_t> prompt,
                    const RequestLimits &limits) {
  LLMIR_RETURN_IF_ERROR(validateSamplingParams(request.sampling));
  LLMIR_RETURN_IF_ERROR(checkPrompt(prompt, limits));
  LLMIR_RETURN_IF_ERROR(checkLimits(request, limits.vocabulary));
  return checkCounts(request, limits.continuations);
}

} // namespace llmir

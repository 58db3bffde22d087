//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The APIs for text: how each reads a request and writes the answer.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SERVER_APIS_H
#define LLMIR_LIB_SERVER_APIS_H

#include "Generation.h"

namespace llmir::server {

/// The messages of failures begin with this.
constexpr const char *requestName = "request";

/// A request whose JSON has been parsed.
struct RequestBody {
  OrderedJson ordered; ///< An object, for those who need the order of its keys.
  Json json;           ///< The same.
  JsonReader reader() const { return JsonReader(json, requestName); }
};

Expected<RequestBody> parseBody(std::string_view text);

// How each API reads a request; `body` may be used up.

/// POST /v1/completions of OpenAI's API, with vLLM's parameters.
Expected<GenerationPlan> readCompletion(RequestBody &body, ServedModel &model);
/// POST /v1/chat/completions.
Expected<GenerationPlan> readChat(RequestBody &body, ServedModel &model);
/// POST /v1/responses.
Expected<GenerationPlan> readResponse(RequestBody &body, ServedModel &model);
/// POST /generate of SGLang.
Expected<GenerationPlan> readGenerate(RequestBody &body, ServedModel &model);

/// The prompts of a field: a text, token ids, or a list of one of them.
Expected<std::vector<std::vector<int32_t>>>
readPrompts(const JsonReader &reader, const char *key, ServedModel &model);

/// The values of parameters that a request does not have.
Request defaultsOf(const ServedModel &model);

/// As in OpenAI's API and in vLLM; and no client goes before another.
constexpr RequestRules serverRules = {/*topLogprobs=*/20,
                                      /*allowsPriorities=*/false};

/// How tokens are chosen, as readGenerationFields() reads it, within the limits
/// of the server; and `cache_salt`.
Status readFields(const JsonReader &reader, const Request &defaults,
                  ServedModel &model, GenerationPlan &plan,
                  const RequestRules &rules = serverRules);

/// `stream` and `stream_options`.
struct StreamFields {
  bool streams = false, includesUsage = false;
};
/// Of a request whose other fields are known.
Expected<StreamFields> readStream(const JsonReader &reader,
                                  const Request &request);

/// Renders and encodes the conversation of an object, as renderMessages() has
/// it, and sets the plan's prompt and tools. `tool_choice` is read, too.
Status planConversation(OrderedJson object, ServedModel &model,
                        GenerationPlan &plan);

/// Checks that the continuations of all prompts are not too many.
Status checkNumber(const GenerationPlan &plan);

} // namespace llmir::server

#endif // LLMIR_LIB_SERVER_APIS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requests as lines of JSON: what `llmir embed --jsonl` and `llmir batch` read.
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "BatchRequest.h"
#include "EmbedRequest.h"

#include "llmir/Support/Json.h"

using namespace llmir;
using namespace llmir::fuzz;

/// A token for each of some characters; its vocabulary is that of the model.
Tokenizer fuzz::smallTokenizer() {
  Json vocabulary = Json::object();
  const std::string characters = "abcdefghijklmnopqrstuvwxyz<>{}/:,._\"";
  for (size_t i = 0; i < characters.size(); ++i)
    vocabulary[characters.substr(i, 1)] = i;
  const Json tokenizer = {
      {"version", "1.0"},
      {"added_tokens", Json::array()},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
      {"post_processor", nullptr},
      {"decoder", {{"type", "ByteLevel"}}},
      {"model",
       {{"type", "BPE"},
        {"vocab", vocabulary},
        {"merges", Json::array()},
        {"unk_token", "_"}}}};
  auto made = Tokenizer::fromTokenizerJson(tokenizer.dump());
  expect(made.status().isOk(), "the tokenizer of the target can be read");
  return std::move(*made);
}

static void readEmbedRequest(std::string_view input) {
  auto request = cli::parseEmbedRequest(std::string(input), "line 1");
  if (!request)
    return checkStatus(request.status());
  expect(!request->text || request->ids.empty(),
         "a request has either a text or ids");
  for (int32_t id : request->ids)
    expect(id >= 0, "ids are not negative");
}

static std::vector<std::string> embedSeeds() {
  return {R"({"text": "a \u00e9\n"})",
          R"({"ids": [1, 2, 2147483647]})",
          R"({"ids": []})",
          R"({"text": "a", "ids": [1]})",
          R"({"ids": [1.5, -1, 2147483648]})",
          R"({"text": 1})",
          R"({"txt": "a"})",
          "[]",
          ""};
}

static void readBatchRequest(std::string_view input) {
  static const Tokenizer tokenizer = smallTokenizer();
  static PromptModel model = [] {
    PromptModel made;
    made.tokenizer = &tokenizer;
    made.maxPromptBytes = maxPromptBytes(tokenizer, 128);
    ModelTemplates templates;
    templates.set("default",
                  "{% for m in messages %}{{ m.content }}{% endfor %}");
    made.chat = ChatPrompt::create(std::move(templates), {}, &tokenizer);
    return made;
  }();
  auto request =
      cli::parseBatchRequest(std::string(input), "line 1", Request(), model);
  if (!request)
    return checkStatus(request.status());
  for (int32_t id : request->fields.request.prompt)
    expect(id >= 0, "ids are not negative");
}

static std::vector<std::string> batchSeeds() {
  return {
      R"({"custom_id": "a", "prompt": "in the", "max_tokens": 3, "n": 2,)"
      R"( "stop": ["q"], "logprobs": 2, "seed": 1, "logit_bias": {"3": 1.5}})",
      R"({"custom_id": 7, "prompt": [1, 2], "temperature": 0.5, "top_k": 3})",
      R"({"messages": [{"role": "user", "content": "a"}], "tools": [{"type":)"
      R"( "function", "function": {"name": "f", "parameters": {}}}],)"
      R"( "documents": [], "chat_template_kwargs": {"a": 1}})",
      R"({"prompt": "a", "response_format": {"type": "json_schema",)"
      R"( "json_schema": {"name": "n", "schema": {"type": "integer"}}}})",
      R"({"prompt": "a", "structured_outputs": {"regex": "[ab]+"}})",
      R"({"prompt": "a", "messages": []})",
      R"({"unknown": 1})",
      "[]",
      ""};
}

std::vector<Target> fuzz::requestLineTargets() {
  return {
      {"embed-line", "a line of `llmir embed --jsonl`", readEmbedRequest,
       embedSeeds},
      {"batch-line", "a line of `llmir batch`", readBatchRequest, batchSeeds}};
}

// RUN: llmir-server-tests --gtest_filter='RequestReader.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/RequestReader.h"

#include <gtest/gtest.h>

using namespace llmir;

static Expected<GenerationFields> read(const Json &json,
                                       const Request &defaults = {}) {
  return readGenerationFields(JsonReader(json, "request"), defaults, {});
}

TEST(RequestReader, ReadsWhatARequestHas) {
  Request defaults;
  defaults.maxTokens = 7;
  defaults.sampling.temperature = 0.5;
  const auto fields = read({{"n", 2},
                            {"top_k", -1},
                            {"stop_token_ids", {3, 4}},
                            {"logit_bias", {{"5", 1.5}}},
                            {"seed", 9},
                            {"top_p", nullptr}},
                           defaults);
  ASSERT_TRUE(fields) << fields.status().message();
  EXPECT_EQ(fields->request.count, 2);
  EXPECT_EQ(fields->request.maxTokens, 7);
  EXPECT_EQ(fields->request.sampling.temperature, 0.5);
  EXPECT_EQ(fields->request.sampling.topK, 0);
  EXPECT_EQ(fields->request.sampling.seed, 9u);
  EXPECT_EQ(fields->request.stopTokens, (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(fields->request.sampling.logitBias.size(), 1u);
}

TEST(RequestReader, NamesTheFieldThatIsWrong) {
  for (const auto &[json, field] : std::vector<std::pair<Json, std::string>>{
           {{{"n", 129}}, "'n'"},
           {{{"max_tokens", 0}}, "'max_tokens'"},
           {{{"max_tokens", 4294967296}}, "'max_tokens'"},
           {{{"stop", "a"}}, "'stop'"}, // There is no tokenizer.
           {{{"seed", 0.5}}, "'seed'"},
           {{{"min_tokens", -1}}, "'min_tokens'"},
           {{{"logit_bias", {{"-1", 1}}}}, "'logit_bias'"},
           {{{"bad_words", "a"}}, "'bad_words'"}}) {
    const auto fields = read(json);
    ASSERT_FALSE(fields) << json;
    EXPECT_NE(fields.status().message().find(field), std::string::npos)
        << fields.status().message();
  }
}

TEST(RequestReader, RefusesFieldsThatWouldChangeTheResult) {
  const auto check = [](const Json &json) {
    return checkFields(json, "request", {"prompt"});
  };
  EXPECT_TRUE(
      check({{"prompt", "a"}, {"user", "b"}, {"n", 2}, {"x", nullptr}}));
  EXPECT_TRUE(check({{"best_of", 1}, {"echo", false}, {"length_penalty", 1}}));
  EXPECT_TRUE(check({{"response_format", {{"type", "json_object"}}}}));
  for (const Json &json :
       std::vector<Json>{{{"best_of", 2}},
                         {{"echo", true}},
                         {{"unknown", 1}},
                         {{"parallel_tool_calls", false}},
                         {{"return_tokens_as_token_ids", true}}}) {
    const Status status = check(json);
    EXPECT_FALSE(status) << json;
    EXPECT_NE(status.message().find("'" + json.begin().key() + "'"),
              std::string::npos)
        << status.message();
  }
}

TEST(RequestReader, ServersAllowLess) {
  const RequestRules rules = {/*topLogprobs=*/20, /*allowsPriorities=*/false};
  const auto check = [&](const Json &json, const RequestRules &given) {
    return bool(
        readGenerationFields(JsonReader(json, "request"), {}, {}, given));
  };
  for (const Json &json :
       std::vector<Json>{{{"logprobs", 21}},
                         {{"logprobs", true}, {"top_logprobs", 21}},
                         {{"prompt_logprobs", 21}},
                         {{"priority", -1}}}) {
    EXPECT_FALSE(check(json, rules)) << json;
    EXPECT_TRUE(check(json, {})) << json;
  }
  EXPECT_TRUE(check({{"logprobs", 20}, {"priority", 0}}, rules));
}

TEST(RequestReader, LimitsWhatIsKeptForEachContinuation) {
  // A token that is repeated is kept once.
  const auto fields = read({{"allowed_token_ids", {7, 3, 7, 7, 3}}});
  ASSERT_TRUE(fields) << fields.status().message();
  EXPECT_EQ(fields->request.allowedTokens, (std::vector<int32_t>{3, 7}));
  for (const char *key : {"stop", "bad_words"}) {
    const auto failed = read({{key, {std::string(20000, 'a')}}});
    ASSERT_FALSE(failed) << key;
    EXPECT_NE(failed.status().message().find("bytes altogether"),
              std::string::npos)
        << failed.status().message();
  }
}

static PromptModel chatModel(const std::string &source) {
  ModelTemplates templates;
  templates.set("default", source);
  PromptModel model;
  model.chat = ChatPrompt::create(std::move(templates), {}, nullptr);
  return model;
}

static std::string render(const std::string &source, const char *text) {
  PromptModel model = chatModel(source);
  Expected<std::string> rendered =
      renderMessages(*parseOrderedJson(text, "request"), "request", model);
  return rendered ? *rendered : rendered.status().message();
}

TEST(RequestReader, PreparesMessagesForTemplates) {
  const std::string contents =
      "{% for m in messages %}{{ m.role }}={{ m.content }};{% endfor %}";
  EXPECT_EQ(render(contents, R"({"messages": [
      {"role": "user", "content": [{"type": "text", "text": "a"},
                                   {"type": "text", "text": "b"}]}]})"),
            "user=a\nb;");
  EXPECT_EQ(render(contents, R"({"messages": [
      {"role": "developer", "content": "a"}]})"),
            "system=a;");
  EXPECT_EQ(render(contents + "{# developer #}", R"({"messages": [
      {"role": "developer", "content": "a"}]})"),
            "developer=a;");
  EXPECT_EQ(render("{{ messages[0].tool_calls[0].function.arguments.x }}",
                   R"({"messages": [{"role": "assistant", "tool_calls": [
      {"function": {"name": "f", "arguments": "{\"x\": 5}"}}]}]})"),
            "5");
  EXPECT_EQ(render("{{ add_generation_prompt }} {{ reasoning_effort }} {{ y }}",
                   R"({"messages": [], "reasoning_effort": "low",
                       "chat_template_kwargs": {"y": 1}})"),
            "True low 1");
}

TEST(RequestReader, RefusesMessagesThatAreNone) {
  for (
      const char *text :
      {R"({})", R"({"messages": 1})", R"({"messages": [1]})",
       R"({"messages": [{"content": "a"}]})", R"({"messages": [{"role": 1}]})",
       R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})",
       R"({"messages": [], "chat_template_kwargs": 1})"})
    EXPECT_NE(render("x", text).find("request: '"), std::string::npos) << text;
}

// RUN: llmir-server-tests --gtest_filter='AnswerGrammar.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constraints of answers in conversations: reasoning, content and calls.
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/ConstraintReader.h"

#include <gtest/gtest.h>

using namespace llmir;

namespace {

constexpr const char *added[] = {"<think>", "</think>", "[TOOL_CALLS]",
                                 "[ARGS]"};

/// Each character of ASCII is a token; then come the added ones, of which the
/// last two are special.
Tokenizer makeTokenizer() {
  Json vocabulary = Json::object(), tokens = Json::array();
  int32_t id = 0;
  for (char c = '!'; c <= '~'; ++c)
    vocabulary[std::string(1, c)] = id++;
  vocabulary["\xc4\xa0"] = id++; // A space of the byte-level alphabet.
  vocabulary["\xc4\x8a"] = id++; // A line end.
  for (size_t i = 0; i < std::size(added); ++i)
    tokens.push_back({{"id", id++},
                      {"content", added[i]},
                      {"special", i >= 2},
                      {"normalized", false}});
  const Json json = {
      {"model",
       {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array()}}},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
      {"decoder", {{"type", "ByteLevel"}}},
      {"added_tokens", tokens}};
  auto tokenizer = Tokenizer::fromTokenizerJson(json.dump());
  EXPECT_TRUE(tokenizer) << tokenizer.status().message();
  return *tokenizer;
}

class AnswerGrammar : public ::testing::Test {
protected:
  AnswerGrammar() : tokenizer(makeTokenizer()) { model.tokenizer = &tokenizer; }

  /// The constraint of an answer to a prompt.
  Expected<std::shared_ptr<const Constraint>>
  constrain(const std::string &request, const std::string &source,
            const std::string &prompt, const std::string &tools = "null",
            std::optional<ForcedCalls> forced = std::nullopt) {
    ModelTemplates templates;
    templates.set("default", source);
    model.chat = ChatPrompt::create(std::move(templates), {}, &tokenizer);
    auto format = ChatOutputFormat::choose(source, "auto", "auto");
    EXPECT_TRUE(format);
    return readConversationConstraint(
        OrderedJson::parse(request), "request", model,
        {*format, prompt, OrderedJson::parse(tools), forced});
  }

  bool matches(const std::shared_ptr<const Constraint> &constraint,
               const std::string &text) {
    ConstraintMatcher matcher(constraint);
    EncodeOptions options;
    options.addSpecialTokens = false;
    const auto ids = tokenizer.encode(text, options);
    EXPECT_TRUE(ids);
    for (int32_t id : *ids)
      if (!matcher.accept(id))
        return false;
    return matcher.mayEnd();
  }

  void expectMatches(Expected<std::shared_ptr<const Constraint>> constraint,
                     const std::vector<std::string> &matching,
                     const std::vector<std::string> &others) {
    ASSERT_TRUE(constraint) << constraint.status().message();
    for (const std::string &text : matching)
      EXPECT_TRUE(matches(*constraint, text)) << text;
    for (const std::string &text : others)
      EXPECT_FALSE(matches(*constraint, text)) << text;
  }

  Tokenizer tokenizer;
  PromptModel model;
};

const std::string format = R"({"guided_choice": ["yes", "no"]})";
const std::string tools =
    R"([{"type": "function", "function": {"name": "f", "parameters":
         {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}},
        {"type": "function", "function": {"name": "g"}}])";

TEST_F(AnswerGrammar, ReasoningComesBeforeTheContent) {
  // The prompt has begun it: it has to end.
  expectMatches(constrain(format, "<think>", "assistant\n<think>\n"),
                {"let me </think>yes", "</think>\n\nno"}, {"yes", "let me"});
  // The model may begin it.
  expectMatches(constrain(format, "<think>", "assistant\n"),
                {"yes", "<think>a < b</think>\nyes"},
                {"let me</think>yes", "<think>yes"});
  // The prompt has ended it, or the template knows none.
  expectMatches(
      constrain(format, "<think>", "assistant\n<think>\n\n</think>\n\n"),
      {"yes"}, {"<think></think>yes"});
  expectMatches(constrain(format, "plain", "assistant\n"), {"no"},
                {"<think></think>no"});
}

TEST_F(AnswerGrammar, CallsAreWrittenAsTheFamilyDoes) {
  expectMatches(
      constrain("{}", "<tool_call>", "", tools, ForcedCalls()),
      {"<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": "
       "1}}\n</tool_call>",
       "<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call>\n"
       "<tool_call>\n{\"name\": \"f\", \"arguments\": "
       "{\"a\":2}}\n</tool_call>"},
      {"yes", "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>",
       "<tool_call>\n{\"name\": \"h\", \"arguments\": {}}\n</tool_call>"});
  // The markers are special tokens.
  expectMatches(
      constrain("{}", "[TOOL_CALLS] [ARGS]", "", tools, ForcedCalls{"g", true}),
      {"[TOOL_CALLS]g[ARGS]{}"},
      {"[TOOL_CALLS]f[ARGS]{\"a\": 1}",
       "[TOOL_CALLS]g[ARGS]{}[TOOL_CALLS]g[ARGS]{}"});
  expectMatches(
      constrain("{}", "[TOOL_CALLS]", "", tools, ForcedCalls{"", false}),
      {"[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"a\": 3}}]"},
      {"[TOOL_CALLS]g[ARGS]{}"});
}

TEST_F(AnswerGrammar, ContentOrCalls) {
  expectMatches(
      constrain(format, "<tool_call>", "", tools),
      {"yes",
       "<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call>"},
      {"maybe"});
  auto none = constrain("{}", "<tool_call>", "", tools);
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
}

TEST_F(AnswerGrammar, RefusesFormatsByName) {
  auto refused =
      constrain("{}", "<arg_key> <tool_call>", "", tools, ForcedCalls());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code(), StatusCode::Unsupported);
  EXPECT_NE(refused.status().message().find("'glm45'"), std::string::npos)
      << refused.status().message();
  refused = constrain(format, "nothing", "", tools);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.status().message().find("remove the tools"),
            std::string::npos)
      << refused.status().message();
}

} // namespace

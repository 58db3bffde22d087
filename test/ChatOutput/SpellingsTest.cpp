// RUN: llmir-chat-output-tests --gtest_filter='Spellings*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What constraints let a model write is what the parsers read.
//
//===----------------------------------------------------------------------===//

#include "OutputChecks.h"

#include <set>

using namespace llmir;

namespace {

Json functions() {
  Json tools = Json::array();
  for (const char *name : {"get_weather", "now"})
    tools.push_back({{"type", "function"}, {"function", {{"name", name}}}});
  return tools;
}

std::string oneCall(const CallSpelling &form, const std::string &name,
                    const std::string &arguments) {
  return form.beforeName + name + form.beforeArguments + arguments +
         form.afterArguments;
}

/// All at once, and byte by byte.
ChatAnswer parse(const ChatOutputFormat &format, const std::string &text,
                 size_t step) {
  ChatOutputParser parser(format, "", ChatTools(functions()));
  ChatAnswer answer;
  for (size_t at = 0; at < text.size(); at += step)
    for (const ChatDelta &delta : parser.feed(text.substr(at, step)))
      answer.append(delta);
  for (const ChatDelta &delta : parser.finish())
    answer.append(delta);
  return answer;
}

void expectCalls(const ChatOutputFormat &format) {
  const CallSpelling form = *format.callSpelling();
  const std::string arguments =
      R"({"city": "Köln \"}", "days": [1, {"a": 2}]})";
  for (size_t count = 1; count <= (form.onlyOne ? 1u : 2u); ++count) {
    std::string text = form.begin + oneCall(form, "get_weather", arguments);
    if (count == 2)
      text += form.separator + oneCall(form, "now", "{}");
    text += form.end;
    for (size_t step : {text.size(), size_t(1)}) {
      const ChatAnswer answer = parse(format, text, step);
      ASSERT_EQ(answer.calls.size(), count) << text << describe(answer);
      EXPECT_EQ(answer.calls[0].name, "get_weather") << text;
      EXPECT_EQ(answer.calls[0].arguments, arguments) << text;
      EXPECT_TRUE(answer.calls[0].isComplete) << text;
      if (count == 2) {
        EXPECT_EQ(answer.calls[1].name, "now") << text;
        EXPECT_EQ(answer.calls[1].arguments, "{}") << text;
      }
      EXPECT_EQ(answer.content, "") << text;
    }
  }
}

TEST(Spellings, CallsAreRead) {
  std::set<std::string_view> without;
  for (std::string_view name : ChatOutputFormat::toolCallParsers()) {
    auto format = ChatOutputFormat::choose("", name, "none");
    ASSERT_TRUE(format);
    SCOPED_TRACE(std::string(name));
    if (format->callSpelling())
      expectCalls(*format);
    else
      without.insert(format->toolCallParser());
  }
  // Arguments that are not JSON, or an id in the place of a number.
  EXPECT_EQ(without,
            (std::set<std::string_view>{
                "gemma4", "functiongemma", "deepseek_v32", "solar_open",
                "minimax_m2", "seed_oss", "qwen3_coder", "glm45", "lfm2",
                "command_r", "olmo3", "llama4_pythonic", "pythonic"}));
  auto fields = ChatOutputFormat::choose("[TOOL_CALLS] [ARGS]", "auto", "none");
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->callSpelling()->beforeArguments, "[ARGS]");
  expectCalls(*fields);
}

TEST(Spellings, ReasoningAndContentAreRead) {
  for (std::string_view name : ChatOutputFormat::reasoningParsers()) {
    auto format = ChatOutputFormat::choose("", "none", name);
    ASSERT_TRUE(format);
    const AnswerSpelling form = format->answerSpelling();
    if (form.isUnknown || format->reasoningParser() == "deepseek_r1")
      continue; // The latter begins without a marker.
    const std::string content =
        form.contentBegin + "{\"a\": 1}" + form.contentEnd;
    const std::string text =
        form.reasoningBegin + "Let me see." + form.reasoningEnd + content;
    const ChatAnswer answer = parse(*format, text, 1);
    EXPECT_EQ(answer.reasoning, "Let me see.") << text;
    EXPECT_EQ(answer.content, "{\"a\": 1}") << text;
    EXPECT_EQ(parse(*format, content, 1).content, "{\"a\": 1}") << content;
  }
}

} // namespace

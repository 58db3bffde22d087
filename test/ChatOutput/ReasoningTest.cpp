// RUN: llmir-chat-output-tests --gtest_filter='Reasoning*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutputChecks.h"

using namespace llmir;

namespace {
struct Example {
  const char *parser, *prompt, *text, *reasoning, *content;
};
} // namespace

static const Example examples[] = {
    {"qwen3", "", "<think>\nwhy\n</think>\n\nso", "\nwhy\n", "\n\nso"},
    {"qwen3", "<|im_start|>assistant\n<think>\n", "why</think>so", "why", "so"},
    {"qwen3", "<think>\n\n</think>\n\n", "so", "", "so"},
    {"qwen3", "", "\n<think>\n\n</think>\n\nso", "", "\n\nso"},
    {"qwen3", "", "The tag <think> begins</think> it", "",
     "The tag <think> begins</think> it"},
    {"qwen3", "", "<think>a <thi</thinker></think>b", "a <thi</thinker>", "b"},
    {"qwen3", "", "<think>cut </thi", "cut </thi", ""},
    {"qwen3", "", " \n ", "", " \n "},
    {"qwen3", "<think>", "<think>twice</think>x", "twice", "x"},
    {"deepseek_r1", "", "why é</think>so", "why é", "so"},
    {"deepseek_r1", "<think></think>", "so", "", "so"},
    {"mistral", "", "[THINK]why [/TH][/THINK]so [x", "why [/TH]", "so [x"},
    {"seed_oss", "", "<seed:think>why</seed:think>so", "why", "so"},
    {"command_r7b", "",
     "<|START_THINKING|>why<|END_THINKING|><|START_RESPONSE|>so"
     "<|END_RESPONSE|>",
     "why", "so"},
    {"solar_open", "<|begin|>assistant",
     "<|think|>why<|end|><|begin|>assistant<|content|>so<|end|>", "why", "so"},
    {"granite", "", "<think>why</think>\n<response>so</response>", "why", "so"},
    {"granite", "", "Here is my thought process: why\nHere is my response:\nso",
     " why\n", "\nso"},
    {"hunyuan_a13b", "", "<think>\nwhy\n</think>\n<answer>\nso\n</answer>",
     "\nwhy\n", "\nso\n"},
    {"apriel", "<|begin_assistant|>\nHere are my reasoning steps:\n",
     "why\n[BEGIN FINAL RESPONSE]\nso\n[END FINAL RESPONSE]\n", "why\n",
     "\nso\n"},
    {"gemma4", "", "<|channel>thought\nwhy<channel|>so", "\nwhy", "so"},
    {"openai_gptoss", "<|start|>assistant",
     "<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>"
     "final<|message|>so<|return|>",
     "why", "so"},
    {"openai_gptoss", "<|start|>assistant",
     "<|channel|>analysis<|message|>why <|cut", "why <|cut", ""},
    {"none", "", "<think>x</think>", "", "<think>x</think>"},
};

TEST(ReasoningTest, Examples) {
  for (const Example &example : examples) {
    SCOPED_TRACE(std::string(example.parser) + ": " + example.text);
    const ChatAnswer answer = parseAllWays(
        {"none", example.parser, example.prompt, nullptr}, example.text);
    EXPECT_EQ(answer.reasoning, example.reasoning);
    EXPECT_EQ(answer.content, example.content);
  }
}

// Reasoning, then content, then calls, and reasoning again.
TEST(ReasoningTest, WithCalls) {
  ChatAnswer answer = parseAllWays(
      {"hermes", "qwen3", "<think>\n", Json::array()},
      "why <tool_call>?\n</think>\n\nI call.\n<tool_call>\n{\"name\": \"f\", "
      "\"arguments\": {}}\n</tool_call>\n<think>more</think>\nDone");
  EXPECT_EQ(answer.reasoning, "why <tool_call>?\nmore");
  EXPECT_EQ(answer.content, "\n\nI call.\n\nDone");
  ASSERT_EQ(answer.calls.size(), 1u);
  EXPECT_EQ(answer.calls[0].name, "f");

  // Only blank text is between the reasoning and the call.
  answer = parseAllWays({"hermes", "qwen3", "", Json::array()},
                        "<think>a</think>\n\n<tool_call>{\"name\": \"f\"}"
                        "</tool_call>\n");
  EXPECT_EQ(answer.content, "");

  // A special token ends reasoning that the model did not end.
  answer = parseAllWays(
      {"kimi_k2", "kimi_k2", "<think>", Json::array()},
      "why<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
      "<|tool_call_argument_begin|>{}<|tool_call_end|>"
      "<|tool_calls_section_end|>");
  EXPECT_EQ(answer.reasoning, "why");
  EXPECT_EQ(answer.content, "");
  ASSERT_EQ(answer.calls.size(), 1u);
}

// Only what may begin a marker is held back.
TEST(ReasoningTest, HoldsBackLittle) {
  auto format = ChatOutputFormat::choose("", "hermes", "qwen3");
  const Json tools = Json::array();
  ChatOutputParser parser(*format, "", ChatTools(tools));
  EXPECT_EQ(parser.feed("a <to").at(0).text, "a ");
  EXPECT_TRUE(parser.feed("ol").empty());
  EXPECT_EQ(parser.feed("s> é\xe2\x82").at(0).text, "<tools> é");
  EXPECT_EQ(parser.feed("\xac").at(0).text, "€");
  EXPECT_TRUE(parser.finish().empty());
}

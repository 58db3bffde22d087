// RUN: llmir-chat-output-tests --gtest_filter='Formats*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which parsers a chat template gets.
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"

#include "llmir/ChatOutput/ChatOutput.h"
#include "llmir/Support/Text.h"

#include <gtest/gtest.h>

#include <set>

using namespace llmir;

namespace {
struct Example {
  const char *chatTemplate, *tools, *reasoning;
};
} // namespace

// Excerpts of the models' templates.
static const Example examples[] = {
    {"'<|start|>assistant<|channel|>analysis<|message|>'", "openai",
     "openai_gptoss"},
    {"'<|channel>thought\\n' '<|tool_call>call:' + function['name']", "gemma4",
     "gemma4"},
    {"set dsml_token = '｜DSML｜' dsml_token + 'function_calls>' '<think>'",
     "deepseek_v32", "qwen3"},
    {"'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>' + '\\n' + '```json'",
     "deepseek_v3", "qwen3"},
    {"'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>' '</think>'", "deepseek_v31",
     "qwen3"},
    {"<|tool_call_begin|>{{ id }}<|tool_call_argument_begin|>", "kimi_k2",
     "qwen3"},
    {"'<|begin|>assistant<|think|>' '<|tool_call:begin|>'", "solar_open",
     "solar_open"},
    {"toolcall_begin_token = '<seed:tool_call>' '<seed:think>'", "seed_oss",
     "seed_oss"},
    {"'\\n<tool_call>\\n<function=' + tool_call.name", "qwen3_coder", "qwen3"},
    {"<tool_call>{function-name}\n<arg_key>", "glm45", "qwen3"},
    {"'<tool_call>\\n{\"name\": \"'", "hermes", "qwen3"},
    {"'[TOOL_CALLS]' + name + '[ARGS]'", "mistral", "qwen3"},
    {"'[THINK]' '[TOOL_CALLS]'", "mistral", "mistral"},
    {"'<|tool_call_start|>['", "lfm2", "qwen3"},
    {"'<TOOLCALL>['", "nemotron_json", "qwen3"},
    {"'[BEGIN FINAL RESPONSE]' '<tool_calls>['", "jamba", "apriel"},
    {"\"with <|tool_call|> followed by\" <think></think> "
     "<response></response>",
     "granite", "granite"},
    {"formatted as functools[{", "phi4_mini_json", "qwen3"},
    {"\"Environment: ipython\\n\"", "llama3_json", "qwen3"},
    {"'\\nAction:\\n```json\\n[\\n'", "command_r", "qwen3"},
    {"{{ message.content }}", "none", "qwen3"},
};

TEST(FormatsTest, Detection) {
  for (const Example &example : examples) {
    SCOPED_TRACE(example.chatTemplate);
    auto format =
        ChatOutputFormat::choose(example.chatTemplate, "auto", "auto");
    ASSERT_TRUE(bool(format));
    EXPECT_EQ(format->toolCallParser(), example.tools);
    EXPECT_EQ(format->reasoningParser(), example.reasoning);
  }
}

TEST(FormatsTest, Names) {
  for (auto names : {ChatOutputFormat::toolCallParsers(),
                     ChatOutputFormat::reasoningParsers()})
    EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(),
              names.size());
  for (std::string_view name : ChatOutputFormat::toolCallParsers()) {
    auto format = ChatOutputFormat::choose("", name, "none");
    ASSERT_TRUE(bool(format)) << name;
    EXPECT_NE(format->toolCallParser(), "none");
    EXPECT_EQ(format->reasoningParser(), "none");
  }
  auto wrong = ChatOutputFormat::choose("", "hermess", "auto");
  ASSERT_FALSE(bool(wrong));
  EXPECT_EQ(wrong.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(wrong.status().cause(), "there is no tool call parser 'hermess'");
  EXPECT_NE(wrong.status().advice().find("hermes"), std::string::npos);
  EXPECT_FALSE(bool(ChatOutputFormat::choose("", "auto", "")));
}

TEST(FormatsTest, Markers) {
  auto deepSeek = ChatOutputFormat::choose("", "deepseek_v3", "deepseek_r1");
  EXPECT_TRUE(deepSeek->isMarker("<｜tool▁sep｜>"));
  EXPECT_TRUE(deepSeek->isMarker("</think>"));
  EXPECT_FALSE(deepSeek->isMarker("<｜end▁of▁sentence｜>"));
  auto gemma = ChatOutputFormat::choose("", "gemma4", "gemma4");
  EXPECT_TRUE(gemma->isMarker("<|\"|>"));
  EXPECT_TRUE(gemma->isMarker("<|channel>"));
  EXPECT_FALSE(gemma->isMarker("<turn|>"));
  auto harmony = ChatOutputFormat::choose("", "openai", "none");
  EXPECT_TRUE(harmony->isMarker("<|message|>"));
  EXPECT_FALSE(ChatOutputFormat().isMarker("<think>"));
}

/// Markers that are looked for at the same time must differ before one of them
/// ends, and begin with a whole character.
static void checkMarkers(const chatoutput::Markers &markers) {
  for (std::string_view one : markers) {
    ASSERT_FALSE(one.empty());
    EXPECT_GE(one[0], ' ') << one;
    for (std::string_view other : markers)
      EXPECT_FALSE(one != other && startsWith(other, one)) << one << other;
  }
}

TEST(FormatsTest, MarkersDiffer) {
  using namespace chatoutput;
  for (const ToolSyntax &tools : toolSyntaxes())
    for (const ReasoningSyntax &reasoning : reasoningSyntaxes()) {
      SCOPED_TRACE(std::string(tools.name) + " " + std::string(reasoning.name));
      Markers all;
      for (const Markers &some : {tools.begins, tools.nameBegins, tools.silent,
                                  reasoning.otherBegins, reasoning.silent})
        all.insert(all.end(), some.begin(), some.end());
      if (!reasoning.isHarmony)
        all.push_back(reasoning.begin);
      checkMarkers(all);
    }
}

TEST(FormatsTest, Ids) {
  auto mistral = ChatOutputFormat::choose("", "mistral", "none");
  auto hermes = ChatOutputFormat::choose("", "hermes", "none");
  std::set<std::string> ids;
  for (uint64_t random = 0; random < 1000; ++random) {
    EXPECT_EQ(mistral->callId(random).size(), 9u);
    EXPECT_EQ(hermes->callId(random).size(), 21u);
    ids.insert(mistral->callId(random));
  }
  EXPECT_EQ(ids.size(), 1000u);
}

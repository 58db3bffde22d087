//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses an answer in many pieces and in one, which must not differ.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_CHATOUTPUT_OUTPUTCHECKS_H
#define LLMIR_TEST_CHATOUTPUT_OUTPUTCHECKS_H

#include "llmir/ChatOutput/ChatOutput.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

namespace llmir {

struct OutputCase {
  std::string toolParser, reasoningParser;
  std::string prompt;
  Json tools; ///< Null: calls are not looked for.
};

/// Parses the pieces that `next` cuts off.
inline ChatAnswer parsePieces(const OutputCase &setting, std::string_view text,
                              const std::function<size_t()> &next) {
  Expected<ChatOutputFormat> format =
      ChatOutputFormat::choose("", setting.toolParser, setting.reasoningParser);
  EXPECT_TRUE(bool(format));
  ChatOutputParser parser(*format, setting.prompt,
                          setting.tools.is_null() ? ChatTools()
                                                  : ChatTools(setting.tools));
  ChatAnswer answer;
  auto take = [&](const std::vector<ChatDelta> &deltas) {
    for (const ChatDelta &delta : deltas) {
      EXPECT_TRUE(!delta.text.empty() ||
                  delta.kind == ChatDelta::Kind::CallStart ||
                  delta.kind == ChatDelta::Kind::CallEnd);
      EXPECT_TRUE(isValidUtf8(delta.text)) << printable(delta.text);
      answer.append(delta);
    }
  };
  while (!text.empty()) {
    const size_t size = std::min(next(), text.size());
    take(parser.feed(text.substr(0, size)));
    text.remove_prefix(size);
  }
  take(parser.finish());
  return answer;
}

inline std::string describe(const ChatAnswer &answer) {
  std::string text =
      "reasoning: " + answer.reasoning + "\ncontent: " + answer.content;
  for (const ChatAnswer::Call &call : answer.calls)
    text += "\ncall " + std::to_string(call.index) + ": " + call.name + " (" +
            call.id + ") " + call.arguments +
            (call.isComplete ? "" : " incomplete");
  return text;
}

/// Parses the text in one piece, in two at every byte, byte by byte and in
/// random pieces; all results must be equal.
inline ChatAnswer parseAllWays(const OutputCase &setting,
                               const std::string &text) {
  ChatAnswer whole = parsePieces(setting, text, [&] { return text.size(); });
  const std::string expected = describe(whole);
  auto check = [&](const std::function<size_t()> &next, const char *how) {
    EXPECT_EQ(describe(parsePieces(setting, text, next)), expected) << how;
  };
  check([] { return size_t(1); }, "byte by byte");
  for (size_t at = 1; at < text.size(); ++at) {
    bool isFirst = true;
    check([&] { return std::exchange(isFirst, false) ? at : text.size(); },
          "in two pieces");
  }
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i)
    check([&] { return 1 + random() % (1 + random() % 12); },
          "in random pieces");
  for (const ChatAnswer::Call &call : whole.calls) {
    EXPECT_TRUE(call.isComplete);
    EXPECT_TRUE(parseJson(call.arguments, "arguments")) << call.arguments;
  }
  return whole;
}

} // namespace llmir

#endif // LLMIR_TEST_CHATOUTPUT_OUTPUTCHECKS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "llmir/ChatOutput/ChatOutput.h"

#include <random>

using namespace llmir;
using namespace llmir::fuzz;

/// Two names of parsers, each after its length, then the size of pieces, then
/// the answer.
static std::string input(std::string_view tools, std::string_view reasoning,
                         std::string_view text) {
  std::string bytes;
  for (std::string_view name : {tools, reasoning})
    bytes += static_cast<char>(name.size()) + std::string(name);
  return bytes + '\3' + std::string(text);
}

static std::string takeName(std::string_view &bytes) {
  if (bytes.empty())
    return "none";
  const size_t size = std::min<size_t>(
      static_cast<unsigned char>(bytes[0]) % 32, bytes.size() - 1);
  const std::string name(bytes.substr(1, size));
  bytes.remove_prefix(1 + size);
  return name;
}

/// Parses in pieces of up to `most` bytes; 0 is one piece.
static ChatAnswer parse(const ChatOutputFormat &format, std::string_view text,
                        unsigned most) {
  static const Json tools = Json::parse(R"([{"type": "function", "function":
      {"name": "f", "parameters": {"type": "object", "properties":
      {"a": {"type": "string"}, "b": {"type": "integer"},
       "c": {"type": "object"}, "d": {"$ref": "#/$defs/e"},
       "e": {"enum": [1, "a", null, 1.5, true, {}, []]}, "g": {"const": "x"},
       "h": {"anyOf": [{"type": "bool"}, {"type": ["array", "null"]}]},
       "i": {"type": "float", "nullable": true}, "j": {"$ref": "#/none"},
       "k": {"oneOf": [{"type": "number"}]}, "l": {"type": 1}, "m": {}},
       "$defs": {"e": {"type": "str"}}}}},
      {"name": "g", "parameters": null}, 3])");
  ChatOutputParser parser(format, "", ChatTools(tools));
  ChatAnswer answer;
  std::minstd_rand random(most);
  const bool isUtf8 = isValidUtf8(text);
  auto take = [&](const std::vector<ChatDelta> &deltas) {
    for (const ChatDelta &delta : deltas) {
      expect(!isUtf8 || isValidUtf8(delta.text), "deltas are whole characters");
      answer.append(delta);
    }
  };
  while (!text.empty()) {
    const size_t size =
        std::min<size_t>(most ? 1 + random() % most : text.size(), text.size());
    take(parser.feed(text.substr(0, size)));
    text.remove_prefix(size);
  }
  take(parser.finish());
  return answer;
}

static void parseAnswer(std::string_view bytes) {
  const std::string tools = takeName(bytes), reasoning = takeName(bytes);
  auto format = ChatOutputFormat::choose("", tools, reasoning);
  if (!format || bytes.empty())
    return;
  const auto most = 1 + static_cast<unsigned char>(bytes[0]) % 8U;
  const std::string_view text = bytes.substr(1);
  const ChatAnswer whole = parse(*format, text, 0);
  const ChatAnswer pieces = parse(*format, text, most);
  expect(whole.reasoning == pieces.reasoning &&
             whole.content == pieces.content &&
             whole.calls.size() == pieces.calls.size(),
         "answers do not depend on the pieces");
  size_t size = whole.reasoning.size() + whole.content.size();
  expect(size <= text.size(), "text is not made up");
  for (size_t i = 0; i < whole.calls.size(); ++i) {
    const ChatAnswer::Call &call = whole.calls[i], &other = pieces.calls[i];
    expect(call.name == other.name && call.id == other.id &&
               call.arguments == other.arguments && !call.name.empty(),
           "calls do not depend on the pieces");
    expect(call.isComplete, "calls that are not complete are withdrawn");
    // Numbers that are too large for double are well-formed.
    const bool hasHugeNumber =
        call.arguments.find_first_of("eE") != std::string::npos ||
        call.arguments.size() > 300;
    expect(!isValidUtf8(text) || hasHugeNumber || Json::accept(call.arguments),
           "arguments are JSON");
  }
}

/// Each argument of the tool, with values of each type.
static void addArguments(std::vector<std::string> &seeds) {
  for (const char *argument :
       {"a", "b", "c", "d", "e", "g", "h", "i", "j", "k", "l", "m", "z"})
    for (const char *value : {"1", "-1.5", "null", "true", "x", "[1]", "{}"})
      seeds.push_back(input(
          "qwen3_coder", "none",
          "<tool_call>\n<function=f>\n<parameter=" + std::string(argument) +
              ">\n" + value + "\n</parameter>\n</function>\n</tool_call>"));
}

static std::vector<std::string> answerSeeds() {
  std::vector<std::string> seeds = {
      input("hermes", "qwen3",
            "<think>\nwhy\n</think>\n<tool_call>\n{\"name\": \"f\", "
            "\"arguments\": {\"a\": \"\\u00e9\", \"c\": {\"x\": [1, null]}}}\n"
            "</tool_call>"),
      input("granite", "granite",
            "<|tool_call|>[{\"arguments\": {}, \"name\": \"f\"}, {\"name\": "
            "\"f\", \"arguments\": \"{}\"}]"),
      input("qwen3_coder", "none",
            "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n"
            "<parameter=c>\n{'a': (1, None)}\n</parameter>\n</function>\n"
            "</tool_call>"),
      input("glm45", "glm45",
            "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n"
            "</tool_call>"),
      input("deepseek_v3", "deepseek_r1",
            "why</think><｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function"
            "<｜tool▁sep｜>f\n```json\n{\"a\": 1}\n```<｜tool▁call▁end｜>"),
      input("kimi_k2", "none",
            "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}"
            "<|tool_call_end|>"),
      input("mistral", "mistral",
            "[THINK]a[/THINK]b[TOOL_CALLS]f[CALL_ID]abcdefghi[ARGS]{\"a\":2}"),
      input("openai", "openai",
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant to="
            "functions.f<|channel|>commentary json<|message|>{}<|call|>"),
      input("llama4_pythonic", "none",
            "[f(a='x\\'\\x41', b=-1_0, c={'k': [True, .5]}), f()]"),
      input("llama3_json", "none",
            "{\"name\": \"f\", \"parameters\": {\"a\": 1}}; {\"name\": \"f\"}"),
      input("gemma4", "gemma4",
            "<|channel>thought\na<channel|><|tool_call>call:f{a:<|\"|>x<|\"|>,"
            "c:{k:[1,b]}}<tool_call|>"),
      input("deepseek_v32", "none",
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"f\">\n<｜DSML｜"
            "parameter name=\"b\" string=\"false\">5</｜DSML｜parameter>\n"
            "</｜DSML｜invoke>\n</｜DSML｜function_calls>"),
  };
  addArguments(seeds);
  return seeds;
}

std::vector<Target> fuzz::chatOutputTargets() {
  return {{"chat-output", "the names of two parsers and an answer", parseAnswer,
           answerSeeds}};
}

// RUN: llmir-chat-output-tests --gtest_filter='ToolCalls*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of tools in the markup of every family, whole and cut short.
//
//===----------------------------------------------------------------------===//

#include "../ProcessorTime.h"
#include "OutputChecks.h"

#include <set>

using namespace llmir;

static const Json &tools() {
  static const Json list = Json::parse(R"([
    {"type": "function", "function": {"name": "get_weather", "parameters":
      {"type": "object", "properties": {"city": {"type": "string"},
       "days": {"type": "integer"}, "metric": {"type": "boolean"},
       "spot": {"type": "object"}, "tags": {"type": "array"},
       "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
       "scale": {"$ref": "#/$defs/scale"}},
       "$defs": {"scale": {"enum": ["C", "F"]}}}}},
    {"type": "function", "function": {"name": "now", "parameters":
      {"type": "object", "properties": {}}}}])");
  return list;
}

namespace {

struct Call {
  const char *name, *arguments;
  const char *id = "";
};

struct Example {
  const char *parser;
  const char *text;
  const char *content;
  std::vector<Call> calls;
  const char *prompt = "";
};

} // namespace

static const Example examples[] = {
    // JSON objects within tags.
    {"hermes",
     "Let me look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": "
     "{\"city\": \"Paris\", \"spot\": {\"a\": [1, {\"b\": null}]}}}\n"
     "</tool_call>\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n"
     "</tool_call>",
     "Let me look.\n",
     {{"get_weather", R"({"city":"Paris","spot":{"a":[1,{"b":null}]}})"},
      {"now", "{}"}}},
    {"hermes",
     "<tool_call>{\"arguments\": {\"city\": \"</tool_call> "
     "\\u00e9\\ud83d\\ude00"
     "<tool_call>\"}, \"name\": \"get_weather\"}</tool_call>",
     "",
     {{"get_weather", R"({"city":"</tool_call> é😀<tool_call>"})"}}},
    {"hermes",
     "<tool_call>{\"name\": \"now\"}</tool_call> Done.",
     " Done.",
     {{"now", "{}"}}},
    // The end is missing, once between calls and once at the end.
    {"hermes",
     "<tool_call>{\"name\": \"now\", \"arguments\": null}\n<tool_call>"
     "{\"name\": \"now\", \"arguments\": \"{\\\"a\\\": 1}\"}",
     "",
     {{"now", "{}"}, {"now", R"({"a":1})"}}},
    {"hermes",
     "<tool_call>{\"name\": \"now\", \"arguments\": {\"a\": tru}}"
     "</tool_call>",
     "<tool_call>{\"name\": \"now\", \"arguments\": {\"a\": tru}}</tool_call>",
     {}},
    {"hermes",
     "Write <tool_call> and </tool_call>, <tool",
     "Write <tool_call> and </tool_call>, <tool",
     {}},
    {"hermes",
     "<tool_call>{\"name\": \"now\", \"arguments\": {\"a\": \"x\ny\"}}"
     "</tool_call>",
     "",
     {{"now", R"({"a":"x\ny"})"}}},
    {"hermes",
     "<tool_call>{\"type\": \"function\", \"function\": {\"name\": \"now\", "
     "\"arguments\": {}}, \"id\": \"7\"}</tool_call>",
     "",
     {{"now", "{}"}}},
    {"granite",
     "<|tool_call|>[{\"name\": \"now\", \"arguments\": {}}, {\"name\": "
     "\"get_weather\", \"arguments\": {\"city\": \"日本\"}}]",
     "",
     {{"now", "{}"}, {"get_weather", R"({"city":"日本"})"}}},
    {"nemotron_json",
     "Yes.\n<TOOLCALL>[{\"name\": \"now\", \"arguments\": {}}]</TOOLCALL>",
     "Yes.\n",
     {{"now", "{}"}}},
    {"jamba",
     "<tool_calls>[{\"name\": \"now\", \"arguments\": {}}\n]</tool_calls>\n",
     "",
     {{"now", "{}"}}},
    {"phi4_mini_json",
     "functools[{\"name\": \"get_weather\", \"arguments\": {\"city\": \"x\"}}]",
     "",
     {{"get_weather", R"({"city":"x"})"}}},
    {"phi4_mini_json",
     "Use functools.partial [here].",
     "Use functools.partial [here].",
     {}},
    {"command_r",
     "I will.\nAction:\n```json\n[\n    {\n        \"tool_name\": \"now\",\n"
     "        \"parameters\": {}\n    }\n]```",
     "I will.\n",
     {{"now", "{}"}}},
    {"command_r7b",
     "<|START_ACTION|>[\n {\"tool_call_id\": \"0\", \"tool_name\": \"now\", "
     "\"parameters\": {\"a\": 1}}\n]<|END_ACTION|>",
     "",
     {{"now", R"({"a":1})", "0"}}},
    {"internlm",
     "<|action_start|><|plugin|>\n{\"name\": \"now\", \"parameters\": {}}\n"
     "<|action_end|>",
     "",
     {{"now", "{}"}}},
    {"gigachat3",
     "function call<|role_sep|>\n{\"name\": \"now\", \"arguments\": {}}",
     "",
     {{"now", "{}"}}},
    // JSON without markers.
    {"llama3_json",
     "{\"name\": \"get_weather\", \"parameters\": {\"city\": "
     "\"Oslo\"}}; {\"name\": \"now\", \"parameters\": {}}",
     "",
     {{"get_weather", R"({"city":"Oslo"})"}, {"now", "{}"}}},
    {"llama3_json",
     "<|python_tag|>{\"type\": \"function\", \"name\": \"now\", "
     "\"parameters\": {}}",
     "",
     {{"now", "{}"}}},
    {"llama3_json",
     "{\"name\": \"Bob\", \"age\": 3}",
     "{\"name\": \"Bob\", \"age\": 3}",
     {}},
    {"llama3_json",
     "{\"name\": \"unknown\", \"parameters\": {}}",
     "{\"name\": \"unknown\", \"parameters\": {}}",
     {}},
    {"llama3_json", " [1, 2] is a list", " [1, 2] is a list", {}},
    {"llama3_json",
     "See {\"name\": \"now\", \"parameters\": {}}",
     "See {\"name\": \"now\", \"parameters\": {}}",
     {}},
    // Fields.
    {"mistral",
     "[TOOL_CALLS]get_weather[CALL_ID]abcdefghi[ARGS]{\"city\": \"x\"}"
     "[TOOL_CALLS]now[ARGS]{}",
     "",
     {{"get_weather", R"({"city":"x"})", "abcdefghi"}, {"now", "{}"}}},
    {"mistral",
     "[TOOL_CALLS] [{\"name\": \"now\", \"arguments\": {}, \"id\": "
     "\"abcdefghi\"}]",
     "",
     {{"now", "{}"}}},
    {"mistral",
     "Hi![TOOL_CALLS]now{\"a\": [1]}",
     "Hi!",
     {{"now", R"({"a":[1]})"}}},
    {"deepseek_v3",
     "Sure.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>"
     "get_weather\n```json\n{\"city\": \"北京\"}\n```<｜tool▁call▁end｜>\n"
     "<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```"
     "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
     "Sure.",
     {{"get_weather", R"({"city":"北京"})"}, {"now", "{}"}}},
    {"deepseek_v31",
     "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}"
     "<｜tool▁call▁end｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
     "{\"city\": \"```\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
     "",
     {{"now", "{}"}, {"get_weather", R"({"city":"```"})"}}},
    {"deepseek_v31", "a <｜tool is a <", "a <｜tool is a <", {}},
    {"kimi_k2",
     "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
     "<|tool_call_argument_begin|>{\"city\": \"x\"}<|tool_call_end|>"
     "<|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>"
     "<|tool_call_end|><|tool_calls_section_end|>",
     "",
     {{"get_weather", R"({"city":"x"})", "functions.get_weather:0"},
      {"now", "{}", "functions.now:1"}}},
    {"solar_open",
     "<|tool_calls|><|tool_call:begin|>ab12<|tool_call:name|>now"
     "<|tool_call:args|>{\"x\": 1.5e3}<|tool_call:end|>",
     "",
     {{"now", R"({"x":1500.0})", "ab12"}}},
    {"gemma4",
     "<|tool_call>call:get_weather{city:<|\"|>New \"York\" {<|x<|\"|>,days:3,"
     "metric:true,spot:{a:[1,<|\"|>b<|\"|>],c:null}}<tool_call|>"
     "<|tool_call>call:now{}<tool_call|>",
     "",
     {{"get_weather",
       R"({"city":"New \"York\" {<|x","days":3,"metric":true,
               "spot":{"a":[1,"b"],"c":null}})"},
      {"now", "{}"}}},
    {"functiongemma",
     "<start_function_call>call:get_weather{city:<escape>a,b<escape>,note:bare"
     "}<end_function_call>",
     "",
     {{"get_weather", R"({"city":"a,b","note":"bare"})"}}},
    // Tags.
    {"qwen3_coder",
     "I look.\n<tool_call>\n<function=get_weather>\n<parameter=city>\nNew\n"
     "\"York\" <b>\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
     "<parameter=metric>\nTrue\n</parameter>\n<parameter=spot>\n{'a': (1, None)"
     "}\n</parameter>\n<parameter=note>\nnull\n</parameter>\n"
     "<parameter=scale>\nC\n</parameter>\n</function>\n</tool_call>\n"
     "<tool_call>\n<function=now>\n</function>\n</tool_call>",
     "I look.\n",
     {{"get_weather",
       R"({"city":"New\n\"York\" <b>","days":3,"metric":true,
                        "spot":{"a":[1,null]},"note":null,"scale":"C"})"},
      {"now", "{}"}}},
    {"qwen3_coder",
     "<function=get_weather>\n<parameter=city>\n\n</parameter>\n"
     "<parameter=days>three</parameter>\n</function>\n</tool_call>",
     "",
     {{"get_weather", R"({"city":"","days":"three"})"}}},
    {"qwen3_coder",
     "<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>",
     "",
     {{"now", "{}"}}},
    {"qwen3_coder",
     "<tool_call>\n<tool_call>\n<function=now>\n</function>\n",
     "<tool_call>\n",
     {{"now", "{}"}}},
    {"seed_oss",
     "<seed:tool_call>\n<function=get_weather>\n<parameter=city>a b</parameter>"
     "\n<parameter=tags>[\"x\"]</parameter>\n</function>\n</seed:tool_call>",
     "",
     {{"get_weather", R"({"city":"a b","tags":["x"]})"}}},
    {"glm45",
     "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>12"
     "</arg_value>\n<arg_key>days</arg_key>\n<arg_value>12</arg_value>\n"
     "</tool_call>\n<tool_call>now</tool_call>",
     "",
     {{"get_weather", R"({"city":"12","days":12})"}, {"now", "{}"}}},
    {"minimax_m2",
     "<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter "
     "name=\"city\">x</parameter>\n</invoke>\n<invoke name=\"now\">\n"
     "</invoke>\n</minimax:tool_call>",
     "",
     {{"get_weather", R"({"city":"x"})"}, {"now", "{}"}}},
    {"deepseek_v32",
     "Ok\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"get_weather\">\n"
     "<｜DSML｜parameter name=\"city\" string=\"true\">5</｜DSML｜parameter>\n"
     "<｜DSML｜parameter name=\"days\" string=\"false\">5</｜DSML｜parameter>\n"
     "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
     "Ok\n\n",
     {{"get_weather", R"({"city":"5","days":5})"}}},
    // Python.
    {"llama4_pythonic",
     "[get_weather(city='it\\'s \\u00e9', days=-1_0, metric=True, tags=(1, "
     "[None],), spot={'a': .5}), now()]",
     "",
     {{"get_weather", R"({"city":"it's é","days":-10,"metric":true,
                              "tags":[1,[null]],"spot":{"a":0.5}})"},
      {"now", "{}"}}},
    {"llama4_pythonic", "[see](http://x)", "[see](http://x)", {}},
    {"llama4_pythonic", "[now(x) is]", "[now(x) is]", {}},
    {"pythonic", "[now()] and more", " and more", {{"now", "{}"}}},
    {"lfm2",
     "<|tool_call_start|>[get_weather(city=\"a\\nb\", spot={\"k\": true})]"
     "<|tool_call_end|>Checking",
     "Checking",
     {{"get_weather", R"({"city":"a\nb","spot":{"k":true}})"}}},
    {"olmo3",
     "<function_calls>now()\nget_weather(city='x')</function_calls>",
     "",
     {{"now", "{}"}, {"get_weather", R"({"city":"x"})"}}},
    // Harmony.
    {"openai",
     "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant"
     "<|channel|>commentary to=functions.get_weather <|constrain|>json"
     "<|message|>{\"city\": \"<|end|>\"}<|call|>",
     "I look.",
     {{"get_weather", R"({"city":"<|end|>"})"}}},
    {"openai",
     " to=functions.now<|channel|>commentary json<|message|>{}<|call|>"
     "<|start|>assistant<|channel|>final<|message|>Noon.<|return|>",
     "Noon.",
     {{"now", "{}"}}},
    {"openai", "Plain <|text|>.", "Plain <|text|>.", {}},
};

TEST(ToolCallsTest, Examples) {
  for (const Example &example : examples) {
    SCOPED_TRACE(std::string(example.parser) + ": " + example.text);
    const OutputCase setting{example.parser, "none", example.prompt, tools()};
    const ChatAnswer answer = parseAllWays(setting, example.text);
    EXPECT_EQ(answer.content, example.content);
    EXPECT_EQ(answer.reasoning, "");
    ASSERT_EQ(answer.calls.size(), example.calls.size()) << describe(answer);
    for (size_t i = 0; i < example.calls.size(); ++i) {
      EXPECT_EQ(answer.calls[i].name, example.calls[i].name);
      EXPECT_EQ(answer.calls[i].id, example.calls[i].id);
      EXPECT_EQ(Json::parse(answer.calls[i].arguments),
                Json::parse(example.calls[i].arguments))
          << answer.calls[i].arguments;
    }
  }
}

/// The words of a text: runs of letters, digits and bytes of other characters.
static std::set<std::string> words(const std::string &text) {
  std::set<std::string> result;
  std::string word;
  for (char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) ||
        static_cast<unsigned char>(c) >= 0x80)
      word += c;
    else if (!word.empty())
      result.insert(std::exchange(word, {}));
  }
  return result;
}

// Whatever the model said until it was stopped is in the answer.
TEST(ToolCallsTest, CutShortAtEveryByte) {
  for (const Example &example : examples) {
    const OutputCase setting{example.parser, "none", example.prompt, tools()};
    const std::string text = example.text;
    // Words of the markup, and those that conversion changes.
    std::set<std::string> markup =
        words("name arguments parameters tool_name tool_call_id id 7 null type "
              "function true True None 1_0 5e3 u00e9 ud83d ude00 00e9 u nb ny");
    for (size_t size = 0; size < text.size(); ++size) {
      const std::string cut = text.substr(0, size);
      if (!isValidUtf8(cut))
        continue; // Cut within a character, which decoders do not do.
      SCOPED_TRACE(std::string(example.parser) + ": " + cut);
      const auto byByte = parsePieces(setting, cut, [] { return size_t(1); });
      const auto whole = parsePieces(setting, cut, [&] { return size; });
      ASSERT_EQ(describe(byByte), describe(whole));
      for (const ChatAnswer::Call &call : whole.calls)
        ASSERT_TRUE(call.isComplete &&
                    parseJson(call.arguments, "arguments")->is_object());
      if (!whole.calls.empty())
        continue;
      // Without a call, all of the text is content.
      const std::set<std::string> seen = words(whole.content);
      for (const std::string &word : words(cut)) {
        const bool isMarker =
            std::string("assistant analysis commentary channel message final "
                        "end start call json constrain section begin tool "
                        "calls tool▁calls▁begin｜ ｜tool▁calls▁begin｜")
                .find(word) != std::string::npos;
        EXPECT_TRUE(isMarker || markup.count(word) || seen.count(word))
            << word << " in " << describe(whole);
      }
    }
  }
}

// Without tools, nothing is a call.
TEST(ToolCallsTest, NoTools) {
  const std::string text = "<tool_call>{\"name\": \"now\"}</tool_call>";
  EXPECT_EQ(parseAllWays({"hermes", "none", "", nullptr}, text).content, text);
}

// Arguments come while they are written.
TEST(ToolCallsTest, ArgumentsStream) {
  auto format = ChatOutputFormat::choose("", "qwen3_coder", "none");
  ChatOutputParser parser(*format, "", ChatTools(tools()));
  auto deltas = parser.feed("<tool_call>\n<function=get_weather>\n"
                            "<parameter=city>\nNew Y");
  ASSERT_EQ(deltas.size(), 2u);
  EXPECT_EQ(deltas[0].name, "get_weather");
  EXPECT_EQ(deltas[1].text, "{\"city\": \"New Y");
  deltas = parser.feed("or");
  ASSERT_EQ(deltas.size(), 1u);
  EXPECT_EQ(deltas[0].text, "or");
  deltas = parser.finish();
  ASSERT_EQ(deltas.size(), 1u);
  EXPECT_EQ(deltas[0].kind, ChatDelta::Kind::CallWithdrawn);
  EXPECT_EQ(deltas[0].text, "<tool_call>\n<function=get_weather>\n"
                            "<parameter=city>\nNew Yor");
}

// A limit of tokens may end an answer within a call, of which the client knows.
TEST(ToolCallsTest, CallsThatAreCutOffStay) {
  auto format = ChatOutputFormat::choose("", "qwen3_coder", "none");
  auto parse = [&](const char *text) {
    ChatOutputParser parser(*format, "", ChatTools(tools()));
    ChatAnswer answer;
    for (const ChatDelta &delta : parser.feed(text))
      answer.append(delta);
    for (const ChatDelta &delta : parser.finish(/*isCutOff=*/true))
      answer.append(delta);
    return answer;
  };
  ChatAnswer answer = parse("I look. <tool_call>\n<function=get_weather>\n"
                            "<parameter=city>\nNew Yor");
  ASSERT_EQ(answer.calls.size(), 1u);
  EXPECT_EQ(answer.calls[0].arguments, "{\"city\": \"New Yor");
  EXPECT_FALSE(answer.calls[0].isComplete);
  EXPECT_EQ(answer.content.find("<tool_call>"), std::string::npos);
  // Before its name, there is no call.
  answer = parse("<tool_call>\n<function=get_w");
  EXPECT_TRUE(answer.calls.empty());
  EXPECT_EQ(answer.content, "<tool_call>\n<function=get_w");
}

/// The arguments of a call with "a" = "5", by a schema for it.
static std::string argumentsFor(const Json &a, const Json &definitions) {
  const Json tools = Json::array({{{"type", "function"},
                                   {"function",
                                    {{"name", "f"},
                                     {"parameters",
                                      {{"type", "object"},
                                       {"properties", {{"a", a}}},
                                       {"$defs", definitions}}}}}}});
  auto format = ChatOutputFormat::choose("", "qwen3_coder", "none");
  ChatOutputParser parser(*format, "", ChatTools(tools));
  ChatAnswer answer;
  for (const ChatDelta &delta :
       parser.feed("<tool_call>\n<function=f>\n<parameter=a>\n5\n</parameter>\n"
                   "</function>\n</tool_call>"))
    answer.append(delta);
  return answer.calls.empty() ? "" : answer.calls[0].arguments;
}

// Clients send schemas, and the engine waits while they are read.
TEST(ToolCallsTest, SchemasAreLimited) {
  const Json text = {{"type", "string"}};
  auto choices = [](size_t count, const Json &schema) {
    return Json{{"anyOf", std::vector<Json>(count, schema)}};
  };
  EXPECT_EQ(argumentsFor(choices(1000, text), {}), "{\"a\": \"5\"}");
  EXPECT_EQ(argumentsFor(choices(5000, text), {}), "{\"a\": 5}");
  // Each reference to x has 40 of them, to a depth of 4.
  const Json reference = {{"$ref", "#/$defs/x"}};
  const double start = test::cpuSeconds();
  EXPECT_EQ(argumentsFor(reference, {{"x", choices(40, reference)}}),
            "{\"a\": 5}");
  EXPECT_LT(test::cpuSeconds() - start, test::timeLimit);
}

TEST(ToolCallsTest, NestingIsLimited) {
  const std::string deep(100, '[');
  const std::string text =
      "<tool_call>{\"name\": \"now\", \"arguments\": {\"a\": " + deep;
  const ChatAnswer answer = parseAllWays({"hermes", "none", "", tools()}, text);
  EXPECT_TRUE(answer.calls.empty());
  EXPECT_EQ(answer.content, text);
}

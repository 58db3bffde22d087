// RUN: llmir-chat-output-tests --gtest_filter='RoundTrip*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random calls, written in the markup of a family, are read as they were.
//
//===----------------------------------------------------------------------===//

#include "OutputChecks.h"

using namespace llmir;

namespace {

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  size_t below(size_t limit) { return random() % limit; }

  std::string text() {
    static const char *const pieces[] = {
        "a",      "b c", "\n", "\"", "\\", "é",  "日本",
        "😀",     "{",   "}]", "'",  "<",  "|>", "<tool_call>",
        "[ARGS]", "0",   " ",  "\t", "```"};
    std::string result;
    for (size_t i = below(6); i > 0; --i)
      result += pieces[below(std::size(pieces))];
    return result;
  }

  Json value(int depth) {
    switch (below(depth > 0 ? 7 : 5)) {
    case 0:
      return text();
    case 1:
      return static_cast<int64_t>(below(2000)) - 1000;
    case 2:
      return static_cast<double>(below(1000)) / 8;
    case 3:
      return below(2) == 0;
    case 4:
      return nullptr;
    case 5: {
      Json list = Json::array();
      for (size_t i = below(4); i > 0; --i)
        list.push_back(value(depth - 1));
      return list;
    }
    default:
      return object(depth - 1);
    }
  }

  Json object(int depth) {
    Json result = Json::object();
    for (size_t i = below(4); i > 0; --i)
      result["k" + std::to_string(below(9))] = value(depth);
    return result;
  }

private:
  std::mt19937 random;
};

struct Call {
  std::string name;
  Json arguments;
};

/// The markup of one format.
struct Markup {
  const char *parser;
  std::string (*render)(const std::vector<Call> &calls);
};

} // namespace

static std::string joined(const std::vector<Call> &calls,
                          const std::string &separator,
                          std::string (*one)(const Call &)) {
  std::string text;
  for (const Call &call : calls)
    text += (text.empty() ? "" : separator) + one(call);
  return text;
}

static std::string jsonCall(const Call &call) {
  return "{\"name\": \"" + call.name +
         "\", \"arguments\": " + call.arguments.dump() + "}";
}

static std::string pythonText(const std::string &text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\n'                ? "\\n"
              : c == '\'' || c == '\\' ? std::string("\\") + c
                                       : std::string(1, c);
  return result + "'";
}

static std::string pythonValue(const Json &value) {
  if (value.is_string())
    return pythonText(value);
  if (value.is_boolean())
    return value == true ? "True" : "False";
  if (value.is_null())
    return "None";
  if (value.is_primitive())
    return value.dump();
  std::string text;
  for (const auto &[key, item] : value.items())
    text += (text.empty() ? "" : ", ") +
            (value.is_object() ? pythonText(key) + ": " : "") +
            pythonValue(item);
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

static std::string gemmaValue(const Json &value) {
  if (value.is_string())
    return "<|\"|>" + value.get<std::string>() + "<|\"|>";
  if (value.is_primitive())
    return value.dump();
  std::string text;
  for (const auto &[key, item] : value.items())
    text += (text.empty() ? "" : ",") +
            (value.is_object() ? key + ":" : std::string()) + gemmaValue(item);
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

/// A value between tags.
static std::string plain(const Json &value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

static const Markup markups[] = {
    {"hermes",
     [](const std::vector<Call> &calls) {
       return joined(calls, "\n", [](const Call &call) {
         return "<tool_call>\n" + jsonCall(call) + "\n</tool_call>";
       });
     }},
    {"granite",
     [](const std::vector<Call> &calls) {
       return "<|tool_call|>[" + joined(calls, ", ", jsonCall) + "]";
     }},
    {"llama3_json",
     [](const std::vector<Call> &calls) {
       return joined(calls, "; ", jsonCall);
     }},
    {"mistral",
     [](const std::vector<Call> &calls) {
       return joined(calls, "", [](const Call &call) {
         return "[TOOL_CALLS]" + call.name + "[ARGS]" + call.arguments.dump();
       });
     }},
    {"deepseek_v3",
     [](const std::vector<Call> &calls) {
       return "<｜tool▁calls▁begin｜>" +
              joined(calls, "\n",
                     [](const Call &call) {
                       return "<｜tool▁call▁begin｜>function<｜tool▁sep｜>" +
                              call.name + "\n```json\n" +
                              call.arguments.dump() +
                              "\n```<｜tool▁call▁end｜>";
                     }) +
              "<｜tool▁calls▁end｜>";
     }},
    {"openai",
     [](const std::vector<Call> &calls) {
       return joined(calls, "<|start|>assistant", [](const Call &call) {
         return "<|channel|>commentary to=functions." + call.name +
                " <|constrain|>json<|message|>" + call.arguments.dump() +
                "<|call|>";
       });
     }},
    {"llama4_pythonic",
     [](const std::vector<Call> &calls) {
       return "[" +
              joined(calls, ", ",
                     [](const Call &call) {
                       std::string text;
                       for (const auto &[key, value] : call.arguments.items())
                         text += (text.empty() ? "" : ", ") + key + "=" +
                                 pythonValue(value);
                       return call.name + "(" + text + ")";
                     }) +
              "]";
     }},
    {"gemma4",
     [](const std::vector<Call> &calls) {
       return joined(calls, "", [](const Call &call) {
         return "<|tool_call>call:" + call.name + gemmaValue(call.arguments) +
                "<tool_call|>";
       });
     }},
    {"qwen3_coder",
     [](const std::vector<Call> &calls) {
       return joined(calls, "\n", [](const Call &call) {
         std::string text = "<tool_call>\n<function=" + call.name + ">\n";
         for (const auto &[key, value] : call.arguments.items())
           text +=
               "<parameter=" + key + ">\n" + plain(value) + "\n</parameter>\n";
         return text + "</function>\n</tool_call>";
       });
     }},
    {"glm45",
     [](const std::vector<Call> &calls) {
       return joined(calls, "\n", [](const Call &call) {
         std::string text = "<tool_call>" + call.name + "\n";
         for (const auto &[key, value] : call.arguments.items())
           text += "<arg_key>" + key + "</arg_key>\n<arg_value>" +
                   plain(value) + "</arg_value>\n";
         return text + "</tool_call>";
       });
     }},
};

/// A tool for each call, whose schema says the types of its arguments.
static Json toolsOf(const std::vector<Call> &calls) {
  Json tools = Json::array();
  for (const Call &call : calls) {
    Json properties = Json::object();
    for (const auto &[key, value] : call.arguments.items()) {
      std::string type = value.type_name();
      if (value.is_number_integer())
        type = "integer";
      properties[key] = {{"type", type}};
    }
    tools.push_back(
        {{"type", "function"},
         {"function",
          {{"name", call.name},
           {"parameters", {{"type", "object"}, {"properties", properties}}}}}});
  }
  return tools;
}

TEST(RoundTripTest, RandomCalls) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Generator generator(seed);
    std::vector<Call> calls;
    for (size_t i = 1 + generator.below(3); i > 0; --i)
      calls.push_back({"tool_" + std::to_string(i), generator.object(3)});
    const Json tools = toolsOf(calls);
    for (const Markup &markup : markups) {
      const std::string text = markup.render(calls);
      SCOPED_TRACE(std::string(markup.parser) + ": " + text);
      const ChatAnswer answer =
          parseAllWays({markup.parser, "none", "", tools}, text);
      EXPECT_EQ(answer.content, "");
      ASSERT_EQ(answer.calls.size(), calls.size()) << describe(answer);
      for (size_t i = 0; i < calls.size(); ++i) {
        EXPECT_EQ(answer.calls[i].name, calls[i].name);
        EXPECT_EQ(Json::parse(answer.calls[i].arguments), calls[i].arguments);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the families write what their parsers read, for constraints.
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "llmir/ChatOutput/ChatOutput.h"

namespace llmir {

namespace {
struct Named {
  std::string_view name; ///< Of the parser.
  CallSpelling form;
};

/// {"name": "f", "arguments": {…}}, with other keys for some.
CallSpelling objects(std::string begin, std::string separator, std::string end,
                     const std::string &arguments = "arguments",
                     const std::string &name = "\"name\"") {
  CallSpelling form;
  form.begin = std::move(begin);
  form.beforeName = "{" + name + ": \"";
  form.beforeArguments = "\", \"" + arguments + "\": ";
  form.afterArguments = "}";
  form.separator = std::move(separator);
  form.end = std::move(end);
  return form;
}

CallSpelling fields(std::string begin, std::string beforeName,
                    std::string beforeArguments, std::string afterArguments,
                    std::string end, bool onlyOne = false) {
  CallSpelling form;
  form.begin = std::move(begin);
  form.beforeName = std::move(beforeName);
  form.beforeArguments = std::move(beforeArguments);
  form.afterArguments = std::move(afterArguments);
  form.end = std::move(end);
  form.onlyOne = onlyOne;
  return form;
}
} // namespace

static const std::vector<Named> &callSpellings() {
  static const std::vector<Named> all = {
      {"openai",
       fields("", "<|channel|>commentary to=functions.",
              " <|constrain|>json<|message|>", "", "", /*onlyOne=*/true)},
      {"deepseek_v3",
       fields("<｜tool▁calls▁begin｜>",
              "<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "\n```json\n",
              "\n```<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>")},
      {"deepseek_v31",
       fields("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>",
              "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>")},
      {"kimi_k2",
       fields("<|tool_calls_section_begin|>", "<|tool_call_begin|>functions.",
              ":0<|tool_call_argument_begin|>", "<|tool_call_end|>",
              "<|tool_calls_section_end|>", /*onlyOne=*/true)},
      {"granite", objects("<|tool_call|>[", ", ", "]")},
      {"nemotron_json", objects("<TOOLCALL>[", ", ", "]</TOOLCALL>")},
      {"jamba", objects("<tool_calls>[", ", ", "]</tool_calls>")},
      {"longcat", objects("<longcat_tool_call>",
                          "</longcat_tool_call>\n<longcat_tool_call>",
                          "</longcat_tool_call>")},
      {"hermes", objects("<tool_call>\n", "\n</tool_call>\n<tool_call>\n",
                         "\n</tool_call>")},
      {"phi4_mini_json", objects("functools[", ", ", "]")},
      {"internlm", objects("<|action_start|><|plugin|>\n",
                           "<|action_end|>\n<|action_start|><|plugin|>\n",
                           "<|action_end|>", "parameters")},
      {"command_r7b",
       objects("<|START_ACTION|>[", ", ", "]<|END_ACTION|>", "parameters",
               "\"tool_call_id\": \"0\", \"tool_name\"")},
      {"gigachat3", objects("function call<|role_sep|>\n", "", "")},
      {"llama3_json", objects("", "; ", "", "parameters")},
  };
  return all;
}

std::optional<CallSpelling> ChatOutputFormat::callSpelling() const {
  if (toolCallParser() == "mistral")
    return hasArgsMarker ? fields("", "[TOOL_CALLS]", "[ARGS]", "", "")
                         : objects("[TOOL_CALLS][", ", ", "]");
  for (const Named &each : callSpellings())
    if (each.name == toolCallParser()) {
      CallSpelling form = each.form;
      form.onlyOne |=
          toolCallParser() == "gigachat3" || toolCallParser() == "command_r7b";
      return form;
    }
  return std::nullopt;
}

AnswerSpelling ChatOutputFormat::answerSpelling() const {
  AnswerSpelling form;
  if (!reasoning)
    return form;
  if (reasoning->isHarmony) {
    form.reasoningBegin = "<|channel|>analysis<|message|>";
    form.reasoningEnd = "<|end|><|start|>assistant";
    form.contentBegin = "<|channel|>final<|message|>";
    return form;
  }
  form.reasoningBegin = reasoning->begin;
  form.reasoningEnd = reasoning->end;
  if (reasoning->name == "command_r7b") {
    form.contentBegin = "<|START_RESPONSE|>";
    form.contentEnd = "<|END_RESPONSE|>";
  }
  form.isUnknown = reasoning->name == "solar_open";
  return form;
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerGrammar.h"

#include "llmir/Constraint/Sources.h"
#include "llmir/Support/Text.h"

#include <algorithm>

namespace llmir::server {

using Node = Grammar::Node;

/// Calls at once.
static constexpr uint32_t mostCalls = 16;

AnswerGrammar::AnswerGrammar(Grammar &grammar, const Tokenizer &tokenizer,
                             const ConversationForm &conversation)
    : grammar(grammar), tokenizer(tokenizer), conversation(conversation),
      spelling(conversation.format.answerSpelling()) {
  for (int64_t id = 0; id < tokenizer.vocabSize(); ++id)
    if (const auto token = static_cast<int32_t>(id); tokenizer.isSpecial(token))
      special.push_back(token);
}

//===----------------------------------------------------------------------===//
// Markup
//===----------------------------------------------------------------------===//

/// The longest special token with which a text begins; -1 without one.
int32_t AnswerGrammar::specialAt(std::string_view text) const {
  int32_t found = -1;
  size_t longest = 0;
  for (int32_t token : special) {
    const std::string_view spelled = tokenizer.tokenText(token);
    if (spelled.size() > longest && startsWith(text, spelled)) {
      found = token;
      longest = spelled.size();
    }
  }
  return found;
}

/// The grammar of a text of the family. Where the text spells a special token,
/// only that token matches.
Node AnswerGrammar::markup(std::string_view text) {
  std::vector<Node> parts;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const int32_t token = specialAt(text.substr(at));
    if (token < 0) {
      ++at;
      continue;
    }
    parts.push_back(grammar.text(text.substr(begin, at - begin)));
    parts.push_back(grammar.token({token}));
    begin = at += tokenizer.tokenText(token).size();
  }
  parts.push_back(grammar.text(text.substr(begin)));
  return grammar.sequence(parts);
}

/// Any text, and then this.
Node AnswerGrammar::untilMarkup(std::string_view text) {
  if (specialAt(text) < 0)
    return grammar.until(text);
  return grammar.sequence(
      {grammar.repeat(grammar.characters(complement({})), 0, Grammar::noLimit),
       markup(text)});
}

static std::string_view withoutBlanksAtEnd(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

Node AnswerGrammar::content(Node text) {
  return grammar.sequence(
      {markup(spelling.contentBegin), text, markup(spelling.contentEnd)});
}

Expected<Node> AnswerGrammar::whole(Node body, bool mayReason) {
  if (spelling.isUnknown)
    return Status(StatusCode::Unsupported,
                  "the form of answers cannot be constrained in the format '" +
                      std::string(conversation.format.reasoningParser()) +
                      "' of this model",
                  "use /v1/completions");
  if (spelling.reasoningEnd.empty())
    return body;
  const Node lines = grammar.repeat(grammar.text("\n"), 0, 2);
  const Node reasoned =
      grammar.sequence({untilMarkup(spelling.reasoningEnd), lines, body});
  // Calls that are looked for do not change where reasoning begins.
  if (ChatOutputParser(conversation.format, conversation.prompt).isReasoning())
    return reasoned;
  const std::string_view prompt = withoutBlanksAtEnd(conversation.prompt);
  if (!mayReason || endsWith(prompt, withoutBlanksAtEnd(spelling.reasoningEnd)))
    return body;
  // As pieces of text, the marker would attract models that do not reason.
  const auto token = tokenizer.tokenId(spelling.reasoningBegin);
  if (!token && specialAt(spelling.reasoningBegin) < 0)
    return body;
  return grammar.choice(
      {body, grammar.sequence({token ? grammar.token({*token})
                                     : markup(spelling.reasoningBegin),
                               reasoned})});
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static bool isToolName(const std::string &name) {
  return !name.empty() && name.size() <= 256 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
             std::string::npos;
}

static std::string nameOf(const OrderedJson &tool) {
  const bool hasName = tool.is_object() && tool.contains("function") &&
                       tool["function"].is_object() &&
                       tool["function"].contains("name") &&
                       tool["function"]["name"].is_string();
  return hasName ? tool["function"]["name"].get<std::string>() : "";
}

Expected<Node> AnswerGrammar::call(const OrderedJson &tool,
                                   const CallSpelling &form,
                                   const std::string &place) {
  const std::string name = nameOf(tool);
  if (!isToolName(name))
    return Status(StatusCode::InvalidArgument,
                  "'tools' has " + describeJson(Json(tool)) +
                      ", which has no name of a function",
                  "give names of letters, digits, _ and -");
  const auto given = tool["function"].find("parameters");
  // Without parameters, there are no arguments.
  OrderedJson schema = given != tool["function"].end() && !given->is_null()
                           ? *given
                           : OrderedJson::parse("{\"properties\": {}}");
  if (schema.is_object() && !schema.contains("type") &&
      !schema.contains("$ref") && !schema.contains("anyOf") &&
      !schema.contains("allOf") && !schema.contains("oneOf"))
    schema["type"] = "object";
  Expected<Node> arguments = addJsonSchema(grammar, schema);
  if (!arguments)
    return arguments.takeStatus().withContext("'" + place + "'");
  return grammar.sequence(
      {markup(form.beforeName + name + form.beforeArguments), *arguments,
       markup(form.afterArguments)});
}

Expected<Node> AnswerGrammar::calls() {
  const auto form = conversation.format.callSpelling();
  if (!form)
    return Status(
        StatusCode::Unsupported,
        std::string("'") +
            (conversation.forced ? "tool_choice" : "response_format") +
            "' constrains calls of tools, which is not supported in "
            "the format '" +
            std::string(conversation.format.toolCallParser()) +
            "' of this model",
        conversation.forced ? "use \"auto\"" : "remove the tools");
  std::vector<Node> all;
  const std::string forced =
      conversation.forced ? conversation.forced->tool : "";
  for (size_t i = 0; i < conversation.tools.size(); ++i) {
    const OrderedJson &tool = conversation.tools[i];
    if (!forced.empty() && nameOf(tool) != forced)
      continue;
    Expected<Node> one = call(tool, *form, "tools[" + std::to_string(i) + "]");
    if (!one)
      return one;
    all.push_back(*one);
  }
  if (all.empty())
    return Status(StatusCode::InvalidArgument,
                  forced.empty() ? "'tool_choice' forces a call of a tool, but "
                                   "there are none"
                                 : "'tool_choice' names " + printable(forced) +
                                       ", which is none of the tools",
                  "name one of the tools");
  const bool onlyOne =
      form->onlyOne || !forced.empty() ||
      (conversation.forced && !conversation.forced->severalCalls);
  const Node any = grammar.choice(all);
  const Node more =
      grammar.repeat(grammar.sequence({markup(form->separator), any}), 0,
                     onlyOne ? 0 : mostCalls - 1);
  return grammar.sequence({markup(form->begin), any, more, markup(form->end)});
}

} // namespace llmir::server

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llmir/Support/NearestNames.h"

#include <algorithm>

namespace llmir {

using namespace chatoutput;

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

template <typename Syntax>
static std::vector<std::string_view> names(const std::vector<Syntax> &all) {
  std::vector<std::string_view> result;
  for (const Syntax &syntax : all) {
    result.push_back(syntax.name);
    result.insert(result.end(), syntax.aliases.begin(), syntax.aliases.end());
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::string_view> ChatOutputFormat::toolCallParsers() {
  return names(toolSyntaxes());
}
std::vector<std::string_view> ChatOutputFormat::reasoningParsers() {
  return names(reasoningSyntaxes());
}

/// The first family of whose markup the template has everything; null if there
/// is none.
template <typename Syntax>
static const Syntax *detect(const std::vector<Syntax> &all,
                            std::string_view chatTemplate) {
  for (const Syntax &syntax : all)
    if (!syntax.templateHas.empty() &&
        std::all_of(syntax.templateHas.begin(), syntax.templateHas.end(),
                    [&](std::string_view text) {
                      return chatTemplate.find(text) != std::string_view::npos;
                    }))
      return &syntax;
  return nullptr;
}

template <typename Syntax>
static const Syntax *find(const std::vector<Syntax> &all,
                          std::string_view name) {
  for (const Syntax &syntax : all)
    if (syntax.name == name ||
        std::find(syntax.aliases.begin(), syntax.aliases.end(), name) !=
            syntax.aliases.end())
      return &syntax;
  return nullptr;
}

/// Sets `chosen` to the named, detected or no syntax.
template <typename Syntax>
static Status chooseSyntax(const std::vector<Syntax> &all, const char *what,
                           std::string_view chatTemplate, std::string_view name,
                           const Syntax *&chosen) {
  chosen = nullptr;
  if (name == "none")
    return Status::ok();
  chosen = name == "auto" ? detect(all, chatTemplate) : find(all, name);
  if (chosen || name == "auto")
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                std::string("there is no ") + what + " parser '" +
                    printable(name) + "'",
                "the most similar ones are " + nearestNames(name, names(all)) +
                    "; 'auto' chooses by the chat template");
}

static void add(const Markers &markers, Markers &all) {
  all.insert(all.end(), markers.begin(), markers.end());
}

static void addMarkers(const ToolSyntax &syntax, Markers &all) {
  for (const Markers *markers :
       {&syntax.begins, &syntax.nameBegins, &syntax.silent})
    add(*markers, all);
  if (syntax.json)
    add({syntax.json->end}, all);
  if (const FieldForm *form = syntax.fields) {
    add({form->end}, all);
    for (const FieldForm::Next &next : form->next)
      add({next.marker}, all);
    if (form->notation == Notation::Gemma)
      add({"<|\"|>", "<escape>"}, all);
  }
  if (const TagForm *form = syntax.tags) {
    add({form->callBegin, form->keyBegin, form->valueBegin, form->valueEnd,
         form->callEnd, form->end},
        all);
    add(form->keyEnds, all);
  }
  if (syntax.python)
    add({syntax.python->end}, all);
}

static Markers markersOf(const ToolSyntax *tools,
                         const ReasoningSyntax *reasoning) {
  Markers all;
  if (tools)
    addMarkers(*tools, all);
  if (reasoning) {
    add({reasoning->begin, reasoning->end}, all);
    add(reasoning->silent, all);
  }
  if ((tools && tools->isHarmony) || (reasoning && reasoning->isHarmony))
    add({"<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>",
         "<|call|>", "<|return|>"},
        all);
  return all;
}

Expected<ChatOutputFormat>
ChatOutputFormat::choose(std::string_view chatTemplate,
                         std::string_view toolCallParser,
                         std::string_view reasoningParser) {
  ChatOutputFormat format;
  LLMIR_RETURN_IF_ERROR(chooseSyntax(toolSyntaxes(), "tool call", chatTemplate,
                                     toolCallParser, format.tools));
  LLMIR_RETURN_IF_ERROR(chooseSyntax(reasoningSyntaxes(), "reasoning",
                                     chatTemplate, reasoningParser,
                                     format.reasoning));
  // Models are trained to reason whose templates do not know it.
  if (reasoningParser == "auto" && !format.reasoning)
    format.reasoning = find(reasoningSyntaxes(), "qwen3");
  format.hasArgsMarker = chatTemplate.find("[ARGS]") != std::string_view::npos;
  format.markers = std::make_shared<const Markers>(
      markersOf(format.tools, format.reasoning));
  return format;
}

std::string_view ChatOutputFormat::toolCallParser() const {
  return tools ? tools->name : "none";
}
std::string_view ChatOutputFormat::reasoningParser() const {
  return reasoning ? reasoning->name : "none";
}

bool ChatOutputFormat::isMarker(std::string_view tokenText) const {
  return markers && !tokenText.empty() &&
         std::any_of(markers->begin(), markers->end(),
                     [&](std::string_view marker) {
                       return marker.find(tokenText) != std::string_view::npos;
                     });
}

std::string ChatOutputFormat::callId(uint64_t random) const {
  constexpr std::string_view digits =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const bool isShort = toolCallParser() == "mistral";
  std::string id = isShort ? "" : "call_";
  const size_t base = isShort ? digits.size() : 16;
  for (int i = 0; i < (isShort ? 9 : 16); ++i) {
    id += digits[random % base];
    random /= base;
  }
  return id;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

void ChatAnswer::append(const ChatDelta &delta) {
  switch (delta.kind) {
  case ChatDelta::Kind::Reasoning:
    reasoning += delta.text;
    return;
  case ChatDelta::Kind::Content:
    content += delta.text;
    return;
  case ChatDelta::Kind::CallStart:
    calls.push_back({delta.index, delta.name, delta.id, "", false});
    return;
  case ChatDelta::Kind::CallArguments:
    calls.back().arguments += delta.text;
    return;
  case ChatDelta::Kind::CallEnd:
    calls.back().isComplete = true;
    return;
  case ChatDelta::Kind::CallWithdrawn:
    calls.pop_back();
    content += delta.text;
    return;
  }
}

ChatTools::ChatTools(const Json &tools)
    : schemas(std::make_shared<const ToolSchemas>(tools)) {}

ChatOutputParser::ChatOutputParser(const ChatOutputFormat &format,
                                   std::string_view prompt,
                                   const ChatTools &tools)
    : machine(Machine::create(format, prompt, tools)) {}
ChatOutputParser::ChatOutputParser(ChatOutputParser &&) noexcept = default;
ChatOutputParser &
ChatOutputParser::operator=(ChatOutputParser &&) noexcept = default;
ChatOutputParser::~ChatOutputParser() = default;

std::vector<ChatDelta> ChatOutputParser::feed(std::string_view text) {
  return machine->feed(text);
}
std::vector<ChatDelta> ChatOutputParser::finish(bool isCutOff) {
  return machine->finish(isCutOff);
}
bool ChatOutputParser::isReasoning() const { return machine->isReasoning(); }

} // namespace llmir

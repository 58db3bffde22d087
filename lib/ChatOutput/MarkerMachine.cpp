//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llmir/Support/Text.h"

namespace llmir::chatoutput {
namespace {

/// Families whose answers are text with markers.
class MarkerMachine : public Machine {
public:
  MarkerMachine(const ToolSyntax *syntax, const ReasoningSyntax *reasoning,
                std::string_view prompt, const ChatTools &tools);

private:
  enum class Action {
    BeginBlock,
    BeginCall,
    Drop,
    BeginReasoning,
    EndReasoning,
  };
  /// Those that are looked for in a section, with what they do.
  struct Known {
    Markers markers;
    std::vector<Action> actions;
    void add(std::string_view marker, Action action) {
      markers.push_back(marker);
      actions.push_back(action);
    }
    void add(const Markers &all, Action action) {
      for (std::string_view marker : all)
        add(marker, action);
    }
  };

  void textByte(char byte) override;
  void finishText() override { addText(scan.release()); }
  void act(Action action, std::string_view marker);
  void openPrompt(const ReasoningSyntax &reasoning, std::string_view prompt);
  bool beginsUnmarked(char byte) const;

  Known inContent, inReasoning;
  MarkerScan scan;
};

} // namespace

MarkerMachine::MarkerMachine(const ToolSyntax *syntax,
                             const ReasoningSyntax *reasoning,
                             std::string_view prompt, const ChatTools &tools)
    : Machine(syntax, tools) {
  if (syntax) {
    inContent.add(syntax->begins, Action::BeginBlock);
    inContent.add(syntax->nameBegins, Action::BeginCall);
    inContent.add(syntax->silent, Action::Drop);
    if (syntax->endsReasoning) {
      inReasoning.add(syntax->begins, Action::BeginBlock);
      inReasoning.add(syntax->silent, Action::Drop);
    }
  }
  if (!reasoning)
    return;
  for (Known *known : {&inContent, &inReasoning}) {
    known->add(reasoning->begin, Action::BeginReasoning);
    known->add(reasoning->otherBegins, Action::BeginReasoning);
  }
  inContent.add(reasoning->silent, Action::Drop);
  inReasoning.add(reasoning->end, Action::EndReasoning);
  inReasoning.add(reasoning->otherEnds, Action::EndReasoning);
  openPrompt(*reasoning, trimmed(prompt));
}

/// Continues the reasoning that the prompt has begun.
void MarkerMachine::openPrompt(const ReasoningSyntax &reasoning,
                               std::string_view prompt) {
  auto endsPrompt = [&](std::string_view first, const Markers &others) {
    bool does = endsWith(prompt, trimmed(first));
    for (std::string_view other : others)
      does |= endsWith(prompt, trimmed(other));
    return does;
  };
  if (endsPrompt(reasoning.begin, reasoning.otherBegins) ||
      (reasoning.isOpenAtStart &&
       !endsPrompt(reasoning.end, reasoning.otherEnds)))
    beginSection(Section::Reasoning);
}

bool MarkerMachine::beginsUnmarked(char byte) const {
  return syntax && syntax->isUnmarked && section == Section::Content &&
         !hasText && scan.held().empty() &&
         (byte == '[' || (byte == '{' && syntax->json));
}

void MarkerMachine::textByte(char byte) {
  if (beginsUnmarked(byte)) {
    beginBlock(makeReader(*syntax, schemas(), *this, /*atName=*/false), "");
    return takeByte(byte);
  }
  const Known &known = section == Section::Content ? inContent : inReasoning;
  std::string text;
  const auto found = scan.take(byte, known.markers, text);
  addText(text);
  if (found)
    act(known.actions[*found], known.markers[*found]);
}

void MarkerMachine::act(Action action, std::string_view marker) {
  switch (action) {
  case Action::BeginBlock:
  case Action::BeginCall:
    return beginBlock(makeReader(*syntax, schemas(), *this,
                                 /*atName=*/action == Action::BeginCall),
                      marker);
  case Action::Drop:
    return beginSection(Section::Content);
  case Action::BeginReasoning:
    // Within a text, the model writes about the marker.
    return hasText ? addText(marker) : beginSection(Section::Reasoning);
  case Action::EndReasoning:
    return beginSection(Section::Content);
  }
}

std::unique_ptr<Machine> Machine::create(const ChatOutputFormat &format,
                                         std::string_view prompt,
                                         const ChatTools &tools) {
  const ToolSyntax *syntax = tools ? format.tools : nullptr;
  const ReasoningSyntax *reasoning = format.reasoning;
  if ((format.tools && format.tools->isHarmony) ||
      (reasoning && reasoning->isHarmony))
    return makeHarmonyMachine(syntax, reasoning != nullptr, tools);
  return std::make_unique<MarkerMachine>(syntax, reasoning, prompt, tools);
}

} // namespace llmir::chatoutput

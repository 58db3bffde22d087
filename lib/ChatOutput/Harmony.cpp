//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The Harmony format of gpt-oss: messages with a channel and a recipient.
//
//   <|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>
//   commentary to=functions.f <|constrain|>json<|message|>{…}<|call|>
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llmir/Support/Text.h"

namespace llmir::chatoutput {
namespace {

enum Token { Start, Channel, Constrain, Message, End, Call, Return };
const Markers tokens = {"<|start|>",   "<|channel|>", "<|constrain|>",
                        "<|message|>", "<|end|>",     "<|call|>",
                        "<|return|>"};

/// Arguments, up to the end of the message.
const FieldForm argumentForm = {FieldForm::Role::Arguments, {}, "<|call|>"};

class HarmonyMachine : public Machine {
public:
  HarmonyMachine(const ToolSyntax *syntax, bool hasReasoning,
                 const ChatTools &tools)
      : Machine(syntax, tools), hasReasoning(hasReasoning) {}

private:
  void textByte(char byte) override;
  void finishText() override;
  void headerToken(Token token);
  void bodyToken(Token token);
  void beginBody();
  void giveUpHeader();

  const bool hasReasoning;
  bool isHeader = true;
  std::string header; ///< With its tokens.
  MarkerScan scan;
};

/// Whether a header may begin like this. Headers follow "<|start|>", which the
/// prompt has, so that a model that writes plain text is known by it.
bool mayBeHeader(std::string_view text) {
  if (text.size() > 256)
    return false;
  if (text.find("<|") != std::string_view::npos)
    return true;
  auto skip = [&](std::string_view word) {
    const size_t size = std::min(word.size(), text.size());
    const bool fits = text.substr(0, size) == word.substr(0, size);
    text.remove_prefix(fits ? size : 0);
    while (!text.empty() && isBlank(text[0]))
      text.remove_prefix(1);
    return fits;
  };
  skip("");
  skip("assistant");
  if (text.empty())
    return true;
  return skip("to=") &&
         trimmed(text).find_first_of(" \n") == std::string_view::npos;
}

/// The word after `before` in a header; empty if there is none.
std::string wordAfter(std::string_view header, std::string_view before) {
  const size_t at = header.find(before);
  if (at == std::string_view::npos)
    return "";
  header.remove_prefix(at + before.size());
  return std::string(header.substr(0, header.find_first_of(" <\n\t")));
}

} // namespace

void HarmonyMachine::textByte(char byte) {
  std::string text;
  const auto found = scan.take(byte, tokens, text);
  if (!isHeader) {
    addText(text);
  } else {
    header += text;
    if (!mayBeHeader(header))
      giveUpHeader();
  }
  if (found)
    isHeader ? headerToken(Token(*found)) : bodyToken(Token(*found));
}

/// What was taken for a header is text.
void HarmonyMachine::giveUpHeader() {
  isHeader = false;
  section = Section::Content;
  addText(std::exchange(header, {}));
}

void HarmonyMachine::headerToken(Token token) {
  switch (token) {
  case Message:
    return beginBody();
  case Channel:
  case Constrain:
    header += tokens[token];
    return;
  default:
    header.clear();
    return beginSection(Section::Content);
  }
}

void HarmonyMachine::beginBody() {
  const std::string channel = wordAfter(header, "<|channel|>");
  std::string recipient = wordAfter(header, "to=");
  const std::string beginning = std::exchange(header, {}) + "<|message|>";
  isHeader = false;
  if (startsWith(recipient, "functions."))
    recipient.erase(0, std::string_view("functions.").size());
  if (syntax && isName(recipient)) {
    beginSection(Section::Content);
    return beginBlock(makeArgumentReader(argumentForm, *this, recipient),
                      beginning);
  }
  beginSection(channel == "analysis" && hasReasoning ? Section::Reasoning
                                                     : Section::Content);
}

void HarmonyMachine::bodyToken(Token token) {
  if (token == Message || token == Constrain)
    return addText(tokens[token]);
  beginSection(Section::Content);
  isHeader = true;
  if (token == Channel)
    header = tokens[token];
}

void HarmonyMachine::finishText() {
  if (isHeader && isBlank(header))
    header.clear();
  if (isHeader)
    giveUpHeader();
  addText(scan.release());
}

std::unique_ptr<Machine> makeHarmonyMachine(const ToolSyntax *syntax,
                                            bool hasReasoning,
                                            const ChatTools &tools) {
  return std::make_unique<HarmonyMachine>(syntax, hasReasoning, tools);
}

} // namespace llmir::chatoutput

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The states of an answer: text, reasoning, and blocks of calls.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATOUTPUT_MACHINE_H
#define LLMIR_LIB_CHATOUTPUT_MACHINE_H

#include "CallReader.h"

#include "llmir/ChatOutput/ChatOutput.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llmir::chatoutput {

/// What all families have in common. Every decision is made byte by byte, so
/// that it cannot depend on how the answer is split.
class Machine : public CallSink {
public:
  static std::unique_ptr<Machine> create(const ChatOutputFormat &format,
                                         std::string_view prompt,
                                         const ChatTools &tools);
  std::vector<ChatDelta> feed(std::string_view text);
  std::vector<ChatDelta> finish(bool isCutOff);
  bool isReasoning() const { return section == Section::Reasoning && !reader; }

protected:
  enum class Section { Content, Reasoning };

  Machine(const ToolSyntax *syntax, const ChatTools &tools)
      : syntax(syntax), tools(tools) {}

  /// Of the tools, if calls are looked for.
  const ToolSchemas &schemas() const { return *tools.schemas; }

  /// Reads a byte outside of blocks.
  virtual void textByte(char byte) = 0;
  /// Returns what is held back outside of blocks.
  virtual void finishText() = 0;

  /// Adds a byte to the current section.
  void addText(char byte);
  void addText(std::string_view text) {
    for (char byte : text)
      addText(byte);
  }
  /// A marker was read: blank text before it is dropped.
  void beginSection(Section next);
  /// A block begins with `beginning`, which is content if the block is none.
  void beginBlock(std::unique_ptr<CallReader> blockReader,
                  std::string_view beginning);
  void takeByte(char byte);

  const ToolSyntax *syntax; ///< Null: calls are not looked for.
  Section section = Section::Content;
  bool hasText = false; ///< In this section, blank text aside.

private:
  void start(std::string_view name, std::string_view id) override;
  void arguments(std::string_view json) override;
  void endCall() override;
  void emit(ChatDelta::Kind kind, std::string_view text);
  void endBlock(bool isWellFormed);

  const ChatTools tools;
  std::vector<ChatDelta> deltas;
  std::string incomplete;             ///< The first bytes of a character.
  std::string blanks;                 ///< At the beginning of the section.
  bool hasMarker = false;             ///< In the answer so far.
  std::unique_ptr<CallReader> reader; ///< Of the block, if there is one.
  std::string raw;       ///< What was read since the last complete call.
  size_t numStarted = 0; ///< Calls.
  bool isInCall = false, blockHasCall = false;
};

std::unique_ptr<Machine> makeHarmonyMachine(const ToolSyntax *syntax,
                                            bool hasReasoning,
                                            const ChatTools &tools);

} // namespace llmir::chatoutput

#endif // LLMIR_LIB_CHATOUTPUT_MACHINE_H

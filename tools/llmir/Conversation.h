//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A conversation: its messages, and the prompt that a chat template makes of
// those that fit into the context.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_CONVERSATION_H
#define LLMIR_TOOLS_LLMIR_CONVERSATION_H

#include "llmir/Server/RequestReader.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmir::cli {

struct ChatMessage {
  std::string role; ///< "system", "user" or "assistant".
  std::string content;
};

class Conversation {
public:
  /// A model with a chat template, which must outlive the conversation.
  explicit Conversation(PromptModel &model) : model(model) {}

  /// Sets the system message, or removes it if the text is empty.
  void setSystem(const std::string &text);
  void add(const std::string &role, const std::string &content);
  /// Removes the last message if it has this role; returns whether it did.
  bool removeLast(const std::string &role);
  /// Takes over the messages of another state of this conversation.
  void restore(const Conversation &state);
  /// Removes all messages but the system message.
  void reset();
  const std::vector<ChatMessage> &messages() const { return list; }

  struct Prompt {
    std::string text;
    std::vector<int32_t> ids;
    size_t dropped = 0; ///< Messages dropped since the last prompt.
  };
  /// The prompt for the next answer, of at most `maxTokens` tokens. If it would
  /// be longer, the oldest messages are dropped from this and all further
  /// prompts, a turn at a time and a quarter of the tokens at once, since all
  /// later tokens must be computed again. OutOfRange if the last message alone
  /// does not fit.
  Expected<Prompt> prompt(int64_t maxTokens);

  /// Writes the messages as JSON: {"messages": [{"role", "content"}]}.
  Status save(const std::string &path) const;
  /// Replaces the messages by those of a file.
  Status load(const std::string &path);

private:
  Expected<Prompt> render();
  bool hasSystem() const;
  /// Drops the oldest turn; false if only the last one is left.
  bool dropTurn(size_t &dropped);

  PromptModel &model;
  std::vector<ChatMessage> list;
  size_t firstSent = 0; ///< Earlier ones, but the system message, are dropped.
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_CONVERSATION_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns conversations into prompts with the chat template of a model.
//
//   Expected<ChatPrompt> chat = ChatPrompt::create(templates, {}, &tokenizer);
//   OrderedJson variables = ChatPrompt::conversation(system, user);
//   Expected<std::string> prompt = chat->render(variables);
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_CHATPROMPT_H
#define LLMIR_SERVER_CHATPROMPT_H

#include "llmir/ChatTemplate/ChatTemplate.h"
#include "llmir/ChatTemplate/Messages.h"
#include "llmir/ChatTemplate/ModelTemplates.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace llmir {

/// What replaces the model's own template and tokens.
struct TemplateRequest {
  std::string file; ///< Empty: the model's template.
  std::optional<std::string> bos, eos;
};

/// Threads may render concurrently.
class ChatPrompt {
public:
  /// Fails if the requested file cannot be read. A template is parsed when it
  /// is used. `tokenizer`, which may be null, tells the tokens that begin and
  /// end a text where `templates` does not.
  static Expected<ChatPrompt> create(ModelTemplates templates,
                                     const TemplateRequest &request,
                                     const Tokenizer *tokenizer);

  /// A conversation of one question, after which the assistant is to speak.
  static OrderedJson conversation(const std::optional<std::string> &system,
                                  const std::string &question);

  /// Fails if there is no template for conversations without tools, or if it
  /// cannot be parsed.
  Status check();

  /// Whether one of the templates contains a text.
  bool mentions(std::string_view text) const;
  /// The template of conversations with tools or without; empty without one.
  std::string_view source(bool hasTools) const;

  /// Renders an object with `messages`, in the form of OpenAI's API or that of
  /// the template (see Messages.h), and any other variables. As in
  /// transformers, `tools` and `documents` are none and `add_generation_prompt`
  /// is false where they are not given. The text is to be encoded without
  /// adding special tokens.
  Expected<std::string> render(OrderedJson variables);

private:
  Expected<const ChatTemplate *> parsed(const ModelTemplates::Named &named);
  MessageForms formsOf(const ModelTemplates::Named &named,
                       const ChatTemplate &chat);
  OrderedJson withDefaults(OrderedJson variables) const;

  ModelTemplates templates;
  std::string shownName;             ///< Of the template, in messages.
  std::unique_ptr<std::mutex> mutex; ///< Of the following.
  std::map<std::string, Expected<ChatTemplate>> parsedTemplates; ///< By name.
  std::map<std::string, MessageForms> messageForms;              ///< By name.
};

} // namespace llmir

#endif // LLMIR_SERVER_CHATPROMPT_H

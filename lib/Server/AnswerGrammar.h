//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grammar of an answer in a conversation: reasoning, content and calls of
// tools in the markup of the model's family.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SERVER_ANSWERGRAMMAR_H
#define LLMIR_LIB_SERVER_ANSWERGRAMMAR_H

#include "llmir/Constraint/Grammar.h"
#include "llmir/Server/ConstraintReader.h"

namespace llmir::server {

class AnswerGrammar {
public:
  using Node = Grammar::Node;

  /// All must outlive it.
  AnswerGrammar(Grammar &grammar, const Tokenizer &tokenizer,
                const ConversationForm &conversation);

  /// The content, with its markup.
  Node content(Node text);
  /// One or more calls of the conversation's tools. Unsupported for families
  /// whose calls cannot be constrained.
  Expected<Node> calls();
  /// What an answer is, with the reasoning before it that the prompt has begun,
  /// or that the model may begin.
  Expected<Node> whole(Node body, bool mayReason);
  /// The marker of reasoning; empty if there is none.
  std::string_view reasoningBegin() const { return spelling.reasoningBegin; }

private:
  Node markup(std::string_view text);
  Node untilMarkup(std::string_view text);
  int32_t specialAt(std::string_view text) const;
  Expected<Node> call(const OrderedJson &tool, const CallSpelling &form,
                      const std::string &place);

  Grammar &grammar;
  const Tokenizer &tokenizer;
  const ConversationForm &conversation;
  const AnswerSpelling spelling;
  std::vector<int32_t> special; ///< Tokens.
};

} // namespace llmir::server

#endif // LLMIR_LIB_SERVER_ANSWERGRAMMAR_H

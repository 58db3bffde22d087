//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a template into data and the tokens of its tags.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_LEXER_H
#define LLMIR_LIB_CHATTEMPLATE_LEXER_H

#include "Heap.h"

#include <string>
#include <string_view>
#include <vector>

namespace llmir::chat {

enum class TokenKind : uint8_t {
  Data,
  VariableBegin,
  VariableEnd,
  BlockBegin,
  BlockEnd,
  Name,
  String,
  Integer,
  Float,
  Operator,
  End,
};

struct Token {
  TokenKind kind;
  Position position;
  /// A name, an operator, the digits of a number without underscores, the value
  /// of a string, or data.
  std::string text;

  bool isOperator(std::string_view spelling) const {
    return kind == TokenKind::Operator && text == spelling;
  }
  bool isName(std::string_view name) const {
    return kind == TokenKind::Name && text == name;
  }
};

/// The tokens, ending with an End. Applies trim_blocks and lstrip_blocks and
/// the signs of tags. The source is valid UTF-8.
std::vector<Token> tokenize(std::string_view source);

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_LEXER_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"

#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmir::mllm;

Lexer::Lexer(StringRef text, StringRef fileName, MLIRContext &context)
    : first(text.begin()), at(text.begin()), last(text.end()),
      file(StringAttr::get(&context, fileName)) {
  lines.push_back(first);
  for (const char *each = first; each != last; ++each)
    if (*each == '\n')
      lines.push_back(each + 1);
}

Location Lexer::location(const char *place) const {
  auto line = std::prev(llvm::upper_bound(lines, place));
  return FileLineColLoc::get(file,
                             static_cast<unsigned>(line - lines.begin()) + 1,
                             static_cast<unsigned>(place - *line) + 1);
}

void Lexer::skipBlanks() {
  while (at != last) {
    if (llvm::isSpace(*at)) {
      ++at;
    } else if (*at == '/' && last - at > 1 && at[1] == '/') {
      while (at != last && *at != '\n')
        ++at;
    } else {
      return;
    }
  }
}

static bool isWordStart(char c) { return llvm::isAlpha(c) || c == '_'; }
static bool isWordPart(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
}

static bool isValuePart(char c) { return isWordPart(c) || c == '-'; }

bool llmir::mllm::isValueName(StringRef name) {
  return !name.empty() && name.size() <= Lexer::kMaxNameBytes &&
         llvm::all_of(name, isValuePart) && !llvm::all_of(name, llvm::isDigit);
}

/// After the opening quote.
Token Lexer::lexQuoted(Token::Kind kind, const char *start) {
  std::string text;
  for (; at != last && *at != '"'; ++at) {
    if (*at == '\n')
      return bad(start,
                 "a text ends at the end of its line; close it with '\"'");
    if (*at != '\\') {
      text += *at;
      continue;
    }
    if (++at == last)
      break;
    if (*at == 'n' || *at == 't') {
      text += *at == 'n' ? '\n' : '\t';
    } else if (*at == '"' || *at == '\\') {
      text += *at;
    } else if (last - at > 1 && llvm::isHexDigit(at[0]) &&
               llvm::isHexDigit(at[1])) {
      text += static_cast<char>(llvm::hexFromNibbles(at[0], at[1]));
      ++at;
    } else {
      return bad(at, "'\\' in a text is followed by n, t, \\, \" or two "
                     "hexadecimal digits");
    }
  }
  if (at == last)
    return bad(start, "a text does not end; close it with '\"'");
  ++at;
  return {kind, std::move(text), start};
}

Token Lexer::lexNumber(const char *start) {
  auto skipDigits = [&] {
    while (at != last && llvm::isDigit(*at))
      ++at;
  };
  skipDigits();
  if (at != last && *at == '.') {
    ++at;
    skipDigits();
  }
  if (at != last && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != last && (*at == '+' || *at == '-'))
      ++at;
    skipDigits();
  }
  if (at - start > 64)
    return bad(start, "a number has more than 64 characters");
  return {Token::Number, std::string(start, at), start};
}

Token Lexer::next() {
  skipBlanks();
  const char *start = at;
  if (at == last)
    return {Token::End, {}, start};
  char c = *at++;
  if (c == '"')
    return lexQuoted(Token::String, start);
  if (llvm::isDigit(c) || (c == '-' && at != last && llvm::isDigit(*at)))
    return lexNumber(start);
  if (c == '-' && at != last && *at == '>') {
    ++at;
    return {Token::Arrow, "->", start};
  }
  if (isWordStart(c) || c == '@' || c == '%') {
    if (c == '@' && at != last && *at == '"') {
      ++at;
      Token quoted = lexQuoted(Token::Symbol, start);
      if (quoted.text.size() > kMaxNameBytes)
        return bad(start, "a name is longer than 1024 bytes");
      return quoted;
    }
    while (at != last && (c == '%' ? isValuePart(*at) : isWordPart(*at)))
      ++at;
    std::string text(isWordStart(c) ? start : start + 1, at);
    if (text.size() > kMaxNameBytes)
      return bad(start, "a name is longer than 1024 bytes");
    if (text.empty())
      return bad(start, ("a name is missing after '" + Twine(c) + "'").str());
    if (c == '@')
      return {Token::Symbol, std::move(text), start};
    if (c == '%')
      return {Token::Value, std::move(text), start};
    bool isQuoted = at != last && *at == '"';
    if (isQuoted && (text == "mlir" || text == "op")) {
      ++at;
      return lexQuoted(text == "op" ? Token::Op : Token::MLIR, start);
    }
    return {Token::Word, std::move(text), start};
  }
  if (StringRef("()[]{}<>:,=+*?-").contains(c))
    return {Token::Sign, std::string(1, c), start};
  if (llvm::isPrint(c))
    return bad(start, ("'" + Twine(c) + "' has no meaning here").str());
  return bad(start, "the byte " +
                        std::to_string(static_cast<unsigned char>(c)) +
                        " has no meaning here");
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens and limits of the MLLM text format.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_MLLMTEXT_LEXER_H
#define LLMIR_LIB_MLLMTEXT_LEXER_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace llmir::mllm {

struct Token {
  enum Kind {
    End,
    Bad,    ///< `text` is the error.
    Word,   ///< linalg.kCPU.LinearOp
    Symbol, ///< @model.norm; `text` without '@' and quotes
    Value,  ///< %453; `text` without '%'
    Number, ///< 12, -3, 1.5e-3
    String, ///< "…"; `text` without quotes and escapes
    MLIR,   ///< mlir"…", likewise
    Op,     ///< op"…", likewise
    Arrow,  ///< ->
    Sign,   ///< One character: ( ) [ ] { } < > : , = + * ? -
  };
  Kind kind = End;
  std::string text;
  const char *start = nullptr; ///< Position in the input.
};

/// Whether "%name" is a single token and not a number.
bool isValueName(llvm::StringRef name);

/// Splits text into tokens. Names are at most kMaxNameBytes long; a comment
/// begins with `//` and ends with its line.
class Lexer {
public:
  static constexpr size_t kMaxNameBytes = 1024;

  Lexer(llvm::StringRef text, llvm::StringRef fileName,
        mlir::MLIRContext &context);

  Token next();
  /// Continues at this position.
  void resetTo(const char *place) { at = place; }
  const char *end() const { return last; }
  mlir::Location location(const char *place) const;

private:
  void skipBlanks();
  Token lexQuoted(Token::Kind kind, const char *start);
  Token lexNumber(const char *start);
  Token bad(const char *start, std::string why) {
    return {Token::Bad, std::move(why), start};
  }

  const char *first;
  const char *at;
  const char *last;
  mlir::StringAttr file;
  std::vector<const char *> lines; ///< Start of each line.
};

} // namespace llmir::mllm

#endif // LLMIR_LIB_MLLMTEXT_LEXER_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of an answer, which grows token by token and ends before a stop.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_ANSWERTEXT_H
#define LLMIR_SERVER_ANSWERTEXT_H

#include "llmir/Support/Span.h"
#include "llmir/Tokenizer/StreamDecoder.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// The number of characters of a text in UTF-8.
int64_t countCharacters(std::string_view text);

struct AnswerTextOptions {
  /// Texts before which the answer ends; after which, if it includes them.
  std::vector<std::string> stops;
  bool includesStop = false;
  /// The text continues one with tokens, so that a leading space is kept.
  bool continuesText = false;
  /// Which special tokens are part of the text; if empty, none are.
  std::function<bool(std::string_view)> keepsSpecialToken;
};

/// How the answer to a prompt continues it: keeps the leading space unless all
/// its tokens are special.
bool continuesText(const Tokenizer *tokenizer, Span<const int32_t> prompt);

/// Text that may be the beginning of a stop is held back, so that what has been
/// returned never has to be taken back. Not thread-safe; movable.
class AnswerText {
public:
  /// Without a tokenizer there is no text, and no need of options. Many answers
  /// may share them.
  AnswerText(const Tokenizer *tokenizer,
             std::shared_ptr<const AnswerTextOptions> options);

  /// Adds a token; returns the text that is now certain. `isEnd`: it ends the
  /// answer, so that it is part of the text only if stops are. Not to be called
  /// after the end.
  std::string add(int32_t token, bool isEnd = false);
  /// Ends the answer, if no stop did; returns what was held back.
  std::string finish();

  /// Whether a stop was found.
  bool hasStopped() const { return stopped; }
  /// Characters of all tokens so far, those that are held back included.
  int64_t numCharacters() const { return characters; }

private:
  std::string append(const std::string &piece);

  const Tokenizer *tokenizer;
  std::shared_ptr<const AnswerTextOptions> options;
  std::optional<StreamDecoder> decoder;
  std::string held; ///< A proper prefix of a stop.
  bool stopped = false;
  int64_t characters = 0;
};

} // namespace llmir

#endif // LLMIR_SERVER_ANSWERTEXT_H

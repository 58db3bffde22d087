//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/AnswerText.h"

#include <algorithm>

namespace llmir {

int64_t countCharacters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) {
    return (byte & 0xC0) != 0x80; // Not within a character of UTF-8.
  });
}

bool continuesText(const Tokenizer *tokenizer, Span<const int32_t> prompt) {
  return tokenizer &&
         std::any_of(prompt.begin(), prompt.end(),
                     [&](int32_t id) { return !tokenizer->isSpecial(id); });
}

AnswerText::AnswerText(const Tokenizer *tokenizer,
                       std::shared_ptr<const AnswerTextOptions> given)
    : tokenizer(tokenizer), options(std::move(given)) {
  if (!tokenizer)
    return;
  StreamDecoderOptions style;
  style.skipSpecialTokens = !options->keepsSpecialToken;
  style.continuesText = options->continuesText;
  decoder.emplace(*tokenizer, style);
}

std::string AnswerText::add(int32_t token, bool isEnd) {
  if (!decoder || (isEnd && !options->includesStop))
    return {};
  // Some tokenizers decode "</s>" to text even when skipping it.
  const bool isText = !tokenizer->isSpecial(token) ||
                      (options->keepsSpecialToken &&
                       options->keepsSpecialToken(tokenizer->tokenText(token)));
  return isText ? append(decoder->feed(token)) : std::string();
}

std::string AnswerText::finish() {
  if (!decoder || stopped)
    return {};
  std::string text = append(decoder->flush());
  if (!stopped)
    text += held;
  held.clear();
  return text;
}

/// The length of the longest end of `text` that begins `stop`, but is not all
/// of it.
static size_t beginningOf(std::string_view stop, std::string_view text) {
  for (size_t length = std::min(stop.size() - 1, text.size()); length > 0;
       --length)
    if (stop.substr(0, length) == text.substr(text.size() - length))
      return length;
  return 0;
}

std::string AnswerText::append(const std::string &piece) {
  characters += countCharacters(piece);
  std::string text = std::move(held) + piece;
  held.clear();
  size_t first = std::string::npos, end = 0, kept = 0;
  for (const std::string &stop : options->stops) {
    if (const size_t at = text.find(stop); at < first) {
      first = at;
      end = at + (options->includesStop ? stop.size() : 0);
    }
    kept = std::max(kept, beginningOf(stop, text));
  }
  stopped = first != std::string::npos;
  if (stopped) {
    text.resize(end);
    return text;
  }
  held = text.substr(text.size() - kept);
  text.resize(text.size() - kept);
  return text;
}

} // namespace llmir

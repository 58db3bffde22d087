//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files that list tokens as bytes by rank: tekken.json and tiktoken.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_RANKFILES_H
#define LLMIR_LIB_TOKENIZER_RANKFILES_H

#include "TokenizerSpec.h"

#include "llmir/Support/Json.h"

#include <deque>

namespace llmir {

/// The contents of such a file.
struct RankedVocabulary {
  struct Token {
    std::string_view text; ///< In the byte-level alphabet, or as it is.
    uint64_t id;
    bool isAdded;   ///< Matched in the text, not made by merging.
    bool isSpecial; ///< Of those: a control token.
  };
  std::vector<Token> tokens;
  std::deque<std::string> texts; ///< What `tokens` refer to.
  std::string pattern;
  bool composes = false; ///< NFC.
  bool addsBos = false;
  std::string bos, eos, unknown, padding;

  /// `bytes` are those of a token that is made by merging.
  void addBytes(std::string_view bytes, uint64_t id);
  void addSpecial(std::string text, uint64_t id, bool isSpecial = true);
};

/// The tokenizer of a vocabulary; `config` may name other special tokens.
Expected<Tokenizer> rankedTokenizer(RankedVocabulary vocabulary,
                                    const Json &config,
                                    const std::string &name);

/// Whether a file has the form of tekken.json, judging from its beginning.
bool looksLikeTekken(std::string_view json);
Expected<Tokenizer> tokenizerFromTekken(std::string_view json,
                                        const Json &config,
                                        const std::string &name);

/// Whether a file begins with a line of tiktoken's: base64, space, rank.
bool looksLikeTiktoken(std::string_view text);
/// The vocabulary's size tells its pattern and its special tokens, unless the
/// config has them in added_tokens_decoder.
Expected<Tokenizer> tokenizerFromTiktoken(std::string_view text,
                                          const Json &config,
                                          const std::string &name);

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_RANKFILES_H

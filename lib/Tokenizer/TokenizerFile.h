//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contents of a tokenizer.json. Vocabulary and merges, nearly all of the
// file, are parsed directly into flat arrays; the rest becomes a small tree.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_TOKENIZERFILE_H
#define LLMIR_LIB_TOKENIZER_TOKENIZERFILE_H

#include "TokenizerSpec.h"

#include "llmir/Support/Json.h"

namespace llmir {

struct TokenizerFile {
  TokenTexts vocabulary;      ///< In file order.
  std::vector<uint64_t> ids;  ///< Of the vocabulary's texts, if an object.
  std::vector<double> scores; ///< Of the vocabulary's texts, if a list.
  TokenTexts merges;          ///< Left and right parts alternate.
  bool hasVocabulary = false; ///< model.vocab is an object.
  bool hasPieces = false;     ///< model.vocab is a list.
  bool hasMerges = false;     ///< model.merges is a list.
  Json rest = Json(nullptr);  ///< Everything else.

  static Expected<TokenizerFile> parse(std::string_view json,
                                       const std::string &name);
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_TOKENIZERFILE_H

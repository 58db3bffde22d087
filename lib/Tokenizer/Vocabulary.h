//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vocabulary and its properties, as given by the `tokenizer.ggml.*` keys of a
// GGUF file. Plain data, filled in by tokenizerFromGGUF (FromGGUF.h).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_VOCABULARY_H
#define LLMIR_LIB_TOKENIZER_VOCABULARY_H

#include "llmir/Support/Span.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace llmir {

/// The kind of a piece, numbered as in GGUF and SentencePiece.
enum class TokenType : int32_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6,
};

/// Views whose data must outlive the call of Tokenizer::fromVocabulary, which
/// copies it. Nothing here has been validated; fromVocabulary does so.
struct VocabularyData {
  /// "llama" (SentencePiece BPE), "t5" (Unigram), "gpt2" (byte-level BPE),
  /// "gemma4" (BPE of characters) or "bert" (WordPiece).
  std::string_view model;
  std::string_view pre; ///< Pre-tokenizer's name ("llama-bpe", "qwen2", …).
  std::vector<std::string_view> tokens; ///< Text by id.
  std::vector<float> scores;  ///< By id; required by "llama" and "t5".
  std::vector<int32_t> types; ///< TokenType by id; empty = all normal.
  std::vector<std::string_view> merges; ///< "left right" by rank; for BPE.
  std::string_view charsmap;            ///< For "llama" and "t5"; may be empty.
  std::optional<int64_t> bos, eos, unknown, separator, padding;
  std::optional<bool> addBos, addEos, addSeparator, addSpacePrefix;
  std::optional<bool> lowercase, stripAccents; ///< For "bert".
  bool removeExtraWhitespaces = false;
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_VOCABULARY_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vocabulary with its facts, as the keys `tokenizer.ggml.*` of a GGUF file
// give them. Plain data: tokenizerFromGGUF (FromGGUF.h) fills it.
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

/// How a piece is used; the numbers are GGUF's and SentencePiece's.
enum class TokenType : int32_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6,
};

/// Views only: what they point to must outlive Tokenizer::fromVocabulary, which
/// copies. Nothing here need be valid; fromVocabulary checks it.
struct VocabularyData {
  std::string_view model; ///< "llama" (SentencePiece BPE) or "gpt2" (BPE).
  std::string_view pre;   ///< Pre-tokenizer's name ("llama-bpe", "qwen2", …).
  std::vector<std::string_view> tokens; ///< Text by id.
  std::vector<float> scores;            ///< By id; needed by "llama".
  std::vector<int32_t> types; ///< TokenType by id; empty = all normal.
  std::vector<std::string_view> merges; ///< "left right" by rank; for "gpt2".
  std::optional<int64_t> bos, eos, unknown, padding;
  std::optional<bool> addBos, addEos, addSpacePrefix;
  bool removeExtraWhitespaces = false;
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_VOCABULARY_H

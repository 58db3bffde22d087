//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tokenizer.ggml.* keys of a tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOKENIZER_TOGGUF_H
#define LLMIR_TOKENIZER_TOGGUF_H

#include "llmir/Checkpoint/GGUFWriter.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <string>
#include <vector>

namespace llmir {

struct GGUFTokenizerOptions {
  /// Rows of the embedding: there is a token for each, unused ones at the end.
  int64_t rows = 0;
  /// tokenizer.ggml.pre; empty: the one that splits text as the tokenizer.
  std::string preTokenizer;
  int64_t bosToken = -1; ///< If the tokenizer names none.
  /// Tokens that end a text; the first is the EOS token.
  std::vector<int64_t> endTokens;
};

/// Adds the keys. The tokenizer that tokenizerFromGGUF() would read from them
/// is compared with the original on texts of many scripts; Unsupported, with
/// the first difference, if they do not agree, or if GGUF has no such kind of
/// tokenizer.
Status addTokenizerKeys(const Tokenizer &tokenizer,
                        const GGUFTokenizerOptions &options, GGUFKeys &keys);

} // namespace llmir

#endif // LLMIR_TOKENIZER_TOGGUF_H

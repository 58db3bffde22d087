//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the readers of the different sources share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_SOURCES_H
#define LLMIR_LIB_TOKENIZER_SOURCES_H

#include "TokenizerSpec.h"

#include "Vocabulary.h"

#include "llmir/Support/Json.h"

namespace llmir {

/// GPT-2's pattern, which a ByteLevel stage with its own pattern stands for.
extern const char *const gpt2Pattern;

/// A config is small; as a tree it takes far more memory than as text.
inline JsonLimits tokenizerConfigLimits() {
  JsonLimits limits;
  limits.maxBytes = uint64_t(16) << 20;
  return limits;
}

/// The object in tokenizer_config.json; empty for an empty text.
Expected<Json> parseTokenizerConfig(std::string_view json);

/// A token in tokenizer_config.json: a string or an object with `content`.
/// Empty where there is none.
std::string configToken(const Json &config, const char *key);

/// Sets BOS, EOS, UNK and PAD from the config's texts where the vocabulary
/// spells them.
void applyConfigTokens(const Json &config, TokenizerSpec &spec);

/// The tokens by id; ids between them stay without token. InvalidFile where an
/// id is given twice or lies far beyond the number of tokens.
class TokenCollector {
public:
  Status add(std::string_view text, uint64_t id, uint8_t flags);
  /// Moves tokens and flags into the spec. The texts given to add() must live
  /// until then.
  Status finish(TokenizerSpec &spec);

private:
  struct Token {
    std::string_view text;
    uint32_t id;
    uint8_t flags;
  };
  std::vector<Token> list;
};

/// The id of a text; linear in the vocabulary, -1 where it is none.
int32_t findToken(const TokenizerSpec &spec, std::string_view text);

/// SentencePiece BPE, from a GGUF file or a SentencePiece model.
struct SentencePieceOptions {
  bool prefixEverySegment = true; ///< Else only where the text begins.
};
Expected<TokenizerSpec> sentencePieceSpec(const VocabularyData &data,
                                          SentencePieceOptions options);

/// Byte-level BPE from a GGUF file.
Expected<TokenizerSpec> gpt2Spec(const VocabularyData &data);

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_SOURCES_H

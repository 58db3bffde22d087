//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code shared by the readers of the different sources.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_SOURCES_H
#define LLMIR_LIB_TOKENIZER_SOURCES_H

#include "TokenizerSpec.h"

#include "Vocabulary.h"

#include "llmir/Support/Json.h"

namespace llmir {

/// GPT-2's pattern, the default of a ByteLevel stage.
extern const char *const gpt2Pattern;

const char *qwenPattern();

/// Patterns that split numbers into groups of three digits from the right. They
/// take quadratic time and become DigitGroups; the second one only splits
/// numbers at the end of a word.
extern const char *const digitGroups;
extern const char *const digitGroupsOfWords;

/// The step of a pattern to split by.
PreTokenizerStep
splitStep(std::string pattern, bool isRegex,
          PreTokenizerStep::Behavior behavior = PreTokenizerStep::Isolated);

/// Configs are small; as a tree they take far more memory than as text.
inline JsonLimits tokenizerConfigLimits() {
  JsonLimits limits;
  limits.maxBytes = uint64_t(16) << 20;
  return limits;
}

/// Parses tokenizer_config.json; an empty text gives an empty object.
Expected<Json> parseTokenizerConfig(std::string_view json);

/// A token in tokenizer_config.json: a string or an object with `content`.
/// Empty if missing.
std::string configToken(const Json &config, const char *key);

/// Sets BOS, EOS, UNK and PAD from the config's texts if the vocabulary
/// contains them.
void applyConfigTokens(const Json &config, TokenizerSpec &spec);

/// Collects tokens by id; ids in between have no token. InvalidFile if an id
/// occurs twice or is far beyond the number of tokens.
class TokenCollector {
public:
  Status add(std::string_view text, uint64_t id, uint8_t flags);
  /// Moves tokens and flags into the spec. The texts passed to add() must live
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

struct TokenizerFile;

/// The tokenizer that the contents of a tokenizer.json describe.
Expected<Tokenizer> tokenizerOf(TokenizerFile &file, const Json &config,
                                const std::string &name);

/// WordPiece from vocab.txt.
Expected<Tokenizer> tokenizerFromLines(std::string_view text,
                                       const Json &config,
                                       const std::string &name);
/// Byte-level BPE from vocab.json and merges.txt.
Expected<Tokenizer> tokenizerFromPairs(std::string_view vocabulary,
                                       std::string_view merges,
                                       const Json &config);

/// The id of a text, or -1; linear in the size of the vocabulary.
int32_t findToken(const TokenizerSpec &spec, std::string_view text);

/// SentencePiece BPE or Unigram, from a GGUF file or a SentencePiece model.
struct SentencePieceOptions {
  bool prefixEverySegment = true; ///< Otherwise only the start of the text.
};
Expected<TokenizerSpec> sentencePieceSpec(const VocabularyData &data,
                                          SentencePieceOptions options);

class TokenTable;

/// Fills the merges of a vocabulary that has none: all pairs of tokens that are
/// a token, by its id.
Status addRankedMerges(const TokenTable &table, TokenizerSpec &spec);

/// BPE from a GGUF file: of bytes, or of characters ("gemma4").
Expected<TokenizerSpec> gpt2Spec(const VocabularyData &data);

/// WordPiece from a GGUF file, whose tokens begin with U+2581 at the start of a
/// word.
Expected<TokenizerSpec> bertSpec(const VocabularyData &data);

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_SOURCES_H

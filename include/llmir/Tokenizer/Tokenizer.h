//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion between text and token ids, for byte-level and SentencePiece-style
// BPE, Unigram, WordPiece and WordLevel.
//
// A Tokenizer is an immutable value: copies share one representation, and const
// functions may be called concurrently. Nothing throws; files are fully
// validated before anything is built from them.
//
//   Expected<Tokenizer> tok = Tokenizer::fromFolder(dir);
//   if (!tok)
//     return tok.takeStatus();
//   Expected<std::vector<int32_t>> ids = tok->encode("Hello");
//   std::string text = tok->decode(*ids, /*skipSpecialTokens=*/true);
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOKENIZER_TOKENIZER_H
#define LLMIR_TOKENIZER_TOKENIZER_H

#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

struct TokenizerImpl;
struct VocabularyData;

struct EncodeOptions {
  /// Add the tokens that the model expects around a text (BOS, EOS). Disable
  /// for a rendered chat template, which spells them itself.
  bool addSpecialTokens = true;
  /// Map special tokens that occur in the text ("<|im_end|>") to their ids;
  /// otherwise they are tokenized like any other text.
  bool matchSpecialTokens = true;
};

class Tokenizer {
public:
  /// The tokenizer of a Hugging Face directory: tokenizer.json, else
  /// tokenizer.model, tekken.json, spiece.model, tiktoken.model, vocab.txt
  /// (BERT), or vocab.json with merges.txt (GPT-2); tokenizer_config.json, if
  /// present, names BOS, EOS, UNK and PAD. NotFound if the directory contains
  /// none.
  static Expected<Tokenizer> fromFolder(const std::string &folder);
  /// A single tokenizer.json, tekken.json, SentencePiece model or tiktoken file
  /// (detected by content), or a vocab.txt (by its name).
  static Expected<Tokenizer> fromFile(const std::string &path);
  /// From the contents of tokenizer.json or tekken.json and of
  /// tokenizer_config.json (may be empty). `name` names the file in errors.
  /// Unsupported, naming the stage, if LLMIR does not implement a stage.
  static Expected<Tokenizer>
  fromTokenizerJson(std::string_view json, std::string_view configJson = {},
                    const std::string &name = "tokenizer.json");
  /// From the contents of a SentencePiece model (BPE or Unigram) or of a
  /// tiktoken file (by its size: GPT, Llama 3, GLM-4, Qwen, Kimi K2) and of
  /// tokenizer_config.json (may be empty).
  static Expected<Tokenizer>
  fromSentencePiece(std::string_view model, std::string_view configJson = {},
                    const std::string &name = "tokenizer.model");
  /// From a vocabulary as described by GGUF metadata.
  static Expected<Tokenizer> fromVocabulary(const VocabularyData &data);

  /// The compact form stored in artifacts.
  std::vector<uint8_t> serialize() const;
  /// Reads the output of serialize(); the bytes may be freed afterwards.
  /// Malformed bytes give InvalidFile, never undefined behavior.
  static Expected<Tokenizer> load(Span<const uint8_t> bytes);

  /// The ids of a text. Linear in its length for a single class of characters,
  /// n log n in the worst case. InvalidArgument with the byte offset if the
  /// text is not UTF-8; OutOfRange if the tokenizer's stages expand it to more
  /// than 32 times its size (plus 4 KiB), or if a pattern is too expensive.
  Expected<std::vector<int32_t>> encode(std::string_view text,
                                        EncodeOptions options = {}) const;
  /// Whether decode() accepts the ids: OutOfRange if an id is outside the
  /// vocabulary, or if their text may exceed 1 KiB per id (plus 64 KiB) or 256
  /// MiB.
  Status checkIds(Span<const int32_t> ids) const;
  /// The text of ids, always valid UTF-8. An id without a token (a padding row
  /// of the embedding) contributes nothing. `skipSpecialTokens` omits special
  /// tokens whose decoded text equals their own; as in the reference
  /// implementation, one that normalization changes ("<s>" to "▁<s>") is kept.
  std::string decode(Span<const int32_t> ids,
                     bool skipSpecialTokens = false) const;

  /// One more than the largest id that has a token.
  int64_t vocabSize() const;
  bool hasToken(int32_t id) const;
  /// The token as spelled in the vocabulary ("Ġthe", "▁the", "<0x0A>"); empty
  /// if there is none. Valid while this Tokenizer or a copy exists.
  std::string_view tokenText(int32_t id) const;
  /// The id of a token, spelled as in the vocabulary.
  std::optional<int32_t> tokenId(std::string_view text) const;
  /// Whether the token is declared special (control) rather than text.
  bool isSpecial(int32_t id) const;

  /// -1 if the tokenizer does not name one.
  int32_t bosId() const;
  int32_t eosId() const;
  int32_t unkId() const;
  int32_t padId() const;
  /// The ids that encode() adds before and after a text.
  Span<const int32_t> prefixIds() const;
  Span<const int32_t> suffixIds() const;

  /// The internal representation, for the sources of this library.
  explicit Tokenizer(std::shared_ptr<const TokenizerImpl> impl);
  const TokenizerImpl &impl() const { return *representation; }

private:
  std::shared_ptr<const TokenizerImpl> representation;
};

} // namespace llmir

#endif // LLMIR_TOKENIZER_TOKENIZER_H

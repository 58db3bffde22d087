//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text to token ids and back, for byte-level BPE and SentencePiece-style BPE.
//
// A Tokenizer is an immutable value: copies share one representation, and every
// const function may be called from several threads at once. Nothing throws;
// files are checked in full before anything is built from them.
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
  /// Add what the model expects around a text (BOS, EOS). Off for a rendered
  /// chat template, which spells them itself.
  bool addSpecialTokens = true;
  /// Turn special tokens that the text spells ("<|im_end|>") into their ids;
  /// off, they are tokenized like any other text.
  bool matchSpecialTokens = true;
};

class Tokenizer {
public:
  /// The tokenizer of a Hugging Face folder: tokenizer.json, else
  /// tokenizer.model; tokenizer_config.json, where present, names BOS, EOS, UNK
  /// and PAD. NotFound where the folder holds neither.
  static Expected<Tokenizer> fromFolder(const std::string &folder);
  /// A lone tokenizer.json or SentencePiece model (told apart by content).
  static Expected<Tokenizer> fromFile(const std::string &path);
  /// The content of tokenizer.json, and of tokenizer_config.json or empty.
  /// `name` is what errors call the file. Unsupported names a stage that LLMIR
  /// does not know.
  static Expected<Tokenizer>
  fromTokenizerJson(std::string_view json, std::string_view configJson = {},
                    const std::string &name = "tokenizer.json");
  /// The content of a SentencePiece BPE model, and of tokenizer_config.json or
  /// empty.
  static Expected<Tokenizer>
  fromSentencePiece(std::string_view model, std::string_view configJson = {},
                    const std::string &name = "tokenizer.model");
  /// A vocabulary as GGUF metadata describes it.
  static Expected<Tokenizer> fromVocabulary(const VocabularyData &data);

  /// The compact form that an artifact carries.
  std::vector<uint8_t> serialize() const;
  /// Reads what serialize() wrote; the bytes may be freed afterwards. Damaged
  /// or hostile bytes give InvalidFile, never undefined behaviour.
  static Expected<Tokenizer> load(Span<const uint8_t> bytes);

  /// The ids of a text. Linear in its length for one class of characters,
  /// n log n at worst. InvalidArgument with the byte's offset where the text is
  /// not UTF-8; OutOfRange where the tokenizer's stages make more than 32 times
  /// as many bytes of it (and 4 KiB), or a pattern costs too much.
  Expected<std::vector<int32_t>> encode(std::string_view text,
                                        EncodeOptions options = {}) const;
  /// Whether decode() takes the ids: OutOfRange for one outside the vocabulary,
  /// or where their text may be longer than 1 KiB an id (and 64 KiB) or than
  /// 256 MiB.
  Status checkIds(Span<const int32_t> ids) const;
  /// The text of ids, always valid UTF-8. An id without a token (a padded row
  /// of the embedding) contributes nothing. Skipping leaves out the special
  /// tokens whose decoded text is their own: as in the reference
  /// implementation, one that normalization changes ("<s>" to "▁<s>") stays.
  std::string decode(Span<const int32_t> ids,
                     bool skipSpecialTokens = false) const;

  /// One more than the largest id that has a token.
  int64_t vocabSize() const;
  bool hasToken(int32_t id) const;
  /// The token as the vocabulary spells it ("Ġthe", "▁the", "<0x0A>"); empty
  /// where there is none. Valid as long as this Tokenizer or a copy lives.
  std::string_view tokenText(int32_t id) const;
  /// The id of a token spelled as in the vocabulary.
  std::optional<int32_t> tokenId(std::string_view text) const;
  /// Whether the token is declared special (control) rather than text.
  bool isSpecial(int32_t id) const;

  /// -1 where the tokenizer names none.
  int32_t bosId() const;
  int32_t eosId() const;
  int32_t unkId() const;
  int32_t padId() const;
  /// What encode() puts before and after a text when it adds special tokens.
  Span<const int32_t> prefixIds() const;
  Span<const int32_t> suffixIds() const;

  /// The representation, for this library's own sources.
  explicit Tokenizer(std::shared_ptr<const TokenizerImpl> impl);
  const TokenizerImpl &impl() const { return *representation; }

private:
  std::shared_ptr<const TokenizerImpl> representation;
};

} // namespace llmir

#endif // LLMIR_TOKENIZER_TOKENIZER_H

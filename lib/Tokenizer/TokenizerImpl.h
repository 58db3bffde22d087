//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The representation of a Tokenizer: its description and the tables built from
// it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_TOKENIZERIMPL_H
#define LLMIR_LIB_TOKENIZER_TOKENIZERIMPL_H

#include "AddedTokens.h"
#include "BytePairEncoder.h"
#include "DecoderChain.h"
#include "Stages.h"
#include "UnigramEncoder.h"
#include "WordEncoder.h"

namespace llmir {

struct TokenizerImpl {
  explicit TokenizerImpl(TokenizerSpec spec) : spec(std::move(spec)) {}
  TokenizerImpl(const TokenizerImpl &) = delete; // Tables point into spec.

  Status build();

  /// Appends the ids of a piece (valid UTF-8, not empty).
  Status encodePiece(std::string_view piece, std::vector<int32_t> &ids) const;

  /// Whether the last pre-tokenizer maps bytes to characters.
  bool mapsBytesLast() const {
    return !preTokenizers.empty() &&
           preTokenizers.back().step.kind == PreTokenizerStep::ByteLevel;
  }

  /// The decoded spelling of an id; empty for ids without a token.
  std::string_view decodedText(int32_t id) const;
  bool skipsInDecoding(int32_t id) const;

  const TokenizerSpec spec;
  TokenTable tokens;
  /// The model; only the encoder of spec.model is built.
  BytePairEncoder pairs;
  UnigramEncoder unigrams;
  WordEncoder words;
  AddedTokenMatcher rawTokens;        ///< Matched in the raw text.
  AddedTokenMatcher normalizedTokens; ///< Matched in normalized text.
  std::vector<Normalizer> normalizers;
  std::vector<PreTokenizer> preTokenizers;
  size_t decoderGrowth = 1; ///< See decoderGrowthOf().

  /// Properties of added tokens, sorted by id.
  struct AddedFacts {
    int32_t id;
    bool isSpecial;
    /// Omitted when special tokens are skipped.
    bool isSkipped;
    std::string decoded;
  };
  std::vector<AddedFacts> added;
  const AddedFacts *addedFacts(int32_t id) const;

private:
  Status checkTokens() const;
  Status checkIds() const;
  Status checkMerges() const;
  Status checkModel() const;
  Status checkAddedTokens() const;
  Status buildStages();
  void buildModel();
  Status buildAddedTokens();
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_TOKENIZERIMPL_H

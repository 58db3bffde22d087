//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every source of a tokenizer is translated into: plain data that names
// each stage and its parameters. buildTokenizer checks it and makes the tables
// that encoding and decoding use.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_TOKENIZERSPEC_H
#define LLMIR_LIB_TOKENIZER_TOKENIZERSPEC_H

#include "llmir/Tokenizer/Tokenizer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// A stage of normalization: whole text to whole text.
struct NormalizerStep {
  enum Kind : uint8_t {
    NFC,
    NFD,
    NFKC,
    NFKD,
    Nmt, ///< SentencePiece's cleaning of control characters.
    Lowercase,
    StripAccents, ///< Drops combining marks.
    StripLeft,    ///< Drops white space at the start.
    StripRight,
    CollapseSpaces, ///< Spaces in a row become one, those at the ends none.
    Prepend,        ///< Puts `content` before a text that is not empty.
    PrependFirst,   ///< The same, for the text's first segment only.
    ReplaceString,  ///< Every `pattern` becomes `content`.
    ReplaceRegex,
    ByteLevel, ///< Every byte becomes its printable character.
    KindCount,
  };
  Kind kind = NFC;
  std::string pattern;
  std::string content;
};

/// A stage of pre-tokenization: pieces to smaller pieces.
struct PreTokenizerStep {
  enum Kind : uint8_t {
    SplitRegex,  ///< By matches of `pattern`.
    SplitString, ///< By occurrences of `pattern`.
    PrefixSpace, ///< Puts a space before a piece without one.
    ByteLevel,   ///< Every byte becomes its printable character.
    Metaspace,   ///< Spaces become `pattern`; put before a piece by `scheme`.
    KindCount,
  };
  enum Behavior : uint8_t {
    Isolated,
    Removed,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous,
    BehaviorCount,
  };
  enum Scheme : uint8_t { Always, First, Never, SchemeCount };
  Kind kind = SplitRegex;
  Behavior behavior = Isolated;
  Scheme scheme = Always;
  bool invert = false; ///< What lies between matches counts as the match.
  std::string pattern;
};

/// A stage of decoding: list of tokens to list of tokens.
struct DecoderStep {
  enum Kind : uint8_t {
    JoinWithSpaces, ///< What a tokenizer without a decoder does.
    ByteLevel,      ///< Printable characters back to bytes, all in one.
    ByteFallback,   ///< Rows of <0xNN> to characters.
    Fuse,           ///< All tokens become one.
    ReplaceString,
    Strip, ///< At most `start` times `pattern` at the start, `stop` at the end.
    Metaspace, ///< `pattern` to a space; in the first token to nothing.
    KindCount,
  };
  Kind kind = Fuse;
  bool dropFirst = false; ///< Metaspace: the first token's goes.
  uint32_t start = 0, stop = 0;
  std::string pattern;
  std::string content;
};

/// A token that is looked for in the text before anything else.
struct AddedToken {
  enum Flags : uint8_t {
    Special = 1,
    Normalized = 2, ///< Looked for after normalization.
    LeftStrip = 4,  ///< Takes the white space before it.
    RightStrip = 8,
    SingleWord = 16,
  };
  int32_t id = 0;
  uint8_t flags = 0;
  std::string text;

  bool has(Flags flag) const { return (flags & flag) != 0; }
};

/// Two tokens that become one; the rank is the position in the list.
struct MergeRule {
  int32_t left, right, result;
};

/// Texts by id, in one block.
struct TokenTexts {
  std::string text;
  std::vector<uint32_t> offsets = {0}; ///< One more than there are ids.

  size_t size() const { return offsets.size() - 1; }
  std::string_view operator[](size_t id) const {
    return std::string_view(text).substr(offsets[id],
                                         offsets[id + 1] - offsets[id]);
  }
  void append(std::string_view token) {
    text += token;
    offsets.push_back(static_cast<uint32_t>(text.size()));
  }
};

/// Facts about an id.
enum TokenFlags : uint8_t {
  TokenPresent = 1,   ///< The id has a token.
  TokenMergeable = 2, ///< By score: two symbols may become this one.
  TokenUnused = 4,    ///< By score: split again after merging.
};

/// Ids stay below this, merges as well: tables keep 8 bits for a tag.
constexpr uint32_t maxTokenIds = 1u << 24;
constexpr size_t maxTokenBytes = 1u << 16;
/// Longest text that is looked for before tokenization.
constexpr size_t maxAddedTokenBytes = 512;

struct TokenizerSpec {
  TokenTexts tokens;
  std::vector<uint8_t> flags; ///< TokenFlags by id.

  // The model: BPE by the rank of merges or by the score of pieces.
  bool mergesByScore = false;
  bool byteFallback = false; ///< An unknown character becomes <0xNN> tokens.
  bool fuseUnknown = false;
  bool ignoreMerges = false; ///< A piece that is a token is not merged.
  int32_t unknownToken = -1; ///< What the model gives for unknown characters.
  std::string continuingPrefix, endSuffix;
  std::vector<MergeRule> merges;
  std::vector<float> scores; ///< By id; only by score.

  std::vector<AddedToken> addedTokens;
  std::vector<NormalizerStep> normalizers;
  std::vector<PreTokenizerStep> preTokenizers;
  std::vector<DecoderStep> decoders;
  std::vector<int32_t> prefix, suffix;
  int32_t bos = -1, eos = -1, unknown = -1, padding = -1;
};

/// Checks everything that no source has checked and builds the tables.
Expected<Tokenizer> buildTokenizer(TokenizerSpec spec);

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_TOKENIZERSPEC_H

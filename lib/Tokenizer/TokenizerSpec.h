//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The common description of a tokenizer: plain data that lists each stage and
// its parameters. buildTokenizer checks it and builds the tables used for
// encoding and decoding.
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

/// A stage of normalization, applied to a whole text.
struct NormalizerStep {
  enum Kind : uint8_t {
    NFC,
    NFD,
    NFKC,
    NFKD,
    Nmt, ///< SentencePiece's cleaning of control characters.
    Lowercase,
    StripAccents, ///< Removes combining marks.
    StripLeft,    ///< Removes leading white space.
    StripRight,
    CollapseSpaces, ///< Collapses runs of spaces, removes those at the ends.
    Prepend,        ///< Prepends `content` to a nonempty text.
    PrependFirst,   ///< The same, only for the first segment of the text.
    ReplaceString,  ///< Replaces every `pattern` by `content`.
    ReplaceRegex,
    ByteLevel,        ///< Maps every byte to its printable character.
    Bert,             ///< BERT's cleaning, as `flags` say.
    CharsmapClusters, ///< Charsmap::replaceClusters; `content` is the map.
    CharsmapPrefixes, ///< Charsmap::replacePrefixes.
    StripMarksRight,  ///< Removes `content` at the end, repeatedly.
    KindCount,
  };
  /// What Bert does, in this order.
  enum BertFlags : uint8_t {
    CleanText = 1,       ///< Removes controls, unifies spaces.
    SeparateChinese = 2, ///< A space on both sides of each ideograph.
    RemoveAccents = 4,   ///< Decomposes, removes nonspacing marks.
    LowercaseLetters = 8,
  };
  Kind kind = NFC;
  std::string pattern;
  std::string content;
  uint8_t flags = 0;

  /// Whether `content` is binary data rather than text.
  bool hasCharsmap() const {
    return kind == CharsmapClusters || kind == CharsmapPrefixes;
  }
};

/// A stage of pre-tokenization, which splits pieces further.
struct PreTokenizerStep {
  enum Kind : uint8_t {
    SplitRegex,  ///< By matches of `pattern`.
    SplitString, ///< By occurrences of `pattern`.
    DigitGroups, ///< Numbers into groups of three digits from the right; with
                 ///< a `pattern`, only numbers at the end of a word.
    PrefixSpace, ///< Prepends a space to a piece without one.
    ByteLevel,   ///< Maps every byte to its printable character.
    Metaspace,   ///< Replaces spaces by `pattern`; prepends it by `scheme`.
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
  bool invert = false; ///< Treat the text between matches as the match.
  std::string pattern;
};

/// A stage of decoding, which maps a list of tokens to a list of tokens.
struct DecoderStep {
  enum Kind : uint8_t {
    JoinWithSpaces, ///< The default of a tokenizer without a decoder.
    ByteLevel,      ///< Maps printable characters back to bytes, joined.
    ByteFallback,   ///< Converts runs of <0xNN> to characters.
    Fuse,           ///< Joins all tokens.
    ReplaceString,
    Strip,     ///< Removes up to `start` leading and `stop` trailing `pattern`.
    Metaspace, ///< Maps `pattern` to a space; removes it in the first token.
    WordPiece, ///< A space before each token, or removes its prefix `pattern`.
    CleanUp,   ///< Removes spaces before punctuation and contractions.
    WordSuffix, ///< Maps `pattern` to a space; in the last token, to nothing.
    Collapse,   ///< Drops a token equal to the preceding one.
    DropEmpty,  ///< Drops empty tokens.
    KindCount,
  };
  Kind kind = Fuse;
  bool dropFirst = false; ///< Metaspace: remove it in the first token.
  uint32_t start = 0, stop = 0;
  std::string pattern;
  std::string content;
};

/// A token that is matched in the text before anything else.
struct AddedToken {
  enum Flags : uint8_t {
    Special = 1,
    Normalized = 2, ///< Matched after normalization.
    LeftStrip = 4,  ///< Includes the white space before it.
    RightStrip = 8,
    SingleWord = 16,
  };
  int32_t id = 0;
  uint8_t flags = 0;
  std::string text;

  bool has(Flags flag) const { return (flags & flag) != 0; }
};

/// Two tokens that merge into one; the rank is the index in the list.
struct MergeRule {
  int32_t left, right, result;
};

/// Texts by id, stored contiguously.
struct TokenTexts {
  std::string text;
  std::vector<uint32_t> offsets = {0}; ///< Number of ids plus one.

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

/// Properties of an id.
enum TokenFlags : uint8_t {
  TokenPresent = 1,   ///< The id has a token.
  TokenMergeable = 2, ///< By score: two symbols may merge into this one.
  TokenUnused = 4,    ///< By score: split again after merging.
};

/// How the model makes tokens of a piece of text.
enum class TokenizerModel : uint8_t {
  MergesByRank,  ///< BPE by merge rules.
  MergesByScore, ///< BPE by the scores of the merged tokens.
  Unigram,       ///< The segmentation with the highest sum of scores.
  WordPiece,     ///< The longest token with which the rest begins.
  WordLevel,     ///< The whole piece is a token.
  KindCount,
};

/// Upper bound of ids and merges: tables use the other 8 bits for a tag.
constexpr uint32_t maxTokenIds = 1u << 24;
constexpr size_t maxTokenBytes = 1u << 16;
/// Maximum length of an added token.
constexpr size_t maxAddedTokenBytes = 512;

struct TokenizerSpec {
  TokenTexts tokens;
  std::vector<uint8_t> flags; ///< TokenFlags by id.

  TokenizerModel model = TokenizerModel::MergesByRank;
  bool byteFallback = false; ///< Encode unknown characters as <0xNN> tokens.
  bool fuseUnknown = false;
  bool ignoreMerges = false; ///< Do not merge a piece that is a token.
  /// MergesByRank: the rank of a merge is the id of its result.
  bool ranksAreIds = false;
  /// Unigram: sums are rounded to floats, as by SentencePiece.
  bool sumsInSinglePrecision = false;
  int32_t unknownToken = -1; ///< The token for unknown characters or words.
  /// WordPiece: longer words are unknown.
  uint64_t maxWordCharacters = 100;
  /// How tokens are spelled: the first of a word (WordPiece), the others (BPE,
  /// WordPiece), the last (BPE).
  std::string wordPrefix, continuingPrefix, endSuffix;
  std::vector<MergeRule> merges;
  std::vector<double> scores; ///< By id; MergesByScore and Unigram.

  bool hasScores() const {
    return model == TokenizerModel::MergesByScore ||
           model == TokenizerModel::Unigram;
  }

  std::vector<AddedToken> addedTokens;
  std::vector<NormalizerStep> normalizers;
  std::vector<PreTokenizerStep> preTokenizers;
  std::vector<DecoderStep> decoders;
  std::vector<int32_t> prefix, suffix;
  int32_t bos = -1, eos = -1, unknown = -1, padding = -1;
};

/// Checks everything that sources do not check, and builds the tables.
Expected<Tokenizer> buildTokenizer(TokenizerSpec spec);

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_TOKENIZERSPEC_H

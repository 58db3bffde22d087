//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts a vocabulary to a description of the tokenizer.
//
//===----------------------------------------------------------------------===//

#include "JsonStages.h"
#include "PreTokenizerNames.h"
#include "Sources.h"
#include "Tables.h"
#include "Unicode.h"

namespace llmir {
namespace {

constexpr const char *spaceMark = "\xE2\x96\x81"; // U+2581, "▁".

/// Whether a token is written <0xNN>.
bool isByteToken(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEFabcdef";
  return text.size() == 6 && text.substr(0, 3) == "<0x" && text[5] == '>' &&
         digits.find(text[3]) != std::string_view::npos &&
         digits.find(text[4]) != std::string_view::npos;
}

Status wrongLength(const char *what, size_t has, size_t tokens) {
  return Status(StatusCode::InvalidFile,
                "the vocabulary has " + std::to_string(has) + " " + what +
                    " for " + std::to_string(tokens) + " tokens");
}

/// Tokens with flags, added tokens, and the four special ids.
Status fillTokens(const VocabularyData &data, TokenizerSpec &spec) {
  size_t count = data.tokens.size();
  if (!data.types.empty() && data.types.size() != count)
    return wrongLength("types", data.types.size(), count);
  TokenCollector collector;
  for (size_t id = 0; id < count; ++id) {
    std::string_view text = data.tokens[id];
    int32_t number = data.types.empty() ? 1 : data.types[id];
    if (number < 1 || number > 6)
      return Status(StatusCode::InvalidFile,
                    "token " + std::to_string(id) + " has type " +
                        std::to_string(number) + "; expected 1 to 6");
    auto type = static_cast<TokenType>(number);
    if (type == TokenType::Byte && !isByteToken(text))
      return Status(StatusCode::InvalidFile,
                    "byte token " + std::to_string(id) + " is '" +
                        printable(text) + "'; expected <0xNN>");
    // A token without text is an unused row of the embedding.
    uint8_t flags = text.empty() ? 0 : TokenPresent;
    if (!text.empty() &&
        (type == TokenType::Normal || type == TokenType::UserDefined ||
         type == TokenType::Unused))
      flags |= TokenMergeable;
    if (type == TokenType::Unused)
      flags |= TokenUnused;
    LLMIR_RETURN_IF_ERROR(collector.add(text, id, flags));
    bool isSpecial = type == TokenType::Control || type == TokenType::Unknown;
    if (!text.empty() && (isSpecial || type == TokenType::UserDefined))
      spec.addedTokens.push_back(
          {static_cast<int32_t>(id),
           static_cast<uint8_t>(isSpecial ? AddedToken::Special : 0),
           std::string(text)});
  }
  return collector.finish(spec);
}

Status fillId(const char *name, std::optional<int64_t> from, size_t count,
              int32_t &to) {
  if (!from)
    return Status::ok();
  if (*from < 0 || static_cast<uint64_t>(*from) >= count)
    return Status(StatusCode::InvalidFile,
                  std::string("the ") + name + " token has id " +
                      std::to_string(*from) + "; the vocabulary has " +
                      std::to_string(count) + " tokens");
  to = static_cast<int32_t>(*from);
  return Status::ok();
}

Status fillSpecialIds(const VocabularyData &data, TokenizerSpec &spec) {
  size_t count = data.tokens.size();
  LLMIR_RETURN_IF_ERROR(fillId("BOS", data.bos, count, spec.bos));
  LLMIR_RETURN_IF_ERROR(fillId("EOS", data.eos, count, spec.eos));
  LLMIR_RETURN_IF_ERROR(fillId("unknown", data.unknown, count, spec.unknown));
  return fillId("padding", data.padding, count, spec.padding);
}

Status fillPrefixAndSuffix(bool addBos, bool addEos, TokenizerSpec &spec) {
  if ((addBos && spec.bos < 0) || (addEos && spec.eos < 0))
    return Status(StatusCode::InvalidFile,
                  std::string("the vocabulary adds ") +
                      (addBos && spec.bos < 0 ? "BOS" : "EOS") +
                      " to every text but names no such token");
  if (addBos)
    spec.prefix.push_back(spec.bos);
  if (addEos)
    spec.suffix.push_back(spec.eos);
  return Status::ok();
}

NormalizerStep normalizerStep(NormalizerStep::Kind kind,
                              std::string pattern = {},
                              std::string content = {}) {
  return {kind, std::move(pattern), std::move(content)};
}

DecoderStep decoderStep(DecoderStep::Kind kind, std::string pattern = {},
                        std::string content = {}, uint32_t start = 0) {
  DecoderStep step;
  step.kind = kind;
  step.pattern = std::move(pattern);
  step.content = std::move(content);
  step.start = start;
  return step;
}

/// Parses "left right".
Expected<MergeRule> parseMerge(std::string_view text, size_t rank,
                               const TokenTable &tokens) {
  auto wrong = [&](const std::string &problem) {
    return Status(StatusCode::InvalidFile, "merge " + std::to_string(rank) +
                                               " '" + printable(text) + "' " +
                                               problem);
  };
  // The first space may belong to the left part.
  size_t space = text.find(' ', 1);
  if (text.size() < 3 || space == std::string_view::npos ||
      space + 1 == text.size())
    return wrong("is not of the form 'left right'");
  std::string_view left = text.substr(0, space), right = text.substr(space + 1);
  std::optional<int32_t> leftId = tokens.find(left);
  std::optional<int32_t> rightId = tokens.find(right);
  std::optional<int32_t> result =
      tokens.find(std::string(left) + std::string(right));
  if (!leftId || !rightId || !result)
    return wrong("names a token that is not in the vocabulary");
  return MergeRule{*leftId, *rightId, *result};
}

} // namespace

Expected<TokenizerSpec> sentencePieceSpec(const VocabularyData &data,
                                          SentencePieceOptions options) {
  TokenizerSpec spec;
  if (data.scores.size() != data.tokens.size())
    return wrongLength("scores", data.scores.size(), data.tokens.size());
  LLMIR_RETURN_IF_ERROR(fillTokens(data, spec));
  LLMIR_RETURN_IF_ERROR(fillSpecialIds(data, spec));
  const bool isUnigram = data.model == "t5";
  spec.model =
      isUnigram ? TokenizerModel::Unigram : TokenizerModel::MergesByScore;
  spec.sumsInSinglePrecision = isUnigram;
  spec.scores.assign(data.scores.begin(), data.scores.end());
  spec.byteFallback = true;
  spec.fuseUnknown = true;
  spec.unknownToken = spec.unknown;

  bool prefixes = data.addSpacePrefix.value_or(!isUnigram);
  if (!data.charsmap.empty())
    spec.normalizers.push_back(normalizerStep(NormalizerStep::CharsmapPrefixes,
                                              {}, std::string(data.charsmap)));
  if (data.removeExtraWhitespaces)
    spec.normalizers.push_back(normalizerStep(NormalizerStep::CollapseSpaces));
  if (prefixes)
    spec.normalizers.push_back(normalizerStep(
        options.prefixEverySegment ? NormalizerStep::Prepend
                                   : NormalizerStep::PrependFirst,
        {}, spaceMark));
  spec.normalizers.push_back(
      normalizerStep(NormalizerStep::ReplaceString, " ", spaceMark));
  if (data.removeExtraWhitespaces)
    spec.normalizers.push_back(
        normalizerStep(NormalizerStep::StripMarksRight, {}, spaceMark));

  spec.decoders = {decoderStep(DecoderStep::ReplaceString, spaceMark, " "),
                   decoderStep(DecoderStep::ByteFallback),
                   decoderStep(DecoderStep::Fuse)};
  if (prefixes)
    spec.decoders.push_back(decoderStep(DecoderStep::Strip, " ", {}, 1));
  LLMIR_RETURN_IF_ERROR(fillPrefixAndSuffix(
      data.addBos.value_or(!isUnigram), data.addEos.value_or(isUnigram), spec));
  return spec;
}

Expected<TokenizerSpec> bertSpec(const VocabularyData &data) {
  TokenizerSpec spec;
  LLMIR_RETURN_IF_ERROR(fillTokens(data, spec));
  LLMIR_RETURN_IF_ERROR(fillSpecialIds(data, spec));
  int32_t separator = -1;
  LLMIR_RETURN_IF_ERROR(
      fillId("separator", data.separator, data.tokens.size(), separator));
  spec.model = TokenizerModel::WordPiece;
  spec.unknownToken = spec.unknown;
  spec.wordPrefix = spaceMark;
  const bool lowercases = data.lowercase.value_or(true);
  spec.normalizers.push_back(
      bertNormalizer(/*cleans=*/true, /*separates=*/true,
                     data.stripAccents.value_or(lowercases), lowercases));
  addBertPreTokenizer(spec);
  DecoderStep spaces = decoderStep(DecoderStep::Metaspace, spaceMark);
  spaces.dropFirst = true;
  spec.decoders = {spaces, decoderStep(DecoderStep::CleanUp)};
  LLMIR_RETURN_IF_ERROR(fillPrefixAndSuffix(data.addBos.value_or(true),
                                            data.addEos.value_or(false), spec));
  if (data.addSeparator.value_or(true) && separator >= 0)
    spec.suffix.push_back(separator);
  return spec;
}

/// Fills the merges: those of the file, or without any, all pairs of tokens
/// that are a token, by its id.
static Status fillMerges(const VocabularyData &data, TokenizerSpec &spec) {
  TokenTable tokens;
  LLMIR_RETURN_IF_ERROR(tokens.build(spec.tokens, spec.flags));
  if (data.merges.empty() && data.pre == "kimi-k2")
    return addRankedMerges(tokens, spec);
  if (data.merges.empty() && !data.tokens.empty())
    return Status(StatusCode::InvalidFile,
                  "the vocabulary has no merges ('tokenizer.ggml.merges')",
                  "convert the model again");
  for (std::string_view text : data.merges) {
    Expected<MergeRule> rule = parseMerge(text, spec.merges.size(), tokens);
    if (!rule)
      return rule.takeStatus();
    spec.merges.push_back(*rule);
  }
  return Status::ok();
}

/// The pre-tokenizers of models whose BPE merges characters, not bytes.
static bool mergesCharacters(const VocabularyData &data) {
  return data.model == "gemma4" || data.pre == "gemma4" ||
         data.pre == "granite-embed-multi-311m" || data.pre == "sarvam-moe";
}

static Expected<TokenizerSpec> characterPairsSpec(const VocabularyData &data) {
  TokenizerSpec spec;
  LLMIR_RETURN_IF_ERROR(fillTokens(data, spec));
  LLMIR_RETURN_IF_ERROR(fillSpecialIds(data, spec));
  spec.byteFallback = true;
  spec.fuseUnknown = true;
  spec.unknownToken = spec.unknown;
  spec.normalizers = {
      normalizerStep(NormalizerStep::ReplaceString, " ", spaceMark)};
  spec.decoders = {decoderStep(DecoderStep::ReplaceString, spaceMark, " "),
                   decoderStep(DecoderStep::ByteFallback),
                   decoderStep(DecoderStep::Fuse)};
  LLMIR_RETURN_IF_ERROR(fillMerges(data, spec));
  // The model needs BOS; some files deny it.
  const bool addBos =
      data.pre == "sarvam-moe" ? data.addBos.value_or(false) : spec.bos >= 0;
  LLMIR_RETURN_IF_ERROR(
      fillPrefixAndSuffix(addBos, data.addEos.value_or(false), spec));
  return spec;
}

Expected<TokenizerSpec> gpt2Spec(const VocabularyData &data) {
  if (mergesCharacters(data))
    return characterPairsSpec(data);
  if (data.pre.empty())
    return Status(StatusCode::Unsupported,
                  "the vocabulary does not name its pre-tokenizer "
                  "('tokenizer.ggml.pre')",
                  "convert the model again with a current converter");
  const NamedPreTokenizer *pre = findPreTokenizer(data.pre);
  if (!pre)
    return Status(
        StatusCode::Unsupported,
        "the pre-tokenizer '" + printable(data.pre) + "' is not known",
        "the nearest known ones are " + nearestPreTokenizers(data.pre) +
            "; convert the model for one of them if it is the same");
  TokenizerSpec spec;
  LLMIR_RETURN_IF_ERROR(fillTokens(data, spec));
  LLMIR_RETURN_IF_ERROR(fillSpecialIds(data, spec));
  spec.ignoreMerges = pre->ignoreMerges;
  if (pre->nfc)
    spec.normalizers.push_back(normalizerStep(NormalizerStep::NFC));
  if (data.addSpacePrefix.value_or(false)) {
    PreTokenizerStep prefix;
    prefix.kind = PreTokenizerStep::PrefixSpace;
    spec.preTokenizers.push_back(prefix);
  }
  for (const char *pattern : pre->patterns)
    spec.preTokenizers.push_back(splitStep(pattern, /*isRegex=*/true));
  PreTokenizerStep bytes;
  bytes.kind = PreTokenizerStep::ByteLevel;
  spec.preTokenizers.push_back(bytes);
  spec.decoders = {decoderStep(DecoderStep::ByteLevel)};

  LLMIR_RETURN_IF_ERROR(fillMerges(data, spec));
  LLMIR_RETURN_IF_ERROR(fillPrefixAndSuffix(data.addBos.value_or(pre->addBos),
                                            data.addEos.value_or(false), spec));
  const bool endsWithSeparator = data.pre == "roberta-bpe" ||
                                 data.pre == "jina-v1-en" ||
                                 data.pre == "jina-v2-code";
  if (data.addSeparator.value_or(endsWithSeparator)) {
    int32_t separator = -1;
    LLMIR_RETURN_IF_ERROR(
        fillId("separator", data.separator, data.tokens.size(), separator));
    if (separator >= 0 && spec.suffix.empty())
      spec.suffix.push_back(separator);
  }
  return spec;
}

Expected<Tokenizer> Tokenizer::fromVocabulary(const VocabularyData &data) {
  auto describe = [&]() -> Expected<TokenizerSpec> {
    if (data.model == "llama" || data.model == "t5")
      return sentencePieceSpec(data, SentencePieceOptions());
    if (data.model == "gpt2" || data.model == "gemma4")
      return gpt2Spec(data);
    if (data.model == "bert")
      return bertSpec(data);
    return Status(StatusCode::Unsupported,
                  "the tokenizer model '" + printable(data.model) +
                      "' ('tokenizer.ggml.model') is not supported",
                  "use a model whose tokenizer is one of llama, t5, gpt2, "
                  "gemma4 and bert");
  };
  Expected<TokenizerSpec> spec = describe();
  if (!spec)
    return spec.takeStatus();
  return buildTokenizer(std::move(*spec));
}

} // namespace llmir

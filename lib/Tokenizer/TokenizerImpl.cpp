//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokenizerImpl.h"

#include "llmir/Support/Json.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace llmir {

/// Limits for hostile files, since added tokens and stages cost time; real
/// files are far below.
constexpr size_t maxAddedTokens = 1u << 16;
constexpr size_t maxStages = 64;
/// Maximum length of a token of Unigram and WordPiece.
constexpr size_t maxPieceBytes = 512;

Expected<Tokenizer> buildTokenizer(TokenizerSpec spec) {
  auto impl = std::make_shared<TokenizerImpl>(std::move(spec));
  LLMIR_RETURN_IF_ERROR(impl->build());
  return Tokenizer(std::move(impl));
}

Status TokenizerImpl::build() {
  LLMIR_RETURN_IF_ERROR(checkTokens());
  LLMIR_RETURN_IF_ERROR(checkIds());
  LLMIR_RETURN_IF_ERROR(checkMerges());
  LLMIR_RETURN_IF_ERROR(checkAddedTokens());
  LLMIR_RETURN_IF_ERROR(checkModel());
  LLMIR_RETURN_IF_ERROR(tokens.build(spec.tokens, spec.flags));
  LLMIR_RETURN_IF_ERROR(buildStages());
  buildModel();
  return buildAddedTokens();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

Status TokenizerImpl::checkTokens() const {
  size_t count = spec.tokens.size();
  if (count == 0)
    return Status(StatusCode::InvalidFile, "the vocabulary is empty");
  if (count >= maxTokenIds)
    return Status(StatusCode::Unsupported,
                  "the vocabulary has " + std::to_string(count) +
                      " ids; the limit is " + std::to_string(maxTokenIds - 1));
  if (spec.flags.size() != count)
    return Status(StatusCode::InvalidFile,
                  std::to_string(spec.flags.size()) + " types for " +
                      std::to_string(count) + " tokens");
  for (size_t id = 0; id < count; ++id) {
    std::string_view text = spec.tokens[id];
    if (text.size() > maxTokenBytes)
      return Status(StatusCode::InvalidFile,
                    "token " + std::to_string(id) + " is " +
                        std::to_string(text.size()) + " bytes long");
    if (size_t valid = validUtf8Length(text); valid != text.size())
      return Status(StatusCode::InvalidFile,
                    "token " + std::to_string(id) + " is not UTF-8 at byte " +
                        std::to_string(valid) + ": '" + printable(text) + "'");
  }
  if (!spec.hasScores())
    return Status::ok();
  if (spec.scores.size() != count)
    return Status(StatusCode::InvalidFile,
                  std::to_string(spec.scores.size()) + " scores for " +
                      std::to_string(count) + " tokens");
  for (size_t id = 0; id < count; ++id)
    if (!std::isfinite(spec.scores[id]))
      return Status(StatusCode::InvalidFile, "the score of token " +
                                                 std::to_string(id) +
                                                 " is not finite");
  return Status::ok();
}

Status TokenizerImpl::checkIds() const {
  auto hasId = [&](int32_t id) {
    return id >= 0 && static_cast<size_t>(id) < spec.tokens.size() &&
           (spec.flags[id] & TokenPresent);
  };
  auto wrong = [](const std::string &what, int32_t id) {
    return Status(StatusCode::InvalidFile,
                  "the " + what + " has id " + std::to_string(id) +
                      ", which is not in the vocabulary");
  };
  const std::pair<const char *, int32_t> named[] = {
      {"BOS token", spec.bos},
      {"EOS token", spec.eos},
      {"unknown token", spec.unknown},
      {"padding token", spec.padding},
      {"model's unknown token", spec.unknownToken}};
  for (auto [name, id] : named)
    if (id != -1 && !hasId(id))
      return wrong(name, id);
  for (const std::vector<int32_t> *list : {&spec.prefix, &spec.suffix})
    for (int32_t id : *list)
      if (!hasId(id))
        return wrong("post-processor's token", id);
  for (const AddedToken &token : spec.addedTokens)
    if (!hasId(token.id))
      return wrong("added token '" + printable(token.text) + "'", token.id);
  return Status::ok();
}

Status TokenizerImpl::checkMerges() const {
  if (spec.merges.size() >= maxTokenIds)
    return Status(StatusCode::Unsupported, std::to_string(spec.merges.size()) +
                                               " merges; the limit is " +
                                               std::to_string(maxTokenIds - 1));
  size_t count = spec.tokens.size();
  for (size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const MergeRule &rule = spec.merges[rank];
    for (int32_t id : {rule.left, rule.right, rule.result})
      if (id < 0 || static_cast<size_t>(id) >= count ||
          !(spec.flags[id] & TokenPresent))
        return Status(StatusCode::InvalidFile,
                      "merge " + std::to_string(rank) + " names id " +
                          std::to_string(id) +
                          ", which is not in the vocabulary");
  }
  return Status::ok();
}

Status TokenizerImpl::checkModel() const {
  const bool needsUnknown = spec.model == TokenizerModel::WordPiece ||
                            spec.model == TokenizerModel::WordLevel;
  if (needsUnknown && spec.unknownToken < 0)
    return Status(StatusCode::InvalidFile,
                  "the model has no token for unknown words ('unk_token')");
  // These try all tokens at a position, one byte after the other.
  if (needsUnknown || spec.model == TokenizerModel::Unigram)
    for (size_t id = 0; id < spec.tokens.size(); ++id)
      if ((spec.flags[id] & TokenMergeable) &&
          spec.tokens[id].size() > maxPieceBytes)
        return Status(
            StatusCode::Unsupported,
            "token " + std::to_string(id) + " is " +
                std::to_string(spec.tokens[id].size()) +
                " bytes long; the limit of Unigram and WordPiece is " +
                std::to_string(maxPieceBytes));
  return Status::ok();
}

Status TokenizerImpl::checkAddedTokens() const {
  if (spec.addedTokens.size() > maxAddedTokens)
    return Status(StatusCode::Unsupported,
                  std::to_string(spec.addedTokens.size()) +
                      " added tokens; the limit is " +
                      std::to_string(maxAddedTokens));
  std::set<int32_t> ids;
  for (const AddedToken &token : spec.addedTokens) {
    if (!ids.insert(token.id).second)
      return Status(StatusCode::InvalidFile,
                    "two added tokens have id " + std::to_string(token.id));
    if (token.text.size() > maxAddedTokenBytes)
      return Status(StatusCode::Unsupported,
                    "added token " + std::to_string(token.id) + " is " +
                        std::to_string(token.text.size()) +
                        " bytes long; the limit is " +
                        std::to_string(maxAddedTokenBytes));
    if (token.text != spec.tokens[token.id])
      return Status(StatusCode::InvalidFile,
                    "added token '" + printable(token.text) + "' has id " +
                        std::to_string(token.id) + ", which is '" +
                        printable(spec.tokens[token.id]) +
                        "' in the vocabulary");
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Stage texts are inserted into texts that must be valid UTF-8.
static Status
checkStageTexts(std::initializer_list<const std::string *> texts) {
  for (const std::string *text : texts)
    if (validUtf8Length(*text) != text->size())
      return Status(StatusCode::InvalidFile,
                    "a stage's text is not UTF-8: '" + printable(*text) + "'");
  return Status::ok();
}

Status TokenizerImpl::buildStages() {
  LLMIR_RETURN_IF_ERROR(checkStageTexts(
      {&spec.wordPrefix, &spec.continuingPrefix, &spec.endSuffix}));
  if (spec.normalizers.size() > maxStages ||
      spec.preTokenizers.size() > maxStages || spec.decoders.size() > maxStages)
    return Status(StatusCode::Unsupported, "more than " +
                                               std::to_string(maxStages) +
                                               " stages of one kind");
  for (const NormalizerStep &step : spec.normalizers) {
    const std::string &text = step.hasCharsmap() ? step.pattern : step.content;
    LLMIR_RETURN_IF_ERROR(checkStageTexts({&step.pattern, &text}));
    Expected<Normalizer> built = Normalizer::build(step);
    if (!built)
      return built.takeStatus();
    normalizers.push_back(std::move(*built));
  }
  for (const PreTokenizerStep &step : spec.preTokenizers) {
    LLMIR_RETURN_IF_ERROR(checkStageTexts({&step.pattern}));
    Expected<PreTokenizer> built = PreTokenizer::build(step);
    if (!built)
      return built.takeStatus();
    preTokenizers.push_back(std::move(*built));
  }
  for (const DecoderStep &step : spec.decoders)
    LLMIR_RETURN_IF_ERROR(checkStageTexts({&step.pattern, &step.content}));
  LLMIR_RETURN_IF_ERROR(checkDecoders(spec.decoders));
  decoderGrowth = decoderGrowthOf(spec.decoders);
  return Status::ok();
}

void TokenizerImpl::buildModel() {
  switch (spec.model) {
  case TokenizerModel::MergesByRank:
  case TokenizerModel::MergesByScore:
    return pairs.build(spec, tokens);
  case TokenizerModel::Unigram:
    return unigrams.build(spec, tokens);
  case TokenizerModel::WordPiece:
  case TokenizerModel::WordLevel:
    return words.build(spec, tokens);
  case TokenizerModel::KindCount:
    return;
  }
}

Status TokenizerImpl::encodePiece(std::string_view piece,
                                  std::vector<int32_t> &ids) const {
  switch (spec.model) {
  case TokenizerModel::MergesByRank:
  case TokenizerModel::MergesByScore:
    pairs.encode(piece, ids);
    break;
  case TokenizerModel::Unigram:
    return unigrams.encode(piece, ids);
  case TokenizerModel::WordPiece:
  case TokenizerModel::WordLevel:
    words.encode(piece, ids);
    break;
  case TokenizerModel::KindCount:
    break;
  }
  return Status::ok();
}

Status TokenizerImpl::buildAddedTokens() {
  std::set<std::string_view> specialTexts;
  size_t bytes = 0;
  for (const AddedToken &token : spec.addedTokens) {
    bytes += token.text.size();
    if (token.has(AddedToken::Special))
      specialTexts.insert(token.text);
  }
  GrowthLimit limit(bytes); // For all of them together.
  for (const AddedToken &token : spec.addedTokens) {
    std::string text = token.text;
    if (token.has(AddedToken::Normalized))
      LLMIR_RETURN_IF_ERROR(
          normalize(normalizers, text, /*isFirst=*/true, limit));
    limit.finishSegment(text.size());
    // A token that normalization changes is decoded in its normalized form,
    // which is not among the texts that are skipped; the reference
    // implementation behaves the same.
    bool isSkipped = specialTexts.count(text) != 0;
    added.push_back(
        {token.id, token.has(AddedToken::Special), isSkipped, text});
    AddedTokenMatcher &matcher =
        token.has(AddedToken::Normalized) ? normalizedTokens : rawTokens;
    matcher.add(std::move(text), token);
  }
  std::sort(
      added.begin(), added.end(),
      [](const AddedFacts &a, const AddedFacts &b) { return a.id < b.id; });
  rawTokens.finish();
  normalizedTokens.finish();
  return Status::ok();
}

const TokenizerImpl::AddedFacts *TokenizerImpl::addedFacts(int32_t id) const {
  auto found = std::lower_bound(added.begin(), added.end(), id,
                                [](const AddedFacts &facts, int32_t wanted) {
                                  return facts.id < wanted;
                                });
  return found != added.end() && found->id == id ? &*found : nullptr;
}

std::string_view TokenizerImpl::decodedText(int32_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= spec.tokens.size())
    return {};
  const AddedFacts *facts = addedFacts(id);
  return facts ? std::string_view(facts->decoded) : spec.tokens[id];
}

bool TokenizerImpl::skipsInDecoding(int32_t id) const {
  const AddedFacts *facts = addedFacts(id);
  return facts && facts->isSkipped;
}

} // namespace llmir

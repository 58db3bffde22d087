//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts the contents of a tokenizer.json to a description of the tokenizer.
//
//===----------------------------------------------------------------------===//

#include "JsonStages.h"
#include "RankFiles.h"
#include "Sources.h"
#include "Tables.h"
#include "TokenizerFile.h"

namespace llmir {
namespace {

//===----------------------------------------------------------------------===//
// Data to a description
//===----------------------------------------------------------------------===//

class SpecBuilder {
public:
  SpecBuilder(TokenizerFile &file, const std::string &name)
      : file(file), name(name) {}

  Expected<TokenizerSpec> run() {
    if (!file.rest.is_object())
      return failure(StatusCode::InvalidFile, "is not an object");
    LLMIR_RETURN_IF_ERROR(addModel());
    LLMIR_RETURN_IF_ERROR(addTokens());
    LLMIR_RETURN_IF_ERROR(addMerges());
    LLMIR_RETURN_IF_ERROR(addStages());
    return std::move(spec);
  }

private:
  Status failure(StatusCode code, const std::string &problem) const {
    return Status(code, name + ": " + problem);
  }

  Status checkModelType(const JsonReader &model) {
    Expected<std::string> type = model.stringOr("type", "");
    if (!type)
      return type.takeStatus();
    // Old files omit the type; each model has a key of its own.
    if (*type == "BPE" || (type->empty() && file.hasMerges))
      spec.model = TokenizerModel::MergesByRank;
    else if (*type == "Unigram" || (type->empty() && file.hasPieces))
      spec.model = TokenizerModel::Unigram;
    else if (*type == "WordPiece" ||
             (type->empty() && model.has("max_input_chars_per_word")))
      spec.model = TokenizerModel::WordPiece;
    else if (*type == "WordLevel" || (type->empty() && model.has("unk_token")))
      spec.model = TokenizerModel::WordLevel;
    else
      return Status(StatusCode::Unsupported,
                    name + ": the model '" + printable(*type) +
                        "' is not supported",
                    "use a model of type BPE, Unigram, WordPiece or WordLevel");
    return Status::ok();
  }

  /// Checks that the parts of the model have the types that its kind needs.
  Status checkModelParts() const {
    const bool isBPE = spec.model == TokenizerModel::MergesByRank;
    const bool isUnigram = spec.model == TokenizerModel::Unigram;
    if (isUnigram ? !file.hasPieces : !file.hasVocabulary)
      return failure(StatusCode::InvalidFile,
                     std::string("'model.vocab' is missing or not ") +
                         (isUnigram ? "a list" : "an object"));
    if (isBPE && !file.hasMerges)
      return failure(StatusCode::InvalidFile,
                     "'model.merges' is missing or of the wrong type");
    return Status::ok();
  }

  Status addModel() {
    JsonReader root(file.rest, name);
    Expected<JsonReader> model = root.object("model");
    if (!model)
      return model.takeStatus();
    LLMIR_RETURN_IF_ERROR(checkModelType(*model));
    LLMIR_RETURN_IF_ERROR(checkModelParts());
    if (spec.model == TokenizerModel::Unigram)
      return addUnigram(*model);
    if (spec.model == TokenizerModel::WordPiece ||
        spec.model == TokenizerModel::WordLevel)
      return addWords(*model);
    return addPairs(*model);
  }

  Status addUnigram(const JsonReader &model) {
    Expected<bool> byteFallback = model.booleanOr("byte_fallback", false);
    if (!byteFallback)
      return byteFallback.takeStatus();
    spec.byteFallback = *byteFallback;
    if (file.vocabulary.size() == 0)
      return failure(StatusCode::InvalidFile, "'model.vocab' is empty");
    if (!model.has("unk_id"))
      return Status::ok();
    Expected<int64_t> unknown = model.integer(
        "unk_id", 0, static_cast<int64_t>(file.vocabulary.size()) - 1);
    if (!unknown)
      return unknown.takeStatus();
    spec.unknownToken = spec.unknown = static_cast<int32_t>(*unknown);
    return Status::ok();
  }

  Status addWords(const JsonReader &model) {
    const bool hasPieces = spec.model == TokenizerModel::WordPiece;
    Expected<std::string> unknown =
        model.stringOr("unk_token", hasPieces ? "[UNK]" : "<unk>");
    if (!unknown)
      return unknown.takeStatus();
    unknownText = *unknown;
    if (!hasPieces)
      return Status::ok();
    Expected<std::string> prefix =
        model.stringOr("continuing_subword_prefix", "##");
    if (!prefix)
      return prefix.takeStatus();
    spec.continuingPrefix = *prefix;
    Expected<int64_t> limit =
        model.integerOr("max_input_chars_per_word", 100, 0);
    if (!limit)
      return limit.takeStatus();
    spec.maxWordCharacters = static_cast<uint64_t>(*limit);
    return Status::ok();
  }

  Status addPairs(const JsonReader &model) {
    const std::pair<const char *, bool *> switches[] = {
        {"byte_fallback", &spec.byteFallback},
        {"fuse_unk", &spec.fuseUnknown},
        {"ignore_merges", &spec.ignoreMerges}};
    for (auto [key, to] : switches) {
      Expected<bool> value = model.booleanOr(key, false);
      if (!value)
        return value.takeStatus();
      *to = *value;
    }
    const std::pair<const char *, std::string *> texts[] = {
        {"continuing_subword_prefix", &spec.continuingPrefix},
        {"end_of_word_suffix", &spec.endSuffix},
        {"unk_token", &unknownText}};
    for (auto [key, to] : texts) {
      Expected<std::string> value = model.stringOr(key, "");
      if (!value)
        return value.takeStatus();
      *to = *value;
    }
    Expected<double> dropout = model.numberOr("dropout", 0);
    if (!dropout)
      return dropout.takeStatus();
    if (*dropout != 0)
      return failure(StatusCode::Unsupported,
                     "'model.dropout' makes encoding random");
    return Status::ok();
  }

  Status addTokens() {
    if (file.hasPieces) {
      // Ids are positions.
      for (size_t i = 0; i < file.vocabulary.size(); ++i)
        file.ids.push_back(i);
    }
    if (file.ids.size() != file.vocabulary.size())
      return failure(StatusCode::InvalidFile,
                     "'model.vocab' must map tokens to ids");
    TokenCollector collector;
    for (size_t i = 0; i < file.ids.size(); ++i)
      LLMIR_RETURN_IF_ERROR(collector
                                .add(file.vocabulary[i], file.ids[i],
                                     TokenPresent | TokenMergeable)
                                .withContext(name));
    modelTexts.reset(file.vocabulary.size());
    for (size_t i = 0; i < file.vocabulary.size(); ++i)
      modelTexts.insert(hashBytes(file.vocabulary[i]), uint32_t(i),
                        [&](uint32_t other) {
                          return file.vocabulary[other] == file.vocabulary[i];
                        });
    LLMIR_RETURN_IF_ERROR(addAddedTokens(collector));
    LLMIR_RETURN_IF_ERROR(collector.finish(spec).withContext(name));
    if (file.hasPieces) {
      spec.scores = std::move(file.scores);
      spec.scores.resize(spec.tokens.size()); // Added tokens follow.
    }
    LLMIR_RETURN_IF_ERROR(
        tokens.build(spec.tokens, spec.flags).withContext(name));
    if (!unknownText.empty()) {
      std::optional<int32_t> id = tokens.find(unknownText);
      if (!id)
        return failure(StatusCode::InvalidFile,
                       "'model.unk_token' is '" + printable(unknownText) +
                           "', which is not in the vocabulary");
      spec.unknownToken = spec.unknown = *id;
    }
    return Status::ok();
  }

  Status addAddedTokens(TokenCollector &collector) {
    auto found = file.rest.find("added_tokens");
    if (found == file.rest.end() || found->is_null())
      return Status::ok();
    if (!found->is_array())
      return failure(StatusCode::InvalidFile, "'added_tokens' is not a list");
    spec.addedTokens.reserve(found->size());
    for (const Json &entry : *found) {
      Expected<JsonReader> reader = JsonReader::of(
          entry, name + ": added_tokens[" +
                     std::to_string(spec.addedTokens.size()) + "]");
      if (!reader)
        return reader.takeStatus();
      LLMIR_RETURN_IF_ERROR(addAddedToken(*reader));
    }
    // The collector keeps views, so the list must be complete.
    for (const AddedToken &token : spec.addedTokens)
      if (!modelId(token.text))
        LLMIR_RETURN_IF_ERROR(
            collector.add(token.text, uint64_t(token.id), TokenPresent)
                .withContext(name));
    return Status::ok();
  }

  Status addAddedToken(const JsonReader &reader) {
    Expected<int64_t> id = reader.integer("id", 0, maxTokenIds - 1);
    if (!id)
      return id.takeStatus();
    Expected<std::string> text = reader.string("content");
    if (!text)
      return text.takeStatus();
    if (text->empty())
      return reader.unexpected("content", "a text that is not empty");
    AddedToken token{static_cast<int32_t>(*id), 0, *text};
    constexpr std::pair<const char *, AddedToken::Flags> flags[] = {
        {"special", AddedToken::Special},
        {"normalized", AddedToken::Normalized},
        {"lstrip", AddedToken::LeftStrip},
        {"rstrip", AddedToken::RightStrip},
        {"single_word", AddedToken::SingleWord}};
    for (auto [key, flag] : flags) {
      Expected<bool> isSet = reader.booleanOr(key, false);
      if (!isSet)
        return isSet.takeStatus();
      if (*isSet)
        token.flags |= flag;
    }
    // The vocabulary's id takes precedence, as in the reference implementation.
    if (std::optional<uint64_t> known = modelId(token.text)) {
      if (*known >= maxTokenIds)
        return reader.unexpected("content", "a token with a valid id");
      token.id = static_cast<int32_t>(*known);
    }
    spec.addedTokens.push_back(std::move(token));
    return Status::ok();
  }

  std::optional<uint64_t> modelId(std::string_view text) const {
    std::optional<uint32_t> index =
        modelTexts.find(hashBytes(text),
                        [&](uint32_t i) { return file.vocabulary[i] == text; });
    return index ? std::optional<uint64_t>(file.ids[*index]) : std::nullopt;
  }

  Status addMerges() {
    size_t count = file.merges.size() / 2;
    spec.merges.reserve(count);
    std::string joined;
    for (size_t rank = 0; rank < count; ++rank) {
      std::string_view left = file.merges[2 * rank];
      std::string_view right = file.merges[2 * rank + 1];
      joined.assign(left);
      // A continuing part is spelled with the prefix.
      size_t prefix = spec.continuingPrefix.size();
      joined.append(right.substr(std::min(prefix, right.size())));
      std::optional<int32_t> ids[3] = {tokens.find(left), tokens.find(right),
                                       tokens.find(joined)};
      std::string_view texts[3] = {left, right, joined};
      for (int i = 0; i < 3; ++i)
        if (!ids[i])
          return failure(StatusCode::InvalidFile,
                         "'model.merges' entry " + std::to_string(rank) +
                             " needs the token '" + printable(texts[i]) +
                             "', which is not in the vocabulary");
      spec.merges.push_back({*ids[0], *ids[1], *ids[2]});
    }
    return Status::ok();
  }

  Status addStages() {
    using AddStage =
        Status (*)(const Json &, const std::string &, TokenizerSpec &);
    const std::pair<const char *, AddStage> stages[] = {
        {"normalizer", addNormalizers},
        {"pre_tokenizer", addPreTokenizers},
        {"post_processor", addPostProcessors},
        {"decoder", addDecoders}};
    for (auto [key, add] : stages) {
      auto stage = file.rest.find(key);
      if (stage != file.rest.end() && !stage->is_null())
        LLMIR_RETURN_IF_ERROR(add(*stage, name, spec));
      else if (add == addDecoders)
        spec.decoders.emplace_back().kind = DecoderStep::JoinWithSpaces;
    }
    return Status::ok();
  }

  TokenizerFile &file;
  const std::string &name;
  TokenizerSpec spec;
  TokenTable tokens;
  IndexTable modelTexts; ///< Indices into file.vocabulary.
  std::string unknownText;
};

} // namespace

Expected<Tokenizer> tokenizerOf(TokenizerFile &file, const Json &config,
                                const std::string &name) {
  Expected<TokenizerSpec> spec = SpecBuilder(file, name).run();
  if (!spec)
    return spec.takeStatus();
  // Without a config, the template's first token is the BOS token.
  if (spec->prefix.size() == 1)
    spec->bos = spec->prefix[0];
  applyConfigTokens(config, *spec);
  Expected<Tokenizer> result = buildTokenizer(std::move(*spec));
  if (!result)
    return result.takeStatus().withContext(name);
  return result;
}

Expected<Tokenizer> Tokenizer::fromTokenizerJson(std::string_view json,
                                                 std::string_view configJson,
                                                 const std::string &name) {
  Expected<Json> config = parseTokenizerConfig(configJson);
  if (!config)
    return config.takeStatus();
  if (looksLikeTekken(json))
    return tokenizerFromTekken(json, *config, name);
  Expected<TokenizerFile> file = TokenizerFile::parse(json, name);
  if (!file)
    return file.takeStatus();
  return tokenizerOf(*file, *config, name);
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reader of tokenizer.json. Vocabulary and merges, nearly all of the file, are
// parsed directly into flat arrays; the rest becomes a small tree.
//
//===----------------------------------------------------------------------===//

#include "JsonStages.h"
#include "Sources.h"
#include "Tables.h"

#include "llmir/Support/JsonEvents.h"

namespace llmir {
namespace {

/// Maximum number of other values: a tree takes far more memory than its text.
/// Real files are below 50,000.
constexpr size_t maxTreeValues = 1u << 18;

//===----------------------------------------------------------------------===//
// Events to data
//===----------------------------------------------------------------------===//

/// The contents of the file.
struct TokenizerFile {
  TokenTexts vocabulary;      ///< In file order.
  std::vector<uint64_t> ids;  ///< Of the vocabulary's texts.
  TokenTexts merges;          ///< Left and right parts alternate.
  bool hasVocabulary = false; ///< model.vocab is an object.
  bool hasMerges = false;     ///< model.merges is a list.
  Json rest = Json(nullptr);  ///< Everything else.
};

class TokenizerFileEvents : public JsonEvents {
public:
  explicit TokenizerFileEvents(TokenizerFile &file) : file(file) {}

  Status beginObject() override {
    if (mode == Mode::Skipped)
      return ++skippedDepth, Status::ok();
    if (mode == Mode::Tree && isAt("vocab")) {
      mode = Mode::Vocabulary;
      file.hasVocabulary = true;
      return Status::ok();
    }
    return mode == Mode::Tree ? open(Json::object()) : unexpected();
  }
  Status endObject() override {
    if (mode == Mode::Skipped)
      return endSkipped();
    if (mode == Mode::Vocabulary) {
      mode = Mode::Tree;
      return Status::ok();
    }
    return close();
  }
  Status beginArray() override {
    // Vocabulary of Unigram, which is only reported as unsupported.
    if (mode == Mode::Skipped || (mode == Mode::Tree && isAt("vocab"))) {
      mode = Mode::Skipped;
      return ++skippedDepth, Status::ok();
    }
    if (mode == Mode::Tree && isAt("merges")) {
      mode = Mode::Merges;
      file.hasMerges = true;
      return Status::ok();
    }
    if (mode == Mode::Merges) {
      mode = Mode::MergePair;
      return Status::ok();
    }
    return mode == Mode::Tree ? open(Json::array()) : unexpected();
  }
  Status endArray() override {
    if (mode == Mode::Skipped)
      return endSkipped();
    if (mode == Mode::MergePair) {
      if (file.merges.size() % 2 != 0 || file.merges.size() != pairStart + 2)
        return badMerge();
      pairStart = file.merges.size();
      mode = Mode::Merges;
      return Status::ok();
    }
    if (mode == Mode::Merges) {
      mode = Mode::Tree;
      return Status::ok();
    }
    return close();
  }
  Status key(std::string &&text) override {
    if (mode == Mode::Skipped)
      return Status::ok();
    if (mode == Mode::Vocabulary) {
      file.vocabulary.append(text);
      return checkSize(file.vocabulary);
    }
    auto &object = stack.back()->get_ref<Json::object_t &>();
    auto [place, isNew] = object.try_emplace(std::move(text), nullptr);
    lastKey = place->first;
    slot = &place->second;
    if (isNew)
      return Status::ok();
    return Status(StatusCode::InvalidFile,
                  "the key '" + printable(place->first) + "' is given twice");
  }
  Status string(std::string &&text) override {
    if (mode == Mode::Merges)
      return splitMerge(text);
    if (mode == Mode::MergePair) {
      file.merges.append(text);
      return checkSize(file.merges);
    }
    return add(std::move(text));
  }
  Status unsignedInteger(uint64_t value) override {
    if (mode == Mode::Vocabulary) {
      file.ids.push_back(value);
      return Status::ok();
    }
    return add(value);
  }
  Status negativeInteger(int64_t value) override { return add(value); }
  Status number(double value) override { return add(value); }
  Status boolean(bool value) override { return add(value); }
  Status null() override { return add(nullptr); }

private:
  enum class Mode { Tree, Vocabulary, Merges, MergePair, Skipped };

  Status endSkipped() {
    if (--skippedDepth == 0)
      mode = Mode::Tree;
    return Status::ok();
  }

  /// Whether the next value is that of model.<key>.
  bool isAt(const char *key) const {
    return stack.size() == 2 && slot && lastKey == key && inModel;
  }
  Status unexpected() const {
    return Status(StatusCode::InvalidFile,
                  mode == Mode::Vocabulary
                      ? "'model.vocab' must map tokens to ids"
                      : "'model.merges' must be a list of pairs");
  }
  Status badMerge() const {
    return Status(StatusCode::InvalidFile, "'model.merges' entry " +
                                               std::to_string(pairStart / 2) +
                                               " is not a pair of tokens");
  }
  Status checkSize(const TokenTexts &texts) const {
    if (texts.size() < size_t(maxTokenIds) * 2)
      return Status::ok();
    return Status(StatusCode::Unsupported, "more than " +
                                               std::to_string(maxTokenIds) +
                                               " tokens or merges");
  }
  /// Splits "left right"; skips the header line of an old merges.txt.
  Status splitMerge(const std::string &text) {
    if (text.compare(0, 8, "#version") == 0)
      return Status::ok();
    size_t space = text.find(' ');
    if (space == std::string::npos ||
        text.find(' ', space + 1) != std::string::npos)
      return badMerge();
    file.merges.append(std::string_view(text).substr(0, space));
    file.merges.append(std::string_view(text).substr(space + 1));
    pairStart = file.merges.size();
    return checkSize(file.merges);
  }

  Json &place(Json value) {
    if (stack.empty())
      return file.rest = std::move(value);
    if (stack.back()->is_array()) {
      stack.back()->push_back(std::move(value));
      return stack.back()->back();
    }
    return *slot = std::move(value);
  }
  Status add(Json value) {
    if (mode == Mode::Skipped)
      return Status::ok();
    if (mode != Mode::Tree)
      return unexpected();
    place(std::move(value));
    slot = nullptr;
    return countValue();
  }
  Status countValue() {
    if (++treeValues <= maxTreeValues)
      return Status::ok();
    return Status(StatusCode::Unsupported,
                  "more than " + std::to_string(maxTreeValues) +
                      " values besides the vocabulary and the merges");
  }
  Status open(Json value) {
    if (stack.size() == 1)
      inModel = slot && lastKey == "model" && value.is_object();
    stack.push_back(&place(std::move(value)));
    slot = nullptr;
    return countValue();
  }
  Status close() {
    stack.pop_back();
    slot = nullptr;
    return Status::ok();
  }

  TokenizerFile &file;
  Mode mode = Mode::Tree;
  std::vector<Json *> stack; ///< Open objects and lists of the tree.
  Json *slot = nullptr;      ///< Where the value of the last key is stored.
  std::string lastKey;
  bool inModel = false;
  size_t pairStart = 0;
  size_t skippedDepth = 0;
  size_t treeValues = 0;
};

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
    // Old files omit the type; only BPE has merges.
    if (*type == "BPE" || (type->empty() && file.hasMerges))
      return Status::ok();
    return Status(StatusCode::Unsupported,
                  name + ": the model '" + printable(*type) +
                      "' is not supported",
                  "use a model with a BPE tokenizer");
  }

  Status addModel() {
    JsonReader root(file.rest, name);
    Expected<JsonReader> model = root.object("model");
    if (!model)
      return model.takeStatus();
    LLMIR_RETURN_IF_ERROR(checkModelType(*model));
    if (!file.hasVocabulary || !file.hasMerges)
      return failure(StatusCode::InvalidFile,
                     std::string("'model.") +
                         (file.hasVocabulary ? "merges" : "vocab") +
                         "' is missing or of the wrong type");
    const std::pair<const char *, bool *> switches[] = {
        {"byte_fallback", &spec.byteFallback},
        {"fuse_unk", &spec.fuseUnknown},
        {"ignore_merges", &spec.ignoreMerges}};
    for (auto [key, to] : switches) {
      Expected<bool> value = model->booleanOr(key, false);
      if (!value)
        return value.takeStatus();
      *to = *value;
    }
    const std::pair<const char *, std::string *> texts[] = {
        {"continuing_subword_prefix", &spec.continuingPrefix},
        {"end_of_word_suffix", &spec.endSuffix},
        {"unk_token", &unknownText}};
    for (auto [key, to] : texts) {
      Expected<std::string> value = model->stringOr(key, "");
      if (!value)
        return value.takeStatus();
      *to = *value;
    }
    Expected<double> dropout = model->numberOr("dropout", 0);
    if (!dropout)
      return dropout.takeStatus();
    if (*dropout != 0)
      return failure(StatusCode::Unsupported,
                     "'model.dropout' makes encoding random");
    return Status::ok();
  }

  Status addTokens() {
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

Expected<Tokenizer> Tokenizer::fromTokenizerJson(std::string_view json,
                                                 std::string_view configJson,
                                                 const std::string &name) {
  Expected<Json> config = parseTokenizerConfig(configJson);
  if (!config)
    return config.takeStatus();
  TokenizerFile file;
  TokenizerFileEvents events(file);
  LLMIR_RETURN_IF_ERROR(parseJsonEvents(json, name, JsonLimits(), events));
  Expected<TokenizerSpec> spec = SpecBuilder(file, name).run();
  if (!spec)
    return spec.takeStatus();
  // Without a config, the template's first token is the BOS token.
  if (spec->prefix.size() == 1)
    spec->bos = spec->prefix[0];
  applyConfigTokens(*config, *spec);
  Expected<Tokenizer> result = buildTokenizer(std::move(*spec));
  if (!result)
    return result.takeStatus().withContext(name);
  return result;
}

} // namespace llmir

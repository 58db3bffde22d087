//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A SentencePiece model is a protocol buffer message; only the few fields that
// matter are parsed.
//
//===----------------------------------------------------------------------===//

#include "RankFiles.h"
#include "Sources.h"

#include "llmir/Support/SmallFloat.h"

#include <algorithm>

namespace llmir {
namespace {

/// Reads the fields of one message. After an error `failed` is true and next()
/// returns false.
class Message {
public:
  Message(std::string_view bytes, size_t offset) : bytes(bytes), base(offset) {}

  uint32_t field = 0;
  uint32_t wireType = 0;
  uint64_t number = 0;   ///< For wire types 0 (varint), 1 and 5 (fixed).
  std::string_view data; ///< For wire type 2.
  bool failed = false;

  bool next() {
    if (failed || at == bytes.size())
      return false;
    uint64_t tag = varint();
    field = static_cast<uint32_t>(tag >> 3);
    wireType = static_cast<uint32_t>(tag & 7);
    switch (wireType) {
    case 0:
      number = varint();
      break;
    case 1:
      number = fixed(8);
      break;
    case 5:
      number = fixed(4);
      break;
    case 2: {
      uint64_t size = varint();
      if (size > bytes.size() - at)
        failed = true;
      else
        data = bytes.substr(at, size), at += size;
      break;
    }
    default:
      failed = true;
    }
    failed |= field == 0 || tag >> 32 != 0;
    return !failed;
  }
  /// Offset in the file of the field that next() reads.
  size_t offset() const { return base + at; }
  /// Offset of `data` in the file.
  size_t dataOffset() const { return base + at - data.size(); }

private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
      auto byte = static_cast<uint8_t>(bytes[at++]);
      value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
    failed = true;
    return 0;
  }
  uint64_t fixed(size_t size) {
    if (bytes.size() - at < size) {
      failed = true;
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i)
      value |= uint64_t(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
    at += size;
    return value;
  }

  std::string_view bytes;
  size_t base;
  size_t at = 0;
};

/// Field numbers and values of sentencepiece_model.proto.
enum { ModelPieces = 1, ModelTrainer = 2, ModelNormalizer = 3 };
enum { PieceText = 1, PieceScore = 2, PieceType = 3 };
enum {
  TrainerModelType = 3,
  TrainerSpaceAsSuffix = 24,
  TrainerByteFallback = 35,
  TrainerUnknownId = 40,
  TrainerBosId = 41,
  TrainerEosId = 42,
  TrainerPadId = 43,
};
enum {
  NormalizerCharsmap = 2,
  NormalizerDummyPrefix = 3,
  NormalizerRemoveSpaces = 4,
  NormalizerEscapeSpaces = 5,
};
constexpr uint64_t modelTypeUnigram = 1, modelTypeBPE = 2;

struct SentencePieceModel {
  VocabularyData data;
  uint64_t modelType = modelTypeUnigram;
  bool byteFallback = false;
  bool spaceAsSuffix = false;
  bool escapesSpaces = true;

  SentencePieceModel() {
    data.model = "llama";
    data.unknown = 0, data.bos = 1, data.eos = 2;
    data.addSpacePrefix = true;
    data.removeExtraWhitespaces = true;
  }
};

Status malformed(const std::string &name, size_t offset, const char *what) {
  return Status(StatusCode::InvalidFile,
                name + ": " + what + " is truncated or malformed at byte " +
                    std::to_string(offset),
                "download the file again");
}

Status readPiece(Message &piece, const std::string &name,
                 VocabularyData &data) {
  std::string_view text;
  float score = 0;
  int32_t type = 1;
  while (piece.next()) {
    if (piece.field == PieceText && piece.wireType == 2)
      text = piece.data;
    else if (piece.field == PieceScore && piece.wireType == 5)
      score = bitsToFloat(static_cast<uint32_t>(piece.number));
    else if (piece.field == PieceType && piece.wireType == 0)
      type = piece.number <= 6 ? static_cast<int32_t>(piece.number) : 0;
  }
  if (piece.failed)
    return malformed(name, piece.offset(), "a piece");
  if (text.empty())
    return Status(StatusCode::InvalidFile,
                  name + ": piece " + std::to_string(data.tokens.size()) +
                      " has no text (byte " + std::to_string(piece.offset()) +
                      ")",
                  "download the file again");
  data.tokens.push_back(text);
  data.scores.push_back(score);
  data.types.push_back(type);
  return Status::ok();
}

/// A negative id means that the token does not exist.
std::optional<int64_t> idOrNone(uint64_t number) {
  auto id = static_cast<int64_t>(number);
  return id < 0 ? std::nullopt : std::optional<int64_t>(id);
}

void readTrainer(Message &trainer, SentencePieceModel &model) {
  while (trainer.next()) {
    if (trainer.wireType != 0)
      continue;
    uint64_t number = trainer.number;
    switch (trainer.field) {
    case TrainerModelType:
      model.modelType = number;
      break;
    case TrainerSpaceAsSuffix:
      model.spaceAsSuffix = number != 0;
      break;
    case TrainerByteFallback:
      model.byteFallback = number != 0;
      break;
    case TrainerUnknownId:
      model.data.unknown = idOrNone(number);
      break;
    case TrainerBosId:
      model.data.bos = idOrNone(number);
      break;
    case TrainerEosId:
      model.data.eos = idOrNone(number);
      break;
    case TrainerPadId:
      model.data.padding = idOrNone(number);
      break;
    default:
      break;
    }
  }
}

void readNormalizer(Message &normalizer, SentencePieceModel &model) {
  while (normalizer.next()) {
    bool isTrue = normalizer.number != 0;
    if (normalizer.field == NormalizerCharsmap && normalizer.wireType == 2)
      model.data.charsmap = normalizer.data;
    else if (normalizer.wireType != 0)
      continue;
    else if (normalizer.field == NormalizerDummyPrefix)
      model.data.addSpacePrefix = isTrue;
    else if (normalizer.field == NormalizerRemoveSpaces)
      model.data.removeExtraWhitespaces = isTrue;
    else if (normalizer.field == NormalizerEscapeSpaces)
      model.escapesSpaces = isTrue;
  }
}

Status readModel(std::string_view bytes, const std::string &name,
                 SentencePieceModel &model) {
  Message root(bytes, 0);
  while (root.next()) {
    if (root.wireType != 2)
      continue;
    Message part(root.data, root.dataOffset());
    if (root.field == ModelPieces)
      LLMIR_RETURN_IF_ERROR(readPiece(part, name, model.data));
    else if (root.field == ModelTrainer)
      readTrainer(part, model);
    else if (root.field == ModelNormalizer)
      readNormalizer(part, model);
    if (part.failed)
      return malformed(name, part.offset(), "a part of the model");
  }
  if (root.failed)
    return malformed(name, root.offset(), "the model");
  if (model.data.tokens.empty())
    return Status(StatusCode::InvalidFile, name + ": there are no pieces",
                  "give a SentencePiece model or a tokenizer.json");
  return Status::ok();
}

Status checkSupport(const SentencePieceModel &model, const std::string &name) {
  auto unsupported = [&](const std::string &what) {
    return Status(StatusCode::Unsupported, name + ": " + what,
                  "use the model's tokenizer.json");
  };
  if (model.modelType != modelTypeBPE && model.modelType != modelTypeUnigram)
    return unsupported("SentencePiece model type " +
                       std::to_string(model.modelType) +
                       "; only Unigram (1) and BPE (2) are supported");
  if (model.spaceAsSuffix)
    return unsupported("spaces at the end of pieces are not supported");
  if (!model.escapesSpaces)
    return unsupported("unescaped spaces are not supported");
  return Status::ok();
}

/// Some classes number the pieces differently than their model file.
Status checkNumbering(const std::string &tokenizerClass,
                      const std::string &name) {
  for (const char *prefix : {"XLMRoberta", "Camembert", "MBart", "Nllb",
                             "Barthez", "XGLM", "Pegasus", "XLMProphetNet"})
    if (tokenizerClass.rfind(prefix, 0) == 0)
      return Status(StatusCode::Unsupported,
                    name + ": the tokenizer class '" + tokenizerClass +
                        "' numbers its tokens differently than this file",
                    "use the model's tokenizer.json");
  return Status::ok();
}

/// Adds a token of tokenizer_config.json's added_tokens_decoder.
Status addDeclared(const std::string &key, const Json &value,
                   TokenizerSpec &spec) {
  auto wrong = [&](const std::string &problem) {
    return Status(StatusCode::InvalidFile,
                  "tokenizer_config.json: 'added_tokens_decoder." +
                      printable(key) + "' " + problem);
  };
  bool isNumber = !key.empty() && key.size() <= 8 &&
                  key.find_first_not_of("0123456789") == std::string::npos;
  if (!isNumber || !value.is_object())
    return wrong("is not an object whose key is an id");
  JsonReader reader(value, "tokenizer_config.json",
                    "added_tokens_decoder." + key + ".");
  Expected<std::string> text = reader.string("content");
  if (!text)
    return text.takeStatus();
  Expected<bool> special = reader.booleanOr("special", false);
  if (!special)
    return special.takeStatus();
  auto id = static_cast<size_t>(std::stoul(key));
  size_t size = spec.tokens.size();
  if (text->empty() || id > size)
    return wrong("does not follow the vocabulary of " + std::to_string(size) +
                 " tokens");
  if (id == size) {
    spec.tokens.append(*text);
    spec.flags.push_back(TokenPresent);
    spec.scores.push_back(0);
  } else if (spec.tokens[id] != *text) {
    return wrong("is '" + printable(*text) + "', but the vocabulary has '" +
                 printable(spec.tokens[id]) + "'");
  }
  uint8_t flags = *special ? AddedToken::Special : 0;
  for (auto [field, flag] :
       {std::pair("lstrip", AddedToken::LeftStrip),
        std::pair("rstrip", AddedToken::RightStrip),
        std::pair("single_word", AddedToken::SingleWord)}) {
    Expected<bool> isSet = reader.booleanOr(field, false);
    if (!isSet)
      return isSet.takeStatus();
    flags |= *isSet ? flag : 0;
  }
  auto existing = std::find_if(
      spec.addedTokens.begin(), spec.addedTokens.end(),
      [&](const AddedToken &t) { return static_cast<size_t>(t.id) == id; });
  if (existing == spec.addedTokens.end())
    spec.addedTokens.push_back({static_cast<int32_t>(id), flags, *text});
  else
    existing->flags = flags;
  return Status::ok();
}

Status addDeclaredTokens(const Json &config, TokenizerSpec &spec) {
  auto found = config.find("added_tokens_decoder");
  if (found == config.end() || !found->is_object())
    return Status::ok();
  // In numeric order.
  std::vector<std::pair<std::string, const Json *>> entries;
  for (auto &[key, value] : found->items())
    entries.push_back({key, &value});
  std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) {
    return std::pair(a.first.size(), a.first) <
           std::pair(b.first.size(), b.first);
  });
  for (auto &[key, value] : entries)
    LLMIR_RETURN_IF_ERROR(addDeclared(key, *value, spec));
  return Status::ok();
}

} // namespace

Expected<Tokenizer> Tokenizer::fromSentencePiece(std::string_view bytes,
                                                 std::string_view configJson,
                                                 const std::string &name) {
  Expected<Json> config = parseTokenizerConfig(configJson);
  if (!config)
    return config.takeStatus();
  if (looksLikeTiktoken(bytes))
    return tokenizerFromTiktoken(bytes, *config, name);
  SentencePieceModel model;
  LLMIR_RETURN_IF_ERROR(readModel(bytes, name, model));
  LLMIR_RETURN_IF_ERROR(checkSupport(model, name));

  JsonReader reader(*config, "tokenizer_config.json");
  const bool isUnigram = model.modelType == modelTypeUnigram;
  if (isUnigram)
    model.data.model = "t5";
  Expected<bool> addBos = reader.booleanOr("add_bos_token", !isUnigram);
  Expected<std::string> type = reader.stringOr("tokenizer_class", "");
  if (!type)
    return type.takeStatus();
  LLMIR_RETURN_IF_ERROR(checkNumbering(*type, name));
  Expected<bool> addEos =
      reader.booleanOr("add_eos_token", type->find("T5") != std::string::npos);
  Expected<bool> legacy = reader.booleanOr("legacy", true);
  for (Expected<bool> *value : {&addBos, &addEos, &legacy})
    if (!*value)
      return value->takeStatus();
  model.data.addBos = *addBos;
  model.data.addEos = *addEos;
  SentencePieceOptions options;
  options.prefixEverySegment = *legacy;
  Expected<TokenizerSpec> spec = sentencePieceSpec(model.data, options);
  if (!spec)
    return spec.takeStatus().withContext(name);
  spec->byteFallback = model.byteFallback;
  LLMIR_RETURN_IF_ERROR(addDeclaredTokens(*config, *spec));
  applyConfigTokens(*config, *spec);
  Expected<Tokenizer> result = buildTokenizer(std::move(*spec));
  if (!result)
    return result.takeStatus().withContext(name);
  return result;
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Checkpoint/GGUF.h"
#include "llmir/Support/Json.h"

#include <cmath>

namespace llmir {

namespace {

constexpr std::string_view tokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view typesKey = "tokenizer.ggml.token_type";
constexpr std::string_view scoresKey = "tokenizer.ggml.scores";
constexpr std::string_view mergesKey = "tokenizer.ggml.merges";

constexpr size_t maxTokens = size_t(1) << 24;
constexpr size_t maxTokenBytes = size_t(1) << 16;
constexpr int64_t maxTokenType = 6;
constexpr int64_t byteTokenType = 6;

Status badElement(const GGUFMetadata &metadata, std::string_view key, size_t i,
                  const std::string &problem) {
  return metadata.failure(StatusCode::InvalidFile, key,
                          "element " + std::to_string(i) + " " + problem);
}

/// Checks that an array has one element per token.
Status checkLength(const GGUFMetadata &metadata, std::string_view key,
                   size_t size, size_t tokens) {
  if (size == tokens)
    return Status::ok();
  return metadata.failure(StatusCode::InvalidFile, key,
                          "has " + std::to_string(size) + " elements, but '" +
                              std::string(tokensKey) + "' has " +
                              std::to_string(tokens));
}

bool isHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
         (c >= 'A' && c <= 'F');
}

/// "<0x0A>": exactly two hexadecimal digits.
bool isByteToken(std::string_view text) {
  return text.size() == 6 && text.substr(0, 3) == "<0x" &&
         isHexDigit(text[3]) && isHexDigit(text[4]) && text[5] == '>';
}

Status checkTokens(const GGUFMetadata &metadata, const GGUFArray &tokens) {
  if (tokens.size == 0 || tokens.size > maxTokens)
    return metadata.failure(StatusCode::InvalidFile, tokensKey,
                            "has " + std::to_string(tokens.size) +
                                " elements; expected 1 to " +
                                std::to_string(maxTokens));
  size_t i = 0;
  for (std::string_view token : tokens.strings()) {
    if (token.size() > maxTokenBytes)
      return badElement(metadata, tokensKey, i,
                        "has " + std::to_string(token.size()) +
                            " bytes; at most " + std::to_string(maxTokenBytes));
    if (!isValidUtf8(token))
      return badElement(metadata, tokensKey, i,
                        "is not valid UTF-8: '" + printable(token) + "'");
    ++i;
  }
  return Status::ok();
}

Status checkTypes(const GGUFMetadata &metadata, const GGUFArray &tokens) {
  if (!metadata.has(typesKey))
    return Status::ok();
  Expected<GGUFArray> types = metadata.integerArray(typesKey);
  if (!types)
    return types.takeStatus();
  LLMIR_RETURN_IF_ERROR(
      checkLength(metadata, typesKey, types->size, tokens.size));
  size_t i = 0;
  for (std::string_view token : tokens.strings()) {
    int64_t type = types->integer(i).value_or(-1);
    if (type < 0 || type > maxTokenType)
      return badElement(metadata, typesKey, i,
                        "is " + std::to_string(type) + "; expected 0 to " +
                            std::to_string(maxTokenType));
    if (type == byteTokenType && !isByteToken(token))
      return badElement(metadata, tokensKey, i,
                        "is '" + printable(token) +
                            "', but its type is byte; expected the form "
                            "<0xNN>");
    ++i;
  }
  return Status::ok();
}

Status checkScores(const GGUFMetadata &metadata, const GGUFArray &tokens) {
  if (!metadata.has(scoresKey))
    return Status::ok();
  Expected<GGUFArray> scores = metadata.array(scoresKey, GGUFType::F32);
  if (!scores)
    return scores.takeStatus();
  LLMIR_RETURN_IF_ERROR(
      checkLength(metadata, scoresKey, scores->size, tokens.size));
  for (size_t i = 0; i < scores->size; ++i)
    if (std::isnan(*scores->number(i)))
      return badElement(metadata, scoresKey, i, "is not a number");
  return Status::ok();
}

/// A merge is a pair of tokens separated by a space. The tokenizer checks
/// whether the vocabulary contains them.
Status checkMerges(const GGUFMetadata &metadata) {
  if (!metadata.has(mergesKey))
    return Status::ok();
  Expected<GGUFArray> merges = metadata.array(mergesKey, GGUFType::String);
  if (!merges)
    return merges.takeStatus();
  size_t i = 0;
  for (std::string_view merge : merges->strings()) {
    size_t space = merge.find(' ', 1);
    bool twoPieces =
        space != std::string_view::npos && space + 1 < merge.size();
    if (!twoPieces || !isValidUtf8(merge))
      return badElement(metadata, mergesKey, i,
                        "is '" + printable(merge) +
                            "'; expected two pieces with a space between");
    ++i;
  }
  return Status::ok();
}

/// The special tokens that affect generation must exist. Others (such as
/// padding) are out of range in many public files and are not used.
Status checkTokenIds(const GGUFMetadata &metadata, size_t tokens) {
  for (std::string_view key :
       {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id",
        "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id",
        "tokenizer.ggml.unknown_token_id"}) {
    auto id = metadata.integerOr(key, 0, 0, static_cast<int64_t>(tokens) - 1);
    if (!id)
      return id.takeStatus();
  }
  return Status::ok();
}

} // namespace

Status checkGGUFTokenizer(const GGUFMetadata &metadata) {
  Expected<std::string_view> model =
      metadata.stringOr("tokenizer.ggml.model", "none");
  if (!model)
    return model.takeStatus();
  if (!metadata.has(tokensKey)) {
    if (*model == "none" || *model == "no_vocab")
      return Status::ok();
    return metadata.failure(StatusCode::NotFound, tokensKey,
                            "is missing; expected an array of string");
  }
  Expected<GGUFArray> tokens = metadata.array(tokensKey, GGUFType::String);
  if (!tokens)
    return tokens.takeStatus();
  // Tokens of other models (rwkv) are bytes; LLMIR has no tokenizer for them.
  if (*model != "llama" && *model != "gpt2")
    return Status::ok();
  LLMIR_RETURN_IF_ERROR(checkTokens(metadata, *tokens));
  LLMIR_RETURN_IF_ERROR(checkTypes(metadata, *tokens));
  LLMIR_RETURN_IF_ERROR(checkScores(metadata, *tokens));
  LLMIR_RETURN_IF_ERROR(checkMerges(metadata));
  return checkTokenIds(metadata, tokens->size);
}

} // namespace llmir

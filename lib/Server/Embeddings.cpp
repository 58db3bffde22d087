//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Embeddings.h"

#include <cmath>
#include <cstring>

namespace llmir::server {

/// Embeds so many texts at once as a step takes.
Expected<std::vector<float>>
Embeddings::embed(const std::vector<std::vector<int32_t>> &texts,
                  ServedModel &model) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto atOnce =
      static_cast<size_t>(model.embeddingExecutor->maxLogitRows());
  std::vector<float> result;
  for (size_t first = 0; first < texts.size(); first += atOnce) {
    const size_t count = std::min(atOnce, texts.size() - first);
    Expected<std::vector<float>> part = model.embedder->embed(
        Span<const std::vector<int32_t>>(texts.data() + first, count));
    if (!part)
      return part.takeStatus();
    result.insert(result.end(), part->begin(), part->end());
  }
  for (float value : result)
    if (!std::isfinite(value))
      return Status(StatusCode::Internal,
                    "the embedding contains values that are not finite",
                    "check the model with 'llmir embed'");
  return result;
}

static std::string base64(Span<const float> values) {
  static const char *const digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes(values.size() * sizeof(float));
  if (!bytes.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < count ? bytes[i + j] : 0u);
    for (size_t j = 0; j < 4; ++j)
      text += j <= count ? digits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

Expected<Json> Embeddings::answer(const RequestBody &body, ServedModel &model) {
  const JsonReader reader = body.reader();
  LLMIR_RETURN_IF_ERROR(reader.checkKeys(
      {"input", "model", "encoding_format", "dimensions", "user"}));
  const int64_t size = model.embedder->size();
  if (reader.has("dimensions") && *reader.find("dimensions") != size)
    return reader.unexpected("dimensions", std::to_string(size));
  std::string format;
  LLMIR_ASSIGN_OR_RETURN(format, reader.stringOr("encoding_format", "float"));
  if (format != "float" && format != "base64")
    return reader.unexpected("encoding_format", "\"float\" or \"base64\"");
  std::vector<std::vector<int32_t>> texts;
  LLMIR_ASSIGN_OR_RETURN(texts, readPrompts(reader, "input", model));
  int64_t tokens = 0;
  for (const std::vector<int32_t> &ids : texts) {
    const auto length = static_cast<int64_t>(ids.size());
    tokens += length;
    if (length == 0)
      return reader.failure(StatusCode::InvalidArgument, "input",
                            "has a text without tokens",
                            "give texts that are not empty");
    if (length > model.contextLength())
      return reader.failure(StatusCode::OutOfRange, "input",
                            "has a text of " + std::to_string(length) +
                                " tokens; the context is " +
                                std::to_string(model.contextLength()),
                            "shorten the text");
  }
  Expected<std::vector<float>> values = embed(texts, model);
  if (!values)
    return values.takeStatus();
  Json data = Json::array();
  for (size_t i = 0; i < texts.size(); ++i) {
    const Span<const float> row(values->data() + i * static_cast<size_t>(size),
                                static_cast<size_t>(size));
    Json embedding = format == "base64"
                         ? Json(base64(row))
                         : Json(std::vector<float>(row.begin(), row.end()));
    data.push_back({{"object", "embedding"},
                    {"index", i},
                    {"embedding", std::move(embedding)}});
  }
  return Json{{"object", "list"},
              {"data", std::move(data)},
              {"model", model.names.front()},
              {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}};
}

} // namespace llmir::server

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

/// Tokens of a request: 2048 texts of 512.
static constexpr int64_t mostTokens = int64_t(1) << 20;

/// Appends the embeddings, of so many texts at once as a step takes; otherwise
/// why there are none.
std::optional<ApiError>
Embeddings::embed(const HttpExchange &exchange,
                  const std::vector<std::vector<int32_t>> &texts,
                  ServedModel &model, std::vector<float> &result) {
  const Clock::time_point start = Clock::now();
  const auto atOnce =
      static_cast<size_t>(model.embeddingExecutor->maxLogitRows());
  for (size_t first = 0; first < texts.size(); first += atOnce) {
    const size_t count = std::min(atOnce, texts.size() - first);
    const std::lock_guard<std::mutex> lock(mutex);
    if (isStopping)
      return ApiError{503, "the server is shutting down", "shutting_down", ""};
    if (model.requestTimeout && Clock::now() - start > *model.requestTimeout)
      return ApiError{504, "the request was not answered in time", "timeout",
                      ""};
    if (exchange.isGone())
      return ApiError{503, "the client has left", "", ""}; // Nobody reads it.
    Expected<std::vector<float>> part = model.embedder->embed(
        Span<const std::vector<int32_t>>(texts.data() + first, count));
    if (!part)
      return ApiError::of(part.status());
    result.insert(result.end(), part->begin(), part->end());
  }
  for (float value : result)
    if (!std::isfinite(value))
      return ApiError{500, "the embedding contains values that are not finite",
                      "internal_error", ""};
  return std::nullopt;
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

namespace {
struct EmbeddingPlan {
  std::vector<std::vector<int32_t>> texts;
  int64_t tokens = 0; ///< Of all texts.
  bool isBase64 = false;
};
} // namespace

static Expected<EmbeddingPlan> readPlan(const RequestBody &body,
                                        ServedModel &model) {
  const JsonReader reader = body.reader();
  LLMIR_RETURN_IF_ERROR(reader.checkKeys(
      {"input", "model", "encoding_format", "dimensions", "user"}));
  const int64_t size = model.embedder->size();
  if (reader.has("dimensions") && *reader.find("dimensions") != size)
    return reader.unexpected("dimensions", std::to_string(size));
  EmbeddingPlan plan;
  std::string format;
  LLMIR_ASSIGN_OR_RETURN(format, reader.stringOr("encoding_format", "float"));
  if (format != "float" && format != "base64")
    return reader.unexpected("encoding_format", "\"float\" or \"base64\"");
  LLMIR_ASSIGN_OR_RETURN(plan.texts, readPrompts(reader, "input", model));
  for (const std::vector<int32_t> &ids : plan.texts) {
    const auto length = static_cast<int64_t>(ids.size());
    plan.tokens += length;
    if (length == 0)
      return reader.failure(StatusCode::InvalidArgument, "input",
                            "has a text without tokens",
                            "give texts that are not empty");
    if (length > model.contextLength())
      return reader.failure(StatusCode::ContextLengthExceeded, "input",
                            "has a text of " + std::to_string(length) +
                                " tokens; the context is " +
                                std::to_string(model.contextLength()),
                            "shorten the text");
  }
  if (plan.tokens > mostTokens)
    return reader.failure(StatusCode::OutOfRange, "input",
                          "has " + std::to_string(plan.tokens) + " tokens",
                          "give at most " + std::to_string(mostTokens) +
                              " in a request");
  plan.isBase64 = format == "base64";
  return plan;
}

void Embeddings::answer(HttpExchange &exchange, const RequestBody &body,
                        ServedModel &model) {
  Expected<EmbeddingPlan> read = readPlan(body, model);
  if (!read)
    return answerError(exchange, read.status());
  const EmbeddingPlan &plan = *read;
  std::vector<float> values;
  if (const auto error = embed(exchange, plan.texts, model, values))
    return answerError(exchange, *error);
  const auto size = static_cast<size_t>(model.embedder->size());
  Json data = Json::array();
  for (size_t i = 0; i < plan.texts.size(); ++i) {
    const Span<const float> row(values.data() + i * size, size);
    Json embedding = plan.isBase64
                         ? Json(base64(row))
                         : Json(std::vector<float>(row.begin(), row.end()));
    data.push_back({{"object", "embedding"},
                    {"index", i},
                    {"embedding", std::move(embedding)}});
  }
  answerJson(exchange, {{"object", "list"},
                        {"data", std::move(data)},
                        {"model", model.names.front()},
                        {"usage",
                         {{"prompt_tokens", plan.tokens},
                          {"total_tokens", plan.tokens}}}});
}

} // namespace llmir::server

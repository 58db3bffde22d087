//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/ApiError.h"

#include "Apis.h"
#include "llmir/Support/Exceptions.h"
#include "llmir/Support/Text.h"

namespace llmir {

static const char *typeName(int status) {
  switch (status) {
  case 401:
    return "authentication_error";
  case 404:
    return "not_found_error";
  case 429:
    return "rate_limit_error";
  default:
    return status < 500 ? "invalid_request_error" : "server_error";
  }
}

Json ApiError::toJson() const {
  auto orNull = [](const std::string &text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return {{"error",
           {{"message", message},
            {"type", typeName(status)},
            {"param", orNull(param)},
            {"code", orNull(code)}}}};
}

std::string jsonText(const Json &value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string ApiError::body() const { return jsonText(toJson()); }

/// The field that a message of a request's JsonReader names: "request: 'n' is
/// 0", also within a part of the request. Other messages name none.
static std::string fieldOf(const std::string &message) {
  const std::string reader = std::string(server::requestName) + ": ";
  const size_t start = message.find('\'');
  if (start == std::string::npos || !startsWith(message, reader) ||
      message.compare(start - 2, 2, ": ") != 0)
    return {};
  const size_t end = message.find('\'', start + 1);
  const std::string name = end == std::string::npos
                               ? ""
                               : message.substr(start + 1, end - start - 1);
  const bool isName =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.[]") ==
      std::string::npos;
  return isName ? name : "";
}

ApiError ApiError::of(const Status &failure) {
  ApiError error;
  error.message = failure.message();
  switch (failure.code()) {
  case StatusCode::ResourceExhausted:
    error.status = 503;
    error.code = "overloaded";
    break;
  case StatusCode::Internal:
  case StatusCode::IoError:
    error.status = 500;
    error.code = "internal_error";
    break;
  case StatusCode::NotFound:
  case StatusCode::InvalidArgument:
  case StatusCode::InvalidFile:
    error.code = "invalid_request";
    break;
  default:
    error.code = statusCodeName(failure.code());
    break;
  }
  if (error.status == 400)
    error.param = fieldOf(error.message);
  return error;
}

void answerJson(HttpExchange &exchange, const Json &value, int status) {
  exchange.answer(status, "application/json", jsonText(value));
}

void answerError(HttpExchange &exchange, const ApiError &error,
                 HttpHeaders headers) {
  if (error.status == 401)
    headers.push_back({"WWW-Authenticate", "Bearer"});
  if (error.status == 429 || error.status == 503)
    headers.push_back({"Retry-After", "1"});
  exchange.answer(error.status, "application/json", error.body(),
                  std::move(headers));
}

void answerError(HttpExchange &exchange, const Status &failure) {
  answerError(exchange, ApiError::of(failure));
}

void answerSafely(HttpExchange &exchange, const std::function<void()> &body) {
  const Status failure = withoutExceptions(body);
  if (!failure && !withoutExceptions([&] { answerError(exchange, failure); }))
    exchange.abandon();
}

} // namespace llmir

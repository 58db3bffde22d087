//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors in the form of OpenAI's API.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_APIERROR_H
#define LLMIR_SERVER_APIERROR_H

#include "llmir/Server/HttpExchange.h"
#include "llmir/Support/Json.h"

#include <functional>
#include <string>

namespace llmir {

struct ApiError {
  int status = 400;
  std::string message;
  std::string code;  ///< For programs: "context_length_exceeded"; or empty.
  std::string param; ///< The field that is wrong; or empty.

  /// {"error": {"message": …, "type": …, "param": …, "code": …}}
  Json toJson() const;
  std::string body() const;

  /// The HTTP status and code of a failure.
  static ApiError of(const Status &failure);
};

/// The text of an answer.
std::string jsonText(const Json &value);

void answerJson(HttpExchange &exchange, const Json &value, int status = 200);
/// With Retry-After for errors that pass, WWW-Authenticate for 401.
void answerError(HttpExchange &exchange, const ApiError &error,
                 HttpHeaders headers = {});
void answerError(HttpExchange &exchange, const Status &failure);

/// Calls `body`, which answers the request now or later. If it throws, the
/// answer is an error. Does not throw.
void answerSafely(HttpExchange &exchange, const std::function<void()> &body);

} // namespace llmir

#endif // LLMIR_SERVER_APIERROR_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One request of an HTTP client, and its answer.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_HTTPEXCHANGE_H
#define LLMIR_SERVER_HTTPEXCHANGE_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmir {

struct HttpRequest {
  std::string method;
  std::string path;  ///< Without the query.
  std::string query; ///< After '?'; may be empty.
  std::string body;
  std::string peer; ///< Address and port of the client.
  /// The header, if the server has keys: of routes that need one, it has one.
  std::string authorization;
};

/// What is known of a request that has been answered. Handlers add `details`,
/// which never contain text of prompts or answers.
struct HttpLogEntry {
  std::string peer, method, path;
  int status = 0;
  double milliseconds = 0;
  uint64_t sentBytes = 0;
  bool clientLeft = false; ///< Before the end of the answer.
  std::vector<std::pair<std::string, std::string>> details;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// The answer is either one answer(), or begin(), any number of write() and
/// end(). All functions may be called from any thread, in the order in which
/// they are to take effect; they do not block.
class HttpExchange {
public:
  virtual ~HttpExchange() = default;

  virtual const HttpRequest &request() const = 0;

  /// Answers as a whole. An answer that has begun is abandoned instead.
  virtual void answer(int status, std::string_view contentType,
                      std::string body, HttpHeaders headers = {}) = 0;

  /// Begins an answer of unknown length.
  virtual void begin(int status, std::string_view contentType) = 0;
  /// Continues it. False: the client has left, or reads too slowly.
  virtual bool write(std::string_view text) = 0;
  virtual void end() = 0;

  /// `callback` is called, by another thread or at once, if the client leaves
  /// before the end of the answer. It must not block.
  virtual void whenGone(std::function<void()> callback) = 0;
  virtual bool isGone() const = 0;

  /// Closes the connection soon: for answers that cannot be completed. Does not
  /// throw.
  virtual void abandon() = 0;

  /// Adds to the log's entry.
  virtual void note(std::string name, std::string value) = 0;
};

} // namespace llmir

#endif // LLMIR_SERVER_HTTPEXCHANGE_H

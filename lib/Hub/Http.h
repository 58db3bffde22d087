//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Single HTTP requests through libcurl, without redirects and retries.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_HUB_HTTP_H
#define LLMIR_LIB_HUB_HTTP_H

#include "llmir/Http/SharedLibraries.h"
#include "llmir/Hub/Settings.h"
#include "llmir/Support/Status.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace llmir::hub {

/// An absolute http or https address.
struct Url {
  std::string text;
  std::string scheme, host, port; ///< In lower case; the port is explicit.

  /// `base` resolves a relative address. InvalidFile for other schemes, for
  /// user names and passwords in it, and for text that is no address.
  static Expected<Url> parse(const std::string &text,
                             const Url *base = nullptr);
  bool hasOriginOf(const Url &other) const {
    return scheme == other.scheme && host == other.host && port == other.port;
  }
};

/// A component of an address: everything but letters, digits and "-._~"
/// becomes %XX; also "/" unless it is kept.
std::string percentEncoded(std::string_view text, bool keepsSlashes);

/// The status line and the headers of an answer.
struct HttpHead {
  long status = 0;
  std::map<std::string, std::string> headers; ///< Names in lower case.
  Url url; ///< Where the answer came from, after redirects.

  /// The header's value; empty if it is absent.
  const std::string &operator[](const std::string &name) const;
  /// Adds a line as it was received: a header, or a status line, which begins
  /// a new head.
  void takeLine(std::string_view line);
  bool isRedirect() const {
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
  }
};

/// Takes the body of an answer of status 2xx.
class BodySink {
public:
  virtual ~BodySink() = default;
  /// Called once, before the first byte; a failure ends the request.
  virtual Status begin(const HttpHead &head) = 0;
  virtual Status take(const char *data, size_t size) = 0;
};

struct HttpRequest {
  Url url;
  std::string token; ///< Sent as a bearer token unless empty.
  std::optional<std::pair<uint64_t, uint64_t>> range; ///< First and last byte.
  int stallTimeout = 10;
  long totalTimeout = 0; ///< Seconds; 0: none.
};

/// What became of a request.
struct HttpResult {
  HttpHead head; ///< Its status is 0 if there was no answer.
  /// A failure of the connection or of the sink, not an answer such as 404.
  Status failure;
  bool isTransient = false; ///< The request may succeed when repeated.
};

/// One connection at a time; requests to the same host reuse it. Used by one
/// thread.
class HttpConnection {
public:
  /// `stop` ends requests early once it is true; it may be null.
  static Expected<HttpConnection> create(const Settings &settings,
                                         const std::atomic<bool> *stop);

  HttpResult get(const HttpRequest &request, BodySink &sink);

private:
  struct Cleanup {
    void operator()(CURL *handle) const;
  };
  HttpConnection() = default;

  const CurlLibrary *curl = nullptr;
  const std::atomic<bool> *stop = nullptr;
  std::unique_ptr<CURL, Cleanup> handle;
  std::string certificates;
  int answerTimeout = 10;
};

} // namespace llmir::hub

#endif // LLMIR_LIB_HUB_HTTP_H

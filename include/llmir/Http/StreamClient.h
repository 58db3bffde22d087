//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Many HTTP requests at once from one thread, whose answers are handed over as
// they arrive.
//
//   auto client = StreamClient::create({});
//   (*client)->start({"http://127.0.0.1:8080/v1/completions", body}, listener);
//   while ((*client)->active() > 0)
//     if (Status polled = (*client)->poll(deadline); !polled) …
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_HTTP_STREAMCLIENT_H
#define LLMIR_HTTP_STREAMCLIENT_H

#include "llmir/Support/Status.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace llmir {

struct HttpCall {
  std::string url;
  std::optional<std::string> json; ///< The body of a POST; without one a GET.
};

/// How a call ended.
struct HttpEnd {
  long status = 0; ///< 0 if there was no answer.
  /// A failure of the connection, also in the middle of an answer; not an
  /// answer such as 404.
  Status failure;
};

/// Takes the answer to a call. It must not throw.
class HttpListener {
public:
  virtual ~HttpListener() = default;
  /// The next bytes of the body of an answer with this status. A failure ends
  /// the call, and becomes that of its HttpEnd.
  virtual Status onBytes(long status, std::string_view bytes) = 0;
  /// Called once, last. A new call may be started.
  virtual void onEnd(HttpEnd end) = 0;
};

/// The whole answer to a call.
struct HttpAnswer {
  HttpEnd end;
  std::string body;
};

struct StreamClientOptions {
  std::string token; ///< Sent as a bearer token unless empty.
  bool acceptsAnyCertificate = false;
  int connectTimeout = 30; ///< Seconds.
  long callTimeout = 0;    ///< Seconds of a whole call; 0: no limit.
};

/// Each call has a connection of its own (HTTP/1.1), which later calls reuse.
/// Waits with epoll, so that a call costs nothing while nothing arrives. Used
/// by one thread.
class StreamClient {
public:
  /// Raises the process's limit of open files as far as it may. NotFound or
  /// Unsupported without libcurl.
  static Expected<std::unique_ptr<StreamClient>>
  create(const StreamClientOptions &options);
  ~StreamClient();

  /// Starts a call. `listener` must live until its onEnd(), or as long as the
  /// client.
  Status start(HttpCall call, HttpListener &listener);
  /// Handles what has arrived; otherwise waits until something does, at most
  /// until `deadline`.
  Status poll(std::chrono::steady_clock::time_point deadline);
  /// Calls that have not ended.
  size_t active() const;

  /// Makes one call, whose answer may have at most 16 MiB, and waits for it;
  /// other calls continue.
  HttpAnswer call(HttpCall request);

private:
  class Impl;
  explicit StreamClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace llmir

#endif // LLMIR_HTTP_STREAMCLIENT_H

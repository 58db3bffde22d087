//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small HTTP/1.1 server: routes, keys, limits and streams. It knows nothing
// about models.
//
//   std::vector<HttpRoute> routes = {{"GET", "/health", answerHealth}};
//   auto server = HttpServer::start(options, std::move(routes));
//   server->waitForSignal();
//   server->drain(std::chrono::seconds(30));
//
// One thread does all input and output; handlers run there, or on a few workers
// if they may take long. Everything that a client sends is limited in size and
// in time, and what is queued for a client that does not read is, too.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_HTTPSERVER_H
#define LLMIR_SERVER_HTTPSERVER_H

#include "llmir/Server/HttpExchange.h"
#include "llmir/Server/RouteTable.h"
#include "llmir/Support/Status.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace llmir {

struct HttpServerOptions {
  std::string host = "127.0.0.1"; ///< An address of this machine.
  int64_t port = 8080;            ///< 0 = any free one.
  /// If not empty, routes that need a key are refused without one of these.
  std::vector<std::string> apiKeys;
  /// Origins whose pages may use the server, "*" = all.
  std::vector<std::string> corsOrigins;
  std::string tlsCertificate, tlsKey; ///< Files in PEM; both or neither.

  size_t maxHeaderBytes = size_t(16) << 10;
  size_t maxBodyBytes = size_t(16) << 20;
  /// Of the bodies of all requests that are being received or answered.
  size_t maxTotalBodyBytes = size_t(512) << 20;
  /// Fewer if the system allows fewer files.
  size_t maxConnections = 2048;
  /// Of a stream; then its client reads too slowly for a further write.
  size_t maxQueuedBytes = size_t(1) << 20;
  /// For a whole request; also how long an idle connection is kept.
  std::chrono::seconds readTimeout{60};
  /// For the client to take what was written.
  std::chrono::seconds writeTimeout{60};
  /// After which a silent stream of events gets a comment.
  std::chrono::seconds pingInterval{15};
  int64_t workers = 2; ///< Threads for handlers that may take long.

  /// Called when an answer, or what was sent of it, is complete.
  std::function<void(const HttpLogEntry &)> log;
};

class HttpServer {
public:
  /// Binds the port and starts to answer. Fails with InvalidArgument for
  /// options, IoError for an address that cannot be used, Unsupported in builds
  /// without Boost (or, for certificates, without OpenSSL).
  static Expected<std::unique_ptr<HttpServer>>
  start(HttpServerOptions options, std::vector<HttpRoute> routes);

  /// Closes all connections, and waits for handlers that run.
  ~HttpServer();
  HttpServer(const HttpServer &) = delete;
  HttpServer &operator=(const HttpServer &) = delete;

  int64_t port() const;
  /// Those of the options, or as many as the system allows.
  size_t maxConnections() const;

  /// Runs a function on a worker, before the handlers that wait for one. What
  /// has not begun when the server ends is dropped.
  void runOnWorker(std::function<void()> task);

  /// From now on, SIGINT and SIGTERM do not end the process: waitForSignal()
  /// returns, for each of them.
  void catchSignals();
  void waitForSignal();

  /// Answers further requests with 503, and returns when all others have been
  /// answered, or after `limit`, or at a signal. True: all were answered.
  bool drain(std::chrono::milliseconds limit);
  bool isDraining() const;

private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace llmir

#endif // LLMIR_SERVER_HTTPSERVER_H

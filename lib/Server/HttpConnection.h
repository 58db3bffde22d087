//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A connection of a client: reads requests, one at a time, and writes answers.
//
// Everything here belongs to the server's thread, except for HttpExchange,
// whose functions pass what they are given on to that thread.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SERVER_HTTPCONNECTION_H
#define LLMIR_LIB_SERVER_HTTPCONNECTION_H

#include "llmir/Server/HttpServer.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#ifdef LLMIR_TLS
#include <boost/asio/ssl/context.hpp>
#endif

#include <memory>
#include <string>
#include <string_view>

namespace llmir::http {

namespace asio = boost::asio;

/// What a request's headers say, beside HttpRequest.
struct RequestHead {
  std::string authorization, origin;
  std::string host;             ///< As the client calls the server.
  std::string requestedHeaders; ///< Of a page that asks what it may send.
  bool keepAlive = false, isHttp11 = true;
};

/// What connections need of the server.
class ConnectionHost {
public:
  virtual ~ConnectionHost() = default;
  virtual const HttpServerOptions &settings() const = 0;
  virtual asio::io_context &io() = 0;
  /// Whether dispatch() would have a route answer the request, whose body need
  /// not be known; otherwise it answers the request itself.
  virtual bool admits(const HttpRequest &request,
                      const RequestHead &head) const = 0;
  /// Has its route answer the request.
  virtual void dispatch(const std::shared_ptr<HttpExchange> &exchange,
                        const RequestHead &head) = 0;
  /// Counts the bytes of a body; false: there are too many already.
  virtual bool addBodyBytes(int64_t bytes) = 0;
  virtual bool isDraining() const = 0;
  virtual void exchangeBegan() = 0;
  virtual void exchangeEnded() = 0;
  virtual void connectionBegan() = 0;
  virtual void connectionEnded() = 0;
};

class Connection {
public:
  virtual ~Connection() = default;
  virtual void start() = 0;
  /// Ends the connection; the client of an answer that is not complete is gone.
  virtual void abort() = 0;
};

/// A connection whose socket has been accepted.
std::shared_ptr<Connection> makeConnection(ConnectionHost &host,
                                           asio::ip::tcp::socket socket);
#ifdef LLMIR_TLS
std::shared_ptr<Connection> makeConnection(ConnectionHost &host,
                                           asio::ip::tcp::socket socket,
                                           asio::ssl::context &context);
#endif

/// "Not Found" for 404.
std::string_view reasonPhrase(int status);

} // namespace llmir::http

#endif // LLMIR_LIB_SERVER_HTTPCONNECTION_H

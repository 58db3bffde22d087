//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The server of builds without Boost, which says that there is none.
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/HttpServer.h"

namespace llmir {

struct HttpServer::State {};

HttpServer::HttpServer(std::unique_ptr<State> state)
    : state(std::move(state)) {}
HttpServer::~HttpServer() = default;

Expected<std::unique_ptr<HttpServer>>
HttpServer::start(HttpServerOptions, std::vector<HttpRoute>) {
  return Status(StatusCode::Unsupported,
                "this llmir was built without Boost, which its server needs",
                "install libboost1.81-dev and build again");
}

int64_t HttpServer::port() const { return 0; }
void HttpServer::runOnWorker(std::function<void()> task) { task(); }
size_t HttpServer::maxConnections() const { return 0; }
bool HttpServer::isDraining() const { return false; }
void HttpServer::catchSignals() {}
void HttpServer::waitForSignal() {}
bool HttpServer::drain(std::chrono::milliseconds) { return true; }

} // namespace llmir

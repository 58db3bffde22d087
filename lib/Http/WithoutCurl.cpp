//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces the client in a build without libcurl.
//
//===----------------------------------------------------------------------===//

#include "llmir/Http/StreamClient.h"

using namespace llmir;

static Status withoutCurl() {
  return Status(StatusCode::Unsupported,
                "this llmir was built without libcurl and cannot use HTTP",
                "build it where libcurl4-openssl-dev is installed");
}

class StreamClient::Impl {};

StreamClient::StreamClient(std::unique_ptr<Impl> impl)
    : impl(std::move(impl)) {}
StreamClient::~StreamClient() = default;

Expected<std::unique_ptr<StreamClient>>
StreamClient::create(const StreamClientOptions &) {
  return withoutCurl();
}

Status StreamClient::start(HttpCall, HttpListener &) { return withoutCurl(); }

Status StreamClient::poll(std::chrono::steady_clock::time_point) {
  return withoutCurl();
}

size_t StreamClient::active() const { return 0; }

HttpAnswer StreamClient::call(HttpCall) {
  HttpAnswer answer;
  answer.end.failure = withoutCurl();
  return answer;
}

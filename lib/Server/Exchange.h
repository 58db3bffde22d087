//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A request and its answer, on a connection.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SERVER_EXCHANGE_H
#define LLMIR_LIB_SERVER_EXCHANGE_H

#include "HttpConnection.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

namespace llmir::http {

using Clock = std::chrono::steady_clock;

/// What an exchange asks of its connection, in the server's thread.
class AnswerSink {
public:
  virtual ~AnswerSink() = default;
  /// Sends text; `isLast`: the answer is complete.
  virtual void send(std::string text, bool isLast) = 0;
  /// The client reads too slowly.
  virtual void giveUp() = 0;
  virtual asio::io_context &io() = 0;
};

class Exchange final : public HttpExchange,
                       public std::enable_shared_from_this<Exchange> {
public:
  Exchange(HttpRequest request, const RequestHead &head,
           const HttpServerOptions &options, std::weak_ptr<AnswerSink> sink)
      : received(std::move(request)), head(head), options(options),
        sink(std::move(sink)) {
    keepsAlive = head.keepAlive;
  }

  const HttpRequest &request() const override { return received; }
  void answer(int status, std::string_view contentType, std::string body,
              HttpHeaders headers) override;
  void begin(int status, std::string_view contentType) override;
  bool write(std::string_view text) override;
  void end() override;
  void whenGone(std::function<void()> callback) override;
  bool isGone() const override { return gone; }
  void abandon() override;
  bool isAbandoned() const { return abandoned; }
  void note(std::string name, std::string value) override {
    std::lock_guard<std::mutex> lock(mutex);
    details.push_back({std::move(name), std::move(value)});
  }

  /// The server's thread: the client has left.
  void leave();
  /// The server's thread: so many bytes have been written.
  void wasSent(size_t bytes) {
    queued -= bytes;
    sent += bytes;
  }
  /// The server's thread, while the answer is not complete: a comment for a
  /// stream of events that has been silent; empty for other answers.
  std::string ping();
  HttpLogEntry logEntry();
  std::atomic<bool> keepsAlive{false};

private:
  std::string headText(int status, std::string_view contentType,
                       const HttpHeaders &headers, std::string_view length);
  std::string framed(std::string_view text) const;
  template <typename Action> void inServerThread(Action action);
  void passWhole(int status, std::string_view contentType, std::string body,
                 const HttpHeaders &headers);
  void pass(std::string text, bool isLast);

  const HttpRequest received;
  const RequestHead head;
  const HttpServerOptions &options;
  const std::weak_ptr<AnswerSink> sink;
  const Clock::time_point start = Clock::now();
  std::atomic<bool> gone{false}, isComplete{false}, isEventStream{false};
  std::atomic<bool> hasBegun{false}, abandoned{false};
  std::atomic<int> sentStatus{0};
  std::atomic<size_t> queued{0}, sent{0};
  std::mutex mutex; ///< Of the following.
  std::function<void()> goneCallback;
  std::vector<std::pair<std::string, std::string>> details;
};

} // namespace llmir::http

#endif // LLMIR_LIB_SERVER_EXCHANGE_H

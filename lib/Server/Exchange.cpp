//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"

#include "llmir/Server/HttpTarget.h"
#include "llmir/Support/Exceptions.h"

#include <boost/asio/post.hpp>

namespace llmir::http {

/// `length`: the line that delimits the body.
std::string Exchange::headText(int status, std::string_view contentType,
                               const HttpHeaders &headers,
                               std::string_view length) {
  sentStatus = status;
  std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
  text += reasonPhrase(status);
  text += "\r\nServer: llmir\r\nCache-Control: no-store\r\n";
  text += "X-Content-Type-Options: nosniff\r\n";
  if (!contentType.empty())
    text.append("Content-Type: ").append(contentType).append("\r\n");
  for (const auto &[name, value] : headers)
    text.append(name).append(": ").append(value).append("\r\n");
  if (const std::string *allowed =
          allowedOrigin(head.origin, options.corsOrigins))
    text += "Access-Control-Allow-Origin: " + *allowed + "\r\nVary: Origin\r\n";
  text.append(length);
  text += keepsAlive ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
  return text + "\r\n";
}

/// Has the connection do something in the server's thread, where it also ends
/// if nobody else uses it.
template <typename Action> void Exchange::inServerThread(Action action) {
  std::shared_ptr<AnswerSink> target = sink.lock();
  if (!target)
    return;
  asio::io_context &io = target->io();
  asio::post(
      io, [target = std::move(target), action = std::move(action)]() mutable {
        if (!withoutExceptions([&] { action(*target); }))
          target->giveUp();
      });
}

void Exchange::pass(std::string text, bool isLast) {
  queued += text.size();
  inServerThread([text = std::move(text), isLast](AnswerSink &target) mutable {
    target.send(std::move(text), isLast);
  });
}

void Exchange::answer(int status, std::string_view contentType,
                      std::string body, HttpHeaders headers) {
  if (hasBegun)
    return isComplete ? void() : abandon();
  if (isComplete.exchange(true))
    return;
  try {
    passWhole(status, contentType, std::move(body), headers);
  } catch (...) { // Another, smaller answer may be tried.
    isComplete = false;
    throw;
  }
}

void Exchange::passWhole(int status, std::string_view contentType,
                         std::string body, const HttpHeaders &headers) {
  const std::string length =
      status == 204 ? ""
                    : "Content-Length: " + std::to_string(body.size()) + "\r\n";
  std::string text = headText(status, contentType, headers, length);
  if (received.method != "HEAD")
    text += body;
  pass(std::move(text), /*isLast=*/true);
}

void Exchange::abandon() {
  abandoned = true; // Without memory for more, it is noticed later.
  (void)withoutExceptions(
      [&] { inServerThread([](AnswerSink &target) { target.giveUp(); }); });
}

void Exchange::begin(int status, std::string_view contentType) {
  if (!head.isHttp11) // Its end is that of the connection.
    keepsAlive = false;
  isEventStream = contentType.substr(0, 17) == "text/event-stream";
  pass(headText(status, contentType, {},
                head.isHttp11 ? "Transfer-Encoding: chunked\r\n" : ""),
       /*isLast=*/false);
  hasBegun = true; // Not if memory for it is short.
}

bool Exchange::write(std::string_view text) {
  if (gone)
    return false;
  if (text.empty())
    return true;
  if (queued > options.maxQueuedBytes) {
    gone = true;
    inServerThread([](AnswerSink &target) { target.giveUp(); });
    return false;
  }
  pass(framed(text), /*isLast=*/false);
  return true;
}

/// A part of an answer of unknown length.
std::string Exchange::framed(std::string_view text) const {
  if (!head.isHttp11)
    return std::string(text);
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  std::string chunk = size;
  return chunk.append(text).append("\r\n");
}

std::string Exchange::ping() {
  if (!isEventStream)
    return {};
  std::string text = framed(": ping\n\n");
  queued += text.size();
  return text;
}

void Exchange::end() {
  if (!isComplete.exchange(true))
    pass(head.isHttp11 ? "0\r\n\r\n" : "", /*isLast=*/true);
}

void Exchange::whenGone(std::function<void()> callback) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!gone) {
      goneCallback = std::move(callback);
      return;
    }
  }
  callback();
}

void Exchange::leave() {
  std::function<void()> callback;
  {
    std::lock_guard<std::mutex> lock(mutex);
    gone = true;
    callback.swap(goneCallback);
  }
  if (callback)
    callback();
}

HttpLogEntry Exchange::logEntry() {
  HttpLogEntry entry;
  entry.peer = received.peer;
  entry.method = received.method;
  entry.path = received.path;
  entry.status = sentStatus;
  entry.milliseconds =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  entry.sentBytes = sent;
  entry.clientLeft = gone;
  std::lock_guard<std::mutex> lock(mutex);
  goneCallback = nullptr;
  entry.details = std::move(details);
  return entry;
}

} // namespace llmir::http

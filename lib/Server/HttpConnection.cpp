//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpConnection.h"

#include "llmir/Server/ApiError.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#ifdef LLMIR_TLS
#include <boost/asio/ssl/stream.hpp>
#endif

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

namespace llmir::http {

namespace beast = boost::beast;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Clock = std::chrono::steady_clock;

std::string_view reasonPhrase(int status) {
  return beast::http::obsolete_reason(static_cast<beast::http::status>(status));
}

namespace {

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
  HttpLogEntry logEntry();
  std::atomic<bool> keepsAlive{false};

private:
  std::string headText(int status, std::string_view contentType,
                       const HttpHeaders &headers, std::string_view length);
  template <typename Action> void inServerThread(Action action);
  void pass(std::string text, bool isLast);

  const HttpRequest received;
  const RequestHead head;
  const HttpServerOptions &options;
  const std::weak_ptr<AnswerSink> sink;
  const Clock::time_point start = Clock::now();
  std::atomic<bool> gone{false}, isComplete{false};
  std::atomic<int> sentStatus{0};
  std::atomic<size_t> queued{0}, sent{0};
  std::mutex mutex; ///< Of the following.
  std::function<void()> goneCallback;
  std::vector<std::pair<std::string, std::string>> details;
};

} // namespace

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

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
  for (const std::string &allowed : options.corsOrigins)
    if (!head.origin.empty() && (allowed == "*" || allowed == head.origin)) {
      text +=
          "Access-Control-Allow-Origin: " + allowed + "\r\nVary: Origin\r\n";
      break;
    }
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
  asio::post(io, [target = std::move(target),
                  action = std::move(action)]() mutable { action(*target); });
}

void Exchange::pass(std::string text, bool isLast) {
  queued += text.size();
  inServerThread([text = std::move(text), isLast](AnswerSink &target) mutable {
    target.send(std::move(text), isLast);
  });
}

void Exchange::answer(int status, std::string_view contentType,
                      std::string body, HttpHeaders headers) {
  if (isComplete.exchange(true))
    return;
  const std::string length =
      status == 204 ? ""
                    : "Content-Length: " + std::to_string(body.size()) + "\r\n";
  std::string text = headText(status, contentType, headers, length);
  if (received.method != "HEAD")
    text += body;
  pass(std::move(text), /*isLast=*/true);
}

void Exchange::begin(int status, std::string_view contentType) {
  if (!head.isHttp11) // Its end is that of the connection.
    keepsAlive = false;
  pass(headText(status, contentType, {},
                head.isHttp11 ? "Transfer-Encoding: chunked\r\n" : ""),
       /*isLast=*/false);
}

bool Exchange::write(std::string_view text) {
  if (gone)
    return false;
  if (text.empty())
    return true;
  if (queued > 0 && queued + text.size() > options.maxQueuedBytes) {
    gone = true;
    inServerThread([](AnswerSink &target) { target.giveUp(); });
    return false;
  }
  if (!head.isHttp11) {
    pass(std::string(text), /*isLast=*/false);
    return true;
  }
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  std::string chunk = size;
  chunk.append(text).append("\r\n");
  pass(std::move(chunk), /*isLast=*/false);
  return true;
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

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

namespace {

/// Bytes that are read ahead while a request is answered.
constexpr size_t mostReadAhead = size_t(64) << 10;

template <typename Stream>
class ConnectionOn final
    : public Connection,
      public AnswerSink,
      public std::enable_shared_from_this<ConnectionOn<Stream>> {
public:
  template <typename... Arguments>
  ConnectionOn(ConnectionHost &host, Arguments &&...arguments)
      : host(host), stream(std::forward<Arguments>(arguments)...),
        readTimer(host.io()), writeTimer(host.io()) {}
  ~ConnectionOn() override {
    host.addBodyBytes(-countedBody);
    host.connectionEnded();
  }

  void start() override;
  void abort() override { close(); }
  void send(std::string text, bool isLast) override;
  void giveUp() override { close(); }
  asio::io_context &io() override { return host.io(); }

private:
  using Parser = beast::http::request_parser<beast::http::string_body>;
  auto self() { return this->shared_from_this(); }
  auto &socket() { return stream.lowest_layer(); }

  void armReadTimer();
  void readMore();
  void received(ErrorCode error, size_t bytes);
  void parse();
  size_t sizeOfHeaders() const;
  bool countBody();
  void dispatch();
  void refuse(int status, const char *code, const char *message);
  void writeMore();
  void written(ErrorCode error, size_t bytes);
  void finishAnswer();
  void close();

  ConnectionHost &host;
  Stream stream;
  std::string peer;
  asio::steady_timer readTimer, writeTimer;

  beast::flat_buffer buffer;
  std::optional<Parser> parser;
  int64_t countedBody = 0;
  bool isReading = false, isClosed = false, saidContinue = false;

  std::shared_ptr<Exchange> exchange; ///< While a request is answered.
  std::deque<std::string> output;
  bool isWriting = false, isLastQueued = false, closesAfterwards = false;
};

} // namespace

template <typename Stream> void ConnectionOn<Stream>::start() {
  ErrorCode ignored;
  const tcp::endpoint end = socket().remote_endpoint(ignored);
  peer = end.address().to_string() + ":" + std::to_string(end.port());
  socket().set_option(tcp::no_delay(true), ignored);
  armReadTimer();
#ifdef LLMIR_TLS
  if constexpr (!std::is_same_v<Stream, tcp::socket>) {
    stream.async_handshake(asio::ssl::stream_base::server,
                           [self = self()](ErrorCode error) {
                             if (error)
                               return self->close();
                             self->readMore();
                           });
    return;
  }
#endif
  readMore();
}

/// Only while a request is awaited or received.
template <typename Stream> void ConnectionOn<Stream>::armReadTimer() {
  readTimer.expires_after(host.settings().readTimeout);
  readTimer.async_wait([self = self()](ErrorCode error) {
    if (error || self->exchange || self->isClosed)
      return;
    if (self->parser || self->buffer.size() > 0)
      self->refuse(408, "request_timeout",
                   "the request was not received in time");
    else
      self->close();
  });
}

template <typename Stream> void ConnectionOn<Stream>::readMore() {
  if (isReading || isClosed || buffer.size() >= mostReadAhead)
    return;
  isReading = true;
  stream.async_read_some(buffer.prepare(size_t(16) << 10),
                         [self = self()](ErrorCode error, size_t bytes) {
                           self->received(error, bytes);
                         });
}

template <typename Stream>
void ConnectionOn<Stream>::received(ErrorCode error, size_t bytes) {
  isReading = false;
  if (error)
    return close(); // A client that sends no more is one that has left.
  buffer.commit(bytes);
  if (closesAfterwards)
    buffer.clear();
  else if (!exchange)
    parse();
  readMore();
}

/// The size of the headers at the beginning of the buffer; if they are not
/// complete, that of the buffer if it is too large, otherwise 0.
template <typename Stream> size_t ConnectionOn<Stream>::sizeOfHeaders() const {
  const auto data = buffer.data();
  const std::string_view text(static_cast<const char *>(data.data()),
                              data.size());
  const size_t end = text.find("\r\n\r\n");
  if (end != std::string_view::npos)
    return end + 4;
  return text.size() > host.settings().maxHeaderBytes ? text.size() : 0;
}

template <typename Stream> void ConnectionOn<Stream>::parse() {
  while (buffer.size() > 0 && !exchange && !isClosed && !closesAfterwards) {
    if (!parser) {
      const size_t size = sizeOfHeaders();
      if (size > host.settings().maxHeaderBytes)
        return refuse(431, "headers_too_large", "the headers are too large");
      if (size == 0)
        return;
      parser.emplace();
      parser->eager(true);
      parser->header_limit(
          static_cast<std::uint32_t>(host.settings().maxHeaderBytes) + 1);
      parser->body_limit(host.settings().maxBodyBytes);
      saidContinue = false;
      armReadTimer();
    }
    ErrorCode error;
    const size_t used = parser->put(buffer.data(), error);
    buffer.consume(used);
    namespace http = beast::http;
    if (error == http::error::need_more)
      error = {};
    if (error == http::error::body_limit)
      return refuse(413, "body_too_large",
                    "the body is too large; the limit is that of --max-body");
    if (error)
      return refuse(400, "bad_request", "the request is not valid HTTP");
    if (!countBody())
      return refuse(503, "overloaded",
                    "too many requests are being received; try again later");
    if (parser->is_done())
      return dispatch();
    if (parser->is_header_done() && !saidContinue &&
        beast::iequals(parser->get()[http::field::expect], "100-continue")) {
      saidContinue = true;
      output.push_back("HTTP/1.1 100 Continue\r\n\r\n");
      writeMore();
    }
    if (used == 0)
      return;
  }
}

template <typename Stream> bool ConnectionOn<Stream>::countBody() {
  const auto size = static_cast<int64_t>(parser->get().body().size());
  const bool fits = host.addBodyBytes(size - countedBody);
  countedBody = size;
  return fits;
}

template <typename Stream> void ConnectionOn<Stream>::dispatch() {
  namespace http = beast::http;
  readTimer.cancel();
  auto message = parser->release();
  parser.reset();
  HttpRequest request;
  request.method = std::string(message.method_string());
  const std::string target(message.target());
  const size_t query = target.find('?');
  request.path = target.substr(0, query);
  if (query != std::string::npos)
    request.query = target.substr(query + 1);
  request.body = std::move(message.body());
  request.peer = peer;
  RequestHead head;
  head.authorization = std::string(message[http::field::authorization]);
  if (!host.settings().apiKeys.empty())
    request.authorization = head.authorization;
  head.origin = std::string(message[http::field::origin]);
  head.keepAlive = message.keep_alive() && !host.isDraining();
  head.isHttp11 = message.version() >= 11;
  exchange = std::make_shared<Exchange>(std::move(request), head,
                                        host.settings(), self());
  host.exchangeBegan();
  host.dispatch(exchange, head);
}

/// Answers a request that cannot be received, and closes the connection.
template <typename Stream>
void ConnectionOn<Stream>::refuse(int status, const char *code,
                                  const char *message) {
  HttpRequest request;
  request.method = "?";
  request.peer = peer;
  if (parser && parser->is_header_done()) {
    request.method = std::string(parser->get().method_string());
    request.path = std::string(parser->get().target());
  }
  parser.reset();
  readTimer.cancel();
  exchange = std::make_shared<Exchange>(std::move(request), RequestHead(),
                                        host.settings(), self());
  host.exchangeBegan();
  answerError(*exchange, ApiError{status, message, code, ""});
}

template <typename Stream>
void ConnectionOn<Stream>::send(std::string text, bool isLast) {
  if (isClosed)
    return;
  if (!text.empty())
    output.push_back(std::move(text));
  isLastQueued |= isLast;
  writeMore();
}

template <typename Stream> void ConnectionOn<Stream>::writeMore() {
  if (isWriting || isClosed)
    return;
  if (output.empty()) {
    if (isLastQueued)
      finishAnswer();
    return;
  }
  std::vector<asio::const_buffer> buffers;
  for (const std::string &text : output)
    buffers.push_back(asio::buffer(text));
  isWriting = true;
  writeTimer.expires_after(host.settings().writeTimeout);
  writeTimer.async_wait([self = self()](ErrorCode error) {
    if (!error)
      self->close();
  });
  asio::async_write(
      stream, buffers,
      [self = self(), count = output.size()](ErrorCode error, size_t bytes) {
        self->isWriting = false;
        self->output.erase(self->output.begin(),
                           self->output.begin() +
                               static_cast<ptrdiff_t>(count));
        self->written(error, bytes);
      });
}

template <typename Stream>
void ConnectionOn<Stream>::written(ErrorCode error, size_t bytes) {
  writeTimer.cancel();
  if (exchange)
    exchange->wasSent(bytes);
  if (error)
    return close();
  writeMore();
}

/// The answer has been written: the next request can be answered.
template <typename Stream> void ConnectionOn<Stream>::finishAnswer() {
  const std::shared_ptr<Exchange> done = std::move(exchange);
  exchange.reset();
  isLastQueued = false;
  host.addBodyBytes(-countedBody);
  countedBody = 0;
  if (host.settings().log)
    host.settings().log(done->logEntry());
  host.exchangeEnded();
  if (!done->keepsAlive) {
    closesAfterwards = true;
    // Closing with unread data would discard the answer, so a client that still
    // sends is read for a while.
    ErrorCode ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    readTimer.expires_after(std::chrono::seconds(2));
    readTimer.async_wait([self = self()](ErrorCode) { self->close(); });
    buffer.clear();
    return readMore();
  }
  armReadTimer();
  parse();
  readMore();
}

template <typename Stream> void ConnectionOn<Stream>::close() {
  if (isClosed)
    return;
  isClosed = true;
  readTimer.cancel();
  writeTimer.cancel();
  ErrorCode ignored;
  socket().close(ignored);
  if (!exchange)
    return;
  const std::shared_ptr<Exchange> left = std::move(exchange);
  exchange.reset();
  left->leave();
  if (host.settings().log)
    host.settings().log(left->logEntry());
  host.exchangeEnded();
}

std::shared_ptr<Connection> makeConnection(ConnectionHost &host,
                                           tcp::socket socket) {
  return std::make_shared<ConnectionOn<tcp::socket>>(host, std::move(socket));
}

#ifdef LLMIR_TLS
std::shared_ptr<Connection> makeConnection(ConnectionHost &host,
                                           tcp::socket socket,
                                           asio::ssl::context &context) {
  return std::make_shared<ConnectionOn<asio::ssl::stream<tcp::socket>>>(
      host, std::move(socket), context);
}
#endif

} // namespace llmir::http

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"
#include "llmir/Server/ApiError.h"
#include "llmir/Server/HttpTarget.h"
#include "llmir/Support/Exceptions.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#ifdef LLMIR_TLS
#include <boost/asio/ssl/stream.hpp>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>

namespace llmir::http {

namespace beast = boost::beast;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

std::string_view reasonPhrase(int status) {
  return beast::http::obsolete_reason(static_cast<beast::http::status>(status));
}

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

namespace {

/// Bytes that a client may send before earlier requests have been answered.
constexpr size_t mostReadAhead = size_t(64) << 10;

/// A body whose memory grows with what is received: that of Beast reserves what
/// the client says that it will send.
struct GrowingBody {
  using value_type = std::string;
  static std::uint64_t size(const value_type &body) { return body.size(); }

  class reader {
  public:
    template <bool isRequest, class Fields>
    reader(beast::http::header<isRequest, Fields> &, value_type &body)
        : body(body) {}
    void init(const boost::optional<std::uint64_t> &, ErrorCode &error) {
      error = {};
    }
    template <class Buffers>
    size_t put(const Buffers &buffers, ErrorCode &error) {
      error = {};
      for (const asio::const_buffer part : beast::buffers_range_ref(buffers))
        body.append(static_cast<const char *>(part.data()), part.size());
      return asio::buffer_size(buffers);
    }
    void finish(ErrorCode &error) { error = {}; }

  private:
    value_type &body;
  };
};

template <typename Stream>
class ConnectionOn final
    : public Connection,
      public AnswerSink,
      public std::enable_shared_from_this<ConnectionOn<Stream>> {
public:
  template <typename... Arguments>
  ConnectionOn(ConnectionHost &host, Arguments &&...arguments)
      : host(host), stream(std::forward<Arguments>(arguments)...),
        readTimer(host.io()), writeTimer(host.io()), pingTimer(host.io()) {
    host.connectionBegan();
  }
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
  using Parser = beast::http::request_parser<GrowingBody>;
  auto self() { return this->shared_from_this(); }
  auto &socket() { return stream.lowest_layer(); }

  /// A handler of an asynchronous operation that may throw.
  template <typename Handler> auto safely(Handler handler) {
    return [self = self(), handler = std::move(handler)](auto &&...arguments) {
      const Status thrown =
          withoutExceptions([&] { handler(*self, arguments...); });
      if (!thrown)
        self->endAfter(thrown);
    };
  }
  void endAfter(const Status &failure);
  void armReadTimer();
  void readMore();
  void received(ErrorCode error, size_t bytes);
  void parse();
  size_t sizeOfHeaders() const;
  bool countBody();
  bool isAdmitted();
  void dispatch();
  void refuse(int status, const char *code, const char *message);
  void armPingTimer();
  void writeMore();
  void written(ErrorCode error, size_t bytes);
  void finishAnswer();
  void sayGoodbye();
  void close();
  void logEnd(Exchange &ended);

  ConnectionHost &host;
  Stream stream;
  std::string peer;
  asio::steady_timer readTimer, writeTimer, pingTimer;

  /// What is being read; `buffer` may be parsed meanwhile.
  std::array<char, size_t(8) << 10> incoming;
  beast::flat_buffer buffer;
  std::optional<Parser> parser;
  int64_t countedBody = 0;
  bool isReading = false, isClosed = false, isHeadChecked = false;

  std::shared_ptr<Exchange> exchange; ///< While a request is answered.
  std::deque<std::string> output;
  size_t uncounted = 0; ///< Bytes at its beginning that are of no exchange.
  bool isWriting = false, isLastQueued = false, closesAfterwards = false;
};

} // namespace

template <typename Stream> void ConnectionOn<Stream>::start() {
  ErrorCode ignored;
  const tcp::endpoint end = socket().remote_endpoint(ignored);
  peer = end.address().to_string() + ":" + std::to_string(end.port());
  socket().set_option(tcp::no_delay(true), ignored);
  socket().set_option(tcp::socket::keep_alive(true), ignored);
  armReadTimer();
#ifdef LLMIR_TLS
  if constexpr (!std::is_same_v<Stream, tcp::socket>) {
    stream.async_handshake(asio::ssl::stream_base::server,
                           safely([](ConnectionOn &self, ErrorCode error) {
                             error ? self.close() : self.readMore();
                           }));
    return;
  }
#endif
  readMore();
}

/// Only while a request is awaited or received.
template <typename Stream> void ConnectionOn<Stream>::armReadTimer() {
  readTimer.expires_after(host.settings().readTimeout);
  readTimer.async_wait(safely([](ConnectionOn &self, ErrorCode error) {
    if (error || self.exchange || self.isClosed)
      return;
    if (self.parser || self.buffer.size() > 0)
      self.refuse(408, "request_timeout",
                  "the request was not received in time");
    else
      self.close();
  }));
}

/// There is always a read, also while a request is answered: it tells that the
/// client leaves, and it owns the connection.
template <typename Stream> void ConnectionOn<Stream>::readMore() {
  if (isReading || isClosed)
    return;
  stream.async_read_some(
      asio::buffer(incoming),
      safely([](ConnectionOn &self, ErrorCode error, size_t bytes) {
        self.received(error, bytes);
      }));
  isReading = true; // Its handler is not called before.
}

template <typename Stream>
void ConnectionOn<Stream>::received(ErrorCode error, size_t bytes) {
  isReading = false;
  if (error)
    return close(); // A client that sends no more is one that has left.
  const bool isUnwanted =
      closesAfterwards || (exchange && !exchange->keepsAlive);
  if (!isUnwanted) {
    const auto space = buffer.prepare(bytes);
    std::memcpy(space.data(), incoming.data(), bytes);
    buffer.commit(bytes);
    parse();
    if (buffer.size() > mostReadAhead)
      return close();
  }
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
      isHeadChecked = false;
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
    if (parser->is_header_done() && !isHeadChecked) {
      isHeadChecked = true;
      if (!isAdmitted())
        return dispatch();
      if (!parser->is_done() &&
          beast::iequals(parser->get()[http::field::expect], "100-continue")) {
        output.push_back("HTTP/1.1 100 Continue\r\n\r\n");
        uncounted += output.back().size();
        writeMore();
      }
    }
    if (parser->is_done())
      return dispatch();
    if (used == 0)
      return;
  }
}

template <typename Stream> bool ConnectionOn<Stream>::countBody() {
  const auto size = static_cast<int64_t>(parser->get().body().capacity());
  const bool fits = host.addBodyBytes(size - countedBody);
  countedBody = size;
  return fits;
}

namespace {
using Header = beast::http::request_header<>;
} // namespace

static HttpRequest requestOf(const Header &header, const std::string &peer) {
  const HttpTarget target = splitTarget(header.target());
  HttpRequest request;
  request.method = std::string(header.method_string());
  request.path = std::string(target.path);
  request.query = std::string(target.query);
  request.peer = peer;
  return request;
}

static RequestHead headOf(const Header &header) {
  namespace http = beast::http;
  RequestHead head;
  head.authorization = std::string(header[http::field::authorization]);
  head.origin = std::string(header[http::field::origin]);
  head.host = std::string(splitTarget(header.target()).host);
  if (head.host.empty())
    head.host = std::string(header[http::field::host]);
  head.requestedHeaders =
      std::string(header[http::field::access_control_request_headers]);
  head.isHttp11 = header.version() >= 11;
  return head;
}

template <typename Stream> bool ConnectionOn<Stream>::isAdmitted() {
  const Header &header = parser->get().base();
  return host.admits(requestOf(header, peer), headOf(header));
}

/// The request, or the headers of one that is not admitted, are complete.
template <typename Stream> void ConnectionOn<Stream>::dispatch() {
  readTimer.cancel();
  const bool isWhole = parser->is_done();
  auto message = parser->release();
  parser.reset();
  HttpRequest request = requestOf(message.base(), peer);
  request.body = std::move(message.body());
  RequestHead head = headOf(message.base());
  // The rest of a body is not told from the next request.
  head.keepAlive = isWhole && message.keep_alive() && !host.isDraining();
  if (!head.keepAlive)
    buffer.clear();
  if (!host.settings().apiKeys.empty())
    request.authorization = head.authorization;
  exchange = std::make_shared<Exchange>(std::move(request), head,
                                        host.settings(), self());
  host.exchangeBegan();
  armPingTimer();
  host.dispatch(exchange, head);
}

/// Answers a request that cannot be received, and closes the connection.
template <typename Stream>
void ConnectionOn<Stream>::refuse(int status, const char *code,
                                  const char *message) {
  HttpRequest request;
  request.method = "?";
  request.peer = peer;
  if (parser && !parser->get().target().empty())
    request = requestOf(parser->get().base(), peer);
  parser.reset();
  buffer.clear();
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
  if (!isLastQueued)
    armPingTimer();
  writeMore();
}

/// Proxies and clients take a stream that is silent for long for a dead one.
template <typename Stream> void ConnectionOn<Stream>::armPingTimer() {
  pingTimer.expires_after(host.settings().pingInterval);
  pingTimer.async_wait(safely([](ConnectionOn &self, ErrorCode error) {
    if (error || !self.exchange || self.isLastQueued || self.isClosed)
      return;
    if (self.exchange->isAbandoned())
      return self.close();
    self.send(self.output.empty() ? self.exchange->ping() : "",
              /*isLast=*/false);
  }));
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
  writeTimer.expires_after(host.settings().writeTimeout);
  writeTimer.async_wait(safely([](ConnectionOn &self, ErrorCode error) {
    if (!error)
      self.close();
  }));
  asio::async_write(
      stream, buffers,
      safely([count = output.size()](ConnectionOn &self, ErrorCode error,
                                     size_t bytes) {
        self.isWriting = false;
        self.output.erase(self.output.begin(),
                          self.output.begin() + static_cast<ptrdiff_t>(count));
        self.written(error, bytes);
      }));
  isWriting = true; // Its handler is not called before.
}

template <typename Stream>
void ConnectionOn<Stream>::written(ErrorCode error, size_t bytes) {
  writeTimer.cancel();
  const size_t others = std::min(bytes, uncounted);
  uncounted -= others;
  if (exchange)
    exchange->wasSent(bytes - others);
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
  logEnd(*done);
  pingTimer.cancel();
  if (!done->keepsAlive)
    return sayGoodbye();
  armReadTimer();
  parse();
}

/// Ends the sending side. Closing with unread data would discard the answer, so
/// a client that still sends is read for a while.
template <typename Stream> void ConnectionOn<Stream>::sayGoodbye() {
  closesAfterwards = true;
  buffer.clear();
  readTimer.expires_after(std::chrono::seconds(2));
  readTimer.async_wait(
      safely([](ConnectionOn &self, ErrorCode) { self.close(); }));
#ifdef LLMIR_TLS
  if constexpr (!std::is_same_v<Stream, tcp::socket>) {
    stream.async_shutdown(safely([](ConnectionOn &self, ErrorCode error) {
      if (!error) // The client has said goodbye, too.
        self.close();
    }));
    return;
  }
#endif
  ErrorCode ignored;
  socket().shutdown(tcp::socket::shutdown_send, ignored);
}

template <typename Stream> void ConnectionOn<Stream>::close() {
  if (isClosed)
    return;
  isClosed = true;
  readTimer.cancel();
  writeTimer.cancel();
  pingTimer.cancel();
  ErrorCode ignored;
  socket().close(ignored);
  if (!exchange)
    return;
  const std::shared_ptr<Exchange> left = std::move(exchange);
  exchange.reset();
  (void)withoutExceptions([&] { left->leave(); });
  logEnd(*left);
}

template <typename Stream> void ConnectionOn<Stream>::logEnd(Exchange &ended) {
  if (host.settings().log) // Without memory, there is no line.
    (void)withoutExceptions([&] { host.settings().log(ended.logEntry()); });
  host.exchangeEnded();
}

/// After an exception in a handler: the request that is received or answered is
/// answered with an error if that is still possible, and the connection ends.
template <typename Stream>
void ConnectionOn<Stream>::endAfter(const Status &failure) {
  const Status answered = withoutExceptions([&] {
    if (isClosed)
      return;
    const bool isReceiving = !exchange && (parser || buffer.size() > 0);
    if (isReceiving)
      refuse(503, "overloaded", "there is no memory for the request");
    else if (exchange && !isLastQueued)
      answerError(*exchange, failure);
    else
      return close();
    readMore();
  });
  if (!answered)
    close();
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

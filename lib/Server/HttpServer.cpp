//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpConnection.h"

#include "llmir/Server/ApiError.h"
#include "llmir/Server/HttpTarget.h"
#include "llmir/Support/Exceptions.h"

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#ifdef LLMIR_TLS
#include <boost/asio/ssl/context.hpp>
#endif

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <list>
#include <mutex>
#include <pthread.h>
#include <sys/resource.h>
#include <thread>

namespace llmir {

using namespace http;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

namespace {

/// A thread, without the exceptions of std::thread.
class Thread {
public:
  Status start(std::function<void()> given) {
    function = std::move(given);
    const int error = pthread_create(
        &handle, nullptr,
        [](void *self) -> void * {
          static_cast<Thread *>(self)->function();
          return nullptr;
        },
        this);
    isRunning = error == 0;
    if (isRunning)
      return Status::ok();
    return Status(StatusCode::ResourceExhausted,
                  "the system does not start a thread for the server: " +
                      std::string(std::strerror(error)),
                  "raise the limit of processes, or close other programs");
  }
  void join() {
    if (isRunning)
      pthread_join(handle, nullptr);
    isRunning = false;
  }

private:
  std::function<void()> function;
  pthread_t handle{};
  bool isRunning = false;
};

/// Requests whose handlers take long and have not begun; they are short, apart
/// from embeddings.
constexpr size_t mostWaitingTasks = 512;

/// Runs functions, which answer requests and do not throw, on a few threads, in
/// the order in which they came.
class Workers {
public:
  Status start(int64_t count);
  /// False: too many wait already.
  bool add(std::function<void()> task);
  void addFirst(std::function<void()> task);
  void stop(); ///< Drops what has not begun.

private:
  void work();

  std::mutex mutex;
  std::condition_variable wakes;
  std::deque<std::function<void()>> tasks;
  bool isEnding = false;
  std::list<Thread> threads;
};

} // namespace

Status Workers::start(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    threads.emplace_back();
    LLMIR_RETURN_IF_ERROR(threads.back().start([this] { work(); }));
  }
  return Status::ok();
}

bool Workers::add(std::function<void()> task) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (tasks.size() >= mostWaitingTasks)
      return false;
    tasks.push_back(std::move(task));
  }
  wakes.notify_one();
  return true;
}

void Workers::addFirst(std::function<void()> task) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    tasks.push_front(std::move(task));
  }
  wakes.notify_one();
}

void Workers::work() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock<std::mutex> lock(mutex);
      wakes.wait(lock, [&] { return isEnding || !tasks.empty(); });
      if (isEnding)
        return;
      task = std::move(tasks.front());
      tasks.pop_front();
    }
    task();
  }
}

void Workers::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isEnding = true;
  }
  wakes.notify_all();
  for (Thread &thread : threads)
    thread.join();
  tasks.clear();
}

//===----------------------------------------------------------------------===//
// The server
//===----------------------------------------------------------------------===//

namespace {
/// Why a request has no route that answers it.
struct Refusal {
  ApiError error;
  HttpHeaders headers;
};
} // namespace

/// Files beside those of connections.
static constexpr rlim_t otherFiles = 64;

/// As many connections as the system allows files, but at most `wanted`; its
/// soft limit, which is a default, is raised.
static size_t possibleConnections(size_t wanted) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
    return wanted;
  const rlim_t needed = wanted + otherFiles;
  if (files.rlim_cur < needed) {
    rlimit raised = files;
    raised.rlim_cur = std::min(needed, files.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
      files = raised;
  }
  const rlim_t most = files.rlim_cur > 2 * otherFiles
                          ? files.rlim_cur - otherFiles
                          : std::max<rlim_t>(files.rlim_cur / 2, 1);
  return std::min<size_t>(wanted, most);
}

struct HttpServer::State final : ConnectionHost {
  State(HttpServerOptions options, std::vector<HttpRoute> routes)
      : options(std::move(options)), routes(std::move(routes)),
        maxConnections(possibleConnections(this->options.maxConnections)) {}
  ~State() override;

  Status listen();
  Status readCertificate();
  void accept();
  void acceptAgain();
  void accepted(ErrorCode error, tcp::socket socket);
  void awaitSignal();

  std::optional<Refusal> refusalOf(const HttpRequest &request,
                                   const RequestHead &head) const;

  const HttpServerOptions &settings() const override { return options; }
  asio::io_context &io() override { return context; }
  bool admits(const HttpRequest &request,
              const RequestHead &head) const override;
  void dispatch(const std::shared_ptr<HttpExchange> &exchange,
                const RequestHead &head) override;
  bool addBodyBytes(int64_t bytes) override {
    bodyBytes += bytes;
    return bytes <= 0 ||
           bodyBytes <= static_cast<int64_t>(options.maxTotalBodyBytes);
  }
  bool isDraining() const override { return draining; }
  void exchangeBegan() override;
  void exchangeEnded() override;
  void connectionBegan() override { ++numConnections; }
  void connectionEnded() override { --numConnections; }

  const HttpServerOptions options;
  const RouteTable routes;
  const size_t maxConnections;
  std::atomic<bool> draining{false};
  int64_t localPort = 0;

  // The server's thread.
  bool isAccepting = false; ///< Or will, after a while.
  int64_t bodyBytes = 0;
  size_t numConnections = 0;
  std::list<std::weak_ptr<Connection>> connections;

  std::mutex mutex; ///< Of the following.
  std::condition_variable changes;
  int64_t unanswered = 0, signals = 0;

  Workers workers;
#ifdef LLMIR_TLS
  std::optional<asio::ssl::context> tls;
#endif
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer acceptTimer{context};
  asio::signal_set signalSet{context};
  Thread thread;
};

HttpServer::State::~State() {
  asio::post(context, [this] {
    ErrorCode ignored;
    acceptor.close(ignored);
    for (const std::weak_ptr<Connection> &each : connections)
      if (std::shared_ptr<Connection> connection = each.lock())
        connection->abort();
    context.stop();
  });
  thread.join();
  workers.stop();
}

static Status cannot(const std::string &what, const ErrorCode &error,
                     const std::string &advice) {
  return Status(StatusCode::IoError, what + ": " + error.message(), advice);
}

Status HttpServer::State::readCertificate() {
  if (options.tlsCertificate.empty() != options.tlsKey.empty())
    return Status(StatusCode::InvalidArgument,
                  "--tls-cert and --tls-key belong together",
                  "give both files");
  if (options.tlsCertificate.empty())
    return Status::ok();
#ifdef LLMIR_TLS
  tls.emplace(asio::ssl::context::tls_server);
  ErrorCode error;
  tls->set_options(
      asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
          asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
          asio::ssl::context::no_tlsv1_1,
      error);
  tls->use_certificate_chain_file(options.tlsCertificate, error);
  if (error)
    return cannot("'" + options.tlsCertificate + "' cannot be used", error,
                  "give a certificate (chain) in PEM");
  tls->use_private_key_file(options.tlsKey, asio::ssl::context::pem, error);
  if (error)
    return cannot("'" + options.tlsKey + "' cannot be used", error,
                  "give the certificate's private key in PEM");
  return Status::ok();
#else
  return Status(StatusCode::Unsupported,
                "this llmir was built without OpenSSL, which --tls-cert needs",
                "install libssl-dev and build again, or use a proxy");
#endif
}

Status HttpServer::State::listen() {
  LLMIR_RETURN_IF_ERROR(readCertificate());
  if (options.port < 0 || options.port > 65535)
    return Status(StatusCode::InvalidArgument,
                  "port " + std::to_string(options.port) + " does not exist",
                  "give a number from 1 to 65535, or 0 for any free port");
  const std::string where =
      options.host + " port " + std::to_string(options.port);
  ErrorCode error;
  tcp::resolver resolver(context);
  const auto found =
      resolver.resolve(options.host, std::to_string(options.port),
                       tcp::resolver::passive, error);
  if (error || found.empty())
    return cannot("the host '" + options.host + "' was not found", error,
                  "give an address of this machine, 0.0.0.0 for all");
  const tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor.open(endpoint.protocol(), error);
  if (!error)
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error)
    acceptor.bind(endpoint, error);
  if (!error)
    acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return cannot("the server cannot listen on " + where, error,
                  "choose another --port, or 0 for any free one");
  localPort = acceptor.local_endpoint(error).port();
  accept();
  LLMIR_RETURN_IF_ERROR(workers.start(options.workers));
  return thread.start([this] {
    const auto guard = asio::make_work_guard(context);
    while (!withoutExceptions([&] { context.run(); }))
      acceptAgain();
  });
}

void HttpServer::State::accept() {
  acceptor.async_accept([this](ErrorCode error, tcp::socket socket) {
    isAccepting = false;
    accepted(error, std::move(socket));
  });
  isAccepting = true;
}

/// After an exception, for example without memory for a connection.
void HttpServer::State::acceptAgain() {
  while (!isAccepting && acceptor.is_open())
    if (!withoutExceptions([&] { accept(); }))
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void HttpServer::State::accepted(ErrorCode error, tcp::socket socket) {
  if (error == asio::error::operation_aborted || !acceptor.is_open())
    return;
  if (error) { // No file descriptors, for example: try again soon.
    acceptTimer.expires_after(std::chrono::milliseconds(50));
    acceptTimer.async_wait([this](ErrorCode aborted) {
      isAccepting = false;
      if (!aborted)
        accept();
    });
    isAccepting = true;
    return;
  }
  connections.remove_if(
      [](const std::weak_ptr<Connection> &each) { return each.expired(); });
  if (numConnections < maxConnections) {
#ifdef LLMIR_TLS
    auto connection = tls ? makeConnection(*this, std::move(socket), *tls)
                          : makeConnection(*this, std::move(socket));
#else
    auto connection = makeConnection(*this, std::move(socket));
#endif
    connections.push_back(connection);
    connection->start();
  } else { // One write, which the socket's buffer takes.
    static const std::string answer =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
        "Content-Length: 0\r\nConnection: close\r\n\r\n";
    ErrorCode ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(answer), ignored);
  }
  accept();
}

/// Whether a page of another origin asks what it may do.
static bool isPreflight(const HttpRequest &request, const RequestHead &head,
                        const HttpServerOptions &options) {
  return request.method == "OPTIONS" && !head.origin.empty() &&
         !options.corsOrigins.empty();
}

static void answerPreflight(HttpExchange &exchange, const RequestHead &head,
                            const HttpServerOptions &options) {
  HttpHeaders headers;
  if (allowedOrigin(head.origin, options.corsOrigins))
    headers = {{"Access-Control-Allow-Methods", "GET, POST"},
               {"Access-Control-Allow-Headers",
                head.requestedHeaders.empty() ? "Authorization, Content-Type"
                                              : head.requestedHeaders},
               {"Access-Control-Max-Age", "600"}};
  exchange.answer(204, {}, {}, std::move(headers));
}

/// Whether a page that somebody visits makes use of a server that only they can
/// reach. Browsers send such requests without asking before, and any page can;
/// a key is something that it does not have.
static bool isForeign(const HttpRequest &request, const RequestHead &head,
                      const HttpServerOptions &options) {
  return options.apiKeys.empty() && request.method == "POST" &&
         !head.origin.empty() && !isOwnOrigin(head.origin, head.host) &&
         !allowedOrigin(head.origin, options.corsOrigins);
}

std::optional<Refusal>
HttpServer::State::refusalOf(const HttpRequest &request,
                             const RequestHead &head) const {
  const HttpRoute *route = routes.find(request.method, request.path);
  const bool needsKey = !options.apiKeys.empty() && (!route || route->needsKey);
  if (needsKey && !hasValidKey(head.authorization, options.apiKeys))
    return Refusal{{401,
                    head.authorization.empty()
                        ? "there is no API key; send the header "
                          "'Authorization: Bearer KEY'"
                        : "the API key is not valid",
                    "invalid_api_key", ""},
                   {}};
  if (isForeign(request, head, options))
    return Refusal{{403,
                    "pages of this origin may not use the server; allow them "
                    "with --cors-origin",
                    "forbidden_origin", ""},
                   {}};
  if (!route) {
    const std::string methods = routes.methods(request.path);
    if (methods.empty())
      return Refusal{{404, "there is no such path", "not_found", ""}, {}};
    return Refusal{{405, "the path has other methods: " + methods,
                    "method_not_allowed", ""},
                   {{"Allow", methods}}};
  }
  if (draining && !route->answersWhileDraining)
    return Refusal{{503, "the server is shutting down", "shutting_down", ""},
                   {}};
  return std::nullopt;
}

bool HttpServer::State::admits(const HttpRequest &request,
                               const RequestHead &head) const {
  return isPreflight(request, head, options) || !refusalOf(request, head);
}

void HttpServer::State::dispatch(const std::shared_ptr<HttpExchange> &exchange,
                                 const RequestHead &head) {
  const HttpRequest &request = exchange->request();
  if (isPreflight(request, head, options))
    return answerPreflight(*exchange, head, options);
  if (std::optional<Refusal> refusal = refusalOf(request, head))
    return answerError(*exchange, refusal->error, std::move(refusal->headers));
  const HttpRoute *route = routes.find(request.method, request.path);
  if (!route->takesLong)
    return answerSafely(*exchange, [&] { route->handler(exchange); });
  const bool isWaiting = workers.add([route, exchange] {
    if (!exchange->isGone())
      answerSafely(*exchange, [&] { route->handler(exchange); });
  });
  if (!isWaiting)
    answerError(*exchange, {429,
                            "too many requests are waiting; try again "
                            "later",
                            "queue_full", ""});
}

void HttpServer::State::exchangeBegan() {
  std::lock_guard<std::mutex> lock(mutex);
  ++unanswered;
}

void HttpServer::State::exchangeEnded() {
  std::lock_guard<std::mutex> lock(mutex);
  --unanswered;
  changes.notify_all();
}

void HttpServer::State::awaitSignal() {
  signalSet.async_wait([this](ErrorCode error, int) {
    if (error)
      return;
    {
      std::lock_guard<std::mutex> lock(mutex);
      ++signals;
    }
    changes.notify_all();
    awaitSignal();
  });
}

HttpServer::HttpServer(std::unique_ptr<State> state)
    : state(std::move(state)) {}
HttpServer::~HttpServer() = default;

Expected<std::unique_ptr<HttpServer>>
HttpServer::start(HttpServerOptions options, std::vector<HttpRoute> routes) {
  auto state = std::make_unique<State>(std::move(options), std::move(routes));
  LLMIR_RETURN_IF_ERROR(state->listen());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

int64_t HttpServer::port() const { return state->localPort; }
void HttpServer::runOnWorker(std::function<void()> task) {
  state->workers.addFirst(std::move(task));
}
size_t HttpServer::maxConnections() const { return state->maxConnections; }
bool HttpServer::isDraining() const { return state->draining; }

void HttpServer::catchSignals() {
  ErrorCode ignored;
  state->signalSet.add(SIGINT, ignored);
  state->signalSet.add(SIGTERM, ignored);
  asio::post(state->context, [this] { state->awaitSignal(); });
}

void HttpServer::waitForSignal() {
  std::unique_lock<std::mutex> lock(state->mutex);
  state->changes.wait(lock, [&] { return state->signals > 0; });
  --state->signals;
}

bool HttpServer::drain(std::chrono::milliseconds limit) {
  state->draining = true;
  std::unique_lock<std::mutex> lock(state->mutex);
  state->changes.wait_for(lock, limit, [&] {
    return state->unanswered == 0 || state->signals > 0;
  });
  if (state->unanswered == 0)
    return true;
  if (state->signals > 0)
    --state->signals;
  return false;
}

} // namespace llmir

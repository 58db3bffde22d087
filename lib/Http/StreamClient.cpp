//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Http/StreamClient.h"

#include "llmir/Http/SharedLibraries.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace llmir;

using Clock = std::chrono::steady_clock;

namespace {

/// One call. Reused with its handle, which keeps memory and settings.
struct Transfer {
  CURL *easy = nullptr;
  const CurlLibrary *curl = nullptr;
  HttpListener *listener = nullptr; ///< Null: not running.
  HttpCall call;
  Status failure; ///< The listener's.
  char problem[CURL_ERROR_SIZE] = "";

  long status() const {
    long code = 0;
    curl->easyGetinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
};

/// Collects the answer of StreamClient::call().
class WholeAnswer final : public HttpListener {
public:
  Status onBytes(long, std::string_view bytes) override {
    constexpr size_t mostBytes = size_t(16) << 20;
    if (answer.body.size() + bytes.size() > mostBytes)
      return Status(StatusCode::InvalidFile, "the answer has more than 16 MiB");
    answer.body += bytes;
    return Status::ok();
  }
  void onEnd(HttpEnd end) override {
    answer.end = std::move(end);
    hasEnded = true;
  }

  HttpAnswer answer;
  bool hasEnded = false;
};

} // namespace

class StreamClient::Impl {
public:
  explicit Impl(const CurlLibrary &curl) : curl(curl) {}
  ~Impl();
  Status init(const StreamClientOptions &given);
  Status start(HttpCall call, HttpListener &listener);
  Status poll(Clock::time_point deadline);

  /// Ends the calls of a listener without a word.
  void abandon(HttpListener &listener);
  size_t numRunning() const { return transfers.size() - unused.size(); }

private:
  Expected<Transfer *> newTransfer();
  Status configure(Transfer &transfer) const;
  Status advance(int socket, int what);
  void reportEnds();
  static HttpEnd endOf(const Transfer &transfer, CURLcode code);

  static size_t onBody(char *data, size_t size, size_t count, void *context);
  static int onSocket(CURL *easy, curl_socket_t socket, int what, void *context,
                      void *known);
  static int onTimer(CURLM *multi, long milliseconds, void *context);

  const CurlLibrary &curl;
  StreamClientOptions options;
  CURLM *multi = nullptr;
  curl_slist *headers = nullptr;
  int epoll = -1;
  Clock::time_point timer = Clock::time_point::max(); ///< libcurl's.
  std::vector<std::unique_ptr<Transfer>> transfers;   ///< All.
  std::vector<Transfer *> unused;
};

static Status noMemory() {
  return Status(StatusCode::ResourceExhausted, "not enough memory");
}

StreamClient::Impl::~Impl() {
  for (const auto &transfer : transfers) {
    if (transfer->listener)
      curl.multiRemoveHandle(multi, transfer->easy);
    curl.easyCleanup(transfer->easy);
  }
  if (multi)
    curl.multiCleanup(multi); // Closes connections, which uses `epoll`.
  curl.slistFreeAll(headers);
  if (epoll >= 0)
    close(epoll);
}

//===----------------------------------------------------------------------===//
// libcurl's callbacks
//===----------------------------------------------------------------------===//

size_t StreamClient::Impl::onBody(char *data, size_t size, size_t count,
                                  void *context) {
  auto &transfer = *static_cast<Transfer *>(context);
  transfer.failure =
      transfer.listener->onBytes(transfer.status(), {data, size * count});
  return transfer.failure ? size * count : 0;
}

int StreamClient::Impl::onSocket(CURL *, curl_socket_t socket, int what,
                                 void *context, void *known) {
  auto &self = *static_cast<Impl *>(context);
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(self.epoll, EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  epoll_event event = {};
  event.data.fd = socket;
  if (what != CURL_POLL_OUT)
    event.events |= EPOLLIN;
  if (what != CURL_POLL_IN)
    event.events |= EPOLLOUT;
  if (epoll_ctl(self.epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket,
                &event) != 0 &&
      epoll_ctl(self.epoll, EPOLL_CTL_MOD, socket, &event) != 0)
    return -1;
  // Any value but null says that the socket is known.
  self.curl.multiAssign(self.multi, socket, &self);
  return 0;
}

int StreamClient::Impl::onTimer(CURLM *, long milliseconds, void *context) {
  auto &self = *static_cast<Impl *>(context);
  self.timer = milliseconds < 0
                   ? Clock::time_point::max()
                   : Clock::now() + std::chrono::milliseconds(milliseconds);
  return 0;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// As many open files as the process may have: each call needs one.
static void raiseFileLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit); // If it fails, calls say so.
}

Status StreamClient::Impl::init(const StreamClientOptions &given) {
  options = given;
  raiseFileLimit();
  epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0)
    return Status(StatusCode::IoError,
                  std::string("epoll: ") + std::strerror(errno));
  multi = curl.multiInit();
  if (!multi)
    return noMemory();
  curl.multiSetopt(multi, CURLMOPT_SOCKETFUNCTION, &onSocket);
  curl.multiSetopt(multi, CURLMOPT_SOCKETDATA, this);
  curl.multiSetopt(multi, CURLMOPT_TIMERFUNCTION, &onTimer);
  curl.multiSetopt(multi, CURLMOPT_TIMERDATA, this);
  curl.multiSetopt(multi, CURLMOPT_MAXCONNECTS, 65536L); // Kept when unused.
  std::vector<std::string> lines = {"Content-Type: application/json",
                                    "Expect:"}; // Bodies are sent at once.
  if (!options.token.empty())
    lines.push_back("Authorization: Bearer " + options.token);
  for (const std::string &line : lines) {
    curl_slist *longer = curl.slistAppend(headers, line.c_str());
    if (!longer)
      return noMemory();
    headers = longer;
  }
  return Status::ok();
}

Expected<Transfer *> StreamClient::Impl::newTransfer() {
  if (!unused.empty()) {
    Transfer *transfer = unused.back();
    unused.pop_back();
    return transfer;
  }
  auto transfer = std::make_unique<Transfer>();
  transfer->curl = &curl;
  transfer->easy = curl.easyInit();
  if (!transfer->easy)
    return noMemory();
  transfers.push_back(std::move(transfer));
  return transfers.back().get();
}

Status StreamClient::Impl::configure(Transfer &transfer) const {
  bool isSet = curl.prepare(transfer.easy, transfer.call.url.c_str(),
                            transfer.problem, long(options.connectTimeout));
  const auto set = [&](CURLoption option, auto value) {
    isSet &= curl.easySetopt(transfer.easy, option, value) == CURLE_OK;
  };
  set(CURLOPT_PRIVATE, &transfer);
  set(CURLOPT_HTTP_VERSION, long(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_HTTPHEADER, headers);
  set(CURLOPT_TIMEOUT, options.callTimeout);
  set(CURLOPT_SSL_VERIFYPEER, options.acceptsAnyCertificate ? 0L : 1L);
  set(CURLOPT_SSL_VERIFYHOST, options.acceptsAnyCertificate ? 0L : 2L);
  set(CURLOPT_WRITEFUNCTION, &onBody);
  set(CURLOPT_WRITEDATA, &transfer);
  if (transfer.call.json) {
    set(CURLOPT_POSTFIELDSIZE_LARGE,
        static_cast<curl_off_t>(transfer.call.json->size()));
    set(CURLOPT_POSTFIELDS, transfer.call.json->data());
  }
  return isSet ? Status::ok() : noMemory();
}

Status StreamClient::Impl::start(HttpCall call, HttpListener &listener) {
  Expected<Transfer *> found = newTransfer();
  if (!found)
    return found.takeStatus();
  Transfer &transfer = **found;
  transfer.call = std::move(call);
  transfer.failure = Status::ok();
  transfer.problem[0] = 0;
  Status status = configure(transfer);
  if (status) {
    const CURLMcode code = curl.multiAddHandle(multi, transfer.easy);
    if (code != CURLM_OK)
      status = Status(StatusCode::Internal, curl.multiStrerror(code));
  }
  if (status)
    transfer.listener = &listener;
  else
    unused.push_back(&transfer);
  return status;
}

void StreamClient::Impl::abandon(HttpListener &listener) {
  for (const auto &transfer : transfers) {
    if (transfer->listener != &listener)
      continue;
    curl.multiRemoveHandle(multi, transfer->easy);
    transfer->listener = nullptr;
    unused.push_back(transfer.get());
  }
}

Status StreamClient::Impl::advance(int socket, int what) {
  int numRunning = 0;
  const CURLMcode code =
      curl.multiSocketAction(multi, socket, what, &numRunning);
  if (code != CURLM_OK)
    return Status(StatusCode::Internal, curl.multiStrerror(code));
  return Status::ok();
}

HttpEnd StreamClient::Impl::endOf(const Transfer &transfer, CURLcode code) {
  HttpEnd end;
  end.status = transfer.status();
  if (!transfer.failure)
    end.failure = transfer.failure;
  else if (code != CURLE_OK)
    end.failure = Status(StatusCode::IoError,
                         *transfer.problem ? transfer.problem
                                           : transfer.curl->easyStrerror(code));
  return end;
}

void StreamClient::Impl::reportEnds() {
  int numLeft = 0;
  while (CURLMsg *message = curl.multiInfoRead(multi, &numLeft)) {
    if (message->msg != CURLMSG_DONE)
      continue;
    const CURLcode code = message->data.result; // Gone after the removal.
    void *context = nullptr;
    curl.easyGetinfo(message->easy_handle, CURLINFO_PRIVATE, &context);
    auto &transfer = *static_cast<Transfer *>(context);
    HttpEnd end = endOf(transfer, code);
    curl.multiRemoveHandle(multi, transfer.easy);
    HttpListener &listener = *std::exchange(transfer.listener, nullptr);
    unused.push_back(&transfer);
    listener.onEnd(std::move(end)); // May start another call.
  }
}

/// Milliseconds until a time, rounded up; at most a minute.
static int millisecondsUntil(Clock::time_point time) {
  const auto now = Clock::now();
  if (time <= now)
    return 0;
  if (time - now > std::chrono::minutes(1))
    return 60000;
  return static_cast<int>(
      std::chrono::ceil<std::chrono::milliseconds>(time - now).count());
}

Status StreamClient::Impl::poll(Clock::time_point deadline) {
  epoll_event events[256];
  const int count = epoll_wait(epoll, events, 256,
                               millisecondsUntil(std::min(deadline, timer)));
  if (count < 0 && errno != EINTR)
    return Status(StatusCode::IoError,
                  std::string("epoll: ") + std::strerror(errno));
  for (int i = 0; i < count; ++i) {
    int what = 0;
    if (events[i].events & EPOLLIN)
      what |= CURL_CSELECT_IN;
    if (events[i].events & EPOLLOUT)
      what |= CURL_CSELECT_OUT;
    if (events[i].events & (EPOLLERR | EPOLLHUP))
      what |= CURL_CSELECT_ERR;
    LLMIR_RETURN_IF_ERROR(advance(events[i].data.fd, what));
  }
  if (timer <= Clock::now()) {
    timer = Clock::time_point::max(); // libcurl sets another.
    LLMIR_RETURN_IF_ERROR(advance(CURL_SOCKET_TIMEOUT, 0));
  }
  reportEnds();
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

StreamClient::StreamClient(std::unique_ptr<Impl> impl)
    : impl(std::move(impl)) {}
StreamClient::~StreamClient() = default;

Expected<std::unique_ptr<StreamClient>>
StreamClient::create(const StreamClientOptions &options) {
  Expected<const CurlLibrary *> curl = CurlLibrary::open();
  if (!curl)
    return curl.takeStatus();
  auto impl = std::make_unique<Impl>(**curl);
  LLMIR_RETURN_IF_ERROR(impl->init(options));
  return std::unique_ptr<StreamClient>(new StreamClient(std::move(impl)));
}

Status StreamClient::start(HttpCall call, HttpListener &listener) {
  return impl->start(std::move(call), listener);
}

Status StreamClient::poll(Clock::time_point deadline) {
  return impl->poll(deadline);
}

size_t StreamClient::active() const { return impl->numRunning(); }

HttpAnswer StreamClient::call(HttpCall request) {
  WholeAnswer whole;
  Status status = start(std::move(request), whole);
  while (status && !whole.hasEnded)
    status = poll(Clock::time_point::max());
  if (!status) {
    impl->abandon(whole);
    whole.answer.end.failure = std::move(status);
  }
  return std::move(whole.answer);
}

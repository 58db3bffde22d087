//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Http.h"

#include "llmir/Support/Json.h"
#include "llmir/Support/Text.h"

#include <new>

using namespace llmir;
using namespace llmir::hub;

namespace {

/// The state of one request, which libcurl's callbacks share. No exception may
/// pass through libcurl.
struct Transfer {
  static constexpr size_t mostHeaderBytes = size_t(256) << 10;
  static constexpr size_t mostErrorBytes = size_t(1) << 20;

  HttpHead head;
  Status failure;
  BodySink *sink = nullptr;
  const std::atomic<bool> *stop = nullptr;
  size_t headerBytes = 0;
  size_t skippedBytes = 0;
  bool hasBegun = false;

  void takeHeader(std::string_view line);
  bool takeBody(const char *data, size_t size);
};

} // namespace

void Transfer::takeHeader(std::string_view line) {
  headerBytes += line.size();
  if (headerBytes > mostHeaderBytes) {
    failure = Status(StatusCode::InvalidFile,
                     "the answer has more than 256 KiB of headers");
    return;
  }
  head.takeLine(line);
}

bool Transfer::takeBody(const char *data, size_t size) {
  if (head.status < 200 || head.status > 299) {
    skippedBytes += size;
    return skippedBytes <= mostErrorBytes;
  }
  if (!hasBegun) {
    hasBegun = true;
    failure = sink->begin(head);
  }
  if (failure)
    failure = sink->take(data, size);
  return failure.isOk();
}

/// Calls `body`, which returns a bool; false if it throws.
template <typename Body> static bool guarded(Transfer &transfer, Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    transfer.failure =
        Status(StatusCode::ResourceExhausted, "not enough memory");
  } catch (...) {
    transfer.failure = Status(StatusCode::Internal, "a download failed");
  }
  return false;
}

static size_t onHeader(char *data, size_t size, size_t count, void *context) {
  auto &transfer = *static_cast<Transfer *>(context);
  const bool ok = guarded(transfer, [&] {
    transfer.takeHeader({data, size * count});
    return transfer.failure.isOk();
  });
  return ok ? size * count : 0;
}

static size_t onBody(char *data, size_t size, size_t count, void *context) {
  auto &transfer = *static_cast<Transfer *>(context);
  const bool ok =
      guarded(transfer, [&] { return transfer.takeBody(data, size * count); });
  return ok ? size * count : 0;
}

static int onProgress(void *context, curl_off_t, curl_off_t, curl_off_t,
                      curl_off_t) {
  const auto &transfer = *static_cast<Transfer *>(context);
  return transfer.stop && *transfer.stop;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

void HttpConnection::Cleanup::operator()(CURL *handle) const {
  if (auto library = CurlLibrary::open())
    (*library)->easyCleanup(handle);
}

Expected<HttpConnection> HttpConnection::create(const Settings &settings,
                                                const std::atomic<bool> *stop) {
  auto library = CurlLibrary::open();
  if (!library)
    return library.takeStatus();
  HttpConnection connection;
  connection.curl = *library;
  connection.stop = stop;
  connection.handle.reset(connection.curl->easyInit());
  if (!connection.handle)
    return Status(StatusCode::ResourceExhausted, "not enough memory");
  connection.certificates = settings.certificates;
  connection.answerTimeout = settings.answerTimeout;
  return connection;
}

/// What the user can do about a failure of the connection.
static const char *adviceFor(CURLcode code) {
  switch (code) {
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_RESOLVE_PROXY:
  case CURLE_COULDNT_CONNECT:
    return "check the network, HF_ENDPOINT and HTTPS_PROXY; models that were "
           "downloaded before run without a network";
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_CACERT_BADFILE:
  case CURLE_SSL_ISSUER_ERROR:
    return "install ca-certificates, or set SSL_CERT_FILE to the certificates "
           "of your proxy";
  default:
    return "check the network and run the command again: it continues where "
           "it stopped";
  }
}

/// True for failures of a connection that another attempt may not have.
static bool isTransient(CURLcode code) {
  switch (code) {
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_CONNECT:
  case CURLE_OPERATION_TIMEDOUT:
  case CURLE_PARTIAL_FILE:
  case CURLE_GOT_NOTHING:
  case CURLE_SEND_ERROR:
  case CURLE_RECV_ERROR:
  case CURLE_HTTP2:
  case CURLE_HTTP2_STREAM:
  case CURLE_SSL_CONNECT_ERROR:
    return true;
  default:
    return false;
  }
}

HttpResult HttpConnection::get(const HttpRequest &request, BodySink &sink) {
  Transfer transfer;
  transfer.sink = &sink;
  transfer.stop = stop;
  CURL *easy = handle.get();
  auto set = [&](CURLoption option, auto value) {
    curl->easySetopt(easy, option, value);
  };
  char problem[CURL_ERROR_SIZE] = "";
  curl->prepare(easy, request.url.text.c_str(), problem, long(answerTimeout));
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); // Of a proxy.
  // Fewer than 100 bytes per second for so long: also before the first byte.
  set(CURLOPT_LOW_SPEED_LIMIT, 100L);
  set(CURLOPT_LOW_SPEED_TIME, long(request.stallTimeout));
  set(CURLOPT_TIMEOUT, request.totalTimeout);
  set(CURLOPT_BUFFERSIZE, 256L << 10);
  set(CURLOPT_HEADERFUNCTION, &onHeader);
  set(CURLOPT_HEADERDATA, &transfer);
  set(CURLOPT_WRITEFUNCTION, &onBody);
  set(CURLOPT_WRITEDATA, &transfer);
  set(CURLOPT_XFERINFOFUNCTION, &onProgress);
  set(CURLOPT_XFERINFODATA, &transfer);
  set(CURLOPT_NOPROGRESS, 0L);
  if (!certificates.empty())
    set(CURLOPT_CAINFO, certificates.c_str());

  std::unique_ptr<curl_slist, void (*)(curl_slist *)> headers(
      nullptr, curl->slistFreeAll);
  auto addHeader = [&](const std::string &line) {
    curl_slist *list = curl->slistAppend(headers.get(), line.c_str());
    if (!list)
      throw std::bad_alloc();
    (void)headers.release();
    headers.reset(list);
  };
  // A compressed body has no known length and ignores ranges.
  addHeader("Accept-Encoding: identity");
  if (!request.token.empty())
    addHeader("Authorization: Bearer " + request.token);
  if (request.range)
    addHeader("Range: bytes=" + std::to_string(request.range->first) + "-" +
              std::to_string(request.range->second));
  set(CURLOPT_HTTPHEADER, headers.get());

  const CURLcode code = curl->easyPerform(easy);
  curl->easyReset(easy); // It must not keep pointers to this function.
  HttpResult result;
  result.head = std::move(transfer.head);
  const bool isSuccess = result.head.status >= 200 && result.head.status <= 299;
  if (!transfer.failure) { // The sink's failure is the reason for curl's.
    result.failure = std::move(transfer.failure);
  } else if (code == CURLE_OK && isSuccess && !transfer.hasBegun) {
    result.failure = sink.begin(result.head); // An empty body.
  } else if (code != CURLE_OK && (isSuccess || result.head.status < 300)) {
    const char *text = *problem ? problem : curl->easyStrerror(code);
    result.failure = Status(StatusCode::IoError, request.url.host + ": " + text,
                            adviceFor(code));
    result.isTransient = isTransient(code);
  }
  return result;
}

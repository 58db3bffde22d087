//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Client.h"

#include "Answers.h"

#include "llmir/Support/Json.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

using namespace llmir;
using namespace llmir::hub;

static constexpr int mostRedirects = 5;
/// A longer wait that a server asks for is left to the user.
static constexpr double longestWait = 120;

Expected<Client> Client::create(const Settings &settings, int retries,
                                const std::atomic<bool> *stop, Note note) {
  Expected<HttpConnection> connection = HttpConnection::create(settings, stop);
  if (!connection)
    return connection.takeStatus();
  Expected<Url> hub = Url::parse(settings.endpoint);
  if (!hub)
    return Status(StatusCode::InvalidArgument,
                  "HF_ENDPOINT: " + hub.status().cause(),
                  "give an address such as https://huggingface.co");
  Client client(std::move(*connection));
  client.config = settings;
  client.hub = std::move(*hub);
  client.retries = retries;
  client.stop = stop;
  client.note = std::move(note);
  return client;
}

const std::string &Client::tokenFor(const Url &url) const {
  static const std::string none;
  return url.hasOriginOf(hub) ? config.token : none;
}

Expected<Url> Client::fileUrl(const std::string &repository,
                              const std::string &commit,
                              const std::string &path) const {
  return Url::parse(config.endpoint + "/" + repository + "/resolve/" + commit +
                    "/" + percentEncoded(path, /*keepsSlashes=*/true));
}

//===----------------------------------------------------------------------===//
// Answers in words
//===----------------------------------------------------------------------===//

/// "https://host", with the port unless it is the usual one.
static std::string originText(const Url &url) {
  const bool isUsual = url.port == (url.scheme == "https" ? "443" : "80");
  return url.scheme + "://" + url.host + (isUsual ? "" : ":" + url.port);
}

/// Why access is denied (401 or 403) by the Hub itself.
static Status explainDenial(const HttpHead &head, bool hasToken,
                            const Url &url) {
  const std::string &code = head["x-error-code"];
  const std::string status = std::to_string(head.status);
  const std::string said =
      head["x-error-message"].empty()
          ? std::string()
          : " (" + printable(head["x-error-message"], 200) + ")";
  if (code == "GatedRepo")
    return Status(StatusCode::NotFound,
                  "the model is gated: the Hub gives it only to users who "
                  "accepted its conditions" +
                      said,
                  hasToken
                      ? "accept them on the model's page with the account "
                        "of your token"
                      : "accept them on the model's page, and set HF_TOKEN "
                        "to a token of that account");
  return Status(StatusCode::NotFound,
                originText(url) + " denies access, HTTP " + status + said +
                    ": the model does not exist or is private" +
                    (hasToken ? ", or the token is wrong" : ""),
                hasToken
                    ? "check the name, and the token in HF_TOKEN or the token "
                      "file"
                    : "check the name; for a private model set HF_TOKEN");
}

static Status explainMissing(const HttpHead &head, const Url &url) {
  const std::string &code = head["x-error-code"];
  if (code == "RevisionNotFound")
    return Status(StatusCode::NotFound, "the model has no such revision",
                  "check the branch, tag or commit after '@'");
  if (code == "EntryNotFound")
    return Status(StatusCode::NotFound,
                  "the file is no longer in the repository",
                  "run the command again");
  return Status(StatusCode::NotFound,
                originText(url) + " has no such model, HTTP 404",
                "check the name; a name is ORG/NAME, as in the address of the "
                "model's page");
}

Status Client::explain(const Attempt &attempt,
                       const HttpRequest &request) const {
  const long status = attempt.head.status;
  const bool isHub = attempt.last.hasOriginOf(hub);
  const std::string answer =
      originText(attempt.last) + " answers HTTP " + std::to_string(status);
  if (isHub && (status == 401 || status == 403))
    return explainDenial(attempt.head, !request.token.empty(), attempt.last);
  if (isHub && status == 404)
    return explainMissing(attempt.head, attempt.last);
  if (status == 416)
    return Status(StatusCode::IoError,
                  answer + ": the file is shorter than the Hub says",
                  "run the command again");
  if (status == 429)
    return Status(
        StatusCode::IoError, answer + ": too many requests",
        attempt.waitSeconds > 0
            ? "wait " +
                  std::to_string(std::lround(std::ceil(attempt.waitSeconds))) +
                  " s and run the command again; users with a token (HF_TOKEN) "
                  "may send more"
            : "run the command again later; users with a token (HF_TOKEN) may "
              "send more");
  if (status >= 500)
    return Status(StatusCode::IoError, answer,
                  "the server has a problem: run the command again later");
  return Status(
      StatusCode::IoError, answer,
      "check HF_ENDPOINT and proxies, or run the command again later");
}

//===----------------------------------------------------------------------===//
// Attempts
//===----------------------------------------------------------------------===//

static bool isTransientStatus(long status) {
  return status == 408 || status == 429 || status == 500 || status == 502 ||
         status == 503 || status == 504;
}

static void keepFirst(std::string &value, const std::string &header) {
  if (value.empty())
    value = header;
}

namespace {

/// Gives the sink the headers of the whole chain of answers.
class ChainSink : public BodySink {
public:
  ChainSink(BodySink &sink, const Attempt &attempt, const Url &hub)
      : sink(sink), attempt(attempt), hub(hub) {}

  Status begin(const HttpHead &head) override {
    HttpHead whole = head;
    whole.url = attempt.last;
    auto add = [&](const char *name, const std::string &value) {
      if (!value.empty())
        whole.headers[name] = value;
    };
    add("x-linked-etag", attempt.linkedEtag);
    add("x-linked-size", attempt.linkedSize);
    // The tags of other hosts are not hashes of the Hub.
    if (whole["x-linked-etag"].empty() && attempt.last.hasOriginOf(hub))
      add("x-linked-etag", head["etag"]);
    return sink.begin(whole);
  }
  Status take(const char *data, size_t size) override {
    return sink.take(data, size);
  }

private:
  BodySink &sink;
  const Attempt &attempt;
  const Url &hub;
};

} // namespace

Attempt Client::attempt(HttpRequest request, BodySink &sink) {
  Attempt attempt;
  ChainSink chain(sink, attempt, hub);
  for (int redirects = 0;; ++redirects) {
    request.token = tokenFor(request.url);
    attempt.last = request.url;
    HttpResult result = connection.get(request, chain);
    attempt.head = std::move(result.head);
    wasAnswered = wasAnswered || attempt.head.status != 0;
    keepFirst(attempt.linkedEtag, attempt.head["x-linked-etag"]);
    keepFirst(attempt.linkedSize, attempt.head["x-linked-size"]);
    keepFirst(attempt.repoCommit, attempt.head["x-repo-commit"]);
    if (!result.failure) {
      attempt.status = std::move(result.failure);
      attempt.isTransient = result.isTransient && wasAnswered;
      return attempt;
    }
    if (attempt.head.status >= 200 && attempt.head.status <= 299)
      return attempt;
    if (!attempt.head.isRedirect()) {
      attempt.waitSeconds = requestedWait(attempt.head);
      attempt.isTransient = isTransientStatus(attempt.head.status);
      attempt.status = explain(attempt, request);
      return attempt;
    }
    auto fail = [&](const std::string &problem) {
      attempt.status = Status(StatusCode::InvalidFile,
                              originText(request.url) + " redirects " + problem,
                              "check HF_ENDPOINT and proxies");
      return attempt;
    };
    if (redirects == mostRedirects)
      return fail("more than " + std::to_string(mostRedirects) + " times");
    if (attempt.head["location"].empty())
      return fail("without an address");
    Expected<Url> next = Url::parse(attempt.head["location"], &request.url);
    if (!next)
      return fail("to a bad address: " + next.status().cause());
    if (request.url.scheme == "https" && next->scheme != "https")
      return fail("from https to http");
    request.url = std::move(*next);
  }
}

bool Client::sleep(double seconds) const {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  while (Clock::now() < end) {
    if (stop && *stop)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return !(stop && *stop);
}

bool Client::waitToRetry(const Attempt &attempt, int &failures) {
  if (!attempt.isTransient || ++failures > retries ||
      attempt.waitSeconds > longestWait)
    return false;
  double seconds = 0.25 * std::pow(2, std::min(failures - 1, 5));
  if (attempt.waitSeconds >= 0) {
    seconds = attempt.waitSeconds;
    if (seconds >= 1)
      note(originText(attempt.last) + " asks to wait " +
           std::to_string(std::lround(seconds)) + " s");
  }
  return sleep(seconds);
}

Status TextSink::begin(const HttpHead &head) {
  text.clear();
  const std::string &encoding = head["content-encoding"];
  if (encoding.empty() || encoding == "identity")
    return Status::ok();
  return Status(StatusCode::InvalidFile,
                "the answer is compressed (" + printable(encoding) +
                    "), which was not asked for",
                "check HF_ENDPOINT and proxies");
}

Status TextSink::take(const char *data, size_t size) {
  if (text.size() + size > mostBytes)
    return Status(StatusCode::InvalidFile,
                  "the answer has more than " + std::to_string(mostBytes) +
                      " bytes",
                  "check HF_ENDPOINT and proxies");
  text.append(data, size);
  return Status::ok();
}

Expected<std::string> Client::text(const Url &url, size_t mostBytes,
                                   HttpHead *head) {
  TextSink sink(mostBytes);
  HttpRequest request;
  request.url = url;
  request.stallTimeout = config.answerTimeout;
  request.totalTimeout = 300;
  for (int failures = 0;;) {
    Attempt result = attempt(request, sink);
    if (result.status) {
      if (head)
        *head = std::move(result.head);
      return std::move(sink.text);
    }
    if (!waitToRetry(result, failures))
      return std::move(result.status);
  }
}

//===----------------------------------------------------------------------===//
// The Hub's API
//===----------------------------------------------------------------------===//

Expected<std::string> Client::commitOf(const ModelReference &reference) {
  const std::string where =
      config.endpoint + "/api/models/" + reference.repository + "/revision/" +
      percentEncoded(reference.revision, /*keepsSlashes=*/false);
  Expected<Url> url = Url::parse(where);
  if (!url)
    return url.takeStatus();
  Expected<std::string> answer = text(*url, size_t(64) << 20);
  if (!answer)
    return answer.takeStatus().withContext(reference.text());
  return commitOfAnswer(*answer, where);
}

Expected<std::vector<FileEntry>>
Client::listing(const ModelReference &reference, const std::string &commit) {
  constexpr size_t mostFiles = 100000;
  constexpr int mostPages = 200;
  std::vector<FileEntry> files;
  Expected<Url> url =
      Url::parse(config.endpoint + "/api/models/" + reference.repository +
                 "/tree/" + commit + "?recursive=true");
  for (int page = 0; page < mostPages; ++page) {
    if (!url)
      return notTheHub(url.takeStatus());
    if (!url->hasOriginOf(hub))
      return notTheHub(Status(StatusCode::InvalidFile,
                              "the next page of the list of files is on " +
                                  originText(*url)));
    HttpHead head;
    Expected<std::string> answer = text(*url, size_t(64) << 20, &head);
    if (!answer)
      return answer.takeStatus().withContext(reference.text());
    LLMIR_RETURN_IF_ERROR(addListing(
        *answer, "the list of files of " + reference.repository, files));
    if (files.size() > mostFiles)
      break;
    const std::string next = nextPage(head);
    if (next.empty())
      return files;
    url = Url::parse(next, &*url);
  }
  return Status(StatusCode::OutOfRange,
                reference.repository + " has more than " +
                    std::to_string(mostFiles) + " files or " +
                    std::to_string(mostPages) + " pages of them",
                "choose another repository");
}

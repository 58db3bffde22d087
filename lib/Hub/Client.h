//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requests to the Hub: redirects, retries, waiting when it asks for it, and
// errors in words. The token is sent to the Hub's own origin only.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_HUB_CLIENT_H
#define LLMIR_LIB_HUB_CLIENT_H

#include "Http.h"

#include "llmir/Hub/FileChoice.h"
#include "llmir/Hub/ModelReference.h"
#include "llmir/Hub/Settings.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace llmir::hub {

/// How one attempt of a request ended.
struct Attempt {
  HttpHead head; ///< Of the last answer.
  /// The headers of the first answer that has them: the Hub gives a file's hash
  /// and size in the redirect to the host that stores it.
  std::string linkedEtag, linkedSize, repoCommit;
  Url last;      ///< The address of the last answer.
  Status status; ///< Failure of the connection, the sink, or the answer.
  bool isTransient = false;
  double waitSeconds =
      -1; ///< How long the server asks to wait; -1: it doesn't.
};

/// A session with the Hub. Used by one thread.
class Client {
public:
  using Note = std::function<void(const std::string &)>;

  /// `stop` (may be null) ends requests and waits early. `note` gets messages
  /// about waits. `retries`: attempts without progress after the first.
  static Expected<Client> create(const Settings &settings, int retries,
                                 const std::atomic<bool> *stop, Note note);

  /// From now on, a connection that fails at first is tried again, too.
  void expectAnswers() { wasAnswered = true; }

  /// One attempt, which follows redirects. A status other than 2xx is a
  /// failure.
  Attempt attempt(HttpRequest request, BodySink &sink);

  /// True if the caller of attempt() may try again after a failure, which waits
  /// as long as is appropriate first. `failures` counts those without progress.
  bool waitToRetry(const Attempt &attempt, int &failures);

  /// A text from the Hub's API, with retries. At most `mostBytes`.
  Expected<std::string> text(const Url &url, size_t mostBytes,
                             HttpHead *head = nullptr);

  /// The commit of the reference's revision.
  Expected<std::string> commitOf(const ModelReference &reference);
  /// The files of the repository at a commit, with sizes and hashes.
  Expected<std::vector<FileEntry>> listing(const ModelReference &reference,
                                           const std::string &commit);

  /// The address of a file's content.
  Expected<Url> fileUrl(const std::string &repository,
                        const std::string &commit,
                        const std::string &path) const;
  /// The token if `url` is on the Hub's own origin.
  const std::string &tokenFor(const Url &url) const;
  const Url &endpoint() const { return hub; }
  const Settings &settings() const { return config; }

private:
  Client(HttpConnection connection) : connection(std::move(connection)) {}
  Status explain(const Attempt &attempt, const HttpRequest &request) const;
  bool sleep(double seconds) const;

  Settings config;
  Url hub;
  HttpConnection connection;
  int retries = 5;
  const std::atomic<bool> *stop = nullptr;
  Note note;
  bool wasAnswered = false; ///< Any server answered before.
};

/// Collects a body in memory.
class TextSink : public BodySink {
public:
  explicit TextSink(size_t mostBytes) : mostBytes(mostBytes) {}
  Status begin(const HttpHead &head) override;
  Status take(const char *data, size_t size) override;
  std::string text;

private:
  size_t mostBytes;
};

} // namespace llmir::hub

#endif // LLMIR_LIB_HUB_CLIENT_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Downloads blobs into the Hub's cache over several connections: each takes a
// piece of a file at a time.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_HUB_DOWNLOADER_H
#define LLMIR_LIB_HUB_DOWNLOADER_H

#include "BlobWriter.h"
#include "Client.h"

#include "llmir/Hub/Cache.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace llmir::hub {

/// What to download, and how.
struct DownloadRequest {
  std::string repository, commit;
  std::vector<FileEntry> files; ///< With different hashes.
  int connections = 8;
  int retries = 5;
  /// Called by the thread of run(), about every 0.1 s.
  std::function<void(uint64_t doneBytes)> onProgress;
  std::function<void(const std::string &)> onNote;
};

class Downloader {
public:
  Downloader(const Settings &settings, const Cache &cache,
             DownloadRequest request);

  /// Returns when all files are installed, or with the first failure; what was
  /// received until then is continued by the next download.
  Status run();
  /// Bytes received by run(), without those of earlier downloads.
  uint64_t receivedBytes() const { return received; }

private:
  friend class PieceSink;

  /// A file that is being downloaded.
  struct Active {
    std::unique_ptr<BlobWriter> writer;
    std::optional<Url> direct; ///< Where the Hub redirected to.
    size_t piecesLeft = 0;
    std::vector<size_t> waiting; ///< Pieces for after the first answer.
    bool isWhole = false; ///< The server ignores ranges: one piece, in order.
    bool wasRepeated = false;
  };
  struct Job {
    size_t file;
    size_t piece;
    bool isFirst; ///< The file's first request, which shows what is possible.
  };
  using Lock = std::unique_lock<std::mutex>;

  void work();
  void workUntilDone(Client &client);
  Status openNext(size_t file);
  void queueFirst(size_t file);
  void launchOthers(size_t file);
  void keepAddress(size_t file, const Url &url);
  Status runJob(Client &client, const Job &job);
  Status download(Client &client, const Job &job);
  Status finishFile(size_t file);
  void fail(Status status);
  void say(const std::string &text);
  void report();

  const Settings &settings;
  const Cache &cache;
  const DownloadRequest request;
  Url hub; ///< The endpoint.
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> received{0};

  std::mutex mutex; ///< Guards what follows, but not the writers' contents.
  std::condition_variable changed;
  std::vector<Active> active; ///< By index of the request's files.
  std::deque<Job> queue;
  std::vector<std::string> notes;
  Status failure;
  size_t nextFile = 0, unfinished = 0, workers = 0;
  bool isOpening = false; ///< Files are locked in order, one at a time.
};

} // namespace llmir::hub

#endif // LLMIR_LIB_HUB_DOWNLOADER_H

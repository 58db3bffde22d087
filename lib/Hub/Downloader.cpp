//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Downloader.h"
#include "Digest.h"

#include "llmir/Support/Json.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>

using namespace llmir;
using namespace llmir::hub;

//===----------------------------------------------------------------------===//
// The body of an answer
//===----------------------------------------------------------------------===//

namespace llmir::hub {

/// Writes the bytes of one answer to a blob, after checking that they are those
/// that were asked for.
class PieceSink : public BodySink {
public:
  PieceSink(Downloader &downloader, const Downloader::Job &job,
            Downloader::Active &active, const HttpRequest &request,
            uint64_t first, uint64_t last)
      : downloader(downloader), job(job), active(active),
        writer(*active.writer), hasRange(request.range.has_value()),
        offset(first), end(last + 1) {}

  Status begin(const HttpHead &head) override;
  Status take(const char *data, size_t size) override;
  uint64_t takenBytes() const { return taken; }
  bool isComplete() const { return offset == end; }

private:
  Status changed(const std::string &what) const {
    return Status(StatusCode::InvalidFile,
                  "'" + printable(writer.file().path) + "': " + what,
                  "the file changed on the Hub, or a proxy alters it: run the "
                  "command again, and check HF_ENDPOINT and proxies");
  }
  Status checkRange(const HttpHead &head) const;
  Status takeWhole();

  Downloader &downloader;
  const Downloader::Job &job;
  Downloader::Active &active;
  BlobWriter &writer;
  bool hasRange;
  uint64_t offset, end, taken = 0;
};

} // namespace llmir::hub

/// The tag without quotes and without the mark of weak ones.
static std::string plainTag(std::string_view tag) {
  if (tag.compare(0, 2, "W/") == 0)
    tag.remove_prefix(2);
  while (!tag.empty() && tag.front() == '"')
    tag.remove_prefix(1);
  while (!tag.empty() && tag.back() == '"')
    tag.remove_suffix(1);
  return std::string(tag);
}

/// Fails unless `Content-Range: bytes FIRST-LAST/SIZE` is what was asked for.
Status PieceSink::checkRange(const HttpHead &head) const {
  const std::string &range = head["content-range"];
  const uint64_t size = writer.file().size;
  const std::string start = "bytes " + std::to_string(offset) + "-";
  const size_t slash = range.find('/');
  if (range.compare(0, start.size(), start) == 0 && slash != range.npos &&
      (range.substr(slash + 1) == "*" ||
       range.substr(slash + 1) == std::to_string(size)))
    return Status::ok();
  return changed("the answer has the bytes '" + printable(range) +
                 "'; expected those from " + std::to_string(offset) + " of " +
                 std::to_string(size));
}

/// The server ignored the range: everything is received again, in order.
Status PieceSink::takeWhole() {
  {
    Downloader::Lock lock(downloader.mutex);
    // Once the other pieces were launched, they cannot be called back.
    if (!job.isFirst || (active.waiting.empty() && active.piecesLeft > 1))
      return changed("the server gives ranges of the file only sometimes");
    active.isWhole = true;
    active.piecesLeft = 1;
    active.waiting.clear();
  }
  offset = 0;
  end = writer.file().size;
  return writer.restart();
}

Status PieceSink::begin(const HttpHead &head) {
  const FileEntry &file = writer.file();
  const std::string tag = plainTag(head["x-linked-etag"]);
  if (tag != file.hash && tag.size() == file.hash.size() && isHash(tag))
    return changed("its hash is now " + tag + " instead of " + file.hash);
  const std::string &encoding = head["content-encoding"];
  if (!encoding.empty() && encoding != "identity")
    return changed("the answer is compressed (" + printable(encoding) + ")");
  if (head.status == 206 && hasRange)
    LLMIR_RETURN_IF_ERROR(checkRange(head));
  else if (head.status != 200)
    return changed("the answer is HTTP " + std::to_string(head.status));
  else if (hasRange)
    LLMIR_RETURN_IF_ERROR(takeWhole());
  const std::string &length = head["content-length"];
  if (!length.empty() && length != std::to_string(end - offset))
    return changed("the answer has " + printable(length) + " bytes; expected " +
                   std::to_string(end - offset));
  downloader.keepAddress(job.file, head.url);
  if (job.isFirst)
    downloader.launchOthers(job.file);
  return Status::ok();
}

Status PieceSink::take(const char *data, size_t size) {
  if (size > end - offset)
    return changed("the answer has more than " + std::to_string(end) +
                   " bytes");
  LLMIR_RETURN_IF_ERROR(writer.write(offset, data, size));
  offset += size;
  taken += size;
  downloader.received += size;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// One piece
//===----------------------------------------------------------------------===//

Downloader::Downloader(const Settings &settings, const Cache &cache,
                       DownloadRequest request)
    : settings(settings), cache(cache), request(std::move(request)) {
  active.resize(this->request.files.size());
  unfinished = active.size();
}

/// The first piece that is not complete.
static size_t firstIncomplete(const BlobWriter &writer) {
  size_t piece = 0;
  while (piece + 1 < writer.numPieces() && writer.isPieceDone(piece))
    ++piece;
  return piece;
}

Status Downloader::download(Client &client, const Job &job) {
  Active &file = active[job.file];
  BlobWriter &writer = *file.writer;
  const uint64_t size = writer.file().size;
  constexpr uint64_t leastProgress = 65536;
  for (int failures = 0;;) {
    bool isWhole = false;
    HttpRequest get;
    {
      Lock lock(mutex);
      isWhole = file.isWhole;
      if (file.direct)
        get.url = *file.direct;
    }
    const size_t piece = isWhole ? firstIncomplete(writer) : job.piece;
    const uint64_t first = writer.pieceStart(piece) + writer.pieceDone(piece);
    const uint64_t end =
        isWhole ? size : writer.pieceStart(piece) + writer.pieceSize(piece);
    if (first == end)
      return Status::ok();
    if (first > 0 || end < size)
      get.range = {first, end - 1};
    const bool wasDirect = !get.url.text.empty();
    if (!wasDirect) {
      Expected<Url> url = client.fileUrl(request.repository, request.commit,
                                         writer.file().path);
      if (!url)
        return url.takeStatus();
      get.url = std::move(*url);
    }
    get.stallTimeout = settings.stallTimeout;
    PieceSink sink(*this, job, file, get, first, end - 1);
    Attempt attempt = client.attempt(get, sink);
    if (stop)
      return Status(StatusCode::IoError, "the download was stopped");
    const long status = attempt.head.status;
    {
      Lock lock(mutex);
      isWhole = file.isWhole;
      // A signed address expires; the Hub gives a new one.
      const bool hasExpired = wasDirect && status >= 400 && status < 500 &&
                              status != 408 && status != 416 && status != 429;
      if (hasExpired) {
        file.direct.reset();
        attempt.isTransient = true;
      }
    }
    if (attempt.status && sink.isComplete())
      return Status::ok();
    if (attempt.status) {
      attempt.status = Status(StatusCode::IoError,
                              "the answer ended before all bytes were sent",
                              "run the command again: it continues where it "
                              "stopped");
      attempt.isTransient = true;
    }
    if (!isWhole && sink.takenBytes() >= leastProgress)
      failures = 0;
    if (!client.waitToRetry(attempt, failures))
      return std::move(attempt.status)
          .withContext("'" + printable(writer.file().path) + "'");
  }
}

Status Downloader::runJob(Client &client, const Job &job) {
  LLMIR_RETURN_IF_ERROR(download(client, job));
  bool isLast = false;
  {
    Lock lock(mutex);
    // Without an answer, for example because nothing is missing.
    isLast = --active[job.file].piecesLeft == 0;
  }
  return isLast ? finishFile(job.file) : Status::ok();
}

Status Downloader::finishFile(size_t index) {
  Active &file = active[index];
  const uint64_t resumed = file.writer->resumedBytes();
  bool isWrong = false;
  Status status = file.writer->finish(stop, isWrong);
  if (isWrong && resumed > 0 && !file.wasRepeated) {
    say("what was downloaded of '" + printable(file.writer->file().path) +
        "' before is damaged; it is downloaded again");
    file.wasRepeated = true;
    queueFirst(index);
    return Status::ok();
  }
  if (isWrong)
    file.writer->remove();
  LLMIR_RETURN_IF_ERROR(std::move(status));
  Lock lock(mutex);
  --unfinished;
  changed.notify_all();
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

/// Opens a file, which may wait for other processes, and queues its first
/// request.
Status Downloader::openNext(size_t file) {
  auto writer =
      BlobWriter::open(cache, request.repository, request.files[file], stop,
                       [&](const std::string &text) { say(text); });
  if (!writer)
    return writer.takeStatus();
  {
    Lock lock(mutex);
    active[file].writer = std::move(*writer);
    if (active[file].writer->isInstalled()) {
      --unfinished;
      changed.notify_all();
      return Status::ok();
    }
  }
  LLMIR_RETURN_IF_ERROR(active[file].writer->reserve());
  queueFirst(file);
  return Status::ok();
}

void Downloader::queueFirst(size_t file) {
  Lock lock(mutex);
  Active &state = active[file];
  const size_t first = firstIncomplete(*state.writer);
  state.waiting.clear();
  state.isWhole = false;
  for (size_t piece = first + 1; piece < state.writer->numPieces(); ++piece)
    if (!state.writer->isPieceDone(piece))
      state.waiting.push_back(piece);
  state.piecesLeft = 1 + state.waiting.size();
  queue.push_back({file, first, /*isFirst=*/true});
  changed.notify_all();
}

/// The other pieces are asked for where the first one came from: the Hub need
/// not redirect each of them.
void Downloader::keepAddress(size_t file, const Url &url) {
  Lock lock(mutex);
  if (!url.hasOriginOf(hub))
    active[file].direct = url;
}

void Downloader::launchOthers(size_t file) {
  Lock lock(mutex);
  for (size_t piece : active[file].waiting)
    queue.push_back({file, piece, /*isFirst=*/false});
  active[file].waiting.clear();
  changed.notify_all();
}

void Downloader::fail(Status status) {
  Lock lock(mutex);
  if (failure)
    failure = std::move(status);
  stop = true;
  changed.notify_all();
}

void Downloader::say(const std::string &text) {
  Lock lock(mutex);
  if (notes.empty() || notes.back() != text)
    notes.push_back(text);
}

void Downloader::workUntilDone(Client &client) {
  Lock lock(mutex);
  while (!stop && unfinished > 0) {
    Status status;
    if (!queue.empty()) {
      const Job job = queue.front();
      queue.pop_front();
      lock.unlock();
      status = runJob(client, job);
      lock.lock();
    } else if (nextFile < active.size() && !isOpening) {
      isOpening = true;
      const size_t file = nextFile++;
      lock.unlock();
      status = openNext(file);
      lock.lock();
      isOpening = false;
      changed.notify_all();
    } else {
      changed.wait(lock);
    }
    if (!status) {
      lock.unlock();
      return fail(std::move(status));
    }
  }
}

void Downloader::work() {
  try {
    Expected<Client> client =
        Client::create(settings, request.retries, &stop,
                       [this](const std::string &text) { say(text); });
    if (client) {
      client->expectAnswers(); // The plan was made with the Hub's answers.
      workUntilDone(*client);
    } else {
      fail(client.takeStatus());
    }
  } catch (const std::bad_alloc &) {
    fail(Status(StatusCode::ResourceExhausted, "not enough memory"));
  } catch (const std::exception &error) {
    fail(Status(StatusCode::Internal, error.what()));
  }
  Lock lock(mutex);
  --workers;
  changed.notify_all();
}

/// Gives the caller progress and notes; called without the mutex.
void Downloader::report() {
  uint64_t bytes = 0;
  std::vector<std::string> texts;
  {
    Lock lock(mutex);
    for (size_t i = 0; i < nextFile; ++i)
      if (active[i].writer)
        bytes += active[i].writer->isInstalled()
                     ? active[i].writer->file().size
                     : active[i].writer->doneBytes();
    texts.swap(notes);
  }
  for (const std::string &text : texts)
    request.onNote(text);
  request.onProgress(bytes);
}

Status Downloader::run() {
  Expected<Url> endpoint = Url::parse(settings.endpoint);
  if (!endpoint)
    return endpoint.takeStatus();
  hub = std::move(*endpoint);
  std::vector<std::thread> threads;
  try {
    for (int i = 0; i < request.connections; ++i) {
      {
        Lock lock(mutex);
        ++workers;
      }
      threads.emplace_back([this] { work(); });
    }
  } catch (const std::system_error &error) {
    Lock lock(mutex);
    --workers;
    if (threads.empty())
      return Status(StatusCode::ResourceExhausted,
                    std::string("cannot start a thread: ") + error.what());
  }
  for (bool isRunning = true; isRunning;) {
    {
      Lock lock(mutex);
      isRunning = !changed.wait_for(lock, std::chrono::milliseconds(100),
                                    [this] { return workers == 0; });
    }
    report();
  }
  for (std::thread &thread : threads)
    thread.join();
  return std::move(failure);
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Hub/RemoteHeaders.h"
#include "BlobWriter.h"
#include "Client.h"

#include "llmir/Hub/Cache.h"
#include "llmir/Support/Json.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <unistd.h>

using namespace llmir;
using namespace llmir::hub;

RemoteHeaders::RemoteHeaders(RemoteHeaders &&other) noexcept
    : root(std::move(other.root)), model(std::move(other.model)),
      received(other.received) {
  other.root.clear();
}

RemoteHeaders &RemoteHeaders::operator=(RemoteHeaders &&other) noexcept {
  std::swap(root, other.root);
  std::swap(model, other.model);
  std::swap(received, other.received);
  return *this;
}

RemoteHeaders::~RemoteHeaders() {
  std::error_code ignored;
  if (!root.empty())
    std::filesystem::remove_all(root, ignored);
}

namespace {

/// One file of the model, of which a growing part is read.
class PartialFile {
public:
  static Expected<PartialFile> create(Client &client, const PullPlan &plan,
                                      const FileEntry &entry,
                                      const std::string &path);

  /// Reads on until the first `end` bytes of the file are there.
  Status readTo(uint64_t end);
  /// The 64-bit number at the start of the file.
  uint64_t firstNumber() const;
  uint64_t size() const { return entry->size; }
  uint64_t readBytes() const { return present; }

private:
  PartialFile(Client &client, const FileEntry &entry)
      : client(&client), entry(&entry) {}

  Client *client;
  const FileEntry *entry;
  std::string path;
  Url url;
  Descriptor file;
  uint64_t present = 0;
};

/// Takes exactly the bytes of a range.
class RangeSink : public TextSink {
public:
  RangeSink(size_t size, bool hasRange) : TextSink(size), hasRange(hasRange) {}
  Status begin(const HttpHead &head) override {
    if (hasRange && head.status != 206)
      return Status(StatusCode::Unsupported,
                    "the server gives no parts of files",
                    "download the model: `llmir pull`");
    return TextSink::begin(head);
  }

private:
  bool hasRange;
};

} // namespace

Expected<PartialFile> PartialFile::create(Client &client, const PullPlan &plan,
                                          const FileEntry &entry,
                                          const std::string &path) {
  PartialFile partial(client, entry);
  partial.path = path;
  LLMIR_RETURN_IF_ERROR(makeFolder(path.substr(0, path.rfind('/'))));
  Expected<Url> url =
      client.fileUrl(plan.reference.repository, plan.commit, entry.path);
  if (!url)
    return url.takeStatus();
  partial.url = std::move(*url);
  partial.file = Descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!partial.file ||
      ftruncate(partial.file.get(), static_cast<off_t>(entry.size)) != 0)
    return cacheFailure(errno, "cannot write", path);
  return partial;
}

Status PartialFile::readTo(uint64_t end) {
  end = std::min(end, entry->size);
  if (end <= present)
    return Status::ok();
  HttpRequest request;
  request.url = url;
  request.stallTimeout = client->settings().stallTimeout;
  if (present > 0 || end < entry->size)
    request.range = {present, end - 1};
  RangeSink sink(static_cast<size_t>(end - present), request.range.has_value());
  for (int failures = 0;;) {
    Attempt attempt = client->attempt(request, sink);
    if (attempt.status && sink.text.size() == end - present)
      break;
    if (attempt.status) {
      attempt.status =
          Status(StatusCode::IoError, "the answer ended too early");
      attempt.isTransient = true;
    }
    if (!client->waitToRetry(attempt, failures))
      return std::move(attempt.status)
          .withContext("'" + printable(entry->path) + "'");
  }
  LLMIR_RETURN_IF_ERROR(
      writeAt(file.get(), present, sink.text.data(), sink.text.size(), path));
  present = end;
  return Status::ok();
}

uint64_t PartialFile::firstNumber() const {
  unsigned char bytes[8] = {};
  uint64_t number = 0;
  if (pread(file.get(), bytes, sizeof bytes, 0) == ssize_t(sizeof bytes))
    for (int i = 7; i >= 0; --i)
      number = number << 8 | bytes[i];
  return number;
}

/// Reads as much of a file as its header needs.
static Status
readHeader(PartialFile &file, const std::string &path,
           const std::function<bool(const std::string &)> &isWhole) {
  constexpr uint64_t mostBytes = uint64_t(256) << 20;
  if (endsWith(path, ".safetensors")) {
    LLMIR_RETURN_IF_ERROR(file.readTo(uint64_t(256) << 10));
    const uint64_t header = file.firstNumber();
    // Longer headers are left to the reader, which rejects them.
    return header <= mostBytes ? file.readTo(header + 8) : Status::ok();
  }
  if (endsWith(path, ".gguf")) {
    uint64_t end = uint64_t(4) << 20;
    do {
      LLMIR_RETURN_IF_ERROR(file.readTo(end));
      end *= 2;
    } while (file.readBytes() < file.size() && end <= mostBytes &&
             !isWhole(path));
    return Status::ok();
  }
  return file.readTo(std::min(file.size(), mostBytes));
}

/// A new directory for temporary files.
static Expected<std::string> temporaryFolder() {
  const char *set = std::getenv("TMPDIR");
  std::string path =
      std::string(set && *set ? set : "/tmp") + "/llmir-headers-XXXXXX";
  if (!mkdtemp(path.data()))
    return Status(StatusCode::IoError,
                  "cannot create '" + path + "': " + std::strerror(errno),
                  "set TMPDIR to a directory that can be written");
  return path;
}

Expected<RemoteHeaders>
RemoteHeaders::read(const ModelReference &reference, const Settings &settings,
                    const PullOptions &options,
                    const std::function<bool(const std::string &)> &isWhole) {
  Expected<PullPlan> plan = planPull(reference, settings, options);
  if (!plan)
    return plan.takeStatus();
  try {
    RemoteHeaders headers;
    Expected<std::string> root = temporaryFolder();
    if (!root)
      return root.takeStatus();
    headers.root = std::move(*root);
    Expected<Client> client =
        Client::create(settings, options.retries, nullptr, options.onNote);
    if (!client)
      return client.takeStatus();
    const std::string snapshot =
        Cache(headers.root).snapshotFolder(reference.repository, plan->commit);
    for (const PlannedFile &planned : plan->files) {
      const std::string path = snapshot + "/" + planned.entry.path;
      Expected<PartialFile> file =
          PartialFile::create(*client, *plan, planned.entry, path);
      if (!file)
        return file.takeStatus();
      LLMIR_RETURN_IF_ERROR(readHeader(*file, path, isWhole));
      headers.received += file->readBytes();
    }
    headers.model = snapshot + (plan->model.empty() ? "" : "/" + plan->model);
    return headers;
  } catch (const std::bad_alloc &) {
    return Status(StatusCode::ResourceExhausted, "not enough memory");
  } catch (const std::exception &error) {
    return Status(StatusCode::Internal, error.what());
  }
}

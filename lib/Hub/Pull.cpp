//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Hub/Pull.h"
#include "BlobWriter.h"
#include "Client.h"
#include "Digest.h"
#include "Downloader.h"
#include "Snapshot.h"

#include "llmir/Hub/Cache.h"
#include "llmir/Support/Json.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <map>
#include <new>
#include <sys/statvfs.h>
#include <unistd.h>

using namespace llmir;
using namespace llmir::hub;

bool hub::canPull() { return true; }

/// Calls `body`, which returns an Expected; no exception leaves the library.
template <typename Body>
static auto withoutExceptions(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return Status(StatusCode::ResourceExhausted, "not enough memory");
  } catch (const std::exception &error) {
    return Status(StatusCode::Internal, error.what());
  }
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// The text of a small file, checked.
static Expected<std::string> readText(Client &client,
                                      const ModelReference &reference,
                                      const std::string &commit,
                                      const FileEntry &entry) {
  Expected<Url> url = client.fileUrl(reference.repository, commit, entry.path);
  if (!url)
    return url.takeStatus();
  Expected<std::string> text = client.text(*url, size_t(64) << 20);
  if (!text)
    return text.takeStatus().withContext("'" + entry.path + "'");
  Expected<std::string> hash = hashLike(entry.hash, *text);
  if (!hash)
    return hash.takeStatus();
  if (*hash != entry.hash)
    return Status(StatusCode::InvalidFile,
                  "'" + entry.path + "' is damaged: its hash is " + *hash +
                      ", but the Hub gives " + entry.hash,
                  "run the command again, and check HF_ENDPOINT and proxies");
  return text;
}

/// True if the file's content has the hash that it should have.
static Expected<bool> isIntact(const std::string &path,
                               const FileEntry &entry) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    return false;
  Expected<std::string> hash =
      hashLike(entry.hash, file.get(), entry.size, path);
  if (!hash)
    return hash.takeStatus();
  return *hash == entry.hash;
}

/// What the cache has of a file.
static Status lookUp(const Cache &cache, const PullPlan &plan,
                     const PullOptions &options, PlannedFile &file) {
  const std::string &repository = plan.reference.repository;
  const std::string blob = cache.blobPath(repository, file.entry.hash);
  const std::string named =
      cache.snapshotFolder(repository, plan.commit) + "/" + file.entry.path;
  uint64_t size = 0;
  const bool hasBlob = regularFileSize(blob, size) && size == file.entry.size;
  file.isInSnapshot = !hasBlob && isPlainFile(named) &&
                      regularFileSize(named, size) && size == file.entry.size;
  file.isCached = hasBlob || file.isInSnapshot;
  if (file.isCached && options.verifies) {
    const std::string &path = hasBlob ? blob : named;
    Expected<bool> intact = isIntact(path, file.entry);
    if (!intact)
      return intact.takeStatus();
    if (!*intact) {
      options.onNote("'" + printable(file.entry.path) +
                     "' is damaged in the cache; it is downloaded again");
      if (unlink(path.c_str()) != 0)
        return cacheFailure(errno, "cannot remove", path);
      file.isCached = file.isInSnapshot = false;
    }
  }
  file.presentBytes =
      file.isCached ? file.entry.size
                    : BlobWriter::presentBytes(cache, repository, file.entry);
  return Status::ok();
}

static Expected<PullPlan> plan(const ModelReference &reference,
                               const Settings &settings,
                               const PullOptions &options) {
  if (settings.isOffline)
    return Status(StatusCode::IoError,
                  "HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set: nothing can "
                  "be downloaded",
                  "unset it; models that were downloaded before run without a "
                  "network");
  Expected<Client> client =
      Client::create(settings, options.retries, nullptr, options.onNote);
  if (!client)
    return client.takeStatus();
  PullPlan plan;
  plan.reference = reference;
  plan.cache = settings.cache;
  Expected<std::string> commit = client->commitOf(reference);
  if (!commit)
    return commit.takeStatus();
  plan.commit = std::move(*commit);
  Expected<std::vector<FileEntry>> listing =
      client->listing(reference, plan.commit);
  if (!listing)
    return listing.takeStatus();
  Expected<FileChoice> choice =
      chooseFiles(*listing, reference, [&](const FileEntry &entry) {
        return readText(*client, reference, plan.commit, entry);
      });
  if (!choice)
    return choice.takeStatus();
  plan.model = std::move(choice->model);
  const Cache cache(settings.cache);
  for (size_t index : choice->files) {
    PlannedFile file;
    file.entry = std::move((*listing)[index]);
    LLMIR_RETURN_IF_ERROR(lookUp(cache, plan, options, file));
    plan.files.push_back(std::move(file));
  }
  std::sort(plan.files.begin(), plan.files.end(),
            [](const PlannedFile &a, const PlannedFile &b) {
              return a.entry.path < b.entry.path;
            });
  return plan;
}

Expected<PullPlan> hub::planPull(const ModelReference &reference,
                                 const Settings &settings,
                                 const PullOptions &options) {
  return withoutExceptions([&] { return plan(reference, settings, options); });
}

//===----------------------------------------------------------------------===//
// Downloading
//===----------------------------------------------------------------------===//

static std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, bytes < 1e9 ? "%.0f MB" : "%.1f GB",
                bytes / (bytes < 1e9 ? 1e6 : 1e9));
  return text;
}

/// Fails if the disk has no space for what is missing.
static Status checkSpace(const PullPlan &plan, const Cache &cache,
                         const std::vector<FileEntry> &missing) {
  struct statvfs disk;
  if (statvfs(plan.cache.c_str(), &disk) != 0)
    return cacheFailure(errno, "cannot read", plan.cache);
  const double room =
      static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  double needed = 0;
  for (const FileEntry &file : missing)
    needed += static_cast<double>(
        file.size -
        BlobWriter::allocatedBytes(cache, plan.reference.repository, file));
  if (needed <= room)
    return Status::ok();
  return Status(StatusCode::ResourceExhausted,
                plan.reference.text() + " needs " + gigabytes(needed) +
                    ", but '" + plan.cache + "' has " + gigabytes(room) +
                    " free",
                "free some space, or set HF_HUB_CACHE to a directory on "
                "another disk");
}

/// The missing files with different hashes, in the order of these: all
/// processes take the locks of the cache in the same order.
static std::vector<FileEntry> missingBlobs(const PullPlan &plan) {
  std::map<std::string, FileEntry> missing;
  for (const PlannedFile &file : plan.files)
    if (!file.isCached)
      missing.emplace(file.entry.hash, file.entry);
  std::vector<FileEntry> list;
  for (auto &[hash, entry] : missing)
    list.push_back(std::move(entry));
  return list;
}

static Expected<PullResult> run(const PullPlan &plan, const Settings &settings,
                                const PullOptions &options) {
  const Cache cache(plan.cache);
  const std::string &repository = plan.reference.repository;
  LLMIR_RETURN_IF_ERROR(makeFolder(cache.repositoryFolder(repository)));

  const uint64_t cachedBytes = plan.cachedBytes();
  DownloadRequest request;
  request.repository = repository;
  request.commit = plan.commit;
  request.files = missingBlobs(plan);
  LLMIR_RETURN_IF_ERROR(checkSpace(plan, cache, request.files));
  request.connections = options.connections;
  request.retries = options.retries;
  request.onProgress = [&](uint64_t bytes) {
    options.onProgress(cachedBytes + bytes);
  };
  request.onNote = options.onNote;
  PullResult result;
  if (!request.files.empty()) {
    Downloader downloader(settings, cache, std::move(request));
    if (Status status = downloader.run(); !status)
      return std::move(status).withContext(plan.reference.text());
    result.receivedBytes = downloader.receivedBytes();
  }
  for (const PlannedFile &file : plan.files)
    if (!file.isInSnapshot)
      LLMIR_RETURN_IF_ERROR(
          linkIntoSnapshot(cache, repository, plan.commit, file.entry));
  // Last: what the reference names is complete.
  LLMIR_RETURN_IF_ERROR(writeReference(cache, plan.reference, plan.commit));
  result.path = cache.snapshotFolder(repository, plan.commit) +
                (plan.model.empty() ? "" : "/" + plan.model);
  return result;
}

Expected<PullResult> hub::runPull(const PullPlan &plan,
                                  const Settings &settings,
                                  const PullOptions &options) {
  return withoutExceptions([&] { return run(plan, settings, options); });
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Hub/Cache.h"

#include "llmir/Support/Json.h"
#include "llmir/Support/MappedFile.h"

#include <algorithm>
#include <filesystem>

using namespace llmir;
using namespace llmir::hub;

namespace fs = std::filesystem;

/// "models--ORG--NAME".
static std::string folderName(const std::string &repository) {
  std::string name = "models--" + repository;
  if (const size_t slash = name.find('/'); slash != name.npos)
    name.replace(slash, 1, "--");
  return name;
}

std::string Cache::repositoryFolder(const std::string &repository) const {
  return root + "/" + folderName(repository);
}

std::string Cache::blobPath(const std::string &repository,
                            const std::string &hash) const {
  return repositoryFolder(repository) + "/blobs/" + hash;
}

std::string Cache::lockPath(const std::string &repository,
                            const std::string &hash) const {
  return root + "/.locks/" + folderName(repository) + "/" + hash + ".lock";
}

std::string Cache::snapshotFolder(const std::string &repository,
                                  const std::string &commit) const {
  return repositoryFolder(repository) + "/snapshots/" + commit;
}

std::string Cache::refPath(const std::string &repository,
                           const std::string &revision) const {
  return repositoryFolder(repository) + "/refs/" + revision;
}

bool Cache::has(const std::string &repository) const {
  std::error_code error;
  return fs::is_directory(repositoryFolder(repository), error);
}

static Status notCached(const ModelReference &reference,
                        const std::string &problem) {
  return Status(StatusCode::NotFound, problem,
                "download it: `llmir pull " + reference.text() + "`");
}

Expected<std::string> Cache::commitOf(const ModelReference &reference) const {
  std::error_code error;
  if (isCommit(reference.revision) &&
      fs::is_directory(snapshotFolder(reference.repository, reference.revision),
                       error))
    return reference.revision;
  Expected<MappedFile> file =
      MappedFile::open(refPath(reference.repository, reference.revision), 1024);
  if (!file)
    return notCached(reference, "the Hub's cache '" + root +
                                    "' has no revision '" + reference.revision +
                                    "' of " + reference.repository);
  std::string commit(file->text().substr(0, 40));
  if (isCommit(commit))
    return commit;
  return notCached(reference, "'" + file->path() + "' contains no commit");
}

Expected<std::vector<FileEntry>>
Cache::listing(const std::string &repository, const std::string &commit) const {
  constexpr size_t mostFiles = 100000;
  const std::string folder = snapshotFolder(repository, commit);
  std::vector<FileEntry> files;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error), end;
  for (; !error && it != end; it.increment(error)) {
    std::error_code ignored; // A broken link is not a file.
    if (!it->is_regular_file(ignored))
      continue;
    const uint64_t size = it->file_size(ignored);
    if (ignored)
      continue;
    FileEntry entry;
    entry.path = it->path().string().substr(folder.size() + 1);
    entry.size = size;
    files.push_back(std::move(entry));
    if (files.size() > mostFiles)
      return Status(StatusCode::OutOfRange, "'" + folder + "' has more than " +
                                                std::to_string(mostFiles) +
                                                " files");
  }
  if (error)
    return Status(StatusCode::IoError, "'" + folder + "': " + error.message());
  std::sort(
      files.begin(), files.end(),
      [](const FileEntry &a, const FileEntry &b) { return a.path < b.path; });
  return files;
}

Expected<std::string> Cache::find(const ModelReference &reference) const {
  if (!has(reference.repository))
    return notCached(reference, reference.repository +
                                    " is not in the Hub's cache '" + root +
                                    "'");
  Expected<std::string> commit = commitOf(reference);
  if (!commit)
    return commit;
  const std::string folder = snapshotFolder(reference.repository, *commit);
  Expected<std::vector<FileEntry>> files =
      listing(reference.repository, *commit);
  if (!files)
    return notCached(reference, files.status().cause());
  auto readText = [&](const FileEntry &entry) -> Expected<std::string> {
    Expected<MappedFile> file =
        MappedFile::open(folder + "/" + entry.path, uint64_t(64) << 20);
    if (!file)
      return file.takeStatus();
    return std::string(file->text());
  };
  Expected<FileChoice> choice = chooseFiles(*files, reference, readText);
  if (choice)
    return choice->model.empty() ? folder : folder + "/" + choice->model;
  if (choice.status().code() != StatusCode::NotFound)
    return choice.takeStatus();
  // The choices that the cache offers are in the advice of the failure.
  const std::string advice = choice.status().advice();
  const bool offers = advice.find("choose one") == 0;
  return Status(StatusCode::NotFound,
                "in the Hub's cache: " + choice.status().cause(),
                (offers ? advice + ", or " : std::string()) +
                    "download it: `llmir pull " + reference.text() + "`");
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Answers.h"

#include "llmir/Http/SharedLibraries.h"
#include "llmir/Support/Json.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>

using namespace llmir;
using namespace llmir::hub;

Status hub::notTheHub(Status problem) {
  return Status(StatusCode::InvalidFile, problem.cause(),
                "this is not an answer of the Hub: check HF_ENDPOINT and "
                "proxies");
}

Expected<std::string> hub::commitOfAnswer(std::string_view answer,
                                          const std::string &where) {
  Expected<Json> json = parseJson(answer, where);
  if (!json)
    return notTheHub(json.takeStatus());
  Expected<JsonReader> reader = JsonReader::of(*json, where);
  if (!reader)
    return notTheHub(reader.takeStatus());
  Expected<std::string> commit = reader->string("sha");
  if (!commit)
    return notTheHub(commit.takeStatus());
  if (!isCommit(*commit))
    return notTheHub(reader->unexpected("sha", "a commit of 40 digits"));
  return commit;
}

/// One element of the tree: a file, or nullopt for a directory.
static Expected<std::optional<FileEntry>> readEntry(const Json &element,
                                                    const std::string &where) {
  constexpr int64_t largest = int64_t(1) << 44; // 16 TiB.
  Expected<JsonReader> reader = JsonReader::of(element, where);
  if (!reader)
    return reader.takeStatus();
  Expected<std::string> type = reader->string("type");
  if (!type)
    return type.takeStatus();
  if (*type != "file")
    return std::optional<FileEntry>();
  FileEntry entry;
  Expected<std::string> path = reader->string("path");
  if (!path)
    return path.takeStatus();
  entry.path = std::move(*path);
  const bool isLarge = reader->has("lfs");
  Expected<JsonReader> source =
      isLarge ? reader->object("lfs") : Expected<JsonReader>(*reader);
  if (!source)
    return source.takeStatus();
  Expected<int64_t> size = source->integer("size", 0, largest);
  if (!size)
    return size.takeStatus();
  entry.size = static_cast<uint64_t>(*size);
  Expected<std::string> hash = source->string("oid");
  if (!hash)
    return hash.takeStatus();
  if (hash->size() != (isLarge ? 64u : 40u) ||
      hash->find_first_not_of("0123456789abcdef") != hash->npos)
    return source->unexpected("oid", isLarge ? "a SHA-256 of 64 digits"
                                             : "a SHA-1 of 40 digits");
  entry.hash = std::move(*hash);
  return std::optional<FileEntry>(std::move(entry));
}

Status hub::addListing(std::string_view answer, const std::string &where,
                       std::vector<FileEntry> &files) {
  Expected<Json> json = parseJson(answer, where);
  if (!json)
    return notTheHub(json.takeStatus());
  if (!json->is_array())
    return notTheHub(
        Status(StatusCode::InvalidFile,
               where + " is " + describeJson(*json) + "; expected an array"));
  for (const Json &element : *json) {
    Expected<std::optional<FileEntry>> entry = readEntry(element, where);
    if (!entry)
      return notTheHub(entry.takeStatus());
    if (*entry)
      files.push_back(std::move(**entry));
  }
  return Status::ok();
}

std::string hub::nextPage(const HttpHead &head) {
  const std::string &link = head["link"];
  const size_t end = link.find(">;");
  if (link.empty() || link[0] != '<' || end == link.npos ||
      link.find("rel=\"next\"", end) == link.npos)
    return {};
  return link.substr(1, end - 1);
}

double hub::requestedWait(const HttpHead &head) {
  auto number = [](std::string_view text) -> std::optional<double> {
    uint64_t value = 0;
    auto [rest, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || rest == text.data())
      return std::nullopt;
    return static_cast<double>(std::min<uint64_t>(value, 1000000));
  };
  const std::string &after = head["retry-after"];
  if (!after.empty()) {
    if (auto seconds = number(after))
      return *seconds;
    auto library = CurlLibrary::open();
    const time_t date =
        library ? (*library)->getDate(after.c_str(), nullptr) : time_t(-1);
    if (date > 0)
      return std::max(0.0, std::difftime(date, std::time(nullptr)));
  }
  if (head.status != 429) // The header is also in other answers.
    return -1;
  const std::string &limit = head["ratelimit"];
  const size_t at = limit.find(";t=");
  if (at != limit.npos)
    if (auto seconds = number(std::string_view(limit).substr(at + 3)))
      return *seconds + 1;
  return -1;
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Hub/ModelReference.h"

#include "llmir/Support/Json.h"

#include <algorithm>

using namespace llmir;
using namespace llmir::hub;

static const char *const referenceForm =
    "a model of the Hub is ORG/NAME[@REVISION][:FILE or quantization], for "
    "example Qwen/Qwen3-0.6B or unsloth/Qwen3-0.6B-GGUF:Q4_K_M";

static Status badReference(std::string_view text, const std::string &problem) {
  return Status(StatusCode::InvalidArgument,
                "'" + printable(text) + "': " + problem, referenceForm);
}

static bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

/// The Hub's rule for ORG and NAME; "--" separates them in the cache.
static bool isPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 96 && name.front() != '.' &&
         name.front() != '-' && name.back() != '.' && name.back() != '-' &&
         name.find("--") == name.npos && name.find("..") == name.npos &&
         std::all_of(name.begin(), name.end(), isNameCharacter);
}

/// Git's rules for names of references, as far as they matter for paths.
static bool isRevision(std::string_view name) {
  if (!checkFileName(name))
    return false;
  return name.find_first_of(" ~^:?*[\\") == name.npos &&
         name.find("@{") == name.npos;
}

Expected<ModelReference> ModelReference::parse(std::string_view text) {
  ModelReference result;
  std::string_view rest = text;
  const size_t end = std::min(rest.find_first_of("@:"), rest.size());
  result.repository = rest.substr(0, end);
  rest.remove_prefix(end);

  const std::string_view repository = result.repository;
  const size_t slash = repository.find('/');
  const bool isValid = slash == repository.npos
                           ? isPlainName(repository)
                           : isPlainName(repository.substr(0, slash)) &&
                                 isPlainName(repository.substr(slash + 1));
  if (!isValid)
    return badReference(text, "'" + printable(repository) +
                                  "' is no name of a repository");
  if (!rest.empty() && rest.front() == '@') {
    const size_t colon = std::min(rest.find(':'), rest.size());
    result.revision = rest.substr(1, colon - 1);
    rest.remove_prefix(colon);
    if (!isRevision(result.revision))
      return badReference(text, "'" + printable(result.revision) +
                                    "' is no name of a revision");
  }
  if (!rest.empty()) { // It starts with a colon.
    result.selector = rest.substr(1);
    if (!checkFileName(result.selector))
      return badReference(text, "'" + printable(result.selector) +
                                    "' names no file of a repository");
  }
  return result;
}

std::string ModelReference::text() const {
  return repository + (revision == "main" ? "" : "@" + revision) +
         (selector.empty() ? "" : ":" + selector);
}

bool hub::isCommit(std::string_view text) {
  return text.size() == 40 &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

Status hub::checkFileName(std::string_view name) {
  auto bad = [&](const char *problem) {
    return Status(StatusCode::InvalidFile,
                  "the file name '" + printable(name) + "' " + problem);
  };
  if (name.empty())
    return Status(StatusCode::InvalidFile, "a file name is empty");
  if (name.size() > 1024)
    return bad("is longer than 1024 bytes");
  if (!isValidUtf8(name))
    return bad("is not UTF-8");
  for (char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return bad("contains a control character");
  if (name.find('\\') != name.npos)
    return bad("contains a backslash");
  if (name.size() > 1 && name[1] == ':')
    return bad("starts with a drive");
  while (true) {
    const size_t end = std::min(name.find('/'), name.size());
    const std::string_view part = name.substr(0, end);
    if (part.empty())
      return bad("is absolute or has an empty component");
    if (part == "." || part == "..")
      return bad("leaves its directory");
    if (part.size() > 255)
      return bad("has a component of more than 255 bytes");
    if (end == name.size())
      return Status::ok();
    name.remove_prefix(end + 1);
  }
}

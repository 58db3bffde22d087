//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Hub/Settings.h"

#include "llmir/Support/Json.h"
#include "llmir/Support/MappedFile.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

using namespace llmir;
using namespace llmir::hub;

/// The variable's value without surrounding white space; empty if it is not
/// set.
static std::string variable(const char *name) {
  const char *set = std::getenv(name);
  std::string value = set ? set : "";
  auto isSpace = [](char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
  };
  while (!value.empty() && isSpace(value.back()))
    value.pop_back();
  value.erase(value.begin(),
              std::find_if_not(value.begin(), value.end(), isSpace));
  return value;
}

/// A path in which a leading ~ is the user's directory.
static std::string expanded(const std::string &path) {
  const std::string home = variable("HOME");
  if (!home.empty() && (path == "~" || path.compare(0, 2, "~/") == 0))
    return home + path.substr(1);
  return path;
}

static std::string pathVariable(const char *name) {
  return expanded(variable(name));
}

/// HF_HOME, where the client keeps its cache and its token; empty if unknown.
static std::string homeFolder() {
  if (std::string set = pathVariable("HF_HOME"); !set.empty())
    return set;
  if (std::string set = pathVariable("XDG_CACHE_HOME"); !set.empty())
    return set + "/huggingface";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/huggingface";
}

Expected<std::string> hub::cacheFolder() {
  for (const char *name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (std::string set = pathVariable(name); !set.empty())
      return set;
  if (std::string home = homeFolder(); !home.empty())
    return home + "/hub";
  return Status(StatusCode::NotFound,
                "no directory for downloaded models: neither HF_HUB_CACHE, "
                "HF_HOME, XDG_CACHE_HOME nor HOME is set",
                "set HF_HUB_CACHE to a directory");
}

static bool isTrue(const char *name) {
  std::string value = variable(name);
  for (char &c : value)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

static Status badVariable(const char *name, const std::string &problem,
                          const std::string &advice) {
  return Status(StatusCode::InvalidArgument, std::string(name) + " " + problem,
                advice);
}

static Status readTimeout(const char *name, int &seconds) {
  const std::string text = variable(name);
  if (text.empty())
    return Status::ok();
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, seconds);
  if (error == std::errc() && rest == end && seconds >= 1 && seconds <= 3600)
    return Status::ok();
  return badVariable(name, "is '" + printable(text) + "'",
                     "give whole seconds from 1 to 3600");
}

/// A token becomes part of a header, which must not contain other bytes.
static bool isToken(const std::string &text) {
  return text.size() <= 4096 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c > 0x20 && c < 0x7f; });
}

static Status readToken(std::string &token) {
  const char *source = "HF_TOKEN";
  token = variable(source);
  if (token.empty()) {
    source = "HUGGING_FACE_HUB_TOKEN";
    token = variable(source);
  }
  if (token.empty() && !isTrue("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
    std::string path = pathVariable("HF_TOKEN_PATH");
    if (path.empty()) {
      const std::string home = homeFolder();
      if (home.empty())
        return Status::ok();
      path = home + "/token";
    }
    Expected<MappedFile> file = MappedFile::open(path, 1 << 16);
    if (!file && file.status().code() == StatusCode::NotFound)
      return Status::ok();
    if (!file)
      return file.takeStatus().withContext("the token of the Hub");
    token = file->text();
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r' ||
                              token.back() == ' '))
      token.pop_back();
    if (isToken(token))
      return Status::ok();
    return Status(StatusCode::InvalidFile,
                  "'" + path + "' is no token of the Hub",
                  "write the token alone into it, or set HF_TOKEN");
  }
  if (!isToken(token)) // The value is a secret and is not printed.
    return badVariable(source, "is no token of the Hub",
                       "a token is one word such as hf_...");
  return Status::ok();
}

Expected<Settings> Settings::fromEnvironment() {
  Settings settings;
  settings.endpoint = variable("HF_ENDPOINT");
  if (settings.endpoint.empty())
    settings.endpoint = "https://huggingface.co";
  while (!settings.endpoint.empty() && settings.endpoint.back() == '/')
    settings.endpoint.pop_back();
  if (settings.endpoint.compare(0, 8, "https://") != 0 &&
      settings.endpoint.compare(0, 7, "http://") != 0)
    return badVariable("HF_ENDPOINT",
                       "is '" + printable(settings.endpoint) + "'",
                       "give an address such as https://huggingface.co");
  Expected<std::string> cache = cacheFolder();
  if (!cache)
    return cache.takeStatus();
  settings.cache = std::move(*cache);
  settings.isOffline =
      isTrue("HF_HUB_OFFLINE") || isTrue("TRANSFORMERS_OFFLINE");
  LLMIR_RETURN_IF_ERROR(
      readTimeout("HF_HUB_ETAG_TIMEOUT", settings.answerTimeout));
  LLMIR_RETURN_IF_ERROR(
      readTimeout("HF_HUB_DOWNLOAD_TIMEOUT", settings.stallTimeout));
  LLMIR_RETURN_IF_ERROR(readToken(settings.token));
  for (const char *name :
       {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"})
    if (settings.certificates.empty())
      settings.certificates = pathVariable(name);
  return settings;
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Http.h"

#include "llmir/Support/Json.h"
#include "llmir/Support/Text.h"

#include <cctype>

using namespace llmir;
using namespace llmir::hub;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Expected<Url> Url::parse(const std::string &text, const Url *base) {
  auto library = CurlLibrary::open();
  if (!library)
    return library.takeStatus();
  const CurlLibrary &curl = **library;
  auto bad = [&](const char *problem) {
    return Status(StatusCode::InvalidFile,
                  "the address '" + printable(text, 200) + "' " + problem);
  };
  if (text.size() > 16384)
    return bad("is longer than 16384 bytes");
  for (char c : text)
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f)
      return bad("contains white space or a control character");
  std::unique_ptr<CURLU, void (*)(CURLU *)> parser(curl.url(), curl.urlCleanup);
  if (!parser)
    return Status(StatusCode::ResourceExhausted, "not enough memory");
  if (base && curl.urlSet(parser.get(), CURLUPART_URL, base->text.c_str(), 0))
    return bad("cannot be resolved");
  if (curl.urlSet(parser.get(), CURLUPART_URL, text.c_str(),
                  CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME))
    return bad("is not valid");
  auto part = [&](CURLUPart which, unsigned flags) {
    char *value = nullptr;
    std::string result;
    if (curl.urlGet(parser.get(), which, &value, flags) == CURLUE_OK && value)
      result = value;
    curl.free(value);
    return result;
  };
  Url url;
  url.text = part(CURLUPART_URL, 0);
  url.scheme = lowerCase(part(CURLUPART_SCHEME, 0));
  url.host = lowerCase(part(CURLUPART_HOST, 0));
  url.port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (url.scheme != "https" && url.scheme != "http")
    return bad("is neither https nor http");
  if (url.host.empty() || url.text.empty())
    return bad("names no host");
  return url;
}

std::string hub::percentEncoded(std::string_view text, bool keepsSlashes) {
  std::string result;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x80 && std::isalnum(byte)) || c == '-' || c == '.' ||
        c == '_' || c == '~' || (c == '/' && keepsSlashes)) {
      result += c;
      continue;
    }
    constexpr char digits[] = "0123456789ABCDEF";
    result += '%';
    result += digits[byte >> 4];
    result += digits[byte & 15];
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

const std::string &HttpHead::operator[](const std::string &name) const {
  static const std::string none;
  auto found = headers.find(name);
  return found == headers.end() ? none : found->second;
}

void HttpHead::takeLine(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
    line.remove_suffix(1);
  if (line.compare(0, 5, "HTTP/") == 0) { // Also after an answer of 1xx.
    *this = HttpHead();
    const size_t space = line.find(' ');
    for (size_t i = space + 1;
         space != line.npos && i < line.size() &&
         std::isdigit(static_cast<unsigned char>(line[i])) && status < 1000;
         ++i)
      status = 10 * status + (line[i] - '0');
    return;
  }
  const size_t colon = line.find(':');
  if (colon == line.npos)
    return;
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
    value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t'))
    value.remove_suffix(1);
  headers[lowerCase(line.substr(0, colon))] = value;
}

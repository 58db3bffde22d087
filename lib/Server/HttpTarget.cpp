//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/HttpTarget.h"
#include "llmir/Support/Text.h"

namespace llmir {

HttpTarget splitTarget(std::string_view target) {
  HttpTarget parts;
  for (const std::string_view scheme : {"http://", "https://"})
    if (lowerCase(target.substr(0, scheme.size())) == scheme) {
      target.remove_prefix(scheme.size());
      parts.host = target.substr(0, target.find_first_of("/?"));
      target.remove_prefix(parts.host.size());
      break;
    }
  const size_t query = target.find('?');
  parts.path = target.substr(0, query);
  if (query != std::string_view::npos)
    parts.query = target.substr(query + 1);
  if (parts.path.empty() && !parts.host.empty())
    parts.path = "/";
  return parts;
}

static int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  const int lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string percentDecoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool isCode = text[i] == '%' && i + 2 < text.size() &&
                        hexDigit(text[i + 1]) >= 0 &&
                        hexDigit(text[i + 2]) >= 0;
    if (!isCode) {
      result += text[i];
      continue;
    }
    result +=
        static_cast<char>(hexDigit(text[i + 1]) * 16 + hexDigit(text[i + 2]));
    i += 2;
  }
  return result;
}

const std::string *allowedOrigin(std::string_view origin,
                                 const std::vector<std::string> &allowed) {
  for (const std::string &each : allowed)
    if (!origin.empty() && (each == "*" || each == origin))
      return &each;
  return nullptr;
}

bool isOwnOrigin(std::string_view origin, std::string_view host) {
  const HttpTarget parts = splitTarget(origin);
  return !parts.host.empty() && lowerCase(parts.host) == lowerCase(host);
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/RouteTable.h"
#include "llmir/Support/Text.h"

namespace llmir {

RouteTable::RouteTable(std::vector<HttpRoute> routes)
    : routes(std::move(routes)) {}

/// Whether a path is one of a route, whose '*' is at least one character.
static bool matches(const HttpRoute &route, std::string_view path) {
  std::string_view own = route.path;
  if (own.empty() || own.back() != '*')
    return path == own;
  own.remove_suffix(1);
  return path.size() > own.size() && path.substr(0, own.size()) == own;
}

const HttpRoute *RouteTable::find(std::string_view method,
                                  std::string_view path) const {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const HttpRoute &route : routes)
    if (route.method == wanted && matches(route, path))
      return &route;
  return nullptr;
}

std::string RouteTable::methods(std::string_view path) const {
  std::string result;
  for (const HttpRoute &route : routes)
    if (matches(route, path))
      result += (result.empty() ? "" : ", ") + route.method +
                (route.method == "GET" ? ", HEAD" : "");
  return result;
}

/// Whether two texts are equal, in a time that depends on their lengths only.
static bool equalInConstantTime(std::string_view given, std::string_view key) {
  volatile unsigned char difference = given.size() != key.size();
  for (size_t i = 0; i < key.size(); ++i) {
    const char other = given.empty() ? '\0' : given[i % given.size()];
    difference = static_cast<unsigned char>(difference | (other ^ key[i]));
  }
  return difference == 0;
}

bool hasValidKey(std::string_view authorization,
                 const std::vector<std::string> &keys) {
  constexpr std::string_view scheme = "bearer ";
  const bool isBearer =
      lowerCase(authorization.substr(0, scheme.size())) == scheme;
  const std::string_view given =
      isBearer ? authorization.substr(scheme.size()) : std::string_view();
  bool isValid = false;
  for (const std::string &key : keys)
    isValid |= equalInConstantTime(given, key);
  return isValid && isBearer;
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The parts of a request's target, and which pages may use the server.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_HTTPTARGET_H
#define LLMIR_SERVER_HTTPTARGET_H

#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// "/a?b", or "http://host:1/a?b" as proxies get it.
struct HttpTarget {
  std::string_view host;  ///< With the port; empty if the target has none.
  std::string_view path;  ///< As sent; "/" if the target has only a host.
  std::string_view query; ///< After '?'.
};

/// The parts refer to `target`.
HttpTarget splitTarget(std::string_view target);

/// "a b" for "a%20b"; what is not such a code stays.
std::string percentDecoded(std::string_view text);

/// The element of `allowed` that admits the origin of a page ("https://a.b"):
/// the same text, or "*". Null if there is none.
const std::string *allowedOrigin(std::string_view origin,
                                 const std::vector<std::string> &allowed);

/// Whether a page's origin is the server itself, which the client calls `host`.
bool isOwnOrigin(std::string_view origin, std::string_view host);

} // namespace llmir

#endif // LLMIR_SERVER_HTTPTARGET_H

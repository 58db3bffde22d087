//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which function answers which requests.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_ROUTETABLE_H
#define LLMIR_SERVER_ROUTETABLE_H

#include "llmir/Server/HttpExchange.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

using HttpHandler = std::function<void(const std::shared_ptr<HttpExchange> &)>;

struct HttpRoute {
  std::string method;
  /// A path that ends in '*' matches all paths with the text before it.
  std::string path;
  HttpHandler handler;
  bool needsKey = true;
  /// May take long: runs on a worker instead of the thread that does all input
  /// and output.
  bool takesLong = false;
  /// Answers while the server drains, too.
  bool answersWhileDraining = false;
};

class RouteTable {
public:
  explicit RouteTable(std::vector<HttpRoute> routes);

  /// The route of a request; HEAD has those of GET. Null if there is none.
  const HttpRoute *find(std::string_view method, std::string_view path) const;
  /// The methods of a path ("GET, HEAD"); empty if it does not exist.
  std::string methods(std::string_view path) const;
  const std::vector<HttpRoute> &all() const { return routes; }

private:
  std::vector<HttpRoute> routes;
};

/// Whether one of `keys` is that of "Bearer KEY". The time depends on the
/// lengths of the keys only, not on their contents.
bool hasValidKey(std::string_view authorization,
                 const std::vector<std::string> &keys);

} // namespace llmir

#endif // LLMIR_SERVER_ROUTETABLE_H

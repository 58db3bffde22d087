//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which requests share prefixes in the cache.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SERVER_CACHESALTS_H
#define LLMIR_LIB_SERVER_CACHESALTS_H

#include "Generation.h"
#include "SipHash.h"

namespace llmir::server {

/// Time tells a client whether its prompt begins as another's did. So only
/// requests with the same API key and the same `cache_salt` share prefixes.
class CacheSalts {
public:
  /// The salt of a request with this header and field. 0 without either.
  uint64_t of(const std::string &authorization,
              const std::string &field) const {
    if (authorization.empty() && field.empty())
      return 0;
    return sipHash(std::to_string(authorization.size()) + ":" + authorization +
                       field,
                   key);
  }

private:
  const SipHashKey key = {randomNumber(), randomNumber()};
};

} // namespace llmir::server

#endif // LLMIR_LIB_SERVER_CACHESALTS_H

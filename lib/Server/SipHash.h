//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SipHash-2-4: a hash of which nobody finds collisions who does not know the
// key.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SERVER_SIPHASH_H
#define LLMIR_LIB_SERVER_SIPHASH_H

#include <cstdint>
#include <string_view>

namespace llmir::server {

struct SipHashKey {
  uint64_t first = 0, second = 0;
};

/// As Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), define
/// it.
uint64_t sipHash(std::string_view text, const SipHashKey &key);

} // namespace llmir::server

#endif // LLMIR_LIB_SERVER_SIPHASH_H

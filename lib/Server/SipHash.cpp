//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SipHash.h"

#include <cstddef>

namespace llmir::server {

namespace {
struct SipState {
  uint64_t v0, v1, v2, v3;

  static uint64_t rotated(uint64_t value, int bits) {
    return value << bits | value >> (64 - bits);
  }
  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v1 = rotated(v1, 13) ^ v0;
      v0 = rotated(v0, 32);
      v2 += v3;
      v3 = rotated(v3, 16) ^ v2;
      v0 += v3;
      v3 = rotated(v3, 21) ^ v0;
      v2 += v1;
      v1 = rotated(v1, 17) ^ v2;
      v2 = rotated(v2, 32);
    }
  }
  void take(uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};
} // namespace

/// Up to eight bytes, the first of which is the lowest.
static uint64_t wordOf(std::string_view bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    word |= uint64_t(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return word;
}

uint64_t sipHash(std::string_view text, const SipHashKey &key) {
  SipState state = {
      key.first ^ 0x736f6d6570736575u, key.second ^ 0x646f72616e646f6du,
      key.first ^ 0x6c7967656e657261u, key.second ^ 0x7465646279746573u};
  const uint64_t length = text.size();
  for (; text.size() >= 8; text.remove_prefix(8))
    state.take(wordOf(text.substr(0, 8)));
  state.take(wordOf(text) | length << 56);
  state.v2 ^= 0xff;
  state.rounds(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

} // namespace llmir::server

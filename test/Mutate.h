//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Damage to files, reproducible.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_MUTATE_H
#define LLMIR_TEST_MUTATE_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>

namespace llmir::test {

/// Changes a few places of the first `reach` bytes: bits, bytes, extreme
/// integers, ranges copied, cut out or put elsewhere.
inline std::string mutate(std::string bytes, size_t reach,
                          std::mt19937 &random) {
  auto below = [&](size_t n) { return n ? random() % n : 0; };
  static const uint64_t feared[] = {0,          1,
                                    0x7f,       0x80,
                                    0xff,       0x7fff,
                                    0x8000,     0xffff,
                                    0x7fffffff, 0x80000000,
                                    0xffffffff, 1ull << 32,
                                    1ull << 61, (1ull << 63) - 1,
                                    1ull << 63, ~0ull,
                                    ~0ull - 7};
  for (size_t times = 1 + below(4); times > 0 && !bytes.empty(); --times) {
    size_t at = below(std::min(reach, bytes.size()));
    size_t length = std::min(1 + below(24), bytes.size() - at);
    switch (random() % 6) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(random());
      break;
    case 2: {
      size_t width = size_t(1) << below(4);
      char number[8];
      std::memcpy(number, &feared[below(std::size(feared))], sizeof number);
      width = std::min(width, bytes.size() - at);
      bytes.replace(at, width, number, width);
      break;
    }
    case 3:
      bytes.erase(at, length);
      break;
    case 4:
      bytes.insert(below(bytes.size()), bytes.substr(at, length));
      break;
    case 5:
      bytes.resize(bytes.size() - below(std::min<size_t>(bytes.size(), 64)));
      break;
    }
  }
  return bytes;
}

} // namespace llmir::test

#endif // LLMIR_TEST_MUTATE_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A platform-independent random number generator.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_RANDOM_H
#define LLMIR_REFERENCE_RANDOM_H

#include <cstdint>

namespace llmir::reference {

/// SplitMix64 (Steele, Lea and Flood 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [least, end).
  double real(double least, double end) {
    return least + (end - least) * (double(next() >> 11) * 0x1p-53);
  }
  /// Uniform in [least, end), which must not be empty.
  int64_t integer(int64_t least, int64_t end) {
    const auto first = static_cast<uint64_t>(least);
    return int64_t(first + next() % (static_cast<uint64_t>(end) - first));
  }

private:
  uint64_t state;
};

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_RANDOM_H

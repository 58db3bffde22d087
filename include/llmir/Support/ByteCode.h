//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers as signed bytes with a common scale: the rule that caches of bytes,
// their reference and the generated kernels share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_BYTECODE_H
#define LLMIR_SUPPORT_BYTECODE_H

#include <cmath>
#include <cstdint>

namespace llmir {

/// The greatest |x| of those looked at; no number, where one of them is none.
class GreatestMagnitude {
public:
  void add(float x) {
    float size = std::fabs(x);
    if (!(size <= most) && !std::isnan(most))
      most = size;
  }
  /// max|x| / 127. Not finite where an x is not: then all codes are 0, and NaN
  /// is read back for all of them.
  float scale() const { return most / 127.0f; }

private:
  float most = 0;
};

/// The code that stands for x: x / scale, rounded to nearest even, within -127
/// and 127. A quotient lies outside where the scale is subnormal, as that has
/// few digits. 0 beside a scale of 0, or one that is not finite.
inline int8_t byteCode(float x, float scale) {
  if (!(scale > 0 && scale < INFINITY))
    return 0;
  return static_cast<int8_t>(
      std::fmax(-127.0f, std::fmin(127.0f, std::nearbyint(x / scale))));
}

} // namespace llmir

#endif // LLMIR_SUPPORT_BYTECODE_H

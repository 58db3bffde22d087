//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values as signed bytes with a common scale: the quantization rule shared by
// q8 KV caches, their reference implementation and the generated kernels.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_BYTECODE_H
#define LLMIR_SUPPORT_BYTECODE_H

#include <cmath>
#include <cstdint>

namespace llmir {

/// The maximum |x| of the values added; NaN once a value is NaN.
class MaxMagnitude {
public:
  void add(float x) {
    float size = std::fabs(x);
    if (!(size <= most) && !std::isnan(most))
      most = size;
  }
  /// max|x| / 127. Not finite if any x is not finite: all codes are then 0, and
  /// every element reads back as NaN.
  float scale() const { return most / 127.0f; }

private:
  float most = 0;
};

/// The code of x: x / scale, rounded to nearest even and clamped to [-127,
/// 127]. Only a subnormal scale, which has few significant bits, can give a
/// quotient outside that range. 0 if the scale is 0 or not finite.
inline int8_t byteCode(float x, float scale) {
  if (!(scale > 0 && scale < INFINITY))
    return 0;
  return static_cast<int8_t>(
      std::fmax(-127.0f, std::fmin(127.0f, std::nearbyint(x / scale))));
}

} // namespace llmir

#endif // LLMIR_SUPPORT_BYTECODE_H

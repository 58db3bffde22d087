//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From floats to integers with scales, as llm.quant_params and llm.quantize
// mean it: f32 arithmetic throughout, so that whoever quantizes gets the same
// integers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_QUANTIZATION_H
#define LLMIR_SUPPORT_QUANTIZATION_H

#include "llmir/Support/IntegerLayout.h"

#include <cstdint>

namespace llmir {

/// What numbers that share a scale become: value = scale * (q - zeroPoint).
struct QuantizedRange {
  float scale = 0;
  int16_t zeroPoint = 0;
};

/// The range that holds `count` numbers. Symmetric: scale = max|x| / (2^(b-1) -
/// 1). Otherwise the range from the least to the greatest of them and 0 is cut
/// into 2^b - 1 steps.
QuantizedRange quantizedRange(const float *values, int64_t count, int64_t bits,
                              bool symmetric);

/// x as an integer of that range; the zero point where the scale is 0.
int16_t quantizeNumber(float x, QuantizedRange range, int64_t bits,
                       bool symmetric);

/// Quantizes one row of a matrix, group by group, and packs it. `out` is the
/// matrix, of zeros where nothing was packed yet. Scales of f32 are
/// quantizedRange's; with scales of f16 the format is GGUF's Q8_0 or Q4_0, and
/// so are the numbers.
void quantizeAndPackRow(const IntegerMatrixLayout &layout, int64_t row,
                        const float *values, uint8_t *out);

} // namespace llmir

#endif // LLMIR_SUPPORT_QUANTIZATION_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantization of floats to integers with scales, as defined by
// llm.quant_params and llm.quantize: f32 arithmetic throughout, so that every
// user obtains the same integers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_QUANTIZATION_H
#define LLMIR_SUPPORT_QUANTIZATION_H

#include "llmir/Support/IntegerLayout.h"

#include <cstdint>

namespace llmir {

/// The parameters of values that share a scale:
/// value = scale * (q - zeroPoint).
struct QuantizedRange {
  float scale = 0;
  int16_t zeroPoint = 0;
};

/// The parameters for `count` values. Symmetric: scale = max|x| / (2^(bits - 1)
/// - 1). Asymmetric: the range from min(values, 0) to max(values, 0) is divided
/// into 2^bits - 1 steps.
QuantizedRange quantizedRange(const float *values, int64_t count, int64_t bits,
                              bool symmetric);

/// x as an integer of that range; the zero point if the scale is 0.
int16_t quantizeValue(float x, QuantizedRange range, int64_t bits,
                      bool symmetric);

/// Quantizes one row of a matrix, group by group, and packs it. `out` is the
/// whole matrix, zero where nothing has been packed yet. f32 scales are those
/// of quantizedRange; with f16 scales the format is GGUF's Q8_0 or Q4_0, with
/// identical integers.
void quantizeAndPackRow(const IntegerMatrixLayout &layout, int64_t row,
                        const float *values, uint8_t *out);

} // namespace llmir

#endif // LLMIR_SUPPORT_QUANTIZATION_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantization of rows to the tensor formats of checkpoints: the inverse of
// decodeTensorRow. Each block minimizes the weighted squared error
//
//   sum_i w_i (x_i - decoded_i)^2
//
// by least squares for the scales with fixed integers, rounding for the
// integers with fixed scales, and a search over the start of this alternation.
// A block depends on its elements only, so that the order and the number of
// threads do not matter.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_QUANTIZE_ENCODEROW_H
#define LLMIR_QUANTIZE_ENCODEROW_H

#include "llmir/Support/TensorFormat.h"

#include <cstdint>

namespace llmir {

/// Whether encodeTensorRow() can write the format: all but those with a grid
/// (iq1_s to iq3_s), whose points would have to be searched.
bool canEncode(TensorFormat format);

/// Encodes `columns` elements, whole blocks, of a row to
/// tensorRowBytes(format, columns) bytes. `weights`: positive finite numbers,
/// one per element; null: all 1. Ignored by plain formats, which round to
/// nearest even. Returns false if the format cannot represent an element: not a
/// finite number, or above 65504 in magnitude where values or scales are f16.
bool encodeTensorRow(TensorFormat format, const float *values, int64_t columns,
                     const float *weights, uint8_t *out);

} // namespace llmir

#endif // LLMIR_QUANTIZE_ENCODEROW_H

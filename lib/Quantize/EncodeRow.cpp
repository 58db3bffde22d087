//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Quantize/EncodeRow.h"
#include "BlockQuantizer.h"

#include "llmir/Support/SmallFloat.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace llmir;

static constexpr float largestHalf = 65504.0f;

bool llmir::canEncode(TensorFormat format) { return gridOf(format).empty(); }

static void store(uint16_t bits, uint8_t *out) { std::memcpy(out, &bits, 2); }

static void encodePlain(TensorFormat format, const float *values,
                        int64_t columns, uint8_t *out) {
  for (int64_t j = 0; j < columns; ++j) {
    if (format == TensorFormat::F16) {
      store(floatToF16(values[j]), out + 2 * j);
    } else if (format == TensorFormat::BF16) {
      store(floatToBf16(values[j]), out + 2 * j);
    } else if (format == TensorFormat::F64) {
      const double value = values[j];
      std::memcpy(out + 8 * j, &value, 8);
    } else {
      std::memcpy(out + 4 * j, values + j, 4);
    }
  }
}

/// The largest magnitude that the format can hold for certain.
static float largestValue(TensorFormat format) {
  if (format == TensorFormat::BF16)
    return 3.38e38f; // What is above would be rounded to infinity.
  if (format == TensorFormat::F32 || format == TensorFormat::F64 ||
      format == TensorFormat::MXFP4)
    return 3.4028234e38f;
  return largestHalf;
}

bool llmir::encodeTensorRow(TensorFormat format, const float *values,
                            int64_t columns, const float *weights,
                            uint8_t *out) {
  const float largest = largestValue(format);
  bool fits = true;
  for (int64_t j = 0; j < columns; ++j)
    fits &= std::fabs(values[j]) <= largest; // False for NaN.
  if (!fits)
    return false;
  if (!isBlockFormat(format)) {
    encodePlain(format, values, columns, out);
    return true;
  }
  const TensorFormatInfo &info = tensorFormatInfo(format);
  const BlockQuantizer quantizer(format);
  float ones[StoredBlock::kMaxValues];
  std::fill_n(ones, info.valuesPerBlock, 1.0f);
  StoredBlock block = {};
  for (int64_t j = 0; j < columns;
       j += info.valuesPerBlock, out += info.bytesPerBlock) {
    quantizer.quantize(values + j, weights ? weights + j : ones, block);
    writeStoredBlock(format, block, out);
  }
  return true;
}

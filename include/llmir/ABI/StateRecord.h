//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a record of the state pool holds: f32 values that kernels keep of a
// sequence in one layer from one step to the next.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ABI_STATERECORD_H
#define LLMIR_ABI_STATERECORD_H

#include <cstdint>

namespace llmir {

/// Parts of a record start at multiples of this number of floats.
inline constexpr int64_t kStateLanes = 16;

/// The size rounded up to whole vectors.
constexpr int64_t wholeStateLanes(int64_t count) {
  return (count + kStateLanes - 1) / kStateLanes * kStateLanes;
}

/// Floats of the inputs that a causal convolution keeps: [taps - 1][channels],
/// the oldest first, rows of whole vectors.
constexpr int64_t tailFloats(int64_t taps, int64_t channels) {
  return (taps - 1) * wholeStateLanes(channels);
}

/// Floats of the matrices of linear attention: for each head and each 16
/// columns of values, [keyDim][16].
constexpr int64_t matrixFloats(int64_t heads, int64_t keyDim,
                               int64_t valueDim) {
  return heads * keyDim * wholeStateLanes(valueDim);
}

} // namespace llmir

#endif // LLMIR_ABI_STATERECORD_H

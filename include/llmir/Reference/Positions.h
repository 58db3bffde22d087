//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference positions: rotary embeddings by tables of cosines and sines, the
// tables of text, of several planes and of images, and the causal mask.
//
// T tokens, H heads, D elements of a head, R rotated pairs: 2·R ≤ D. Pair j of
// a head is (j, j + R); elements from 2·R on are copied.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_POSITIONS_H
#define LLMIR_REFERENCE_POSITIONS_H

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Status.h"

namespace llmir::reference {

/// Cosines and sines of the angle of each token and pair.
struct RopeTables {
  Tensor cosines; ///< [T, R], or [B, T, R] with a table per sequence.
  Tensor sines;   ///< The same shape.
};

/// angle[…, t, j] = positions[…, t] · frequencies[j], cosines and sines times
/// `scaling`; positions [T] or [B, T].
RopeTables ropeTables(const Tensor &positions,
                      const std::vector<double> &frequencies, double scaling);

/// Tables of tokens with a position in each of several planes (time, height and
/// width in Qwen2-VL): combines tables [planes, T, R] to [T, R], with pair j
/// from plane i mod planes, where i is the section that contains pair j. Fails
/// if the sections do not sum to R.
Expected<RopeTables> selectPlanes(const RopeTables &tables,
                                  const std::vector<int64_t> &sections);

/// The patches of an image: `times` frames of `rows` × `columns`, ordered in
/// blocks of `merge` × `merge` patches.
struct PatchGrid {
  int64_t times = 1, rows = 1, columns = 1;
  int64_t merge = 2; ///< Divides rows and columns.
};
/// The tables of an image [times · rows · columns, R], R even: with R/2
/// frequencies theta^(−2j/R), the first R/2 pairs are rotated by the row of the
/// patch, the others by its column (Qwen2-VL). Fails if the grid is invalid.
Expected<RopeTables> visionTables(const PatchGrid &grid, int64_t pairs,
                                  double theta);

/// Rotates the pairs of x […, D] with token dimension `tokenDim`:
///   result[j]     = x[j] · cos − x[j + R] · sin
///   result[j + R] = x[j + R] · cos + x[j] · sin
/// Fails if the tables do not match the tokens, sequences (dimension 0) or D of
/// x.
Expected<Tensor> rotate(const Tensor &x, const RopeTables &tables,
                        int64_t tokenDim);

/// The value of hidden scores.
constexpr double maskedScore = -1e10;
/// For scores […, S, D] of the last S of D positions, row r keeps the columns c
/// ≤ D − S + r and, with a window, c > D − S + r − window; all others become
/// `maskedScore`. 0: no window.
Tensor causalMask(const Tensor &scores, int64_t window);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_POSITIONS_H

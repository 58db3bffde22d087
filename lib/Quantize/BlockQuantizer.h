//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantizes one block of a block format without a grid.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_QUANTIZE_BLOCKQUANTIZER_H
#define LLMIR_LIB_QUANTIZE_BLOCKQUANTIZER_H

#include "GroupFit.h"

#include "llmir/Support/StoredBlock.h"

namespace llmir {

class BlockQuantizer {
public:
  explicit BlockQuantizer(TensorFormat format);

  /// `x` and `w` are those of a block.
  void quantize(const float *x, const float *w, StoredBlock &block) const;

private:
  void quantizeGroup(const Group &group, StoredBlock &block) const;
  void quantizeTernary(const Group &group, StoredBlock &block) const;
  void quantizePowerOfTwo(const Group &group, StoredBlock &block) const;

  const IntegerFormat format;
  const LevelGrid grid;
  const int64_t size; ///< Elements of a block.
  const bool isTernary;
};

/// Quantizes a block of a format with super-groups: scales (and minima) of
/// groups are products of an f16 and an integer.
void quantizeSuperBlock(const IntegerFormat &format, const LevelGrid &grid,
                        const float *x, const float *w, StoredBlock &block);

/// Stores the levels of a fit.
void storeLevels(const Group &group, const LevelGrid &grid, Fit fit,
                 uint8_t *q);

} // namespace llmir

#endif // LLMIR_LIB_QUANTIZE_BLOCKQUANTIZER_H

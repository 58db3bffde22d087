//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The weight packing of stage 7: converts mapped checkpoint tensors to the
// packed layouts of PackedLayout.h and IntegerLayout.h, on all cores, in chunks
// of a few MiB: one chunk is written while the next one is packed.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_PACKING_PACKWEIGHTS_H
#define LLMIR_PACKING_PACKWEIGHTS_H

#include "llmir/Artifact/ArtifactWriter.h"
#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Support/IntegerLayout.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llmir {

/// One tensor to pack.
struct PackJob {
  std::string source;         ///< Tensor in the checkpoint; see matrixSource().
  bool isVector = false;      ///< Rank 1: stored as f32.
  int64_t matrices = 1;       ///< Consecutive matrices of `rows` each.
  int64_t rows = 0;           ///< Entries of a vector.
  int64_t columns = 1;        ///< 1 for a vector.
  int64_t offset = 0;         ///< In the weight section.
  int64_t bytes = 0;          ///< Packed.
  int64_t unpermuteHeads = 0; ///< Heads whose row order is restored; 0 = none.
  int64_t firstRow = 0;   ///< First row in the stored tensor, see storedRows.
  int64_t storedRows = 0; ///< Rows of the stored tensor of a slice; 0 = all.
  /// Rows of a slice: `groupRows` of every `groupStride`; 0: consecutive ones.
  int64_t groupRows = 0, groupStride = 0;
  /// Each matrix is stored as [columns, rows], and the slice is that of its
  /// rows.
  bool isTransposed = false;
  /// Each matrix of a stack is stored as [columns, rows], and the slice is that
  /// of its columns.
  bool slicesColumns = false;
  /// The integer format of a matrix: that of its blocks, or of its
  /// quantization; if absent, the matrix is packed as stored.
  std::optional<IntegerFormat> integers = {};
  /// The elements themselves, row-major, where they are a constant of the
  /// program and not a tensor of the checkpoint.
  std::shared_ptr<const std::vector<float>> constant = {};
};

/// The progress of packing.
struct PackProgress {
  int64_t bytes = 0, totalBytes = 0;
  double seconds = 0; ///< Elapsed time.

  /// "packing weights, 812 MB/s"; without a rate if no time has elapsed.
  std::string text() const;
};

/// Packs one tensor into `out` (`job.bytes` bytes, all of which are written).
/// Fails with InvalidFile, or with ResourceExhausted if out of memory.
Status packTensor(const CheckpointTensor &tensor, const PackJob &job,
                  Span<uint8_t> out);

/// Writes the weight section. Jobs must be in ascending order of offsets,
/// without gaps. `progress` (may be empty) is called after each chunk.
Status packWeights(const Checkpoint &checkpoint,
                   const std::vector<PackJob> &jobs, ArtifactWriter &writer,
                   const std::function<void(const PackProgress &)> &progress);

} // namespace llmir

#endif // LLMIR_PACKING_PACKWEIGHTS_H

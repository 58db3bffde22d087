//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stage 7's long part: from mapped checkpoint tensors to the packed layouts of
// PackedLayout.h and IntegerLayout.h, on all cores, in pieces of a few MiB: one
// is written while the next one is packed.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_PACKING_PACKWEIGHTS_H
#define LLMIR_PACKING_PACKWEIGHTS_H

#include "llmir/Artifact/ArtifactWriter.h"
#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Support/IntegerLayout.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llmir {

/// One tensor to pack.
struct PackJob {
  std::string source;         ///< Name in the checkpoint.
  bool isVector = false;      ///< Rank 1: stored as f32.
  int64_t matrices = 1;       ///< One behind the other, each of `rows`.
  int64_t rows = 0;           ///< Entries of a vector.
  int64_t columns = 1;        ///< 1 for a vector.
  int64_t offset = 0;         ///< In the weight section.
  int64_t bytes = 0;          ///< Packed.
  int64_t unpermuteHeads = 0; ///< Heads whose row order is put back; 0 = none.
  int64_t firstRow = 0;       ///< Of the stored tensor, see storedRows.
  int64_t storedRows = 0;     ///< Of a tensor of which this is a part; 0 = all.
  bool isTransposed = false;  ///< Stored as [columns, rows].
  /// The integers that a matrix becomes: those of its blocks, or what its rows
  /// are quantized to; as stored where absent.
  std::optional<IntegerFormat> integers = {};
};

/// How far packing is.
struct PackProgress {
  int64_t bytes = 0, totalBytes = 0;
  double seconds = 0; ///< Since it began.

  /// "packing weights, 812 MB/s"; without a rate where no time has passed.
  std::string text() const;
};

/// Packs one tensor into `out` (`job.bytes` bytes, all of which are written).
/// Fails with InvalidFile, or with ResourceExhausted where there is no memory.
Status packTensor(const CheckpointTensor &tensor, const PackJob &job,
                  Span<uint8_t> out);

/// Writes the weight section. Jobs are in ascending order of offset and leave
/// no hole. `progress` (may be empty) is called after each piece.
Status packWeights(const Checkpoint &checkpoint,
                   const std::vector<PackJob> &jobs, ArtifactWriter &writer,
                   const std::function<void(const PackProgress &)> &progress);

} // namespace llmir

#endif // LLMIR_PACKING_PACKWEIGHTS_H

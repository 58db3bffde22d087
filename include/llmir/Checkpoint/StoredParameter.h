//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the rows of a parameter from a checkpoint tensor that may store it in a
// different layout.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CHECKPOINT_STOREDPARAMETER_H
#define LLMIR_CHECKPOINT_STOREDPARAMETER_H

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Support/Span.h"

#include <functional>
#include <string>
#include <vector>

namespace llmir {

/// The tensor of matrix `number` of a stack with this source. A source with
/// `*`, "mlp.experts.*.up_proj.weight", is that of separate tensors, named with
/// the number in place of `*`. Other sources are returned as they are.
std::string matrixSource(std::string_view source, int64_t number);
/// Whether `source` has such a place.
bool isNumberedSource(std::string_view source);

/// How a parameter is stored in a tensor. Each element of a rank-1 parameter is
/// a row.
struct StoredParameter {
  std::string source;         ///< The tensor's name; see matrixSource().
  std::vector<int64_t> shape; ///< The parameter's own.
  /// Number of heads whose rows are stored for rotation of adjacent pairs; 0 =
  /// none.
  int64_t unpermuteHeads = 0;
  /// Number of heads whose rows are wanted for rotation of adjacent pairs, but
  /// stored for that of halves; 0 = none.
  int64_t permuteHeads = 0;
  /// The parameter is the rows starting at `firstRow` of a tensor of
  /// `storedRows` rows; storedRows 0 = it is the whole tensor.
  int64_t firstRow = 0, storedRows = 0;
  /// Its rows are `groupRows` consecutive ones of every `groupStride`; 0: they
  /// are consecutive.
  int64_t groupRows = 0, groupStride = 0;
  bool isTransposed = false; ///< Each matrix is stored as [columns, rows].
  /// Of a transposed stack: the slice is that of the columns, the rows of the
  /// stored matrices.
  bool slicesColumns = false;
};

/// Passes the decoded rows of the parameter to `take`, in order. Holds one row
/// at a time, or the whole matrix if it is transposed. Fails if the tensor is
/// missing (NotFound), has a type that LLMIR does not decode (Unsupported) or
/// does not match the parameter's shape (InvalidFile), or if `take` fails.
Status readRows(const Checkpoint &checkpoint, const StoredParameter &parameter,
                const std::function<Status(Span<const float> row)> &take);

} // namespace llmir

#endif // LLMIR_CHECKPOINT_STOREDPARAMETER_H

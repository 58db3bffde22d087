//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of a parameter, read from the tensor of a checkpoint in which it is
// stored in another way.
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

/// How a parameter lies in a tensor. Rows of a list of numbers are its numbers.
struct StoredParameter {
  std::string source;         ///< The tensor's name.
  std::vector<int64_t> shape; ///< The parameter's own.
  /// Heads whose rows are stored for a rotation of adjacent pairs; 0 = none.
  int64_t unpermuteHeads = 0;
  /// The parameter is the rows from `firstRow` on of `storedRows` rows; 0 =
  /// it is the whole.
  int64_t firstRow = 0, storedRows = 0;
  bool isTransposed = false; ///< Stored as [columns, rows].
};

/// Gives the parameter's rows, decoded, from the first to the last. Holds one
/// row at a time, of a transposed matrix the whole. Fails when the tensor is
/// missing (NotFound), has a type that LLMIR does not decode (Unsupported) or
/// does not hold a parameter of that shape (InvalidFile), and when `take` does.
Status readRows(const Checkpoint &checkpoint, const StoredParameter &parameter,
                const std::function<Status(Span<const float> row)> &take);

} // namespace llmir

#endif // LLMIR_CHECKPOINT_STOREDPARAMETER_H

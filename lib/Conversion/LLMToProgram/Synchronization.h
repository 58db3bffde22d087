//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the workers of a program wait for each other, and what each of them
// does for itself, derived from what every instruction touches.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SYNCHRONIZATION_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SYNCHRONIZATION_H

#include "llmir/Dialect/MLLM/KernelSpec.h"
#include "llmir/Dialect/MLLM/MLLMProgramOps.h"

#include "llvm/ADT/MapVector.h"

#include <optional>

namespace llmir {

using namespace mllm::program;

/// Which elements of a buffer each worker touches. Equal shares are the same
/// elements of the same worker.
struct WorkShare {
  WorkSplit split;
  RowSpace over = RowSpace::Tokens;
  int64_t parts = 1; ///< Column tiles, or heads; 1 for Rows.
  /// Rows that are shared out; dynamic: as many as the step has.
  int64_t rows = mlir::ShapedType::kDynamic;
  int64_t unit = 1; ///< Column tiles that stay with one worker.

  bool operator==(const WorkShare &other) const {
    return split == other.split && over == other.over && parts == other.parts &&
           rows == other.rows && unit == other.unit;
  }
  bool operator!=(const WorkShare &other) const { return !(*this == other); }
};

/// What an instruction does to one of its buffers; no share means that a worker
/// may touch any element. No buffer stands for the KV cache.
struct BufferAccess {
  mlir::Value buffer;
  bool writes;
  std::optional<WorkShare> share;
};

/// What each instruction and each call of the runtime touches, in the order of
/// the code.
using AccessTable =
    llvm::MapVector<mlir::Operation *, llvm::SmallVector<BufferAccess>>;

/// Puts a barrier wherever one worker would touch what another has touched
/// since the last one, and before each label and jump.
///
/// With `fewTokens`, kernels that share out the rows of the step are replicated
/// where that spares a barrier: in a step of at most so many tokens each worker
/// computes all rows in memory of its own. Barriers that only larger steps need
/// are passed by in those.
void synchronize(FragmentOp code, const AccessTable &accesses,
                 int64_t fewTokens);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SYNCHRONIZATION_H

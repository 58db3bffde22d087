//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types of `KernelOpInterface`: the division of a kernel's work among workers,
// and the accesses of each worker.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_KERNELACCESS_H
#define LLMIR_DIALECT_MLLM_KERNELS_KERNELACCESS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

#include "llmir/Dialect/MLLM/Kernels/KernelEnums.h.inc"

namespace llmir::mllm::kernel {

/// Columns of a tile: buffers are padded to whole tiles.
inline constexpr int64_t kTileColumns = 16;

/// The unit of a kernel's work. Each worker (a CPU thread, or a GPU workgroup)
/// executes a part of it, which depends only on the division, the number of
/// workers, and the sizes of the step.
enum class WorkUnit {
  Rows,     ///< Rows of the row space; each worker has a contiguous range.
  Columns,  ///< Column tiles of all rows; each worker has a contiguous range.
  Heads,    ///< (row, head) pairs, distributed round-robin.
  First,    ///< A single unit of work, executed by the first worker.
  Items,    ///< Units that the emitter derives from the sizes of the step.
  Elements, ///< Units that the emitter of a kernel of fixed size defines.
};

/// The division of a kernel's work. Workers access the same elements of a
/// buffer in kernels with equal divisions, which therefore need no barrier
/// between them.
struct WorkDivision {
  WorkUnit unit = WorkUnit::Elements;
  RowSpace over = RowSpace::Tokens;
  /// Rows: rows per row of the row space (choices of a mixture of experts).
  /// Columns: column tiles. Heads: heads. Otherwise 1.
  int64_t parts = 1;
  /// Columns: the number of tiles of a unit. Otherwise 1.
  int64_t grain = 1;

  static WorkDivision rows(RowSpace over, int64_t rowsPerRow = 1) {
    return {WorkUnit::Rows, over, rowsPerRow, 1};
  }
  /// Divides rows of `columns` elements in units of `grain` column tiles.
  static WorkDivision columns(RowSpace over, int64_t columns,
                              int64_t grain = 1) {
    return {WorkUnit::Columns, over,
            (columns + kTileColumns - 1) / kTileColumns, grain};
  }
  static WorkDivision heads(int64_t heads) {
    return {WorkUnit::Heads, RowSpace::Tokens, heads, 1};
  }
  static WorkDivision first() { return {WorkUnit::First}; }
  static WorkDivision items() { return {WorkUnit::Items}; }
  static WorkDivision elements() { return {}; }

  /// Whether the division alone determines the elements of a worker.
  bool isKnown() const {
    return unit != WorkUnit::Items && unit != WorkUnit::Elements;
  }
  bool operator==(const WorkDivision &other) const {
    return unit == other.unit && over == other.over && parts == other.parts &&
           grain == other.grain;
  }
  bool operator!=(const WorkDivision &other) const { return !(*this == other); }
};

/// The unit of divisions by columns in whole heads: the smallest number of
/// heads that fill whole tiles.
constexpr int64_t headsPerGrain(int64_t headDim) {
  int64_t heads = 1;
  while (heads * headDim % kTileColumns != 0)
    heads *= 2;
  return heads;
}
/// The same in tiles: the grain of a matmul whose result consists of heads.
constexpr int64_t tilesPerGrain(int64_t headDim) {
  return headsPerGrain(headDim) * headDim / kTileColumns;
}

/// The steps in which a kernel accesses a buffer: all, those that split
/// attention (`split_attention` of the step context), or the others.
enum class SplitCondition { Always, IfSplit, UnlessSplit };

/// The access of a kernel to a buffer or to the KV cache.
struct KernelAccess {
  mlir::Value buffer; ///< Null for the KV cache.
  bool reads = false, writes = false;
  /// The elements that a worker accesses; without value, any of them.
  std::optional<WorkDivision> division;
  SplitCondition condition = SplitCondition::Always;
};

/// The maximum sizes of a step.
struct StepLimits {
  int64_t tokens =
      0; ///< Total of all sequences, each of which has at least one.
  int64_t logitRows = 0;
  int64_t contextLength = 0; ///< Maximum number of keys per sequence.

  int64_t rows(RowSpace over) const {
    return over == RowSpace::Tokens ? tokens : logitRows;
  }
};

/// The requirement of a kernel on a packed weight.
struct WeightNeed {
  unsigned operand; ///< Index of the operand.
  /// Storage format of a matrix; empty for a vector of f32.
  llvm::StringRef format;
  /// [rows, columns] of a matrix, [experts, rows, columns] of the matrices of
  /// experts, [size] of a vector.
  llvm::SmallVector<int64_t, 3> shape;
};

/// The part of the layer's record in the pool of states that a kernel uses, in
/// floats.
struct StatePart {
  int64_t offset, size;
};

/// The geometry of the KV cache that a kernel accesses.
struct CacheGeometry {
  llvm::StringRef format; ///< Element type of the cache, a name of KVFormat.
  int64_t kvHeads, headDim, valueDim, blockSize;
  /// Values are the first elements of keys and are not stored.
  bool valuesInKeys = false;
};

} // namespace llmir::mllm::kernel

#endif // LLMIR_DIALECT_MLLM_KERNELS_KERNELACCESS_H

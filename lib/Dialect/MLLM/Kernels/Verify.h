//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers of the verifiers of kernels.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_KERNELS_VERIFY_H
#define LLMIR_LIB_DIALECT_MLLM_KERNELS_VERIFY_H

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Dialect/MLLM/Kernels/Kernels.h"
#include "llmir/Support/IntegerLayout.h"

namespace llmir::mllm::kernel {

/// a * b of non-negative factors, saturated to INT64_MAX.
int64_t saturatingProduct(int64_t a, int64_t b);

//===----------------------------------------------------------------------===//
// Buffers and weights
//===----------------------------------------------------------------------===//

/// An operand of rows and the number of columns that the kernel accesses.
struct RowsNeed {
  llvm::StringRef name;
  mlir::Value buffer; ///< May be null.
  int64_t columns;
};

/// Checks that each buffer has a static shape and a contiguous row-major
/// layout, at least the columns that the kernel needs and, if f32, whole tiles.
mlir::LogicalResult verifyRows(mlir::Operation *op,
                               llvm::ArrayRef<RowsNeed> needs);

/// Number of rows, and elements of `columns` used columns in all rows.
int64_t rowsOf(mlir::Value buffer);
int64_t elementsOf(mlir::Value buffer, int64_t columns);

/// Checks that a weight, if it is not null, has at least the given size.
mlir::LogicalResult verifyWeight(mlir::Operation *op, llvm::StringRef name,
                                 mlir::Value weight, int64_t bytes);
/// The same for an f32 vector.
mlir::LogicalResult verifyVector(mlir::Operation *op, llvm::StringRef name,
                                 mlir::Value weight, int64_t size);

/// Optional packed vectors with their size.
struct VectorOperand {
  mlir::MutableOperandRange operand;
  int64_t size;
};
/// The requirements of a kernel on those that are present.
llvm::SmallVector<WeightNeed>
needsOfVectors(llvm::ArrayRef<VectorOperand> vectors);

/// The size of a packed matrix, and the number of columns of the rows
/// multiplied by it.
struct PackedMatrix {
  int64_t bytes, inputColumns;
};
/// Checks that rows, quantized if there are segments, can be multiplied by a
/// matrix of the format.
mlir::FailureOr<PackedMatrix> verifyMatrix(mlir::Operation *op,
                                           llvm::StringRef format, int64_t rows,
                                           int64_t columns,
                                           std::optional<int64_t> segment);
/// The plain format of that name.
mlir::FailureOr<TensorFormat> plainFormat(mlir::Operation *op,
                                          llvm::StringRef name);
/// The integer format of that name; nullopt if there is none.
inline std::optional<IntegerFormat> integerFormat(llvm::StringRef name) {
  return IntegerFormat::fromName(std::string_view(name.data(), name.size()));
}

//===----------------------------------------------------------------------===//
// Boxes and loop nests
//===----------------------------------------------------------------------===//

/// A box of elements of a buffer in rows of `columns`.
struct Box {
  llvm::StringRef name;
  mlir::Value buffer;
  int64_t columns;
  llvm::ArrayRef<int64_t> sizes; ///< All positive.
  llvm::ArrayRef<int64_t> strides;
  int64_t start = 0;
};
/// Checks that the box is within the buffer.
mlir::LogicalResult verifyBox(mlir::Operation *op, const Box &box);

/// A loop nest over buffers, with the maps to the buffers' elements.
struct Nest {
  llvm::ArrayRef<int64_t> sizes;
  mlir::ArrayAttr maps;
  /// Exclusive upper bound of the maps' symbol; 0: there is none.
  int64_t bound = 0;
};
/// Checks the numbers of loops and points, that operands are rows, and that
/// each map yields an element of its operand at every point.
mlir::LogicalResult verifyNest(mlir::Operation *op, const Nest &nest);

//===----------------------------------------------------------------------===//
// Scalar regions
//===----------------------------------------------------------------------===//

/// Checks that the region takes `arguments` and yields `result`.
mlir::LogicalResult verifyScalarRegion(mlir::Operation *op, mlir::Block *body,
                                       mlir::TypeRange arguments,
                                       mlir::Type result);

//===----------------------------------------------------------------------===//
// The KV cache
//===----------------------------------------------------------------------===//

/// Checks the format and the blocks of the cache.
mlir::LogicalResult verifyCache(mlir::Operation *op,
                                const CacheGeometry &geometry);

template <typename Op> CacheGeometry geometryOf(Op op) {
  return {op.getKvFormat(),
          static_cast<int64_t>(op.getKvHeads()),
          static_cast<int64_t>(op.getHeadDim()),
          static_cast<int64_t>(op.getValueDim()),
          static_cast<int64_t>(op.getBlockSize()),
          op.getValuesInKeys()};
}

} // namespace llmir::mllm::kernel

#endif // LLMIR_LIB_DIALECT_MLLM_KERNELS_VERIFY_H

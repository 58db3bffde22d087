//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the verifiers of kernels share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_KERNELS_VERIFY_H
#define LLMIR_LIB_DIALECT_MLLM_KERNELS_VERIFY_H

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Dialect/MLLM/Kernels/Kernels.h"
#include "llmir/Support/IntegerLayout.h"

namespace llmir::mllm::kernel {

/// a * b of non-negative factors, or INT64_MAX where that is more.
int64_t saturatingProduct(int64_t a, int64_t b);

//===----------------------------------------------------------------------===//
// Buffers and weights
//===----------------------------------------------------------------------===//

/// An operand of rows and the columns that the kernel touches.
struct RowsNeed {
  llvm::StringRef name;
  mlir::Value buffer; ///< May be null.
  int64_t columns;
};

/// Checks that each buffer has a static shape with memory in order, at least
/// the columns that the kernel needs and, of f32, whole tiles.
mlir::LogicalResult verifyRows(mlir::Operation *op,
                               llvm::ArrayRef<RowsNeed> needs);

/// Number of rows, and elements of `columns` used columns in all rows.
int64_t rowsOf(mlir::Value buffer);
int64_t elementsOf(mlir::Value buffer, int64_t columns);

/// Checks that a weight, if it is not null, has at least so many bytes.
mlir::LogicalResult verifyWeight(mlir::Operation *op, llvm::StringRef name,
                                 mlir::Value weight, int64_t bytes);
/// The same of a vector of f32.
mlir::LogicalResult verifyVector(mlir::Operation *op, llvm::StringRef name,
                                 mlir::Value weight, int64_t size);

/// Optional operands that are packed vectors, and the size of each.
struct VectorOperand {
  mlir::MutableOperandRange operand;
  int64_t size;
};
/// What a kernel reads of those that it has.
llvm::SmallVector<WeightNeed>
needsOfVectors(llvm::ArrayRef<VectorOperand> vectors);

/// What a kernel reads of a packed matrix, and the columns of the rows that it
/// multiplies by it.
struct PackedMatrix {
  int64_t bytes, inputColumns;
};
/// Checks that rows can be multiplied by a matrix of the format, quantized in
/// segments where there are any.
mlir::FailureOr<PackedMatrix> verifyMatrix(mlir::Operation *op,
                                           llvm::StringRef format, int64_t rows,
                                           int64_t columns,
                                           std::optional<int64_t> segment);
/// The plain format of that name.
mlir::FailureOr<TensorFormat> plainFormat(mlir::Operation *op,
                                          llvm::StringRef name);
/// The format of integers of that name; nullopt where there is none.
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
  llvm::ArrayRef<int64_t> sizes; ///< 1 or more each.
  llvm::ArrayRef<int64_t> strides;
  int64_t start = 0;
};
/// Checks that the box lies within the buffer.
mlir::LogicalResult verifyBox(mlir::Operation *op, const Box &box);

/// A loop nest over buffers, and where each buffer's element at a point is.
struct Nest {
  llvm::ArrayRef<int64_t> sizes;
  mlir::ArrayAttr maps;
  /// Symbols of maps go from 0 to it; 0: there are none.
  int64_t bound = 0;
};
/// Checks the number of loops and of points, that operands are rows, and that
/// each map gives an element of its operand at every point.
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
  return {op.getKvFormat(), static_cast<int64_t>(op.getKvHeads()),
          static_cast<int64_t>(op.getHeadDim()),
          static_cast<int64_t>(op.getValueDim()),
          static_cast<int64_t>(op.getBlockSize())};
}

} // namespace llmir::mllm::kernel

#endif // LLMIR_LIB_DIALECT_MLLM_KERNELS_VERIFY_H

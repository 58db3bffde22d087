//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of the program level, `mllm.kernel.*`.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_KERNELS_H
#define LLMIR_DIALECT_MLLM_KERNELS_KERNELS_H

#include "llmir/Dialect/MLLM/Kernels/KernelInterface.h"
#include "llmir/Dialect/MLLM/MLLMDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

namespace llmir::mllm::kernel {

/// The buffer of partial results of attention: a row for each head of each pair
/// of a token and a chunk, heads of an item padded to blocks of four, with the
/// sums of values, 16 sums of weights and 16 columns for the greatest score.
struct PartialResults {
  int64_t rows, columns;
};

/// The head counts and sizes of attention.
struct AttentionShape {
  int64_t heads, kvHeads, headDim, valueDim;

  /// The number of query heads of an item of attention: all query heads of a KV
  /// head, unless they exceed one worker's memory.
  int64_t itemHeads() const;
  PartialResults partialResults() const;
};

/// The grid of the scales of a tensor; see `quantize`.
struct QuantGrid {
  llvm::ArrayRef<int64_t> shape, cell;
  int64_t columns, gridColumns;
};

} // namespace llmir::mllm::kernel

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/Kernels/RowKernels.h.inc"
#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/Kernels/MatmulKernels.h.inc"
#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/Kernels/CacheKernels.h.inc"
#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/Kernels/ExpertKernels.h.inc"
#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/Kernels/NestKernels.h.inc"
#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/Kernels/QuantKernels.h.inc"
#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/Kernels/StateKernels.h.inc"

#endif // LLMIR_DIALECT_MLLM_KERNELS_KERNELS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by memory planning and checking: sizes of tensors, and classification
// of ops by their use of memory.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_GRAPHMEMORY_H
#define LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_GRAPHMEMORY_H

#include "SubGraphs.h"

#include "llmir/Dialect/MLLM/PlannedMemory.h"

#include <map>

namespace llmir::mllm {

/// Values of dynamic sizes.
class SizeTable {
public:
  /// The maximum sizes that `mllm.dims` of the module's subgraphs allow,
  /// overridden by a list `seq=17,past=0`, where `?` denotes unnamed sizes.
  /// Reports an error at the module and fails if the list is invalid.
  static mlir::FailureOr<SizeTable> parse(mlir::ModuleOp module,
                                          llvm::StringRef text);

  /// Size of a value in bytes, rounded up to lines; nullopt if a size is not in
  /// the table or the value is too large.
  std::optional<int64_t> bytesOf(mlir::Value value) const;
  /// Whether every size of a tensor is static or in the table; if bytesOf() is
  /// nullopt nonetheless, the tensor is too large.
  bool knowsSizesOf(mlir::Value value) const;

private:
  std::map<std::string, int64_t> sizes;
  std::optional<int64_t> unnamed;
};

/// Whether the results of an op need memory, unlike constants, parameters and
/// the KV cache.
bool makesTensors(mlir::Operation *op);
/// Whether result 0 may reuse the memory of this operand: each element depends
/// only on the same element of the operand and on elements of its row that were
/// read before.
bool mayOverwrite(mlir::OpOperand &operand);

/// Whether a value is an i1 condition, which needs no memory.
bool isTruthValue(mlir::Value value);

/// The initial values of an op with regions (if, while, for): one operand per
/// result of a loop, none for a branch.
mlir::OperandRange carriedOperands(mlir::Operation *op);
/// The region argument of a loop that corresponds to a result; null for a
/// branch.
mlir::Value carriedArgument(mlir::Region &region, unsigned result);
/// The operands of a yield except a condition.
mlir::MutableArrayRef<mlir::OpOperand> yieldedOperands(YieldOp yield);

} // namespace llmir::mllm

#endif // LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_GRAPHMEMORY_H

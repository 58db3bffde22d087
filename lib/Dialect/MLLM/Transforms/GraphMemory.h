//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the tensors of a graph lie in one arena: what planning and checking
// know of sizes and of ops that make no tensor of their own.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_GRAPHMEMORY_H
#define LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_GRAPHMEMORY_H

#include "SubGraphs.h"

#include "llmir/Dialect/MLLM/PlannedMemory.h"

#include <map>

namespace llmir::mllm {

/// What dynamic sizes count as.
class SizeTable {
public:
  /// The greatest sizes that `mllm.dims` of the module's subgraphs allow, and
  /// over these what the text says: `seq=17,past=0`, where `?` stands for sizes
  /// without a name. Reports an error at the module and fails where the text is
  /// no such list.
  static mlir::FailureOr<SizeTable> parse(mlir::ModuleOp module,
                                          llvm::StringRef text);

  /// Bytes of a value in whole lines; nothing where a size is not in the table,
  /// or the value is larger than a machine has memory.
  std::optional<int64_t> bytesOf(mlir::Value value) const;
  /// Whether every size of a tensor is a number or in the table: what has no
  /// bytes then is too large.
  bool knowsSizesOf(mlir::Value value) const;

private:
  std::map<std::string, int64_t> sizes;
  std::optional<int64_t> unnamed;
};

/// Whether results lie in memory of their own: not those of constants,
/// parameters and the KV cache.
bool makesTensors(mlir::Operation *op);
/// Whether result 0 may lie where this operand lies: each element of it is
/// computed from the same element of the operand, and from what was read of its
/// row before.
bool mayOverwrite(mlir::OpOperand &operand);

/// Whether a value is one bit that says which way control goes: it lies in no
/// memory.
bool isTruthValue(mlir::Value value);

/// What an op with regions (if, while, for) begins with: one operand for each
/// result of a loop, none of a branch.
mlir::OperandRange carriedOperands(mlir::Operation *op);
/// The argument of a loop's region that holds what becomes a result; null in
/// a branch.
mlir::Value carriedArgument(mlir::Region &region, unsigned result);
/// The operands of a yield that go on: all but a condition.
mlir::MutableArrayRef<mlir::OpOperand> yieldedOperands(YieldOp yield);

} // namespace llmir::mllm

#endif // LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_GRAPHMEMORY_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chains of element-wise ops that become one kernel, or part of the kernel of a
// preceding matmul.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_ELEMENTWISECHAIN_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_ELEMENTWISECHAIN_H

#include "mlir/IR/Builders.h"

#include "llvm/ADT/SetVector.h"

#include <string>

namespace llmir {

/// True for an element-wise op on rows of floats, of llm, arith or math.
bool isElementwise(mlir::Operation *op);

/// True for an op that is computed inside its user's kernel: an element-wise op
/// whose only use is another one of its kind in its block, of llm, arith or
/// math, and a matmul that is fused with an element-wise chain.
bool isComputedByUser(mlir::Operation *op);

/// The op whose kernel computes `op`: itself, or the end of its chain.
mlir::Operation *kernelRoot(mlir::Operation *op);

/// The tree of element-wise ops that ends in `root`, and the last of the
/// matmuls whose results are used only by it, in whose kernel the tree is
/// computed.
class ElementwiseChain {
public:
  explicit ElementwiseChain(mlir::Operation *root);

  /// The matmul, or null.
  mlir::Operation *matmul() const { return host; }
  /// The other operands, each once, in the order of their first use.
  llvm::ArrayRef<mlir::Value> operands() const { return inputs.getArrayRef(); }
  /// Whether it may change the zero padding of rows.
  bool needsWholeTiles() const;
  /// "silu_mul"
  std::string name() const;
  /// Creates the scalar region, with an argument for the matmul's sum, if any,
  /// and one per operand, and its terminator.
  void emitScalar(mlir::OpBuilder &builder, mlir::Block &block) const;

private:
  void collect(mlir::Operation *op);

  llvm::SmallVector<mlir::Operation *> ops; ///< Operands before users.
  llvm::SetVector<mlir::Value> inputs;
  mlir::Operation *host = nullptr;
};

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_ELEMENTWISECHAIN_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element-wise ops that feed each other and become one kernel, or part of the
// matmul's that feeds them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_ELEMENTWISECHAIN_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_ELEMENTWISECHAIN_H

#include "mlir/IR/Builders.h"

#include "llvm/ADT/SetVector.h"

#include <string>

namespace llmir {

/// True for an op on rows of floats that element-wise kernels compute: of llm,
/// or of arith and math.
bool isElementwise(mlir::Operation *op);

/// True for an op that is computed inside its user's kernel: an element-wise op
/// whose only use is another one of its kind in its block, be they of llm or of
/// arith and math, and the matmul that an element-wise chain takes up.
bool isComputedByUser(mlir::Operation *op);

/// The op in whose kernel `op` is computed: itself, or the end of its chain.
mlir::Operation *kernelRoot(mlir::Operation *op);

/// The tree of element-wise ops that ends in `root`, and of the matmuls whose
/// results only it reads the last one: its kernel computes the rest of the tree
/// as it stores each sum.
class ElementwiseChain {
public:
  explicit ElementwiseChain(mlir::Operation *root);

  /// The matmul, or null.
  mlir::Operation *matmul() const { return host; }
  /// The other tensors that it reads, each once, in the order of their first
  /// use.
  llvm::ArrayRef<mlir::Value> operands() const { return inputs.getArrayRef(); }
  /// Whether it may change the zeros after the end of a row.
  bool needsWholeTiles() const;
  /// "silu_mul"
  std::string name() const;
  /// Writes the scalar computation: an argument for the matmul's sum, if there
  /// is one, and for each operand, and the yield.
  void emitScalar(mlir::OpBuilder &builder, mlir::Block &block) const;

private:
  void collect(mlir::Operation *op);

  llvm::SmallVector<mlir::Operation *> ops; ///< Operands before users.
  llvm::SetVector<mlir::Value> inputs;
  mlir::Operation *host = nullptr;
};

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_ELEMENTWISECHAIN_H

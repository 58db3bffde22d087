//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element-wise ops that feed each other and become one kernel.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_ELEMENTWISECHAIN_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_ELEMENTWISECHAIN_H

#include "mlir/IR/Builders.h"

#include "llvm/ADT/SetVector.h"

#include <string>

namespace llmir {

/// True for an element-wise op whose only use is another one in its block: it
/// is computed inside its user's kernel.
bool feedsElementwiseOnly(mlir::Operation *op);

/// The op in whose kernel `op` is computed: itself, or the end of its chain.
mlir::Operation *kernelRoot(mlir::Operation *op);

/// The tree of element-wise ops that ends in `root`.
class ElementwiseChain {
public:
  explicit ElementwiseChain(mlir::Operation *root);

  /// The tensors it reads, each once, in the order of their first use.
  llvm::ArrayRef<mlir::Value> leaves() const { return inputs.getArrayRef(); }
  /// "silu_mul"
  std::string name() const;
  /// Writes the scalar computation: one argument per leaf, and the yield.
  void emitScalar(mlir::OpBuilder &builder, mlir::Block &block) const;

private:
  void collect(mlir::Operation *op);

  llvm::SmallVector<mlir::Operation *> ops; ///< Operands before users.
  llvm::SetVector<mlir::Value> inputs;
};

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_ELEMENTWISECHAIN_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result of a matmul: stored as is, or passed through the element-wise
// chain that uses it, which becomes part of the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_MATMULRESULT_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_MATMULRESULT_H

#include "ElementwiseChain.h"
#include "ProgramConversion.h"

namespace llmir {

/// The epilogue of a matmul's kernel.
class MatmulResult {
public:
  /// For the matmul `op` of rows like `x` to `columns` elements each, whose
  /// kernel reads the entire buffer `input`. Binds the result of the op or of
  /// the fused chain.
  static mlir::FailureOr<MatmulResult>
  create(ProgramConversion &c, mlir::Operation *op, const RowsValue &x,
         int64_t columns, mlir::Value input);

  /// The name of a kernel with this epilogue: "linear_f32_16x16_silu".
  std::string name(std::string base) const;
  const RowsValue &rows() const { return out; }
  /// Further inputs of the chain.
  llvm::ArrayRef<mlir::Value> inputs() const { return chainInputs; }
  bool hasChain() const { return chain.has_value(); }
  /// The scalar region of the kernel.
  void emitScalar(mlir::OpBuilder &b, mlir::Block &block) const {
    chain->emitScalar(b, block);
  }

private:
  RowsValue out;
  std::optional<ElementwiseChain> chain;
  llvm::SmallVector<mlir::Value> chainInputs;
};

/// The weight of `linear`.
struct LinearShape {
  int64_t rows, columns; ///< N, K.
  /// Elements whose products are accumulated as integers; 0: none.
  int64_t segment = 0;
};

/// Appends the matmul `op` with its fused chain. `input` is x as read by the
/// kernel.
mlir::LogicalResult convertMatmul(ProgramConversion &c, mlir::Operation *op,
                                  std::string label, const LinearShape &shape,
                                  const KernelWeights &weights,
                                  const RowsValue &x, mlir::Value input);

/// Appends a `linear` without a scalar region.
kernel::LinearOp appendLinear(ProgramConversion &c, mlir::Location loc,
                              llvm::StringRef label, const LinearShape &shape,
                              const KernelWeights &weights, mlir::Value input,
                              mlir::ValueRange inputs, const RowsValue &out);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_MATMULRESULT_H

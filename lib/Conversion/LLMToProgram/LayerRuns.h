//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs of calls that a program turns into a loop over layers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_LAYERRUNS_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_LAYERRUNS_H

#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Dialect/MLLM/MLLMTensorOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/MapVector.h"

namespace llmir {

/// Consecutive calls of one function with consecutive layer numbers, each
/// feeding only the next, that differ in nothing but layer and weights.
struct LayerRun {
  llvm::SmallVector<mlir::func::CallOp> calls;
  int64_t firstLayer = 0;
  /// Operand number → one parameter for each call.
  llvm::MapVector<unsigned, llvm::SmallVector<mllm::RegisterOp>> parameters;
  /// Operand number → number of the result that feeds it in the next call.
  llvm::MapVector<unsigned, unsigned> carried;

  /// The longest run that begins with `call`; fails with a diagnostic when a
  /// weight has no declaration.
  static mlir::FailureOr<LayerRun> startingAt(mlir::ModuleOp module,
                                              mlir::func::CallOp call);
};

/// The value of a constant index; nullopt for anything else.
std::optional<int64_t> constantIndex(mlir::Value value);

/// The layer that an op in a function means, 0 where it names none; reports one
/// that is not known.
mlir::FailureOr<int64_t> constantLayer(mlir::Operation *op, mlir::Value layer);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_LAYERRUNS_H

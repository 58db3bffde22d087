//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs of calls that become a loop over layers in a program.
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
/// feeding only the next, that differ only in layer and weights.
struct LayerRun {
  llvm::SmallVector<mlir::func::CallOp> calls;
  int64_t firstLayer = 0;
  /// Operand number → one parameter per call.
  llvm::MapVector<unsigned, llvm::SmallVector<mllm::RegisterOp>> parameters;
  /// Operand number → number of the result that is this operand of the next
  /// call.
  llvm::MapVector<unsigned, unsigned> carried;

  /// The longest run that starts with `call`; fails, with a diagnostic, if a
  /// weight is not declared.
  static mlir::FailureOr<LayerRun> startingAt(mlir::ModuleOp module,
                                              mlir::func::CallOp call);
};

/// The value of a constant index; nullopt for anything else.
std::optional<int64_t> constantIndex(mlir::Value value);

/// The layer of an op in a function, by default 0; reports a layer that is not
/// constant.
mlir::FailureOr<int64_t> constantLayer(mlir::Operation *op, mlir::Value layer);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_LAYERRUNS_H

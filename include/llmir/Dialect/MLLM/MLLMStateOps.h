//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers: states in place of keys and values.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMSTATEOPS_H
#define LLMIR_DIALECT_MLLM_MLLMSTATEOPS_H

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

#include "mlir/IR/BuiltinOps.h"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMStateOps.h.inc"

namespace llmir::mllm {

/// What the layers of a model keep of a sequence, in records of equal size: the
/// inputs of a convolution, then the matrices of linear attention, either of
/// which a layer may lack.
struct StateLayout {
  int64_t layers = 0; ///< Layers that keep a state.
  /// The greatest sizes of the parts, in floats; multiples of 16.
  int64_t tail = 0, matrices = 0;

  /// Bytes of a record.
  int64_t recordBytes() const { return 4 * (tail + matrices); }

  /// Collects the state ops of a module. Fails, with a diagnostic, if an op has
  /// dynamic sizes besides the tokens, or if records have more than 2^34 bytes.
  static mlir::FailureOr<StateLayout> of(mlir::ModuleOp module);
};

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_MLLMSTATEOPS_H

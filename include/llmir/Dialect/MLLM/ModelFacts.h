//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `mllm.model` on the builtin module says about the traced model.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MODELFACTS_H
#define LLMIR_DIALECT_MLLM_MODELFACTS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace llmir::mllm {

/// What `mllm.model` on the builtin module says. All numbers are positive.
struct ModelFacts {
  std::string architecture; ///< The family's name, for example "llama".
  int64_t numLayers = 0;
  int64_t numHeads = 0;
  int64_t numKVHeads = 0;
  int64_t headDim = 0;
  int64_t hiddenSize = 0;
  int64_t intermediateSize = 0;
  int64_t vocabSize = 0;     ///< Rows of the embedding, columns of the logits.
  int64_t contextLength = 0; ///< Tokens for which the model was trained.

  /// Reads the module's attribute; emits an error at the module and fails when
  /// it is absent or says too little.
  static mlir::FailureOr<ModelFacts> read(mlir::ModuleOp module);
  /// Sets the module's attribute.
  void write(mlir::ModuleOp module) const;

  /// The attribute's name on the builtin module.
  static llvm::StringRef attrName() { return "mllm.model"; }
};

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_MODELFACTS_H

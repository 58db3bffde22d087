//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The model properties in the attribute `mllm.model` of a traced module.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MODELFACTS_H
#define LLMIR_DIALECT_MLLM_MODELFACTS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace llmir::mllm {

/// The contents of `mllm.model`. All integers are positive.
struct ModelFacts {
  std::string architecture; ///< Name of the family, for example "llama".
  int64_t numLayers = 0;    ///< Layers with keys and values.
  int64_t numHeads = 0;
  int64_t numKVHeads = 0;
  int64_t headDim = 0;
  int64_t hiddenSize = 0;
  int64_t intermediateSize = 0;
  int64_t vocabSize = 0;     ///< Embedding rows and logit columns.
  int64_t contextLength = 0; ///< Context length in tokens of the training.
  /// Elements of a value, which are the first ones of its key; 0: values are
  /// stored beside keys. Absent from the attribute if it is 0.
  int64_t valuesInKeys = 0;

  /// Reads the attribute of the module; emits an error at the module and fails
  /// if it is absent or incomplete.
  static mlir::FailureOr<ModelFacts> read(mlir::ModuleOp module);
  /// Sets the module's attribute.
  void write(mlir::ModuleOp module) const;

  /// The name of the module attribute.
  static llvm::StringRef attrName() { return "mllm.model"; }
};

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_MODELFACTS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `mllm` dialect: what a model is, as modules, layers and parameters. The
// one include for its users; ops are documented in the .td file of their level.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLM_H
#define LLMIR_DIALECT_MLLM_MLLM_H

#include "llmir/Dialect/MLLM/KernelCall.h"
#include "llmir/Runtime/ABI/StepFields.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>
#include <string>

namespace llmir::mllm {

//===----------------------------------------------------------------------===//
// Type predicates of MLLMBase.td
//===----------------------------------------------------------------------===//

bool isF32Tensor(mlir::Type type);
bool isF32TensorOfRank(mlir::Type type, int64_t rank);
/// True for a ranked tensor of rank 1 or more with static sizes after the
/// first.
bool hasStaticTail(mlir::Type type);
/// True for tensor<?xi32>, tensor<?xi64> and their static forms.
bool isTokenIds(mlir::Type type);

/// Sizes in elements of a parameter's type, quantized or not; nullopt for a
/// type that no parameter has.
std::optional<llvm::ArrayRef<int64_t>> parameterShape(mlir::Type type);

//===----------------------------------------------------------------------===//
// Facts about the model
//===----------------------------------------------------------------------===//

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

#include "llmir/Dialect/MLLM/MLLMDialect.h.inc"
#include "llmir/Dialect/MLLM/MLLMEnums.h.inc"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMOps.h.inc"

namespace llmir::mllm {

/// The subgraph marked `entry`, or null.
SubGraphOp entrySubGraph(mlir::ModuleOp module);

namespace program {
/// How many trace sites an op of a code fragment is: the kernels of an
/// instruction, one for a barrier or a call of the runtime. A trace numbers
/// them from 0 in the order of the text.
inline int64_t numTraceSites(mlir::Operation &op) {
  if (auto instruction = llvm::dyn_cast<InstructionOp>(op))
    return static_cast<int64_t>(instruction.getKernels().size());
  return llvm::isa<BarrierOp, RuntimeCallOp>(op) ? 1 : 0;
}
} // namespace program

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_MLLM_H

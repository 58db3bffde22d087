//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates functions with the reference library: every op is computed in
// float64, and each result is rounded to its element type.
//
//   Interpreter interpreter;
//   auto results = interpreter.run(function, *makeArguments(function, seed));
//
// A function with `llm.num_ranks = n` is run by n ranks in lockstep, with one
// value per rank. Arguments with `llm.shard_dim` are sliced among the ranks,
// and results with it are concatenated; without it, arguments are, and results
// must be, the same for all ranks. Each rank has its own cache.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_INTERPRETER_INTERPRETER_H
#define LLMIR_INTERPRETER_INTERPRETER_H

#include "llmir/Dialect/MLLM/MLLMTensorOps.h"
#include "llmir/Interpreter/Values.h"
#include "llmir/Reference/ModelState.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <functional>

namespace llmir {

struct InterpreterOptions {
  /// Provides the values of `llm.weight`, which is an error if this is not set.
  std::function<mlir::FailureOr<InterpreterValue>(mlir::llm::WeightOp)> weight;
  /// Round like compiled code in attention over i8 caches, or, for bf16 caches,
  /// like code for levels with bf16 products (AttentionParams::rounding).
  bool roundsByteAttention = false, roundsBf16Attention = false;
  /// Provides the values of parameters of mllm ops, with rows in the original
  /// order; such ops are errors if this is not set.
  std::function<mlir::FailureOr<InterpreterValue>(mllm::RegisterOp)> parameter =
      {};
  /// The caches and positions that a run continues and updates; without it,
  /// each run starts a new conversation. Not owned.
  ModelState *state = nullptr;
  /// Track the memory of values in a model with a memory plan: reading a value
  /// that has been overwritten is an error.
  bool checksMemory = false;
};

class Interpreter {
public:
  struct Result {
    InterpreterValue value; ///< Rounded to its type. For a cache: rank 0.
    /// The value before rounding; only for tensors defined by an op of the
    /// function other than calls and loops.
    std::optional<reference::Tensor> exact;
  };

  explicit Interpreter(InterpreterOptions options = {});

  /// Runs a function or subgraph of a module with whole (unsharded) arguments.
  /// Errors are reported as diagnostics at the op.
  mlir::FailureOr<std::vector<Result>>
  run(mlir::FunctionOpInterface function,
      std::vector<InterpreterValue> arguments);

private:
  InterpreterOptions options;
};

/// Evaluates one op on tensors, in a new conversation unless the options have a
/// state; errors are reported at the op.
mlir::FailureOr<std::vector<reference::Tensor>>
evaluateOp(mlir::Operation *op, std::vector<reference::Tensor> operands,
           const InterpreterOptions &options);

/// Returns the results of one op on one rank for the given operands, if all of
/// them are tensors and the results do not depend on earlier steps. Emits no
/// diagnostics.
std::optional<std::vector<reference::Tensor>>
evaluateOp(mlir::Operation *op, std::vector<reference::Tensor> operands);

/// Maximum numbers of elements for foldOp(): evaluation materializes splats.
struct FoldLimits {
  int64_t result, operand;
};

/// The results of a pure op without regions whose operands are constants, as
/// attributes of the types of its results; nullopt for any other op, if a size
/// exceeds a limit, and if the evaluation fails, as a lookup of a row out of
/// range does.
std::optional<llvm::SmallVector<mlir::DenseElementsAttr>>
foldOp(mlir::Operation *op, FoldLimits limits);

/// Returns the names of all ops that can be evaluated, sorted.
std::vector<std::string> getEvaluatedOps();

/// Returns a function for InterpreterOptions::weight that yields reproducible
/// random values, which depend on the name of the weight and `seed`.
std::function<mlir::FailureOr<InterpreterValue>(mlir::llm::WeightOp)>
makeRandomWeights(uint64_t seed);

/// The same for parameters of the mllm dialect.
std::function<mlir::FailureOr<InterpreterValue>(mllm::RegisterOp)>
makeRandomParameters(uint64_t seed);

} // namespace llmir

#endif // LLMIR_INTERPRETER_INTERPRETER_H

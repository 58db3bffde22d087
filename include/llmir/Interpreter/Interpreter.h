//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates functions on the reference library: every op means what its
// reference function says, in float64, and each result is rounded to its
// element type.
//
//   Interpreter interpreter;
//   auto results = interpreter.run(function, *makeArguments(function, seed));
//
// A function with `llm.num_ranks = n` is run by n ranks in lockstep: each value
// is one value per rank. An argument with `llm.shard_dim` is cut for the ranks,
// a result with it is joined; without it an argument is the same for all ranks,
// and a result has to be. A cache is each rank's own.
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
  /// The value of a parameter of the model; without it `llm.weight` is an
  /// error.
  std::function<mlir::FailureOr<InterpreterValue>(mlir::llm::WeightOp)> weight;
  /// Attention to a cache of i8 rounds what compiled code rounds, and that to a
  /// cache of bf16 what code of a level that multiplies bf16 does
  /// (AttentionParams::rounding).
  bool roundsByteAttention = false, roundsBf16Attention = false;
  /// The value of a parameter that an op of the mllm dialect names, its rows in
  /// order; without it such ops are errors.
  std::function<mlir::FailureOr<InterpreterValue>(mllm::RegisterOp)> parameter =
      {};
  /// The caches and positions that a run goes on from and leaves; without it
  /// each run starts a conversation. Not owned.
  ModelState *state = nullptr;
  /// In a model whose memory is planned, each value's memory is followed: an op
  /// that reads what another value was written over is an error.
  bool checksMemory = false;
};

class Interpreter {
public:
  struct Result {
    InterpreterValue value; ///< Rounded to its type. Of a cache: rank 0's.
    /// Before rounding; only of a tensor that an op of the function made, not
    /// of one that a call or a loop returned.
    std::optional<reference::Tensor> exact;
  };

  explicit Interpreter(InterpreterOptions options = {});

  /// Runs a function or a subgraph of a module; `arguments` are the caller's,
  /// whole tensors. What goes wrong is reported as a diagnostic at the op.
  mlir::FailureOr<std::vector<Result>>
  run(mlir::FunctionOpInterface function,
      std::vector<InterpreterValue> arguments);

private:
  InterpreterOptions options;
};

/// Evaluates one op on tensors, in the first step of a conversation unless the
/// options have another one; what goes wrong is reported at the op.
mlir::FailureOr<std::vector<reference::Tensor>>
evaluateOp(mlir::Operation *op, std::vector<reference::Tensor> operands,
           const InterpreterOptions &options);

/// The results of one op on one rank, given its operands, when all of them are
/// tensors and the op has a value that no earlier step changes; reports
/// nothing.
std::optional<std::vector<reference::Tensor>>
evaluateOp(mlir::Operation *op, std::vector<reference::Tensor> operands);

/// The names of all ops that can be evaluated, sorted.
std::vector<std::string> getEvaluatedOps();

/// Reproducible random values for parameters that have no file: a function for
/// InterpreterOptions::weight. A weight's values depend on its name and `seed`.
std::function<mlir::FailureOr<InterpreterValue>(mlir::llm::WeightOp)>
makeRandomWeights(uint64_t seed);

/// The same for parameters of the mllm dialect.
std::function<mlir::FailureOr<InterpreterValue>(mllm::RegisterOp)>
makeRandomParameters(uint64_t seed);

} // namespace llmir

#endif // LLMIR_INTERPRETER_INTERPRETER_H

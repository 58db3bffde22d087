//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles one function of static shapes through the stages of the compiler and
// runs it on this machine:
//
//   FailureOr<FunctionRunner> runner = FunctionRunner::compile(function,
//   level); FailureOr<std::vector<FunctionRunner::Result>> results =
//       runner->run(arguments, /*threads=*/2);
//
// Arguments and results are values of the interpreter, so that the results of
// compiled code can be compared with those of the reference. A function with
// the attribute `llm.num_ranks` is compiled for all its ranks in lockstep.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXECUTION_FUNCTIONRUNNER_H
#define LLMIR_EXECUTION_FUNCTIONRUNNER_H

#include "llmir/Codegen/CPULevel.h"
#include "llmir/Interpreter/Interpreter.h"

#include <memory>

namespace llmir {

class FunctionRunner {
public:
  /// A value of the function's result type; null for returned caches.
  using Result = std::optional<InterpreterValue>;

  /// Compiles a function of a module with its callees. Unsupported ops are
  /// reported as errors at the op. `function` must outlive the runner. `weight`
  /// provides the values of parameters (`llm.weight`). A function with dynamic
  /// sizes is compiled once, for the maximum sizes of its ranges (`mllm.dims`):
  /// see llmir/Conversion/BoundSizes.h.
  static mlir::FailureOr<FunctionRunner>
  compile(mlir::func::FuncOp function, const CPULevel &level,
          const InterpreterOptions &options = {});

  /// Compiles the entry of a model of the mllm dialect, whose sizes are static
  /// or have ranges. Converts the subgraphs of the module, which must outlive
  /// the runner, to functions. Parameters in block formats are read as f32.
  static mlir::FailureOr<FunctionRunner>
  compileModel(mlir::ModuleOp module, const CPULevel &level,
               const InterpreterOptions &options);

  FunctionRunner(FunctionRunner &&) noexcept;
  ~FunctionRunner();

  /// Runs the code on that many threads. Each run starts with empty caches.
  /// Expectations (the `check` dialect) are evaluated afterwards. Errors are
  /// reported at the function or at the check, including sizes out of range and
  /// different sizes with the same name.
  mlir::FailureOr<std::vector<Result>>
  run(llvm::ArrayRef<InterpreterValue> arguments, int64_t threads = 1);

  /// Size of all buffers in bytes.
  int64_t arenaBytes() const;

private:
  struct State;
  explicit FunctionRunner(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace llmir

#endif // LLMIR_EXECUTION_FUNCTIONRUNNER_H

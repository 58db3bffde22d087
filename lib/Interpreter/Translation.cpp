//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Interpreter/Translation.h"

#include "llmir/Dialect/Check/Check.h"
#include "llmir/Dialect/MLLM/MLLMGraphOps.h"
#include "llmir/Interpreter/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

namespace llmir {

namespace {
struct CommandLine {
  llvm::cl::opt<std::string> function{
      "function",
      llvm::cl::desc("Function to run (default: all public functions)")};
  llvm::cl::opt<uint64_t> seed{"seed",
                               llvm::cl::desc("Seed of the random arguments"),
                               llvm::cl::init(0)};
  llvm::cl::opt<bool> checkMemory{
      "check-memory",
      llvm::cl::desc("Run a planned model in its planned memory")};
};
} // namespace

RunOptions getRunOptions() {
  static CommandLine commandLine;
  return {commandLine.function, commandLine.seed, commandLine.checkMemory};
}

FailureOr<SmallVector<func::FuncOp>>
getFunctionsToRun(Operation *module, const RunOptions &options) {
  SmallVector<func::FuncOp> functions;
  for (func::FuncOp function : module->getRegion(0).getOps<func::FuncOp>())
    if (options.function.empty() ? function.isPublic() && !function.isExternal()
                                 : function.getName() == options.function)
      functions.push_back(function);
  if (functions.empty())
    return module->emitError("there is no function to run")
               << (options.function.empty() ? ""
                                            : " named " + options.function),
           failure();
  return functions;
}

/// The functions to run, including the traced model: the subgraph of that name,
/// or by default the entry.
static FailureOr<SmallVector<FunctionOpInterface>>
getCallablesToRun(Operation *op, const RunOptions &options) {
  SmallVector<FunctionOpInterface> callables;
  auto module = dyn_cast<ModuleOp>(op);
  if (module && !options.function.empty()) {
    for (auto subgraph : module.getOps<mllm::SubGraphOp>())
      if (subgraph.getSymName() == options.function)
        callables.push_back(subgraph);
  } else if (module) {
    if (mllm::SubGraphOp entry = mllm::entrySubGraph(module))
      callables.push_back(entry);
  }
  if (!callables.empty() &&
      (!options.function.empty() || module.getOps<func::FuncOp>().empty()))
    return callables;
  FailureOr<SmallVector<func::FuncOp>> functions =
      getFunctionsToRun(op, options);
  if (failed(functions))
    return failure();
  callables.append(functions->begin(), functions->end());
  return callables;
}

void printExpectations(FunctionOpInterface function, raw_ostream &output) {
  int64_t count = 0;
  function.walk([&](Operation *op) {
    count += isa_and_present<check::CheckDialect>(op->getDialect());
  });
  if (count > 0)
    output << "@" << function.getName() << ": " << count
           << (count == 1 ? " expectation holds\n" : " expectations hold\n");
}

LogicalResult interpret(Operation *module, const RunOptions &options,
                        raw_ostream &output) {
  FailureOr<SmallVector<FunctionOpInterface>> functions =
      getCallablesToRun(module, options);
  if (failed(functions))
    return failure();
  InterpreterOptions how;
  how.weight = makeRandomWeights(options.seed);
  how.parameter = makeRandomParameters(options.seed);
  how.checksMemory = options.checksMemory;
  Interpreter interpreter(how);
  LogicalResult status = success();
  for (FunctionOpInterface function : *functions) {
    auto arguments = makeArguments(function, options.seed);
    if (failed(arguments))
      return failure();
    auto results = interpreter.run(function, std::move(*arguments));
    if (failed(results)) {
      status = failure(); // Continue with the other functions.
      continue;
    }
    for (auto [i, result] : llvm::enumerate(*results))
      output << "@" << function.getName() << " result " << i << ": "
             << toString(result.value) << "\n";
    printExpectations(function, output);
  }
  return status;
}

void registerInterpretTranslation() {
  getRunOptions();
  static TranslateFromMLIRRegistration registration(
      "interpret", "Evaluate functions on the reference library",
      [](Operation *module, raw_ostream &output) {
        return interpret(module, getRunOptions(), output);
      },
      [](DialectRegistry &registry) {
        registry.insert<
            llm::LLMDialect, check::CheckDialect, arith::ArithDialect,
            func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
            mllm::MLLMDialect, scf::SCFDialect, tensor::TensorDialect>();
      });
}

} // namespace llmir

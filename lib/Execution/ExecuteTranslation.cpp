//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Execution/ExecuteTranslation.h"
#include "ExecuteOptions.h"

#include "llmir/Conversion/MLLMToLLM.h"

#include "llmir/Dialect/Check/Check.h"
#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Execution/FunctionRunner.h"
#include "llmir/Target/CPU/TargetNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-translate/Translation.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace llmir {

/// The default error bound.
static constexpr double kUsualNmse = 1e-10;

namespace {
struct CommandLine {
  llvm::cl::opt<std::string> level{
      "level",
      llvm::cl::desc("CPU level to compile for (default: that of this CPU)"),
      llvm::cl::init("native")};
  llvm::cl::opt<int64_t> workers{"workers", llvm::cl::desc("Number of threads"),
                                 llvm::cl::init(2)};
  llvm::cl::opt<double> maxNmse{
      "max-nmse",
      llvm::cl::desc("Maximum error of a result of --compare, Σ error² / Σ "
                     "expected². Compiled code accumulates in f32, the "
                     "interpreter in f64; 1e-10 is an "
                     "error "
                     "of 1e-5 of the result's magnitude"),
      llvm::cl::init(kUsualNmse)};
};
} // namespace

ExecuteOptions executeOptions() {
  static CommandLine commandLine;
  ExecuteOptions options;
  options.level = commandLine.level;
  options.workers = commandLine.workers;
  options.maxNmse = commandLine.maxNmse;
  return options;
}

/// Random values for weights and parameters.
static InterpreterOptions interpreterOptions(const RunOptions &options) {
  InterpreterOptions interpreter;
  interpreter.weight = makeRandomWeights(options.seed);
  interpreter.parameter = makeRandomParameters(options.seed);
  return interpreter;
}

/// The functions to run, including those converted from subgraphs.
static FailureOr<SmallVector<func::FuncOp>>
functionsToRun(Operation *module, const RunOptions &options) {
  makeFunctionsOfSubGraphs(cast<ModuleOp>(module));
  return getFunctionsToRun(module, options);
}

FailureOr<const CPULevel *> levelOf(Operation *module,
                                    const ExecuteOptions &options) {
  if (options.level == "native") {
    Expected<const CPULevel *> native = nativeCPULevel();
    if (!native)
      return module->emitError("cannot be run: ") << native.status().message();
    return *native;
  }
  if (const CPULevel *level = findCPULevel(options.level))
    return level;
  return module->emitError("cannot be run: no code is generated for the CPU "
                           "level '")
         << options.level << "'";
}

/// Compiles a function and runs it with the arguments of tests.
static FailureOr<std::vector<FunctionRunner::Result>>
execute(func::FuncOp function, const CPULevel &level,
        const ExecuteOptions &options, ArrayRef<InterpreterValue> arguments) {
  FailureOr<FunctionRunner> runner =
      FunctionRunner::compile(function, level, interpreterOptions(options.run));
  if (failed(runner))
    return failure();
  return runner->run(arguments, options.workers);
}

/// True if generated code would use uninitialized row indices. Checks the whole
/// module, since functions call others.
static bool trustsIndices(Operation *module) {
  return module
      ->walk([](Operation *op) {
        if (!isa<llm::EmbeddingOp, llm::MeanRowsOp, llm::SelectRowsOp>(op))
          return WalkResult::advance();
        bool trusts = llvm::any_of(op->getOperands(), [](Value operand) {
          return getElementTypeOrSelf(operand.getType()).isInteger(32);
        });
        return trusts ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static LogicalResult executeAll(Operation *module, raw_ostream &output) {
  ExecuteOptions options = executeOptions();
  auto functions = functionsToRun(module, options.run);
  FailureOr<const CPULevel *> level = levelOf(module, options);
  if (failed(functions) || failed(level))
    return failure();
  Interpreter interpreter(interpreterOptions(options.run));
  const bool isChecked = trustsIndices(module);
  LogicalResult status = success();
  for (func::FuncOp function : *functions) {
    auto arguments = makeArguments(function, options.run.seed);
    if (failed(arguments))
      return failure();
    if (isChecked && failed(interpreter.run(function, *arguments))) {
      status = failure();
      continue;
    }
    auto results = execute(function, **level, options, *arguments);
    if (failed(results)) {
      status = failure(); // The other functions are run nevertheless.
      continue;
    }
    for (auto [i, result] : llvm::enumerate(*results))
      output << "@" << function.getName() << " result " << i << ": "
             << (result ? toString(*result) : std::string("a cache")) << "\n";
    printExpectations(function, output);
  }
  return status;
}

/// The error of a float tensor, relative to the interpreter's values before
/// rounding to its type, if available.
static double errorOf(const reference::Tensor &actual,
                      const Interpreter::Result &expected) {
  const auto &rounded = std::get<reference::Tensor>(expected.value);
  reference::Tensor wanted = expected.exact ? *expected.exact : rounded;
  for (int64_t i = 0; i < wanted.size(); ++i)
    if (std::isinf(rounded[i])) // What the type does not hold.
      wanted[i] = rounded[i];
  wanted.kind = actual.kind;
  return reference::nmse(actual, wanted);
}

/// Explains the measured error and the default bound.
static void explainBound(InFlightDiagnostic &diag, double nmse,
                         double maxNmse) {
  auto text = [](double number) {
    std::string digits;
    llvm::raw_string_ostream(digits) << llvm::format("%.3g", number);
    return digits;
  };
  diag << ": the error " << text(nmse) << " (sum of error^2 over sum of "
       << "expected^2) is more than " << text(maxNmse);
  if (maxNmse == kUsualNmse)
    diag << ", 1e-5 of its magnitude: compiled code accumulates in f32, the "
            "interpreter in f64; use --max-nmse to allow more";
  else
    diag << ", the value of --max-nmse";
}

/// Prints the error of a result; fails if it exceeds the limit.
static LogicalResult compareResult(func::FuncOp function, size_t index,
                                   const FunctionRunner::Result &actual,
                                   const Interpreter::Result &expected,
                                   double maxNmse, raw_ostream &output) {
  if (!actual)
    return success();
  output << "@" << function.getName() << " result " << index << ": ";
  auto *a = std::get_if<reference::Tensor>(&*actual);
  auto *b = std::get_if<reference::Tensor>(&expected.value);
  bool areFloats = a && b && reference::isFloat(a->kind);
  double nmse = areFloats ? errorOf(*a, expected) : 0.0;
  bool agrees = areFloats ? nmse <= maxNmse : sameBits(*actual, expected.value);
  if (areFloats)
    output << "nmse " << llvm::format("%.2e", nmse) << " of at most "
           << llvm::format("%.3g", maxNmse);
  else
    output << (agrees ? "equal" : "different");
  output << "\n";
  if (agrees)
    return success();
  InFlightDiagnostic diag = function.emitError("result ")
                            << index << " differs from the expected value";
  if (areFloats)
    explainBound(diag, nmse, maxNmse);
  diag.attachNote() << "compiled    " << toString(*actual);
  diag.attachNote() << "interpreted " << toString(expected.value);
  return diag;
}

static LogicalResult compareAll(Operation *module, raw_ostream &output) {
  ExecuteOptions options = executeOptions();
  auto functions = functionsToRun(module, options.run);
  FailureOr<const CPULevel *> level = levelOf(module, options);
  if (failed(functions) || failed(level))
    return failure();
  InterpreterOptions rounding = interpreterOptions(options.run);
  rounding.roundsByteAttention = true;
  rounding.roundsBf16Attention = (*level)->hasBf16Dots();
  Interpreter interpreter(std::move(rounding));
  LogicalResult status = success();
  for (func::FuncOp function : *functions) {
    auto arguments = makeArguments(function, options.run.seed);
    if (failed(arguments))
      return failure();
    auto expected = interpreter.run(function, *arguments);
    if (failed(expected))
      return failure();
    auto actual = execute(function, **level, options, *arguments);
    if (failed(actual)) {
      status = failure();
      continue;
    }
    for (auto [i, results] :
         llvm::enumerate(llvm::zip_equal(*actual, *expected)))
      if (failed(compareResult(function, i, std::get<0>(results),
                               std::get<1>(results), options.maxNmse, output)))
        status = failure();
    printExpectations(function, output);
  }
  return status;
}

void registerExecuteDialects(DialectRegistry &registry) {
  registry.insert<mlir::llm::LLMDialect, check::CheckDialect, mllm::MLLMDialect,
                  arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                  LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                  tensor::TensorDialect>();
  func::registerInlinerExtension(registry);
}

void registerExecuteTranslations() {
  executeOptions(); // Registers the options.
  static TranslateFromMLIRRegistration executeRegistration(
      "execute", "Compile functions for this processor and run them",
      executeAll, registerExecuteDialects);
  static TranslateFromMLIRRegistration compareRegistration(
      "compare",
      "Run functions compiled and interpreted, and compare the results",
      compareAll, registerExecuteDialects);
}

} // namespace llmir

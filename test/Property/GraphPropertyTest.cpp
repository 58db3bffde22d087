//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir-graph-property: random models of the mllm dialect compute the same
// before and after each pass of their level, and planned memory is never used
// by two values at once. Some are machine code too.
//
//   llmir-graph-property --count=1000 --compile=100 --seed=1
//   llmir-graph-property --seed=17 --print
//
//===----------------------------------------------------------------------===//

#include "GraphGenerator.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/Transforms/Specialize.h"
#include "llmir/Execution/FunctionRunner.h"
#include "llmir/Interpreter/Interpreter.h"
#include "llmir/Pipelines/Registration.h"
#include "llmir/Target/CPU/TargetNames.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <random>

using namespace llmir;
using namespace mlir;
namespace cl = llvm::cl;

namespace {

cl::opt<uint64_t> seedFlag("seed", cl::desc("Seed of the first model"),
                           cl::init(1));
cl::opt<uint64_t> countFlag("count", cl::desc("Models to run"), cl::init(1000));
cl::opt<uint64_t> compileFlag("compile",
                              cl::desc("How many of them are compiled too"),
                              cl::init(0));
cl::opt<bool> print("print", cl::desc("Print the model of the seed"));

/// The flags, read before anything is compiled: lld, as a library, sets all
/// options of the process back.
struct Flags {
  uint64_t seed = seedFlag, count = countFlag, compiled = compileFlag;
};

/// Every pass of the level, alone and with others.
constexpr const char *kPipelines[] = {
    "mllm-remove-debug-ops",
    "mllm-remove-dead-ops",
    "mllm-remove-debug-ops,mllm-remove-dead-ops",
    "mllm-fold-constants",
    "mllm-extract-symbols",
    "mllm-inline-subgraphs",
    "mllm-outline-subgraphs{least=2}",
    "mllm-fuse-subgraphs",
    "mllm-fuse-attention",
    "mllm-split-stages{stages=2}",
    "mllm-split-stages{stages=3}",
    "mllm-split-stages{stages=3},mllm-fuse-subgraphs",
    "mllm-apply-recipe{recipe=*x8_*=int4:g8,w*=int8}",
    "canonicalize",
    "cse",
    // ?: the most rows that a model gets here.
    "mllm-plan-memory{sizes=?=5},mllm-check-memory{sizes=?=5}",
    "mllm-plan-memory{sizes=?=5 in-place=false},mllm-check-memory{sizes=?=1}",
    "mllm-inline-subgraphs,cse,mllm-outline-subgraphs{least=3},"
    "mllm-plan-memory{sizes=?=5},mllm-check-memory{sizes=?=5}",
    "mllm-split-stages{stages=2},mllm-inline-subgraphs,mllm-fold-constants,"
    "canonicalize,mllm-plan-memory{sizes=?=5},mllm-check-memory{sizes=?=3}",
};

/// The same for models that are run with kMaxRows rows: the result is valid for
/// this number only.
constexpr const char *kPipelineForRows = "mllm-specialize{sizes=?=ROWS}";
constexpr int64_t kMaxRows = 5;

/// A pipeline with its statistics so far.
struct Row {
  std::string text;
  std::unique_ptr<PassManager> passes;
  int64_t numRows = 0; ///< Only for models with that many rows; 0 = all.
  uint64_t changed = 0;
};

/// What the dynamic sizes of a model's inputs are.
int64_t numRowsOf(std::mt19937_64 &random) {
  return 1 + static_cast<int64_t>(random() % kMaxRows);
}
int64_t numRowsOf(uint64_t number) {
  std::mt19937_64 random(number);
  return numRowsOf(random);
}

using Results = std::vector<Interpreter::Result>;

class Run {
public:
  Run(MLIRContext &context, const Flags &flags)
      : context(context), flags(flags) {
    for (const char *text : kPipelines)
      add(text, 0);
    for (int64_t numRows = 1; numRows <= kMaxRows; ++numRows) {
      std::string text = kPipelineForRows;
      text.replace(text.find("ROWS"), 4, std::to_string(numRows));
      add(text, numRows);
    }
  }

  void check(uint64_t number);
  /// Prints the counts; in a run of 200 models no pipeline may be idle.
  uint64_t finish();

private:
  void add(const std::string &text, int64_t numRows) {
    rows.push_back({text, std::make_unique<PassManager>(&context), numRows});
    if (failed(parsePassPipeline(text, *rows.back().passes)))
      fail(0, text, "is no pipeline");
  }
  FailureOr<Results> evaluate(ModuleOp module, uint64_t number);
  /// Makes machine code of the module, with sizes, and runs it.
  FailureOr<std::vector<FunctionRunner::Result>> execute(ModuleOp module,
                                                         uint64_t number);
  void checkCompiled(ModuleOp module, uint64_t number, const Results &expected);
  void fail(uint64_t number, const std::string &pipeline,
            const std::string &what) {
    ++failures;
    llvm::outs() << "seed " << number << ", " << pipeline << ": " << what
                 << "\n";
  }

  MLIRContext &context;
  const Flags flags;
  std::vector<Row> rows;
  std::string errors; ///< Of what runs now.
  uint64_t failures = 0, numCompiled = 0, numRefused = 0;
};

} // namespace

/// Whether the compiler reported an unsupported case, which is not a failure:
/// fewer ops than pipeline stages, a cache of unknown length in a call or an
/// iteration, an append after a branch that may contain one, a recipe without
/// a matching matrix.
static bool isRefusal(StringRef errors) {
  constexpr StringLiteral refusals[] = {
      "too few for",
      "the initial number of tokens in its cache",
      "whose size is known only at run time",
      "a preceding branch may have added to the cache",
      "of the recipe",
      "has no effect: earlier patterns"};
  return llvm::any_of(refusals,
                      [&](StringRef each) { return errors.contains(each); });
}

static std::vector<InterpreterValue> argumentsOf(mllm::SubGraphOp entry,
                                                 uint64_t number) {
  std::mt19937_64 random(number);
  const int64_t rowsOfDynamic = numRowsOf(random);
  std::vector<InterpreterValue> arguments;
  for (Type type : entry.getArgumentTypes()) {
    reference::Shape shape;
    for (int64_t size : cast<RankedTensorType>(type).getShape())
      shape.push_back(ShapedType::isDynamic(size) ? rowsOfDynamic : size);
    reference::Tensor tensor(reference::ElementKind::F32, shape);
    for (double &value : tensor.floats()) // Exact in f32.
      value =
          static_cast<double>(static_cast<int64_t>(random() % 4001) - 2000) /
          1024;
    arguments.push_back(tensor);
  }
  return arguments;
}

static InterpreterOptions optionsFor(uint64_t number) {
  InterpreterOptions options;
  options.parameter = makeRandomParameters(number);
  options.checksMemory = true; // Of a model that was planned.
  return options;
}

FailureOr<Results> Run::evaluate(ModuleOp module, uint64_t number) {
  mllm::SubGraphOp entry = mllm::entrySubGraph(module);
  if (!entry)
    return module.emitError("has no entry any more");
  return Interpreter(optionsFor(number)).run(entry, argumentsOf(entry, number));
}

FailureOr<std::vector<FunctionRunner::Result>> Run::execute(ModuleOp module,
                                                            uint64_t number) {
  mllm::SizeBinding sizes;
  sizes.unnamed = numRowsOf(number);
  sizes.past = 0;
  if (failed(mllm::specializeSizes(module, sizes)))
    return failure();
  const std::vector<InterpreterValue> arguments =
      argumentsOf(mllm::entrySubGraph(module), number);
  FailureOr<FunctionRunner> runner = FunctionRunner::compileModel(
      module, **nativeCPULevel(), optionsFor(number));
  if (failed(runner))
    return failure();
  return runner->run(arguments, /*threads=*/2);
}

/// Machine code sums in another order than the interpreter does.
void Run::checkCompiled(ModuleOp module, uint64_t number,
                        const Results &expected) {
  constexpr double most = 1e-10;
  OwningOpRef<ModuleOp> copy = module.clone();
  errors.clear();
  auto results = execute(*copy, number);
  if (failed(results)) {
    if (isRefusal(errors))
      ++numRefused;
    else
      fail(number, "compiled", "fails: " + errors);
    return;
  }
  ++numCompiled;
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto &actual = std::get<reference::Tensor>(*(*results)[i]);
    const auto &wanted = std::get<reference::Tensor>(expected[i].value);
    const double error = reference::nmse(actual, wanted);
    if (!(error <= most))
      fail(number, "compiled",
           "result " + std::to_string(i) + " is " + toString(actual) +
               " instead of " + toString(wanted) +
               llvm::formatv(", nmse {0:e}", error).str());
  }
}

void Run::check(uint64_t number) {
  const std::string text = property::generateGraph(number);
  errors.clear();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      errors += diagnostic.str() + "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return fail(number, "", "the model is not well-formed: " + errors);
  FailureOr<Results> expected = evaluate(*module, number);
  if (failed(expected))
    return fail(number, "", "the model has no meaning: " + errors);
  if (number - flags.seed < flags.compiled)
    checkCompiled(*module, number, *expected);
  for (Row &row : rows) {
    if (row.numRows && row.numRows != numRowsOf(number))
      continue;
    OwningOpRef<ModuleOp> copy = module->clone();
    const OperationFingerPrint before(*copy); // Of this copy's ops.
    errors.clear();
    if (failed(row.passes->run(*copy))) {
      if (!isRefusal(errors))
        fail(number, row.text, "fails: " + errors);
      continue;
    }
    row.changed += OperationFingerPrint(*copy) != before;
    FailureOr<Results> results = evaluate(*copy, number);
    if (failed(results) || results->size() != expected->size()) {
      fail(number, row.text, "cannot be evaluated any more: " + errors);
      continue;
    }
    for (size_t i = 0; i < results->size(); ++i)
      if (!reference::sameBits(
              std::get<reference::Tensor>((*expected)[i].value),
              std::get<reference::Tensor>((*results)[i].value)))
        fail(number, row.text,
             "result " + std::to_string(i) + " is " +
                 toString((*results)[i].value) + " instead of " +
                 toString((*expected)[i].value));
  }
}

uint64_t Run::finish() {
  for (const Row &row : rows) {
    llvm::outs() << llvm::format("%6u ", unsigned(row.changed)) << row.text
                 << "\n";
    if (row.changed == 0 && flags.count >= 200)
      fail(0, row.text, "has changed no model");
  }
  if (flags.compiled >= 20 && numRefused > numCompiled)
    fail(0, "compiled", "more models are refused than run");
  if (flags.compiled > 0)
    llvm::outs() << numCompiled << " compiled, " << numRefused << " refused\n";
  return failures;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv,
                              "Random models through the passes of mllm\n");
  const Flags flags;
  if (print) {
    llvm::outs() << property::generateGraph(flags.seed);
    return 0;
  }
  DialectRegistry registry;
  registerAllLLMIRDialects(registry);
  registerAllPasses();
  registerAllLLMIRPasses();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  const auto start = std::chrono::steady_clock::now();
  Run run(context, flags);
  for (uint64_t i = 0; i < flags.count; ++i)
    run.check(flags.seed + i);
  const uint64_t failures = run.finish();
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  llvm::outs() << flags.count << " models, " << failures << " failures, "
               << llvm::format("%.1f", seconds.count()) << " s\n";
  return failures > 0;
}

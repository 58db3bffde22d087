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
// by two values at once.
//
//   llmir-graph-property --count=1000 --seed=1
//   llmir-graph-property --seed=17 --print
//
//===----------------------------------------------------------------------===//

#include "GraphGenerator.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Interpreter/Interpreter.h"
#include "llmir/Pipelines/Registration.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <random>

using namespace llmir;
using namespace mlir;
namespace cl = llvm::cl;

namespace {

cl::opt<uint64_t> seed("seed", cl::desc("Seed of the first model"),
                       cl::init(1));
cl::opt<uint64_t> count("count", cl::desc("Models to run"), cl::init(1000));
cl::opt<bool> print("print", cl::desc("Print the model of the seed"));

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

/// The same for models that are run with so many rows, kMostRows of them: what
/// it makes of a model takes no other number.
constexpr const char *kPipelineForRows = "mllm-specialize{sizes=?=ROWS}";
constexpr int64_t kMostRows = 5;

/// A pipeline with what it has done so far.
struct Row {
  std::string text;
  std::unique_ptr<PassManager> passes;
  int64_t numRows = 0; ///< Only for models that are run with so many; 0 = all.
  uint64_t changed = 0;
};

/// What the dynamic sizes of a model's inputs are.
int64_t numRowsOf(std::mt19937_64 &random) {
  return 1 + static_cast<int64_t>(random() % kMostRows);
}
int64_t numRowsOf(uint64_t number) {
  std::mt19937_64 random(number);
  return numRowsOf(random);
}

using Results = std::vector<Interpreter::Result>;

class Run {
public:
  explicit Run(MLIRContext &context) : context(context) {
    for (const char *text : kPipelines)
      add(text, 0);
    for (int64_t numRows = 1; numRows <= kMostRows; ++numRows) {
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
  void fail(uint64_t number, const std::string &pipeline,
            const std::string &what) {
    ++failures;
    llvm::outs() << "seed " << number << ", " << pipeline << ": " << what
                 << "\n";
  }

  MLIRContext &context;
  std::vector<Row> rows;
  uint64_t failures = 0;
};

} // namespace

/// Whether a pass said what it does not do, which is no failure: cut fewer ops
/// than there are stages, give a size to a cache whose length in a call or a
/// turn nobody says, follow a recipe that no matrix fits.
static bool isRefusal(StringRef errors) {
  constexpr StringLiteral refusals[] = {"which do not make",
                                        "tokens its cache holds before",
                                        "as the recipe says", "comes too late"};
  return llvm::any_of(refusals,
                      [&](StringRef each) { return errors.contains(each); });
}

FailureOr<Results> Run::evaluate(ModuleOp module, uint64_t number) {
  mllm::SubGraphOp entry = mllm::entrySubGraph(module);
  if (!entry)
    return module.emitError("has no entry any more");
  std::mt19937_64 random(number);
  const int64_t rowsOfDynamic = numRowsOf(random);
  std::vector<InterpreterValue> arguments;
  for (Type type : entry.getArgumentTypes()) {
    reference::Shape shape;
    for (int64_t size : cast<RankedTensorType>(type).getShape())
      shape.push_back(ShapedType::isDynamic(size) ? rowsOfDynamic : size);
    reference::Tensor tensor(reference::ElementKind::F32, shape);
    for (double &value : tensor.data) // Exact in f32.
      value =
          static_cast<double>(static_cast<int64_t>(random() % 4001) - 2000) /
          1024;
    arguments.push_back(tensor);
  }
  InterpreterOptions options;
  options.parameter = makeRandomParameters(number);
  return Interpreter(options).run(entry, arguments);
}

void Run::check(uint64_t number) {
  const std::string text = property::generateGraph(number);
  std::string errors;
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
    if (row.changed == 0 && count >= 200)
      fail(0, row.text, "has changed no model");
  }
  return failures;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv,
                              "Random models through the passes of mllm\n");
  if (print) {
    llvm::outs() << property::generateGraph(seed);
    return 0;
  }
  DialectRegistry registry;
  registerAllLLMIRDialects(registry);
  registerAllPasses();
  registerAllLLMIRPasses();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  const auto start = std::chrono::steady_clock::now();
  Run run(context);
  for (uint64_t i = 0; i < count; ++i)
    run.check(seed + i);
  const uint64_t failures = run.finish();
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  llvm::outs() << count << " models, " << failures << " failures, "
               << llvm::format("%.1f", seconds.count()) << " s\n";
  return failures > 0;
}

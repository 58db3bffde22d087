//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --run-xnnpack: runs a model on XNNPACK and compares it with the reference.
//
//===----------------------------------------------------------------------===//

#include "llmir/Interpreter/Translation.h"
#include "llmir/Dialect/Check/Check.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/Transforms/Specialize.h"
#include "llmir/Export/RunOnXNNPACK.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Tools/mlir-translate/Translation.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace llmir;
using namespace ::mllm::ir;

namespace {

struct CommandLine {
  llvm::cl::list<int64_t> steps{
      "xnnpack-steps", llvm::cl::CommaSeparated,
      llvm::cl::desc("Tokens of each step of one conversation (default: one "
                     "step of --export-tokens)")};
  llvm::cl::opt<std::string> weights{
      "xnnpack-weights", llvm::cl::value_desc("checkpoint"),
      llvm::cl::desc("Directory or GGUF file with the parameters (default: "
                     "random values)")};
  llvm::cl::opt<int> threads{"xnnpack-threads",
                             llvm::cl::desc("Threads of XNNPACK"),
                             llvm::cl::init(1)};
  llvm::cl::opt<double> bound{
      "xnnpack-bound",
      llvm::cl::desc("Fail if the NMSE to the reference is greater"),
      llvm::cl::init(1e-9)};
};

/// Reads each parameter once.
class Parameters {
public:
  Parameters(std::optional<Checkpoint> &checkpoint, uint64_t seed)
      : checkpoint(checkpoint), random(makeRandomParameters(seed)) {}

  /// Descriptions of parameters from the graph, to read them from a checkpoint.
  void learn(const Graph &graph) {
    for (const GraphParameter &parameter : graph.parameters)
      described.try_emplace(parameter.name, parameter);
  }

  FailureOr<InterpreterValue> read(llmir::mllm::RegisterOp op) {
    auto found = known.find(op.getSymName());
    if (found != known.end())
      return found->second;
    FailureOr<InterpreterValue> value = checkpoint ? stored(op) : random(op);
    if (succeeded(value))
      known.try_emplace(op.getSymName(), *value);
    return value;
  }

private:
  FailureOr<InterpreterValue> stored(llmir::mllm::RegisterOp op) {
    auto found = described.find(op.getSymName());
    if (found == described.end()) // Ops in regions are not in the graph.
      return op.emitOpError("is a parameter used only in a region, which is "
                            "not read from a checkpoint"),
             failure();
    const GraphParameter &parameter = found->second;
    Expected<std::vector<float>> numbers =
        readParameter(parameterReaderOf(*checkpoint), parameter);
    if (!numbers)
      return op.emitOpError() << numbers.status().message(), failure();
    return InterpreterValue(
        reference::Tensor(reference::ElementKind::F32, parameter.shape,
                          {numbers->begin(), numbers->end()}));
  }

  std::optional<Checkpoint> &checkpoint;
  std::function<FailureOr<InterpreterValue>(llmir::mllm::RegisterOp)> random;
  llvm::StringMap<GraphParameter> described;
  llvm::StringMap<InterpreterValue> known;
};

} // namespace

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Rows of the embedding table that the value indexes; 0: none.
static int64_t rowsLookedUp(const Graph &graph, const GraphValue *value) {
  for (const GraphOp *op : opsOf(graph))
    if (op->kind == "embedding" && op->operands[0] == value)
      return op->parameter("weight")->shape[0];
  return 0;
}

/// Random inputs of one step, in the ranges of the model's arguments, or within
/// the rows of an embedding.
static FailureOr<std::vector<reference::Tensor>>
makeInputs(FunctionOpInterface model, const Graph &graph, uint64_t seed) {
  Builder builder(model.getContext());
  std::vector<reference::Tensor> inputs;
  for (auto [i, value] : llvm::enumerate(graph.inputs())) {
    NamedAttrList attributes(model.getArgAttrDict(i));
    SmallVector<int64_t> shape;
    for (const shapes::DimExpr &size : value->shape)
      shape.push_back(size.constant().value_or(ShapedType::kDynamic));
    const StringRef range = check::CheckDialect::getRangeAttrName();
    if (int64_t rows = rowsLookedUp(graph, value);
        rows && !attributes.get(range))
      attributes.set(range, builder.getDenseI64ArrayAttr({0, rows}));
    auto type = RankedTensorType::get(
        shape,
        cast<RankedTensorType>(model.getArgumentTypes()[i]).getElementType());
    FailureOr<InterpreterValue> made = makeArgument(
        [&, i = i] { return model.emitError() << "argument " << i << ": "; },
        type, attributes.getDictionary(model.getContext()), seed * 1000003 + i);
    if (failed(made))
      return failure();
    inputs.push_back(std::get<reference::Tensor>(std::move(*made)));
  }
  return inputs;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static void printShare(const XNNPACKModel &model, int64_t past,
                       raw_ostream &output) {
  const int64_t tokens = model.graph().costTokens;
  const ExportCoverage &share = model.coverage();
  output << "xnnpack, " << tokens << " tokens after " << past << ": "
         << share.supportedOps << " of " << share.ops << " ops, "
         << llvm::format("%.1f", share.flops ? 100.0 * share.supportedFlops /
                                                   share.flops
                                             : 100.0)
         << " % of " << share.flops << " floating-point operations, in "
         << model.numParts() << " parts of " << model.numSubgraphs()
         << " subgraphs\n";
  for (const auto &[reason, count] : share.reasons)
    output << "  left to the reference: " << reason << " (" << count << ")\n";
}

static std::string rounded(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1e", number);
  return text;
}

/// Prints the errors of the results; fails if one exceeds the bound.
static LogicalResult compare(ModuleOp module,
                             const std::vector<reference::Tensor> &results,
                             const std::vector<Interpreter::Result> &expected,
                             double bound, raw_ostream &output) {
  LogicalResult status = success();
  for (size_t i = 0; i < results.size(); ++i) {
    const auto *tensor = std::get_if<reference::Tensor>(&expected[i].value);
    if (!tensor)
      return emitError(module.getLoc()) << "result " << i << " is not a tensor";
    const double error = reference::nmse(results[i], *tensor);
    output << "  result " << i << " of " << tensor->size() << " numbers: NMSE "
           << rounded(error) << "\n";
    if (!(error <= bound))
      status = emitError(module.getLoc())
               << "result " << i << " of XNNPACK has an NMSE of "
               << rounded(error) << " to the reference, more than "
               << rounded(bound);
  }
  return status;
}

static LogicalResult runOnXNNPACK(ModuleOp module, GraphOptions sizes,
                                  const CommandLine &line,
                                  raw_ostream &output) {
  Expected<FunctionOpInterface> root = findModel(module);
  if (!root)
    return emitError(module.getLoc()) << root.status().message();
  std::optional<Checkpoint> checkpoint;
  if (!line.weights.empty()) {
    Expected<Checkpoint> opened = Checkpoint::open(line.weights);
    if (!opened)
      return emitError(module.getLoc()) << opened.status().message();
    checkpoint = std::move(*opened);
  }
  const uint64_t seed = getRunOptions().seed;
  Parameters parameters(checkpoint, seed);
  InterpreterOptions options;
  options.parameter = [&](llmir::mllm::RegisterOp op) {
    return parameters.read(op);
  };

  std::vector<int64_t> steps(line.steps.begin(), line.steps.end());
  if (steps.empty())
    steps.push_back(sizes.tokens);
  int64_t past = 0;
  ModelState state, referenceState;
  for (auto [step, tokens] : llvm::enumerate(steps)) {
    // The sizes of each step differ, since the past grows.
    sizes.tokens = tokens;
    if (past > 0)
      sizes.sizes[llmir::mllm::SizeBinding::kPast.str()] = past;
    Expected<Graph> graph = buildGraph(module, sizes);
    if (!graph)
      return emitError(module.getLoc()) << graph.status().message();
    parameters.learn(*graph);
    auto model =
        XNNPACKModel::build(module, std::move(*graph), options, line.threads);
    if (failed(model))
      return failure();
    printShare(**model, past, output);
    past += tokens;
    auto inputs = makeInputs(*root, (*model)->graph(), seed + step);
    if (failed(inputs))
      return failure();
    auto results = (*model)->run(*inputs, state);
    if (failed(results))
      return failure();
    InterpreterOptions withState = options;
    withState.state = &referenceState;
    auto expected =
        Interpreter(withState).run(*root, {inputs->begin(), inputs->end()});
    if (failed(expected))
      return failure();
    output << "step " << step + 1 << "\n";
    if (failed(compare(module, *results, *expected, line.bound, output)))
      return failure();
  }
  return success();
}

void llmir::registerXNNPACKTranslation() {
  static CommandLine line;
  getRunOptions();
  static TranslateFromMLIRRegistration registration(
      "run-xnnpack",
      "Run the model on XNNPACK, the rest on the reference library, and "
      "compare with the reference",
      [](Operation *op, raw_ostream &output) -> LogicalResult {
        auto module = dyn_cast<ModuleOp>(op);
        if (!module)
          return op->emitError("only a module can be run");
        Expected<GraphOptions> sizes = exportSizesOfCommandLine();
        if (!sizes)
          return emitError(op->getLoc()) << sizes.status().message();
        return runOnXNNPACK(module, *sizes, line, output);
      },
      [](DialectRegistry &registry) {
        registry.insert<llmir::mllm::MLLMDialect, llm::LLMDialect,
                        check::CheckDialect>();
      });
}

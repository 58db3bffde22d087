//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checker.h"

#include "llmir/Interpreter/Interpreter.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::property;

const std::vector<Pipeline> &llmir::property::getPipelines() {
  static const std::vector<Pipeline> pipelines = {
      {"canonicalize", Promise::Canonical},
      {"cse", Promise::Bits},
      {"inline,symbol-dce,canonicalize", Promise::Canonical},
      {"llm-inline-modules,llm-deduplicate-functions", Promise::Bits},
      {"func.func(llm-fold-constants)", Promise::Bits},
      {"func.func(llm-optimize-kv-cache)", Promise::Bits},
      {"func.func(llm-lower-kv-cache-ops)", Promise::Bits},
      {"func.func(llm-optimize-block-size)", Promise::Bits},
      {"func.func(llm-fuse-attention{merge-projections=false})", Promise::Sums},
      {"func.func(llm-fuse-attention)", Promise::Sums},
      {"func.func(llm-fuse-attention,llm-lowering)", Promise::Sums},
      {"func.func(llm-lowering)", Promise::Bits},
      {"func.func(llm-quantize{scheme=int8})", Promise::Sums, false, false,
       "property-round-weights-int8"},
      {"func.func(llm-quantize{scheme=int4:asym})", Promise::Sums, false, false,
       "property-round-weights-int4"},
      {"func.func(llm-quantize{scheme=int4:asym activations=int8})",
       Promise::Int4},
      {"llm-shard{num-ranks=2}", Promise::Sums, false, true},
      {"llm-optimization-pipeline{level=0}", Promise::Bits, true},
      {"llm-optimization-pipeline{level=1}", Promise::Canonical},
      {"llm-optimization-pipeline{level=2}", Promise::Sums},
      {"llm-optimization-pipeline{level=3 lower=false}", Promise::Sums},
      {"llm-optimization-pipeline{level=2 num-ranks=2}", Promise::Sums, false,
       true},
  };
  return pipelines;
}

//===----------------------------------------------------------------------===//
// An incorrect pass, and one that defines the semantics of another
//===----------------------------------------------------------------------===//

namespace {
struct BreakPass : PassWrapper<BreakPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BreakPass)
  StringRef getArgument() const final { return "property-break"; }
  StringRef getDescription() const final {
    return "Turn sums into products, which is wrong";
  }
  void runOnOperation() override {
    getOperation()->walk([](llm::AddOp op) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(
          llm::MulOp::create(builder, op.getLoc(), op.getLhs(), op.getRhs())
              .getResult());
      op.erase();
    });
  }
};

/// The semantics of llm-quantize in terms of other ops: every projection with a
/// weight from outside of the function is computed with the weight after a trip
/// through few bits.
struct RoundWeightsPass : PassWrapper<RoundWeightsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RoundWeightsPass)
  RoundWeightsPass(StringRef argument, int64_t bits, bool symmetric)
      : argument(argument), bits(bits), symmetric(symmetric) {}

  StringRef getArgument() const final { return argument; }
  StringRef getDescription() const final {
    return "Quantize and dequantize the weights of projections";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<llm::LLMDialect>();
  }
  void runOnOperation() override {
    getOperation()->walk([&](llm::LinearOp op) { roundWeight(op); });
  }

  static bool isFromOutside(Value weight) {
    while (auto shard = weight.getDefiningOp<llm::ShardOp>())
      weight = shard.getX();
    Operation *op = weight.getDefiningOp();
    if (op)
      return isa<llm::WeightOp, arith::ConstantOp>(op);
    Block *block = cast<BlockArgument>(weight).getOwner();
    return block->isEntryBlock() && isa<func::FuncOp>(block->getParentOp());
  }

  void roundWeight(llm::LinearOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getWeight().getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() == 0 ||
        !isFromOutside(op.getWeight()))
      return;
    OpBuilder builder(op);
    auto params = llm::QuantParamsOp::create(
        builder, op.getLoc(), op.getWeight(), bits, symmetric, /*axis=*/0,
        /*groupSize=*/-1);
    auto quantized = llm::QuantizeOp::create(
        builder, op.getLoc(), params.getQuantizedType(), op.getWeight(),
        params.getScales(), params.getZeroPoints(), IntegerAttr(), BoolAttr(),
        IntegerAttr(), IntegerAttr());
    // In f32 for all weight types: the matmul does not round it either.
    op.getWeightMutable().assign(llm::DequantizeOp::create(
        builder, op.getLoc(),
        RankedTensorType::get(type.getShape(), builder.getF32Type()), quantized,
        params.getScales(), params.getZeroPoints()));
  }

  StringRef argument;
  int64_t bits;
  bool symmetric;
};
} // namespace

void llmir::property::registerPropertyPasses() {
  PassRegistration<BreakPass>();
  registerPass([] {
    return std::make_unique<RoundWeightsPass>("property-round-weights-int8", 8,
                                              /*symmetric=*/true);
  });
  registerPass([] {
    return std::make_unique<RoundWeightsPass>("property-round-weights-int4", 4,
                                              /*symmetric=*/false);
  });
}

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

struct Checker::State {
  OwningOpRef<ModuleOp> module;
  uint64_t seed;
  std::vector<InterpreterValue> arguments;
  /// What the program means, by the pass that it is taken through first.
  std::map<std::string, std::vector<Interpreter::Result>> results;
  bool isDiscrete = false; ///< A small error may choose another token.
  bool isLinear = true;    ///< Each cache value is used up once.
  bool isDivided = false;  ///< Ranks share the work.
  bool dequantizes = false;
  int numProjections = 0;
};

/// Collects the diagnostics of a scope.
namespace {
class Diagnostics {
public:
  explicit Diagnostics(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            text += diagnostic.str() + "\n";
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

static func::FuncOp getMain(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

/// The arguments for a function: those of the program, a new cache where the
/// cache's type has changed.
static std::vector<InterpreterValue>
argumentsFor(func::FuncOp function, std::vector<InterpreterValue> arguments) {
  for (auto [type, value] : llvm::zip(function.getArgumentTypes(), arguments))
    if (auto cache = dyn_cast<llm::PagedKVCacheType>(type))
      value = makeCache(cache);
  return arguments;
}

/// Evaluates the program as it is, or after the pass `first`; what is wrong
/// with it.
std::optional<std::string> Checker::evaluate(const char *first) {
  OwningOpRef<ModuleOp> module = state->module->clone();
  PassManager passes(module->getContext());
  if (*first &&
      (failed(parsePassPipeline(first, passes)) || failed(passes.run(*module))))
    return "cannot be taken through " + std::string(first);
  func::FuncOp main = getMain(*module);
  if (!main)
    return "no function @main";
  if (state->arguments.empty()) {
    auto arguments = makeArguments(main, state->seed);
    if (failed(arguments))
      return "no arguments";
    state->arguments = std::move(*arguments);
  }
  Interpreter interpreter({makeRandomWeights(state->seed)});
  auto results = interpreter.run(main, state->arguments);
  if (failed(results))
    return "cannot be evaluated";
  state->results[first] = std::move(*results);
  return std::nullopt;
}

Checker::Checker(ModuleOp module, uint64_t seed)
    : state(std::make_unique<State>()) {
  state->module = module.clone();
  state->seed = seed;
  Diagnostics diagnostics(module.getContext());
  problem = evaluate("");
  if (problem) {
    *problem += "\n" + diagnostics.text;
    return;
  }
  module.walk([&](Operation *op) {
    state->isDiscrete |= isa<llm::MoERouteOp, llm::SampleOp>(op);
    state->dequantizes |= isa<llm::DequantizeOp>(op);
    state->numProjections += isa<llm::LinearOp>(op);
    state->isDivided |= op->hasAttr(llm::LLMDialect::getNumRanksAttrName());
  });
  PassManager check(module.getContext());
  check.addNestedPass<func::FuncOp>(llm::createCheckCacheUse());
  state->isLinear = succeeded(check.run(module));
}

Checker::~Checker() = default;

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static double boundOf(Promise promise, reference::ElementKind kind) {
  switch (promise) {
  case Promise::Bits:
  case Promise::Canonical:
    return 0;
  case Promise::Sums:
    return kind == reference::ElementKind::F32 ? 1e-10 : 1e-3;
  case Promise::Int4:
    return 0.2;
  }
  return 0;
}

/// What differs between two results, or nothing.
static std::optional<std::string> compare(const InterpreterValue &before,
                                          const InterpreterValue &after,
                                          Promise promise) {
  auto *expected = std::get_if<reference::Tensor>(&before);
  auto *actual = std::get_if<reference::Tensor>(&after);
  if (promise == Promise::Bits || !expected || !actual) {
    // The contents of caches are only compared through the program.
    if (promise != Promise::Bits || sameBits(before, after))
      return std::nullopt;
    return toString(before) + "\nbecame\n" + toString(after);
  }
  if (promise == Promise::Int4 && expected->size() < 16)
    return std::nullopt;
  const double error = nmse(*actual, *expected);
  const double bound =
      isFloat(expected->kind) ? boundOf(promise, expected->kind) : 0;
  if (error <= bound)
    return std::nullopt;
  return toString(before) + "\nbecame\n" + toString(after) + "\nnmse " +
         std::to_string(error) + ", at most " + std::to_string(bound);
}

/// A pattern's name without its namespaces, which compilers spell differently.
static std::string unqualified(StringRef name) {
  const size_t colons = name.rfind("::");
  return (colons == StringRef::npos ? name : name.substr(colons + 2)).str();
}

/// Counts the patterns of MLIR's canonicalizer, which has no counts.
namespace {
struct Listener : RewriterBase::Listener {
  void notifyPatternEnd(const Pattern &pattern, LogicalResult status) override {
    if (succeeded(status) && isOfLLM(pattern))
      ++counts[unqualified(pattern.getDebugName())];
  }
  /// The root is an op of the dialect.
  static bool isOfLLM(const Pattern &pattern) {
    std::optional<OperationName> root = pattern.getRootKind();
    return root && root->getDialectNamespace() == "llm";
  }
  std::map<std::string, uint64_t> counts;
};
} // namespace

/// All canonicalization patterns of the dialect, with the count 0.
static std::map<std::string, uint64_t>
getCanonicalizations(MLIRContext *context) {
  RewritePatternSet patterns(context);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == "llm")
      name.getCanonicalizationPatterns(patterns, context);
  std::map<std::string, uint64_t> result;
  for (const std::unique_ptr<RewritePattern> &pattern :
       patterns.getNativePatterns())
    result[unqualified(pattern->getDebugName())] = 0;
  return result;
}

/// Runs a pipeline; canonicalize alone with a listener.
static LogicalResult runPipeline(const Pipeline &pipeline, ModuleOp module,
                                 std::map<std::string, uint64_t> &fired) {
  MLIRContext *context = module.getContext();
  PassManager passes(context);
  Listener listener;
  const bool isCanonicalize = StringRef(pipeline.text) == "canonicalize";
  if (isCanonicalize) {
    GreedyRewriteConfig config;
    config.setListener(&listener);
    passes.addPass(createCanonicalizerPass(config));
    static const auto all = getCanonicalizations(context);
    fired.insert(all.begin(), all.end());
  } else if (failed(parsePassPipeline(pipeline.text, passes))) {
    return failure();
  }
  const auto before = llm::getPatternCounts();
  LogicalResult status = passes.run(module);
  for (const auto &[pattern, count] : llm::getPatternCounts()) {
    auto earlier = before.find(pattern);
    if (earlier == before.end())
      fired[unqualified(pattern)] += count;
    else if (count > earlier->second)
      fired[unqualified(pattern)] += count - earlier->second;
  }
  for (const auto &[pattern, count] : listener.counts)
    fired[pattern] += count;
  return status;
}

std::optional<std::string> Checker::check(const Pipeline &pipeline,
                                          Firings &firings) {
  Promise promise = pipeline.promise;
  if (promise == Promise::Canonical)
    promise = state->dequantizes ? Promise::Sums : Promise::Bits;
  if ((state->isDiscrete && promise != Promise::Bits) ||
      (!state->isLinear && pipeline.needsLinearCaches) ||
      (state->isDivided && pipeline.divides) ||
      (promise == Promise::Int4 && state->numProjections > 1))
    return std::nullopt;
  OwningOpRef<ModuleOp> module = state->module->clone();
  Diagnostics diagnostics(module->getContext());
  if (!state->results.count(pipeline.first))
    if (auto difference = evaluate(pipeline.first))
      return *difference + "\n" + diagnostics.text;
  const auto &expected = state->results[pipeline.first];
  std::map<std::string, uint64_t> &fired = firings[pipeline.text];
  const OperationFingerPrint before(*module);
  if (failed(runPipeline(pipeline, *module, fired)))
    return "the pipeline fails\n" + diagnostics.text;
  fired["(programs that changed)"] += OperationFingerPrint(*module) != before;
  func::FuncOp main = getMain(*module);
  if (!main)
    return std::string("@main is gone");
  Interpreter interpreter({makeRandomWeights(state->seed)});
  auto results = interpreter.run(main, argumentsFor(main, state->arguments));
  if (failed(results))
    return "cannot be evaluated any more\n" + diagnostics.text;
  if (results->size() != expected.size())
    return std::string("the number of results has changed");
  for (size_t i = 0; i < results->size(); ++i)
    if (auto difference =
            compare(expected[i].value, (*results)[i].value, promise))
      return "result " + std::to_string(i) + "\n" + *difference;
  return std::nullopt;
}

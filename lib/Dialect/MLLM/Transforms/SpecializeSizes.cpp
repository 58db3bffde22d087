//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mllm-specialize: binds the dynamic sizes of a module, across calls.
//
//===----------------------------------------------------------------------===//

#include "SubGraphs.h"

#include "llmir/Dialect/MLLM/TensorTypes.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"
#include "llmir/Dialect/MLLM/Transforms/Specialize.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <set>

using namespace mlir;
using llmir::shapes::DimExpr;

namespace llmir::mllm {

#define GEN_PASS_DEF_SPECIALIZESIZES
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

/// Maximum call depth, to avoid a stack overflow.
static constexpr int64_t kMaxNestedCalls = 500;

//===----------------------------------------------------------------------===//
// Validation of sizes
//===----------------------------------------------------------------------===//

/// The names of sizes in the module.
static std::set<std::string> sizeNames(ModuleOp module) {
  std::set<std::string> names;
  auto add = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (const DimExpr &size : shapeOf(tensor))
        for (const DimExpr::Term &term : size.terms())
          names.insert(term.first);
  };
  module.walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArgumentTypes(), add);
    if (isa<KVCacheOp>(op))
      names.insert(SizeBinding::kPast.str());
    if (auto dims = op->getAttrOfType<DictionaryAttr>("mllm.dims"))
      for (NamedAttribute dim : dims)
        names.insert(dim.getName().str());
  });
  return names;
}

static LogicalResult checkNames(ModuleOp module, const SizeBinding &sizes) {
  const std::set<std::string> known = sizeNames(module);
  for (const auto &bound : sizes.named)
    if (!known.count(bound.first))
      return module.emitError("has no size called '")
             << bound.first << "'; "
             << (known.empty() ? "there are no named sizes"
                               : "its sizes are " + llvm::join(known, ", "));
  return success();
}

static LogicalResult checkRange(SubGraphOp subgraph, StringRef name,
                                RangeAttr range, int64_t size) {
  if (size >= range.getLeast() && size <= range.getGreatest() &&
      size % range.getMultiple() == 0)
    return success();
  InFlightDiagnostic error = subgraph.emitOpError()
                             << "allows '" << name << "' from "
                             << range.getLeast() << " to "
                             << range.getGreatest();
  if (range.getMultiple() != 1)
    error << " in multiples of " << range.getMultiple();
  return error << ", not " << size;
}

/// Checks the sizes against `mllm.dims`, and removes bound ones from it.
static LogicalResult applyRanges(SubGraphOp subgraph,
                                 const SizeBinding &sizes) {
  auto dims = subgraph->getAttrOfType<DictionaryAttr>("mllm.dims");
  if (!dims)
    return success();
  SmallVector<NamedAttribute> open;
  for (NamedAttribute dim : dims) {
    auto found = sizes.named.find(dim.getName().str());
    auto range = dyn_cast<RangeAttr>(dim.getValue());
    if (found == sizes.named.end() || !range)
      open.push_back(dim);
    else if (failed(checkRange(subgraph, dim.getName(), range, found->second)))
      return failure();
  }
  if (open.empty())
    subgraph->removeAttr("mllm.dims");
  else
    subgraph->setAttr("mllm.dims",
                      DictionaryAttr::get(subgraph.getContext(), open));
  return success();
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

namespace {
class ModuleSpecializer {
public:
  ModuleSpecializer(ModuleOp module, const SizeBinding &sizes, bool isPartial)
      : module(module), sizes(sizes), isPartial(isPartial),
        inference(sizes, /*isStrict=*/true,
                  [this](CallGraphOp call) { return resolve(call); }) {}

  LogicalResult run();

private:
  /// The key of a version of a subgraph: argument types, and the growth of its
  /// caches before and after it.
  struct Version {
    SubGraphOp subgraph;
    CacheGrowth before, behind;
  };
  /// The versions of a subgraph.
  struct Versions {
    OwningOpRef<SubGraphOp> pristine; ///< The unmodified original.
    std::set<int64_t> layers;         ///< Layers to whose caches it appends.
    std::vector<Version> made;
    bool isActive = false;
  };

  LogicalResult specializeRoots();
  LogicalResult specializeWhole(SubGraphOp subgraph);
  SubGraphOp resolve(CallGraphOp call);
  CacheGrowth growthOf(const std::set<int64_t> &layers);
  bool fits(const Version &made, CallGraphOp call);
  SubGraphOp make(Versions &versions, SubGraphOp original, TypeRange types);
  SubGraphOp copy(SubGraphOp pristine, SubGraphOp after);
  LogicalResult checkInput(Value input);
  LogicalResult checkClosed(SubGraphOp subgraph);
  void canonicalize();

  ModuleOp module;
  const SizeBinding &sizes;
  bool isPartial;
  SizeInference inference;
  llvm::MapVector<StringAttr, Versions> versions; ///< By original name.
  DenseMap<StringAttr, StringAttr> originOf;      ///< Original of a version.
  int64_t depth = 0;
};
} // namespace

/// Explains how to specify the first dynamic size of a type.
static void explainOpenSize(InFlightDiagnostic &error, RankedTensorType type,
                            StringRef otherwise) {
  for (const DimExpr &size : shapeOf(type))
    if (!size.terms().empty()) {
      const std::string &name = size.terms().front().first;
      error << "; specify its size '" << name << "' with sizes=" << name
            << "=NUMBER";
      return;
    }
  error << otherwise;
}

LogicalResult ModuleSpecializer::checkInput(Value input) {
  RankedTensorType type = tensorType(input);
  if (isPartial || type.hasStaticShape())
    return success();
  InFlightDiagnostic error = emitError(input.getLoc(), "an input has the type ")
                             << type;
  explainOpenSize(error, type,
                  "; specify its unnamed sizes with sizes=?=NUMBER");
  return error;
}

LogicalResult ModuleSpecializer::checkClosed(SubGraphOp subgraph) {
  WalkResult walk = subgraph.walk<WalkOrder::PreOrder>([&](Operation *op) {
    SmallVector<Value> values(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(values, block.getArguments());
    for (Value value : values) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || type.hasStaticShape())
        continue;
      InFlightDiagnostic error = op->emitOpError("has a value of type ")
                                 << type;
      explainOpenSize(
          error, type,
          isa<KVCacheOp>(op) && !sizes.past
              ? "; specify the initial number of tokens in its cache with "
                "sizes=past=NUMBER"
              : ", whose size is known only at run time or overflows");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

/// Creates a version with a new name.
SubGraphOp ModuleSpecializer::copy(SubGraphOp pristine, SubGraphOp after) {
  SubGraphOp made = pristine.clone();
  OpBuilder builder(module.getContext());
  std::string name;
  for (int64_t number = 1;; ++number) {
    name = (pristine.getSymName() + "." + Twine(number)).str();
    if (!SymbolTable::lookupSymbolIn(module, name))
      break;
  }
  made.setSymName(name);
  made.removeEntryAttr();
  builder.setInsertionPointAfter(after);
  builder.insert(made);
  SymbolTable::setSymbolVisibility(made, SymbolTable::Visibility::Private);
  originOf[made.getSymNameAttr()] = pristine.getSymNameAttr();
  return made;
}

/// The growth of the caches of these layers so far.
CacheGrowth ModuleSpecializer::growthOf(const std::set<int64_t> &layers) {
  CacheGrowth growth;
  for (int64_t layer : layers)
    growth[layer] = inference.growth()[layer];
  return growth;
}

bool ModuleSpecializer::fits(const Version &made, CallGraphOp call) {
  for (const auto &entry : made.before) {
    // All unknown values are equivalent: sizes stay dynamic.
    const DimExpr &now = inference.growth()[entry.first];
    if (now.isKnown() != entry.second.isKnown() ||
        (now.isKnown() && now != entry.second))
      return false;
  }
  return TypeRange(SubGraphOp(made.subgraph).getArgumentTypes()) ==
         call.getOperands().getTypes();
}

SubGraphOp ModuleSpecializer::make(Versions &own, SubGraphOp original,
                                   TypeRange types) {
  SubGraphOp made = original;
  if (own.made.empty()) {
    own.layers = cachedLayers(original);
    own.pristine = original.clone();
  } else {
    made = copy(*own.pristine, own.made.back().subgraph);
  }
  // The table of versions may grow here.
  StringAttr name = own.pristine->getSymNameAttr();
  own.made.push_back({made, growthOf(own.layers), {}});
  own.isActive = true;
  Block &body = made.getBody().front();
  for (auto [argument, type] : llvm::zip_equal(body.getArguments(), types))
    inference.setType(argument, cast<RankedTensorType>(type));
  ++depth;
  LogicalResult result = inference.inferBlock(body);
  --depth;
  Versions &done = versions[name];
  done.isActive = false;
  if (failed(result))
    return nullptr;
  done.made.back().behind = growthOf(done.layers);
  made.setFunctionType(
      FunctionType::get(module.getContext(), body.getArgumentTypes(),
                        body.getTerminator()->getOperandTypes()));
  return made;
}

SubGraphOp ModuleSpecializer::resolve(CallGraphOp call) {
  StringAttr name = call.getCalleeAttr().getAttr();
  if (StringAttr origin = originOf.lookup(name))
    name = origin;
  auto original = module.lookupSymbol<SubGraphOp>(name);
  auto refuse = [&](const Twine &why) {
    call.emitOpError() << "calls @" << name.getValue() << ", which " << why;
    return SubGraphOp();
  };
  if (original.getBody().empty())
    return refuse("has no body; link the module that defines it first");
  Versions &own = versions[name];
  for (const Version &made : own.made)
    if (!own.isActive && fits(made, call)) {
      for (const auto &entry : made.behind)
        inference.growth()[entry.first] = entry.second;
      return made.subgraph;
    }
  if (own.isActive)
    return refuse("is recursive, so that its sizes are unbounded");
  if (depth == kMaxNestedCalls)
    return refuse("is called in more than " + Twine(kMaxNestedCalls) +
                  " nested calls; inline some of them");
  return make(own, original, call.getOperands().getTypes());
}

/// Specializes a subgraph without callers for its own arguments.
LogicalResult ModuleSpecializer::specializeWhole(SubGraphOp subgraph) {
  Versions &own = versions[subgraph.getSymNameAttr()];
  if (!own.made.empty() || subgraph.getBody().empty())
    return success();
  inference.growth().clear(); // Starts with empty caches.
  SmallVector<Type> types;
  for (Type type : subgraph.getArgumentTypes())
    types.push_back(sizes.bindInput(cast<RankedTensorType>(type)));
  return success(make(own, subgraph, types) != nullptr);
}

LogicalResult ModuleSpecializer::specializeRoots() {
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    if (auto input = dyn_cast<InputOp>(op)) {
      inference.setType(input.getResult(),
                        sizes.bindInput(tensorType(input.getResult())));
      if (failed(checkInput(input.getResult())))
        return failure();
    } else if (auto call = dyn_cast<CallGraphOp>(op)) {
      if (failed(inference.inferOp(call)))
        return failure();
    }
  }
  auto specialize = [&](SubGraphOp subgraph) -> LogicalResult {
    for (BlockArgument argument : subgraph.getBody().getArguments()) {
      // Report missing sizes before inference.
      RankedTensorType declared = tensorType(argument);
      argument.setType(sizes.bindInput(declared));
      LogicalResult checked = checkInput(argument);
      argument.setType(declared);
      if (failed(checked))
        return failure();
    }
    return specializeWhole(subgraph);
  };
  if (SubGraphOp entry = entrySubGraph(module))
    return versions[entry.getSymNameAttr()].made.empty() ? specialize(entry)
                                                         : success();
  if (!versions.empty())
    return success();
  for (auto subgraph : llvm::to_vector(module.getOps<SubGraphOp>()))
    if (subgraph.isPublic() && !subgraph.getBody().empty() &&
        failed(specialize(subgraph)))
      return failure();
  return success();
}

/// Apply the canonicalization patterns of the dialect, which fold newly static
/// ops.
void ModuleSpecializer::canonicalize() {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (isa<MLLMDialect>(op.getDialect()))
      op.getCanonicalizationPatterns(patterns, context);
  FrozenRewritePatternSet frozen(std::move(patterns));
  for (auto &[name, own] : versions)
    for (Version &made : own.made)
      // Non-convergence is not an error, as in MLIR's canonicalizer.
      (void)applyPatternsGreedily(made.subgraph, frozen);
}

LogicalResult ModuleSpecializer::run() {
  if (failed(checkNames(module, sizes)))
    return failure();
  for (auto subgraph : module.getOps<SubGraphOp>())
    if (failed(applyRanges(subgraph, sizes)))
      return failure();
  if (failed(specializeRoots()))
    return failure();
  // Also bind unreachable subgraphs as far as possible.
  const size_t reached = versions.size();
  for (auto subgraph : llvm::to_vector(module.getOps<SubGraphOp>()))
    if (!originOf.count(subgraph.getSymNameAttr()) &&
        failed(specializeWhole(subgraph)))
      return failure();
  // Loops try sizes that they later discard.
  llvm::DenseMap<StringAttr, SmallVector<CallGraphOp>> calls =
      callsByCallee(module);
  for (auto &[name, own] : versions)
    llvm::erase_if(own.made, [&](Version &made) {
      StringAttr name = made.subgraph.getSymNameAttr();
      const bool isUnused = originOf.count(name) && calls.lookup(name).empty();
      if (isUnused)
        made.subgraph.erase();
      return isUnused;
    });
  canonicalize();
  if (!isPartial)
    for (auto &[name, own] :
         llvm::ArrayRef(versions.getArrayRef()).take_front(reached))
      for (const Version &made : own.made)
        if (failed(checkClosed(made.subgraph)))
          return failure();
  return success();
}

LogicalResult specializeSizes(ModuleOp module, const SizeBinding &sizes,
                              bool isPartial) {
  return ModuleSpecializer(module, sizes, isPartial).run();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct SpecializeSizesPass : impl::SpecializeSizesBase<SpecializeSizesPass> {
  using SpecializeSizesBase::SpecializeSizesBase;

  void runOnOperation() override {
    FailureOr<SizeBinding> binding = SizeBinding::parse(getOperation(), sizes);
    if (failed(binding) ||
        failed(specializeSizes(getOperation(), *binding, partial)))
      signalPassFailure();
  }
};
} // namespace

} // namespace llmir::mllm

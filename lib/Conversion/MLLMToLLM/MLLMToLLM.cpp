//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -convert-mllm-to-llm: each subgraph becomes a function on the llm dialect.
//
//===----------------------------------------------------------------------===//

#include "llmir/Conversion/MLLMToLLM.h"

#include "PrepareStep.h"
#include "QuantizedWeights.h"
#include "SubGraphNeeds.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace llmir {
#define GEN_PASS_DEF_CONVERTMLLMTOLLM
#include "llmir/Conversion/Passes.h.inc"
} // namespace llmir

using namespace mlir;
using namespace llmir;

namespace {

constexpr StringLiteral stepName = "step";

/// tensor<?x…xi32> of `rank`.
RankedTensorType getIndexTensor(MLIRContext *context, unsigned rank) {
  SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
  return RankedTensorType::get(shape, IntegerType::get(context, 32));
}

RankedTensorType getPieceType(MLIRContext *context, unsigned piece) {
  bool isTable = BatchPiece(piece) == BatchPiece::BlockTables;
  return getIndexTensor(context, isTable ? 2 : 1);
}

StringRef getPieceName(unsigned piece) {
  static constexpr StringLiteral names[numBatchPieces] = {
      "positions", "query_offsets", "seq_lens", "slot_mapping", "block_tables"};
  return names[piece];
}

/// What a data value becomes: a ragged batch has any number of tokens, and the
/// runtime's token ids are i32.
RankedTensorType convertDataType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  if (!shape.empty())
    shape.front() = ShapedType::kDynamic;
  Type element = tensor.getElementType();
  if (isa<IntegerType>(element))
    element = IntegerType::get(type.getContext(), 32);
  return RankedTensorType::get(shape, element);
}

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

/// What all functions of the module share.
struct ModuleState {
  SymbolTable &symbols;
  const NeedsMap &needs;
  llm::PagedKVCacheType cacheType;

  Type getWeightType(StringAttr name) const {
    return symbols.lookup<mllm::RegisterOp>(name).getType();
  }
};

/// Makes one function and holds the values that stand for the subgraph's
/// surroundings in it.
class FunctionConverter {
public:
  FunctionConverter(const ModuleState &state, mllm::SubGraphOp source)
      : state(state), source(source), needs(state.needs.find(source)->second),
        builder(source), context(source.getContext()) {}

  /// The private function of a subgraph. `isLayer`: one of the functions that
  /// are a layer as a whole.
  void convertSubGraph(bool isLayer);
  /// The public function @step of the entry.
  func::FuncOp convertEntry();

private:
  Value addArgument(Type type, Twine name);
  void finish(ArrayRef<Value> results);
  SmallVector<Value> convertBody();
  void convertOp(Operation &op);
  Value convertPureOp(Operation &op);
  void convertCall(mllm::CallGraphOp op);
  Value convertView(mllm::ViewOp op);
  Value getLayer(Location loc, int64_t layer);
  Value getWeight(FlatSymbolRefAttr name) {
    return weights.lookup(name.getAttr());
  }
  Value getPiece(BatchPiece piece) { return batch[unsigned(piece)]; }

  const ModuleState &state;
  mllm::SubGraphOp source;
  const SubGraphNeeds &needs;
  OpBuilder builder;
  MLIRContext *context;
  func::FuncOp function;

  IRMapping values;
  Value batch[numBatchPieces];
  Value cache; ///< As the last op so far has left it.
  Value layerArgument;
  DenseMap<StringAttr, Value> weights;
};

/// Adds an argument whose name is kept in its location, for readers of
/// diagnostics and dumps.
Value FunctionConverter::addArgument(Type type, Twine name) {
  Location loc = NameLoc::get(StringAttr::get(context, name), source.getLoc());
  return function.getBody().front().addArgument(type, loc);
}

void FunctionConverter::convertSubGraph(bool isLayer) {
  function = func::FuncOp::create(builder, source.getLoc(), source.getSymName(),
                                  builder.getFunctionType({}, {}));
  function.setPrivate();
  if (isLayer)
    function->setAttr(llm::LLMDialect::getLayerAttrName(),
                      builder.getUnitAttr());
  builder.setInsertionPointToStart(function.addEntryBlock());

  for (BlockArgument argument : source.getBody().getArguments())
    values.map(argument,
               function.getBody().front().addArgument(
                   convertDataType(argument.getType()), argument.getLoc()));
  for (unsigned piece = 0; piece < numBatchPieces; ++piece)
    if (needs.batch[piece])
      batch[piece] =
          addArgument(getPieceType(context, piece), getPieceName(piece));
  if (needs.touchesCache())
    cache = addArgument(state.cacheType, "cache");
  if (needs.takesLayer())
    layerArgument = addArgument(builder.getIndexType(), "layer");
  for (StringAttr name : needs.weights)
    weights[name] = addArgument(state.getWeightType(name), name.getValue());

  SmallVector<Value> results = convertBody();
  if (needs.touchesCache())
    results.push_back(cache);
  finish(results);
}

func::FuncOp FunctionConverter::convertEntry() {
  function = func::FuncOp::create(builder, source.getLoc(), stepName,
                                  builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());

  values.map(source.getBody().getArgument(0),
             addArgument(getIndexTensor(context, 1), "token_ids"));
  for (unsigned piece = 0; piece < numBatchPieces; ++piece)
    batch[piece] =
        addArgument(getPieceType(context, piece), getPieceName(piece));
  Value logitRows = addArgument(getIndexTensor(context, 1), "logit_rows");
  cache = addArgument(state.cacheType, "cache");
  for (StringAttr name : needs.weights)
    weights[name] = llm::WeightOp::create(
        builder, state.symbols.lookup(name)->getLoc(),
        state.getWeightType(name), FlatSymbolRefAttr::get(name));

  SmallVector<Value> results = convertBody();
  Value logits = llm::SelectRowsOp::create(builder, source.getLoc(),
                                           results.front(), logitRows);
  finish({logits, cache});
  return function;
}

/// Ends the body and gives the function the type that it has come to have.
void FunctionConverter::finish(ArrayRef<Value> results) {
  func::ReturnOp::create(builder, source.getLoc(), results);
  function.setFunctionType(builder.getFunctionType(
      function.getBody().getArgumentTypes(), ValueRange(results).getTypes()));
}

/// Converts all ops; gives what the subgraph returns.
SmallVector<Value> FunctionConverter::convertBody() {
  Block &body = source.getBody().front();
  for (Operation &op : body.without_terminator())
    convertOp(op);
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return values.lookup(value); });
}

/// The layer number in this function: its own argument, or a constant.
Value FunctionConverter::getLayer(Location loc, int64_t layer) {
  if (layerArgument)
    return layerArgument;
  return arith::ConstantIndexOp::create(builder, loc, layer);
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

/// Converts an op with one data result; null for the other ops.
Value FunctionConverter::convertPureOp(Operation &op) {
  Location loc = op.getLoc();
  auto get = [&](Value value) { return values.lookup(value); };

  return TypeSwitch<Operation *, Value>(&op)
      .Case([&](mllm::EmbeddingOp op) {
        return llm::EmbeddingOp::create(builder, loc, get(op.getIds()),
                                        getWeight(op.getWeightAttr()));
      })
      .Case([&](mllm::LinearOp op) {
        FlatSymbolRefAttr bias = op.getBiasAttr();
        // What the annotation says has been checked.
        return *createAnnotatedProduct(builder, op, get(op.getX()),
                                       getWeight(op.getWeightAttr()),
                                       bias ? getWeight(bias) : Value());
      })
      .Case([&](mllm::RMSNormOp op) {
        return llm::RMSNormOp::create(builder, loc, get(op.getX()),
                                      getWeight(op.getWeightAttr()),
                                      op.getEpsAttr());
      })
      .Case([&](mllm::LayerNormOp op) {
        auto weight = [&](FlatSymbolRefAttr name) {
          return name ? getWeight(name) : Value();
        };
        Value x = get(op.getX());
        return llm::LayerNormOp::create(
            builder, loc, x.getType(), x, weight(op.getWeightAttr()),
            weight(op.getBiasAttr()), op.getEpsAttr());
      })
      .Case([&](mllm::PositionsOp) { return getPiece(BatchPiece::Positions); })
      .Case([&](mllm::RoPEOp op) {
        return llm::RopeOp::create(
            builder, loc, get(op.getX()), getPiece(BatchPiece::Positions),
            op.getFrequenciesAttr(), op.getScalingAttr());
      })
      .Case([&](mllm::FlashAttention2Op op) {
        Value layer = getLayer(loc, getCacheOp(op).getLayer());
        return llm::PagedAttentionOp::create(
            builder, loc, get(op.getQ()), cache,
            getPiece(BatchPiece::BlockTables), getPiece(BatchPiece::SeqLens),
            getPiece(BatchPiece::QueryOffsets), layer, op.getScaleAttr(),
            op.getCausal());
      })
      .Case([&](mllm::SiLUOp op) {
        return llm::SiluOp::create(builder, loc, get(op.getX()));
      })
      .Case([&](mllm::GELUOp op) {
        Value x = get(op.getX());
        return llm::GeluOp::create(builder, loc, x.getType(), x,
                                   op.getApproximateAttr());
      })
      .Case([&](mllm::AddOp op) {
        return llm::AddOp::create(builder, loc, get(op.getLhs()),
                                  get(op.getRhs()));
      })
      .Case([&](mllm::MulOp op) {
        return llm::MulOp::create(builder, loc, get(op.getLhs()),
                                  get(op.getRhs()));
      })
      .Case([&](mllm::ViewOp op) { return convertView(op); })
      .Default(Value());
}

/// Which kinds of ops there are has been checked when needs were collected.
void FunctionConverter::convertOp(Operation &op) {
  if (auto call = dyn_cast<mllm::CallGraphOp>(op))
    return convertCall(call);
  if (auto append = dyn_cast<mllm::KVCacheOp>(op)) {
    Value layer = getLayer(op.getLoc(), append.getLayer());
    cache = llm::AppendKVOp::create(builder, op.getLoc(), cache,
                                    values.lookup(append.getK()),
                                    values.lookup(append.getV()),
                                    getPiece(BatchPiece::SlotMapping), layer)
                .getUpdatedCache();
    return;
  }
  values.map(op.getResult(0), convertPureOp(op));
}

/// The operands are in the order in which convertSubGraph makes arguments.
void FunctionConverter::convertCall(mllm::CallGraphOp op) {
  auto callee = state.symbols.lookup<mllm::SubGraphOp>(op.getCallee());
  const SubGraphNeeds &inner = state.needs.find(callee)->second;

  SmallVector<Value> operands = llvm::map_to_vector(
      op.getOperands(), [&](Value value) { return values.lookup(value); });
  for (unsigned piece = 0; piece < numBatchPieces; ++piece)
    if (inner.batch[piece])
      operands.push_back(batch[piece]);
  if (inner.touchesCache())
    operands.push_back(cache);
  if (inner.takesLayer())
    operands.push_back(getLayer(op.getLoc(), inner.layers.front()));
  for (StringAttr name : inner.weights)
    operands.push_back(weights.lookup(name));

  SmallVector<Type> types =
      llvm::map_to_vector(op.getResultTypes(), [](Type type) -> Type {
        return convertDataType(type);
      });
  if (inner.touchesCache())
    types.push_back(state.cacheType);
  auto call = func::CallOp::create(builder, op.getLoc(), op.getCallee(), types,
                                   operands);
  values.map(op.getResults(), call.getResults().take_front(op.getNumResults()));
  if (inner.touchesCache())
    cache = call.getResults().back();
}

/// The same values with other sizes after the first: all of a token's numbers
/// in one dimension, and that divided anew.
Value FunctionConverter::convertView(mllm::ViewOp op) {
  Location loc = op.getLoc();
  Value value = values.lookup(op.getX());
  auto from = cast<RankedTensorType>(value.getType());
  RankedTensorType to = convertDataType(op.getType());
  if (from == to)
    return value;

  /// [[0], [1, …, rank - 1]], or all in one where there is no second.
  auto group = [](int64_t rank, bool withFirst) {
    SmallVector<ReassociationIndices> groups(withFirst ? 1 : 2);
    for (int64_t dim = 0; dim < rank; ++dim)
      groups[withFirst || dim == 0 ? 0 : 1].push_back(dim);
    return groups;
  };
  int64_t rowRank = std::min<int64_t>({2, from.getRank(), to.getRank()});
  if (from.getRank() > rowRank) {
    value = tensor::CollapseShapeOp::create(
        builder, loc, value, group(from.getRank(), rowRank == 1));
    from = cast<RankedTensorType>(value.getType());
  }
  if (to.getRank() > rowRank)
    value = tensor::ExpandShapeOp::create(builder, loc, to, value,
                                          group(to.getRank(), rowRank == 1));
  return value;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The functions that are a layer as a whole: they take a layer number from a
/// caller that has none.
SetVector<mllm::SubGraphOp> findLayers(const NeedsMap &needs,
                                       SymbolTable &symbols) {
  SetVector<mllm::SubGraphOp> layers;
  for (const auto &entry : needs) {
    mllm::SubGraphOp caller = entry.first;
    if (entry.second.takesLayer() && !caller.getEntry())
      continue;
    for (auto call : caller.getBody().getOps<mllm::CallGraphOp>()) {
      auto callee = symbols.lookup<mllm::SubGraphOp>(call.getCallee());
      if (needs.find(callee)->second.takesLayer())
        layers.insert(callee);
    }
  }
  return layers;
}

LogicalResult checkEntry(mllm::SubGraphOp entry, SymbolTable &symbols) {
  ArrayRef<Type> inputs = entry.getArgumentTypes();
  ArrayRef<Type> results = entry.getResultTypes();
  if (inputs.size() != 1 || !mllm::isTokenIds(inputs[0]) ||
      results.size() != 1 || !mllm::isF32TensorOfRank(results[0], 2))
    return entry.emitOpError()
           << "is the entry, so it must be (token ids [tokens]) -> (logits "
              "[tokens, vocabulary]), not "
           << entry.getFunctionType();
  Operation *taken = symbols.lookup(stepName);
  if (!taken || taken == entry)
    return success();
  InFlightDiagnostic diag = entry.emitOpError()
                            << "becomes @" << stepName << ", but that is taken";
  diag.attachNote(taken->getLoc()) << "taken here";
  return diag;
}

struct ConvertMLLMToLLMPass
    : llmir::impl::ConvertMLLMToLLMBase<ConvertMLLMToLLMPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module.getOps<mllm::SubGraphOp>().empty())
      return;
    if (failed(form == "function" ? convertToFunctions(module)
                                  : convert(module)))
      signalPassFailure();
  }

private:
  LogicalResult convertToFunctions(ModuleOp module) {
    for (auto subgraph : module.getOps<mllm::SubGraphOp>())
      if (subgraph.isExternal())
        return refuseWithoutBody(subgraph);
    if (failed(storeQuantizedWeights(module)))
      return failure();
    subgraphsConverted += llvm::range_size(module.getOps<mllm::SubGraphOp>());
    makeFunctionsOfSubGraphs(module);
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(lowerMLLMOps(function)))
        return failure();
    return success();
  }

  LogicalResult convert(ModuleOp module) {
    if (form != "step")
      return module.emitError("form must be step or function, not '")
             << form << "'";
    FailureOr<mllm::SubGraphOp> prepared = prepareStep(module);
    if (failed(prepared))
      return failure();
    mllm::SubGraphOp entry = *prepared;
    SymbolTable symbols(module);
    FailureOr<mllm::ModelFacts> facts = mllm::ModelFacts::read(module);
    if (failed(facts) || failed(checkEntry(entry, symbols)) ||
        failed(storeQuantizedWeights(module)))
      return failure();
    FailureOr<NeedsMap> needs = collectNeeds(entry, *facts, symbols);
    FailureOr<llm::PagedKVCacheType> cacheType = getCacheType(*facts);
    if (failed(needs) || failed(cacheType))
      return failure();

    SetVector<mllm::SubGraphOp> layers = findLayers(*needs, symbols);
    ModuleState state{symbols, *needs, *cacheType};
    func::FuncOp step;
    for (const auto &needed : *needs) {
      mllm::SubGraphOp subgraph = needed.first;
      FunctionConverter converter(state, subgraph);
      if (subgraph == entry)
        step = converter.convertEntry();
      else
        converter.convertSubGraph(layers.contains(subgraph));
      ++subgraphsConverted;
    }
    // Subgraphs that the entry does not reach are part of no step.
    for (auto subgraph :
         llvm::make_early_inc_range(module.getOps<mllm::SubGraphOp>()))
      subgraph.erase();
    return raiseSelectRows(step);
  }

  FailureOr<llm::PagedKVCacheType> getCacheType(const mllm::ModelFacts &facts) {
    Type element = llvm::StringSwitch<Type>(kvElementType)
                       .Case("f32", Float32Type::get(&getContext()))
                       .Case("f16", Float16Type::get(&getContext()))
                       .Case("bf16", BFloat16Type::get(&getContext()))
                       .Case("q8", IntegerType::get(&getContext(), 8))
                       .Default(Type());
    Location loc = getOperation().getLoc();
    if (!element)
      return emitError(loc)
             << "kv-element-type must be f32, f16, bf16 or q8, not '"
             << kvElementType << "'";
    int64_t maxSeqLen = contextLength;
    if (maxSeqLen == 0)
      maxSeqLen = facts.contextLength;
    auto type = llm::PagedKVCacheType::getChecked(
        [&] { return emitError(loc); }, &getContext(), element, facts.numLayers,
        facts.numKVHeads, facts.headDim, int64_t(blockSize), maxSeqLen);
    if (!type)
      return failure();
    return type;
  }

  /// Moves select_rows from the logits up to where rows begin to mix.
  LogicalResult raiseSelectRows(func::FuncOp step) {
    RewritePatternSet patterns(&getContext());
    llm::SelectRowsOp::getCanonicalizationPatterns(patterns, &getContext());
    return applyPatternsGreedily(step, std::move(patterns));
  }
};

} // namespace

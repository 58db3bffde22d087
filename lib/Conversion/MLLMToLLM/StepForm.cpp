//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepForm.h"

#include "OpLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace llmir {

/// tensor<?x…xi32> of `rank`.
static RankedTensorType getIndexTensor(MLIRContext *context, unsigned rank) {
  SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
  return RankedTensorType::get(shape, IntegerType::get(context, 32));
}

static RankedTensorType getPieceType(MLIRContext *context, unsigned piece) {
  bool isTable = BatchPiece(piece) == BatchPiece::BlockTables;
  return getIndexTensor(context, isTable ? 2 : 1);
}

static StringRef getPieceName(unsigned piece) {
  static constexpr StringLiteral names[numBatchPieces] = {
      "positions",    "query_offsets", "seq_lens",
      "slot_mapping", "block_tables",  "state_slots"};
  return names[piece];
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Adds an argument with a name location, for diagnostics and dumps.
Value StepFunction::addArgument(Type type, Twine name) {
  Location loc = NameLoc::get(StringAttr::get(context, name), source.getLoc());
  return function.getBody().front().addArgument(type, loc);
}

/// Between functions, ids are i32, as in the runtime.
RankedTensorType StepFunction::argumentType(Value value) const {
  RankedTensorType type = module.tokens.stepType(value);
  if (type.getElementType().isInteger(64) && module.tokens.of(value))
    return type.clone(IntegerType::get(context, 32));
  return type;
}

void StepFunction::createPrivate(bool isLayer) {
  function = func::FuncOp::create(builder, source.getLoc(), source.getSymName(),
                                  builder.getFunctionType({}, {}));
  function.setPrivate();
  if (isLayer)
    function->setAttr(llm::LLMDialect::getLayerAttrName(),
                      builder.getUnitAttr());
  builder.setInsertionPointToStart(function.addEntryBlock());

  SmallVector<Value> arguments;
  for (BlockArgument argument : source.getBody().getArguments())
    arguments.push_back(function.getBody().front().addArgument(
        argumentType(argument), argument.getLoc()));
  for (unsigned piece = 0; piece < numBatchPieces; ++piece)
    if (needs.batch[piece])
      batch[piece] =
          addArgument(getPieceType(context, piece), getPieceName(piece));
  if (needs.touchesCache())
    cache = addArgument(module.cacheType, "cache");
  if (needs.takesLayer())
    layerArgument = addArgument(builder.getIndexType(), "layer");
  for (StringAttr name : needs.weights)
    weights[name] = addArgument(module.weightType(name), name.getValue());
  cloneBody(arguments);
}

void StepFunction::createEntry() {
  function = func::FuncOp::create(builder, source.getLoc(), kStepName,
                                  builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());

  Value ids = addArgument(getIndexTensor(context, 1), "token_ids");
  for (unsigned piece = 0; piece < numBatchPieces; ++piece)
    if (needs.batch[piece] || BatchPiece(piece) != BatchPiece::StateSlots)
      batch[piece] =
          addArgument(getPieceType(context, piece), getPieceName(piece));
  logitRows = addArgument(getIndexTensor(context, 1), "logit_rows");
  cache = addArgument(module.cacheType, "cache");
  for (StringAttr name : needs.weights)
    weights[name] = llm::WeightOp::create(
        builder, module.symbols.lookup(name)->getLoc(), module.weightType(name),
        FlatSymbolRefAttr::get(name));
  cloneBody(ids);
}

void StepFunction::cloneBody(ArrayRef<Value> arguments) {
  IRMapping values;
  Block &body = source.getBody().front();
  for (auto [own, argument] : llvm::zip_equal(body.getArguments(), arguments)) {
    ImplicitLocOpBuilder b(own.getLoc(), builder);
    Type element = cast<RankedTensorType>(own.getType()).getElementType();
    values.map(own, widen(b, argument, element));
  }
  for (Operation &op : body) {
    Operation *clone = builder.clone(op, values);
    for (auto [from, to] :
         llvm::zip_equal(op.getResults(), clone->getResults()))
      to.setType(module.tokens.stepType(from));
  }
}

/// Erases unused ops, such as extensions of ids, and cache ops that have been
/// lowered to appends.
static void eraseUnusedOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op) || isa<mllm::KVCacheOp>(op))
      op.erase();
}

LogicalResult StepFunction::lowerOps() {
  Block &body = function.getBody().front();
  if (failed(lowerMLLMOps(function, this)))
    return failure();
  auto end = cast<mllm::ReturnOp>(body.getTerminator());
  SmallVector<Value> results(end.getOperands());
  OpBuilder b(end);
  Value result = source.getBody().front().getTerminator()->getOperand(0);
  if (logitRows && !module.tokens.isPooled(result))
    results.front() = selectRows(b, source.getLoc(), results.front());
  if (needs.touchesCache() || logitRows)
    results.push_back(cache);
  for (auto [result, value] : llvm::zip(
           results, source.getBody().front().getTerminator()->getOperands())) {
    if (Value ids = narrow(result))
      result = ids;
    if (!logitRows && result.getType() != argumentType(value))
      return end.emitOpError("returns computed elements of type ")
             << getElementTypeOrSelf(result.getType())
             << " for each token; between subgraphs of a step, integers must "
                "be i32 or token ids";
  }
  func::ReturnOp::create(b, source.getLoc(), results);
  end.erase();
  eraseUnusedOps(body);
  function.setFunctionType(FunctionType::get(context, body.getArgumentTypes(),
                                             ValueRange(results).getTypes()));
  return success();
}

//===----------------------------------------------------------------------===//
// Used by lowerings
//===----------------------------------------------------------------------===//

Value StepFunction::layer(ImplicitLocOpBuilder &b, int64_t layer) const {
  if (layerArgument)
    return layerArgument;
  return arith::ConstantIndexOp::create(b, layer);
}

Value StepFunction::selectRows(OpBuilder &b, Location loc, Value x) {
  Value rows = llm::SelectRowsOp::create(b, loc, x, logitRows);
  selected.insert(rows);
  return rows;
}

Value StepFunction::meanRows(OpBuilder &b, Location loc, Value x) {
  Value rows =
      llm::MeanRowsOp::create(b, loc, x, piece(BatchPiece::QueryOffsets));
  selected.insert(rows);
  return rows;
}

bool StepFunction::hasSelectedRows(Operation *op) const {
  return llvm::any_of(op->getOperands(),
                      [&](Value x) { return selected.contains(x); });
}

Value StepFunction::numRows(Operation *op) {
  if (!hasSelectedRows(op))
    return numTokens();
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  if (!selectedCount)
    selectedCount = tensor::DimOp::create(b, logitRows.getLoc(), logitRows, 0);
  return selectedCount;
}

void StepFunction::replaced(Operation *op, ValueRange values) {
  if (hasSelectedRows(op))
    selected.insert(values.begin(), values.end());
}

Value StepFunction::numTokens() {
  if (tokenCount)
    return tokenCount;
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    // The arrays of the batch with an element per token.
    bool hasTokens = argument == piece(BatchPiece::Positions) ||
                     argument == piece(BatchPiece::SlotMapping) ||
                     argument.getArgNumber() < source.getNumArguments();
    if (!type || !hasTokens)
      continue;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d)) {
        tokenCount = tensor::DimOp::create(b, argument.getLoc(), argument, d);
        return tokenCount;
      }
  }
  llvm_unreachable("one of the arguments has the token dimension");
}

Value StepFunction::widen(ImplicitLocOpBuilder &b, Value ids, Type element) {
  auto type = cast<RankedTensorType>(ids.getType());
  if (type.getElementType() == element)
    return ids;
  SmallVector<Value> sizes;
  if (!type.hasStaticShape())
    sizes.push_back(numTokens());
  auto wide = type.clone(element);
  Value empty = tensor::EmptyOp::create(b, wide, sizes);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  Value result =
      linalg::GenericOp::create(
          b, wide, ids, empty, ArrayRef<AffineMap>{identity, identity}, loops,
          [&](OpBuilder &b, Location loc, ValueRange x) {
            linalg::YieldOp::create(
                b, loc,
                arith::ExtSIOp::create(b, loc, element, x[0]).getResult());
          })
          .getResult(0);
  narrowIds[result] = ids;
  return result;
}

/// The operands are in the order of the arguments in createPrivate.
LogicalResult StepFunction::lowerCall(mllm::CallGraphOp call) {
  auto callee = module.symbols.lookup<mllm::SubGraphOp>(call.getCallee());
  const SubGraphNeeds &inner = module.needsOf(callee);
  ImplicitLocOpBuilder b(call.getLoc(), call);

  SmallVector<Value> operands;
  for (auto [operand, argument] :
       llvm::zip_equal(call.getOperands(), callee.getBody().getArguments())) {
    Value ids = narrow(operand);
    operands.push_back(ids ? ids : operand);
    if (operands.back().getType() != argumentType(argument))
      return call.emitOpError("passes computed elements of type ")
             << getElementTypeOrSelf(operand.getType())
             << " for each token; between subgraphs of a step, integers must "
                "be i32 or token ids";
  }
  for (unsigned piece = 0; piece < numBatchPieces; ++piece)
    if (inner.batch[piece])
      operands.push_back(batch[piece]);
  if (inner.touchesCache())
    operands.push_back(cache);
  if (inner.takesLayer())
    operands.push_back(layer(b, *inner.layerNumber()));
  for (StringAttr name : inner.weights)
    operands.push_back(weights.lookup(name));

  Operation *end = callee.getBody().front().getTerminator();
  SmallVector<Type> types =
      llvm::map_to_vector(end->getOperands(), [&](Value value) -> Type {
        return argumentType(value);
      });
  if (inner.touchesCache())
    types.push_back(module.cacheType);
  auto made = func::CallOp::create(b, call.getCallee(), types, operands);
  for (auto [result, value] : llvm::zip(call.getResults(), made.getResults())) {
    Type element = getElementTypeOrSelf(result.getType());
    result.replaceAllUsesWith(widen(b, value, element));
  }
  call.erase();
  if (inner.touchesCache())
    cache = made.getResults().back();
  return success();
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules for the token dimension, op by op.
//
//===----------------------------------------------------------------------===//

#include "TokenDimensions.h"

#include "SubGraphNeeds.h"
#include "llmir/Conversion/Dimensions.h"
#include "llmir/Dialect/MLLM/MLLMExpertOps.h"
#include "llmir/Dialect/MLLM/MLLMStateOps.h"
#include "llmir/Dialect/MLLM/Pooling.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

namespace {

/// The token dimension of a value, or none; failure if tokens are combined.
using Dim = std::optional<int64_t>;
using Rule = FailureOr<Dim>;

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}
int64_t rankOf(Value value) { return typeOf(value).getRank(); }

/// Whether the range of a dimension of the op's first operand is all of it.
template <typename OpTy> bool isWhole(OpTy op, int64_t dim) {
  int64_t end = op.getEnds()[dim];
  return op.getStarts()[dim] == 0 && op.getSteps()[dim] == 1 &&
         (end == INT64_MIN || end == INT64_MAX ||
          end == typeOf(op.getX()).getDimSize(dim));
}

/// The rules for one op, whose operands have valid token dimensions.
class TokenRules {
public:
  TokenRules(const TokenDimensions &tokens, Operation *op)
      : tokens(tokens), op(op) {}

  /// The token dimension of the results, which is the same for all of them.
  Rule apply();

private:
  Dim of(Value value) const { return tokens.of(value); }
  static int64_t place(int64_t dim, Value value) {
    return dimOf(dim, rankOf(value));
  }

  /// Operands that are broadcast to the result: token dimensions have the same
  /// distance from the end, and operands that are the same for all tokens have
  /// size 1 there.
  Rule broadcast(ValueRange operands) const;
  /// The same dimension; fails if the op combines elements along it (`dim`).
  Rule keepUnless(Value x, int64_t dim) const;
  /// The same dimension; fails if it is among the last `count` ones.
  Rule keepBefore(Value x, int64_t count) const;
  Rule permute(Value x, ArrayRef<int64_t> axes) const;
  Rule reshape(Value x, Value result) const;
  Rule reduce(Value x, std::optional<int64_t> dim, bool keepDim) const;
  Rule join(ValueRange parts, int64_t dim) const;
  Rule stack(StackOp stack) const;
  Rule slice(SliceOp slice) const;
  Rule pad(PadOp pad) const;
  Rule gather(GatherOp gather) const;
  Rule scatter(ScatterOp scatter) const;
  Rule index(IndexOp index) const;
  Rule matmul(MatMulOp matmul) const;
  /// Each token of x is rotated by its own row of the tables, [tokens, pairs]
  /// or [planes, tokens, pairs].
  Rule rotate(Value x, StringRef layout, ValueRange tables) const;
  /// Queries of tokens, over the cache; other operands have no tokens.
  Rule attend(Value q, ValueRange others = {}) const;
  /// Ops that treat the first dimension as a batch.
  Rule keepBatch(Value x) const;

  const TokenDimensions &tokens;
  Operation *op;
};

Rule TokenRules::broadcast(ValueRange operands) const {
  int64_t rank = rankOf(op->getResult(0));
  Dim result;
  for (Value operand : operands) {
    Dim own = of(operand);
    if (!own)
      continue;
    int64_t d = *own + rank - rankOf(operand);
    if (result && *result != d)
      return failure();
    result = d;
  }
  if (!result)
    return result;
  for (Value operand : operands) {
    int64_t d = *result - (rank - rankOf(operand));
    if (!of(operand) && d >= 0 && typeOf(operand).getDimSize(d) != 1)
      return failure();
  }
  return result;
}

Rule TokenRules::keepUnless(Value x, int64_t dim) const {
  Dim own = of(x);
  if (own && *own == place(dim, x))
    return failure();
  return own;
}

Rule TokenRules::keepBefore(Value x, int64_t count) const {
  Dim own = of(x);
  if (own && *own >= rankOf(x) - count)
    return failure();
  return own;
}

Rule TokenRules::permute(Value x, ArrayRef<int64_t> axes) const {
  Dim own = of(x);
  for (auto [to, from] : llvm::enumerate(axes))
    if (own && place(from, x) == *own)
      return Dim(to);
  return own;
}

/// The numbers of elements before and after the token dimension are preserved,
/// so each token keeps its elements.
Rule TokenRules::reshape(Value x, Value result) const {
  Dim own = of(x);
  if (!own)
    return own;
  auto sizeBefore = [](const shapes::Shape &shape, int64_t dim) {
    shapes::DimExpr size = 1;
    for (int64_t d = 0; d < dim; ++d)
      size = size * shape[d];
    return size;
  };
  auto sizeAfter = [](const shapes::Shape &shape, int64_t dim) {
    shapes::DimExpr size = 1;
    for (int64_t d = dim + 1; d < static_cast<int64_t>(shape.size()); ++d)
      size = size * shape[d];
    return size;
  };
  shapes::Shape from = shapeOf(x), to = shapeOf(result);
  shapes::DimExpr before = sizeBefore(from, *own),
                  after = sizeAfter(from, *own);
  for (int64_t d = 0; d < rankOf(result); ++d)
    if (sizeBefore(to, d) == before && sizeAfter(to, d) == after &&
        to[d] != shapes::DimExpr(1) &&
        to[d].isConstant() == from[*own].isConstant() &&
        shapes::DimExpr::mayEqual(to[d], from[*own]))
      return Dim(d);
  return failure();
}

Rule TokenRules::reduce(Value x, std::optional<int64_t> dim,
                        bool keepDim) const {
  Dim own = of(x);
  if (!own)
    return own;
  if (!dim || place(*dim, x) == *own)
    return failure();
  bool isBefore = place(*dim, x) < *own;
  return Dim(*own - (isBefore && !keepDim));
}

Rule TokenRules::join(ValueRange parts, int64_t dim) const {
  Dim first = of(parts.front());
  for (Value part : parts)
    if (of(part) != first)
      return failure();
  return keepUnless(parts.front(), dim);
}

Rule TokenRules::stack(StackOp stack) const {
  Dim first = of(stack.getParts().front());
  for (Value part : stack.getParts())
    if (of(part) != first)
      return failure();
  if (!first)
    return first;
  return Dim(*first + (place(stack.getDim(), stack.getResult()) <= *first));
}

Rule TokenRules::slice(SliceOp slice) const {
  Dim own = of(slice.getX());
  if (own && typeOf(slice.getResult()).getDimSize(*own) == 0)
    return Dim(); // Without elements.
  return !own || isWhole(slice, *own) ? Rule(own) : Rule(failure());
}

Rule TokenRules::pad(PadOp pad) const {
  Dim own = of(pad.getX());
  if (own && (pad.getLow()[*own] != 0 || pad.getHigh()[*own] != 0))
    return failure();
  return own;
}

Rule TokenRules::gather(GatherOp gather) const {
  int64_t dim = place(gather.getDim(), gather.getTable());
  Dim table = of(gather.getTable()), indices = of(gather.getIndices());
  if (indices)
    return table ? Rule(failure()) : Rule(Dim(dim + *indices));
  if (!table || *table < dim)
    return table;
  if (*table == dim)
    return failure();
  return Dim(*table - 1 + rankOf(gather.getIndices()));
}

Rule TokenRules::scatter(ScatterOp scatter) const {
  Dim own = of(scatter.getX());
  for (Value operand : {scatter.getIndices(), scatter.getSource()})
    if (of(operand) != own)
      return failure();
  return keepUnless(scatter.getX(), scatter.getDim());
}

Rule TokenRules::index(IndexOp index) const {
  ArrayRef<int64_t> chosen = index.getDims();
  int64_t numIndices = 0;
  for (Value indices : index.getIndices())
    numIndices = std::max(numIndices, rankOf(indices));
  Dim byIndices;
  for (Value indices : index.getIndices())
    if (Dim own = of(indices)) {
      int64_t d = *own + numIndices - rankOf(indices);
      if (byIndices && *byIndices != d)
        return failure();
      byIndices = d;
    }
  // Operands without tokens are the same for all of them.
  for (Value indices : index.getIndices())
    if (byIndices && !of(indices)) {
      int64_t d = *byIndices - (numIndices - rankOf(indices));
      if (d >= 0 && typeOf(indices).getDimSize(d) != 1)
        return failure();
    }
  bool adjacent = chosen.empty() || chosen.back() - chosen.front() + 1 ==
                                        static_cast<int64_t>(chosen.size());
  int64_t at = chosen.empty() || !adjacent ? 0 : chosen.front();
  Dim own = of(index.getX());
  if (!own)
    return byIndices ? Rule(Dim(at + *byIndices)) : Rule(own);
  if (byIndices || llvm::is_contained(chosen, *own) || !isWhole(index, *own))
    return failure();
  int64_t kept = *own;
  for (int64_t d : chosen)
    kept -= d < *own;
  return Dim(kept + (kept >= at ? numIndices : 0));
}

Rule TokenRules::matmul(MatMulOp matmul) const {
  int64_t rank = rankOf(matmul.getResult());
  auto side = [&](Value x, bool transposed, bool isLeft) -> Rule {
    Dim own = of(x);
    if (!own)
      return own;
    int64_t fromEnd = rankOf(x) - *own; // 1: the last dimension.
    if (fromEnd > 2)
      return Dim(rank - fromEnd);
    bool isRow = (fromEnd == 2) != transposed;
    if (isRow != isLeft)
      return failure(); // The sum is over tokens.
    return Dim(isLeft ? rank - 2 : rank - 1);
  };
  Rule left = side(matmul.getLhs(), matmul.getTransposeA(), true);
  Rule right = side(matmul.getRhs(), matmul.getTransposeB(), false);
  if (failed(left) || failed(right) || (*left && *right && *left != *right))
    return failure();
  // An operand that is the same for all tokens must not have one matrix per
  // token.
  Dim result = *left ? *left : *right;
  if (result && *result < rank - 2)
    for (Value operand : {matmul.getLhs(), matmul.getRhs()}) {
      int64_t d = *result - (rank - rankOf(operand));
      if (!of(operand) && d >= 0 && typeOf(operand).getDimSize(d) != 1)
        return failure();
    }
  return result;
}

Rule TokenRules::rotate(Value x, StringRef layout, ValueRange tables) const {
  for (Value table : tables)
    if (of(table) != rankOf(table) - 2)
      return failure();
  int64_t dim = rankOf(x) - (layout == "bhsd" ? 2 : 3);
  return of(x) == dim ? Rule(Dim(dim)) : Rule(failure());
}

Rule TokenRules::attend(Value q, ValueRange others) const {
  for (Value other : others)
    if (of(other))
      return failure();
  return of(q) == 0 ? Rule(Dim(0)) : Rule(failure());
}

Rule TokenRules::keepBatch(Value x) const {
  Dim own = of(x);
  if (own && *own != 0)
    return failure();
  return own;
}

Rule TokenRules::apply() {
  return TypeSwitch<Operation *, Rule>(op)
      .Case<AddOp, SubOp, MulOp, DivOp, NegOp, AbsOp, LogOp, ExpOp, SinOp,
            CosOp, SiLUOp, QuickGELUOp, GELUOp, SigmoidOp, ReLUOp, ClipOp,
            EqualOp, CompareOp, LogicalAndOp, LogicalOrOp, LogicalNotOp,
            WhereOp, CastTypeOp, ContiguousOp, CloneOp, X2XOp>(
          [&](Operation *) { return broadcast(op->getOperands()); })
      .Case([&](FillOp fill) -> Rule {
        // The number of elements depends on other sequences.
        bool counts = fill.getKind() == FillKind::Arange ||
                      fill.getKind() == FillKind::Random;
        return counts && of(fill.getX()) ? Rule(failure())
                                         : Rule(of(fill.getX()));
      })
      .Case([&](CopyOp copy) { return Rule(of(copy.getSrc())); })
      .Case([&](EmbeddingOp embedding) { return Rule(of(embedding.getIds())); })
      .Case([&](PositionsOp) { return Rule(of(op->getOperand(0))); })
      .Case<LinearOp, RMSNormOp>(
          [&](auto each) { return keepBefore(each.getX(), 1); })
      .Case([&](HeadLinearOp each) { return keepBefore(each.getX(), 2); })
      .Case([&](ExpertsOp experts) -> Rule {
        for (Value operand : {experts.getChosen(), experts.getWeights()})
          if (of(operand) != of(experts.getX()))
            return failure();
        return keepBefore(experts.getX(), 1);
      })
      .Case([&](LayerNormOp norm) {
        return keepBefore(norm.getX(), norm.getNormalizedShape().size());
      })
      .Case([&](LayerNorm2DOp norm) { return keepBatch(norm.getX()); })
      .Case([&](SoftmaxOp softmax) {
        return keepUnless(softmax.getX(), softmax.getAxis());
      })
      .Case<ViewOp, ReshapeOp>(
          [&](auto each) { return reshape(each.getX(), each.getResult()); })
      .Case([&](TransposeOp transpose) {
        SmallVector<int64_t> axes =
            llvm::to_vector(llvm::seq<int64_t>(0, rankOf(transpose.getX())));
        std::swap(axes[place(transpose.getDim0(), transpose.getX())],
                  axes[place(transpose.getDim1(), transpose.getX())]);
        return permute(transpose.getX(), axes);
      })
      .Case(
          [&](PermuteOp each) { return permute(each.getX(), each.getAxes()); })
      .Case([&](SplitOp split) {
        return keepUnless(split.getX(), split.getDim());
      })
      .Case([&](ConcatOp concat) {
        return join(concat.getParts(), concat.getDim());
      })
      .Case([&](StackOp each) { return stack(each); })
      .Case([&](RepeatOp repeat) {
        return keepUnless(repeat.getX(), repeat.getDim());
      })
      .Case([&](SliceOp each) { return slice(each); })
      .Case([&](PadOp each) { return pad(each); })
      .Case<ReduceMaxOp, ReduceMinOp, ReduceSumOp, MeanOp>([&](auto each) {
        return reduce(each.getX(), each.getDim(), each.getKeepDim());
      })
      .Case<TopKOp, ArgsortOp>(
          [&](auto each) { return keepUnless(each.getX(), each.getDim()); })
      .Case([&](GatherOp each) { return gather(each); })
      .Case([&](ScatterOp each) { return scatter(each); })
      .Case([&](IndexOp each) { return index(each); })
      .Case([&](MatMulOp each) { return matmul(each); })
      .Case<Conv1DOp, Conv2DOp, Conv3DOp, InterpolateOp>(
          [&](auto each) { return keepBatch(each.getX()); })
      .Case([&](RoPEOp each) {
        return rotate(each.getX(), each.getLayout(), each.getTables());
      })
      .Case([&](MultimodalRoPEOp each) {
        return rotate(each.getX(), each.getLayout(),
                      {each.getSin(), each.getCos()});
      })
      .Case([&](FlashAttention2Op each) { return attend(each.getQ()); })
      .Case([&](FlashAttention2SwaSinkOp each) {
        return attend(each.getQ(), each->getOperands().drop_front(3));
      })
      .Case([&](CausalConvOp each) {
        return attend(each.getX(), each.getWeight());
      })
      .Case([&](LinearAttentionOp each) -> Rule {
        for (Value operand : each->getOperands())
          if (of(operand) != 0)
            return failure();
        return Dim(0);
      })
      .Default([](Operation *) { return failure(); });
}

} // namespace

/// Whether the result is the same for all tokens for any rule.
static bool hasNoTokens(const TokenDimensions &tokens, Operation *op) {
  return isa<MLLMDialect>(op->getDialect()) && op->getNumRegions() == 0 &&
         llvm::none_of(op->getOperands(),
                       [&](Value value) { return tokens.of(value); });
}

static LogicalResult refuseTokens(Operation *op) {
  InFlightDiagnostic error = op->emitOpError();
  if (!isa<MLLMDialect>(op->getDialect()))
    return error << "has no counterpart in the llm dialect";
  if (op->getNumRegions() != 0)
    return error << "is control flow, which is not supported in a step";
  if (isa<RoPEOp, MultimodalRoPEOp>(op))
    return error << "requires tables with a row for each token of the step, "
                    "computed from mllm.linalg.positions";
  error << "combines different tokens, which a step supports only in attention "
           "over the cache";
  if (isa<CausalMaskOp, MatMulOp, SoftmaxOp, TransposeOp>(op))
    error << "; mllm-fuse-attention does not recognize it as part of explicit "
             "attention";
  return error;
}

LogicalResult TokenDimensions::checkSizes(Value value) const {
  Dim tokens = of(value);
  for (auto [d, size] : llvm::enumerate(typeOf(value).getShape()))
    if (ShapedType::isDynamic(size) && static_cast<int64_t>(d) != tokens)
      return emitError(value.getLoc(), "a value has the type ")
             << value.getType() << ", whose size " << d
             << " is dynamic; in a step, only the number of tokens may be";
  return success();
}

RankedTensorType TokenDimensions::stepType(Value value) const {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape());
  if (Dim tokens = of(value))
    shape[*tokens] = ShapedType::kDynamic;
  return RankedTensorType::get(shape, type.getElementType());
}

LogicalResult TokenDimensions::visitCall(CallGraphOp call) {
  if (llvm::any_of(call.getOperands(), [&](Value x) { return isPooled(x); }))
    return call.emitOpError("passes the pooled rows of sequences to a "
                            "subgraph; in a step, they must remain in the "
                            "entry");
  auto callee = symbols.lookup<SubGraphOp>(call.getCallee());
  if (callee.isExternal())
    return refuseWithoutBody(callee);
  Block &body = callee.getBody().front();
  bool isNew = !visited.contains(callee);
  for (auto [operand, argument] :
       llvm::zip_equal(call.getOperands(), body.getArguments())) {
    if (isNew && of(operand))
      dims[argument] = *of(operand);
    if (of(argument) != of(operand))
      return call.emitOpError("has its tokens in a different dimension than "
                              "another call of @")
             << call.getCallee();
  }
  if (isNew && failed(visit(callee)))
    return failure();
  for (auto [result, value] :
       llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    if (Dim dim = of(value)) {
      dims[result] = *dim;
      if (isPooled(value))
        return call.emitOpError("pools the tokens of sequences in a subgraph; "
                                "in a step, only the entry may");
    }
  return success();
}

/// The rows of sequences are not those of tokens.
static LogicalResult refusePooled(Operation *op) {
  return op->emitOpError("combines the pooled rows of sequences with the rows "
                         "of tokens, or reads them as tokens");
}

LogicalResult TokenDimensions::visitRows(Operation *op) {
  if (poolsTokens(op) && of(op->getOperand(0)) == 0) {
    if (isPooled(op->getOperand(0)))
      return refusePooled(op);
    dims[op->getResult(0)] = 0;
    pooled.insert(op->getResult(0));
    return success();
  }
  Rule rule = TokenRules(*this, op).apply();
  if (failed(rule))
    return refuseTokens(op);
  if (!*rule)
    return success();
  bool arePooled =
      llvm::any_of(op->getOperands(), [&](Value x) { return isPooled(x); });
  for (Value operand : op->getOperands())
    if (arePooled && of(operand) && !isPooled(operand))
      return refusePooled(op);
  if (arePooled && isa<PositionsOp, RoPEOp, MultimodalRoPEOp, FlashAttention2Op,
                       FlashAttention2SwaSinkOp>(op))
    return refusePooled(op);
  for (Value result : op->getResults()) {
    dims[result] = **rule;
    if (arePooled)
      pooled.insert(result);
  }
  return success();
}

LogicalResult TokenDimensions::visit(Operation *op) {
  if (isa<ReturnOp>(op))
    return success();
  if (auto call = dyn_cast<CallGraphOp>(op))
    return visitCall(call);
  // The results of a cache op are all keys and values; collectNeeds checks
  // their uses.
  if (auto cache = dyn_cast<KVCacheOp>(op)) {
    bool areTokens = of(cache.getK()) == 0 && of(cache.getV()) == 0 &&
                     !isPooled(cache.getK()) && !isPooled(cache.getV());
    return areTokens || onlyReads(cache) ? success() : refuseTokens(op);
  }
  if (isa<FreeOp, CommentOp>(op)) // No computation.
    return success();
  if (!hasNoTokens(*this, op) && failed(visitRows(op)))
    return failure();
  for (Value result : op->getResults())
    if (failed(checkSizes(result)))
      return failure();
  return success();
}

LogicalResult TokenDimensions::visit(SubGraphOp subgraph) {
  visited.insert(subgraph);
  for (Operation &op : subgraph.getBody().front())
    if (failed(visit(&op)))
      return failure();
  return success();
}

FailureOr<TokenDimensions> TokenDimensions::compute(SubGraphOp entry,
                                                    SymbolTable &symbols) {
  TokenDimensions tokens(symbols);
  tokens.dims[entry.getArgument(0)] = 0;
  if (failed(tokens.visit(entry)))
    return failure();
  Operation *end = entry.getBody().front().getTerminator();
  if (tokens.of(end->getOperand(0)) != 0)
    return end->emitOpError("must return logits with one row per token, or "
                            "one row per sequence");
  return tokens;
}

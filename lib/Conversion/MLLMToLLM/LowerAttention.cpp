//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions, caches and attention. A function starts with empty caches: the
// first token has position 0, and all keys are new.
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"

#include "llmir/Dialect/MLLM/MLLMCFOps.h"
#include "llmir/Dialect/MLLM/MLLMLinalgOps.h"
#include "llmir/Reference/Positions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

/// [sequences, tokens, heads, head size]
static SmallVector<int64_t> withSequences(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape);
  if (result.size() == 3)
    result.insert(result.begin(), 1);
  return result;
}

/// 0, 1, … for the tokens of each sequence.
static Value positions(OpLowering &l, int64_t sequences, int64_t tokens) {
  SmallVector<int32_t> numbers;
  for (int64_t s = 0; s < sequences; ++s)
    for (int64_t t = 0; t < tokens; ++t)
      numbers.push_back(static_cast<int32_t>(t));
  auto type = RankedTensorType::get({sequences * tokens}, l.b().getI32Type());
  return l.constant(DenseElementsAttr::get(type, ArrayRef(numbers)));
}

static LogicalResult lower(OpLowering &l, mllm::PositionsOp op) {
  RankedTensorType type = l.resultType();
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    numbers.push_back(i % type.getShape().back());
  return l.replace(l.constant(DenseElementsAttr::get(type, ArrayRef(numbers))));
}

//===----------------------------------------------------------------------===//
// Rotation
//===----------------------------------------------------------------------===//

/// Exchanges tokens and heads of [sequences, tokens, heads, head size].
static Value exchangeHeads(OpLowering &l, Value x) {
  return l.transpose(x, {0, 2, 1, 3});
}

/// Columns [first, first + count) of the last dimension.
static Value columns(OpLowering &l, Value x, int64_t first, int64_t count) {
  SmallVector<int64_t> sizes(OpLowering::type(x).getShape());
  SmallVector<int64_t> offsets(sizes.size(), 0), steps(sizes.size(), 1);
  offsets.back() = first;
  sizes.back() = count;
  return l.slice(x, offsets, sizes, steps);
}

/// Rotates the halves of x [sequences, tokens, heads, head size] by tables
/// [tokens, pairs] or [sequences, tokens, pairs].
static Value rotate(OpLowering &l, Value x, Value sin, Value cos,
                    double scaling) {
  ArrayRef<int64_t> table = OpLowering::type(sin).getShape();
  int64_t pairs = table.back();
  int64_t size = OpLowering::type(x).getShape().back();
  SmallVector<int64_t> perHead(table);
  perHead.insert(perHead.end() - 1,
                 1); // All heads of a token have the same rotation.
  Value s = l.reshape(sin, perHead), c = l.reshape(cos, perHead);
  Value low = columns(l, x, 0, pairs), high = columns(l, x, pairs, pairs);
  auto side = [&](Value own, Value other, bool subtracts) {
    return l.elementwise(
        OpLowering::type(own), {own, other, c, s},
        [&](OpBuilder &b, Location loc, ValueRange n) -> Value {
          Value a = arith::MulFOp::create(b, loc, n[0], n[2]);
          Value d = arith::MulFOp::create(b, loc, n[1], n[3]);
          Value turned = subtracts ? Value(arith::SubFOp::create(b, loc, a, d))
                                   : Value(arith::AddFOp::create(b, loc, a, d));
          Value factor = arith::ConstantOp::create(
              b, loc, b.getF32FloatAttr(static_cast<float>(scaling)));
          return arith::MulFOp::create(b, loc, turned, factor);
        });
  };
  SmallVector<Value> parts{side(low, high, true), side(high, low, false)};
  if (size > 2 * pairs)
    parts.push_back(columns(l, x, 2 * pairs, size - 2 * pairs));
  return l.concat(parts, 3);
}

/// Replaces the op by `rotated` of x [sequences, tokens, heads, head size].
template <typename OpTy>
static LogicalResult
replaceByRotation(OpLowering &l, OpTy op,
                  llvm::function_ref<Value(Value)> rotated) {
  RankedTensorType type = OpLowering::type(op.getX());
  Value x = l.reshape(op.getX(), withSequences(type.getShape()));
  bool headsFirst = op.getLayout() == "bhsd";
  if (headsFirst)
    x = exchangeHeads(l, x);
  x = rotated(x);
  if (headsFirst)
    x = exchangeHeads(l, x);
  return l.replace(l.reshape(x, type.getShape()));
}

LogicalResult lowerRotationByTables(OpLowering &l, mllm::RoPEOp op) {
  return replaceByRotation(l, op, [&](Value x) {
    return rotate(l, x, op.getTables()[0], op.getTables()[1],
                  op.getScaling().convertToDouble());
  });
}

static LogicalResult lower(OpLowering &l, mllm::RoPEOp op) {
  if (!op.getTables().empty())
    return lowerRotationByTables(l, op);
  return replaceByRotation(l, op, [&](Value x) {
    SmallVector<int64_t> shape(OpLowering::type(x).getShape());
    Value heads = l.reshape(x, {shape[0] * shape[1], shape[2], shape[3]});
    Value rotated = ll::RopeOp::create(
        l.b(), heads.getType(), heads, positions(l, shape[0], shape[1]),
        op.getFrequenciesAttr(), op.getScalingAttr());
    return l.reshape(rotated, shape);
  });
}

/// The pairs of each section from its plane.
static Value joinPlanes(OpLowering &l, Value table,
                        ArrayRef<int64_t> sections) {
  ArrayRef<int64_t> shape = OpLowering::type(table).getShape();
  SmallVector<Value> parts;
  int64_t first = 0;
  for (auto [i, pairs] : llvm::enumerate(sections)) {
    if (pairs == 0)
      continue;
    int64_t plane = static_cast<int64_t>(i) % shape[0];
    Value part =
        l.slice(table, {plane, 0, first}, {1, shape[1], pairs}, {1, 1, 1});
    parts.push_back(l.reshape(part, {shape[1], pairs}));
    first += pairs;
  }
  return l.concat(parts, 1);
}

static LogicalResult lower(OpLowering &l, mllm::VisionRoPEOp op) {
  RankedTensorType type = OpLowering::type(op.getX());
  SmallVector<Value> tables(op.getTables());
  if (op.getGrid()) {
    ArrayRef<int64_t> grid = *op.getGrid();
    Expected<reference::RopeTables> known = reference::visionTables(
        {grid[0], grid[1], grid[2],
         static_cast<int64_t>(op.getSpatialMergeSize())},
        type.getShape().back() / 2, op.getTheta().convertToDouble());
    if (!known)
      return l.refuse() << known.status().message();
    tables = {l.constant(known->sines), l.constant(known->cosines)};
  }
  if (OpLowering::type(tables[0]).getShape().back() == 0)
    return l.replace(op.getX());
  Value x = l.reshape(op.getX(), withSequences(type.getShape()));
  return l.replace(
      l.reshape(rotate(l, x, tables[0], tables[1], 1.0), type.getShape()));
}

static LogicalResult lower(OpLowering &l, mllm::MultimodalRoPEOp op) {
  if (OpLowering::type(op.getSin()).getShape().back() == 0)
    return l.replace(op.getX());
  return replaceByRotation(l, op, [&](Value x) {
    return rotate(l, x, joinPlanes(l, op.getSin(), op.getMropeSection()),
                  joinPlanes(l, op.getCos(), op.getMropeSection()), 1.0);
  });
}

//===----------------------------------------------------------------------===//
// Cache and attention
//===----------------------------------------------------------------------===//

/// The outermost function, by call sites, in which the op is executed. Null if
/// the op may be executed more than once in it: in a loop, or by several calls.
static func::FuncOp onlyRoot(Operation *op) {
  llvm::SmallPtrSet<Operation *, 8> passed;
  while (true) {
    // A counted loop becomes one whose condition is after its body.
    if (op->getParentOfType<mllm::WhileOp>() ||
        op->getParentOfType<mllm::ForOp>())
      return {};
    auto function = op->getParentOfType<func::FuncOp>();
    if (!function || !passed.insert(function).second)
      return {};
    auto uses = SymbolTable::getSymbolUses(
        function, function->getParentOfType<ModuleOp>());
    if (!uses || uses->empty())
      return function;
    if (!llvm::hasSingleElement(*uses))
      return {};
    op = uses->begin()->getUser();
  }
}

/// Fails if the contents of an op's cache cannot be determined from its
/// function: it may be executed more than once, or another function adds to the
/// cache.
static LogicalResult checkOwnsCache(OpLowering &l, mllm::KVCacheOp op) {
  func::FuncOp root = onlyRoot(op);
  if (!root)
    return l.refuse()
           << "it may be executed more than once, and each time adds to "
              "its cache; in a function, caches have static sizes";
  auto function = op->getParentOfType<func::FuncOp>();
  WalkResult walk =
      function->getParentOfType<ModuleOp>().walk([&](mllm::KVCacheOp other) {
        bool isShared = other.getLayer() == op.getLayer() &&
                        other->getParentOfType<func::FuncOp>() != function &&
                        onlyRoot(other) == root;
        return isShared ? WalkResult::interrupt() : WalkResult::advance();
      });
  if (walk.wasInterrupted())
    return l.refuse()
           << "another function of the same call tree also adds to the "
              "cache of layer "
           << op.getLayer() << "; only one function may add to a cache";
  return success();
}

/// The contents of the layer's cache after the op.
static LogicalResult lower(OpLowering &l, mllm::KVCacheOp op) {
  if (failed(checkOwnsCache(l, op)))
    return failure();
  int64_t tokens = op.getTokenDim(), heads = op.getHeadDim();
  LoweringState::Cache &cache = l.state.caches[op.getLayer()];
  if (cache.region && !cache.region->isAncestor(op->getParentRegion()))
    return l.refuse()
           << "a preceding branch may have added to the cache of layer "
           << op.getLayer() << "; in a function, caches have static sizes";
  cache.region = op->getParentRegion();
  SmallVector<Value> results;
  for (auto [held, input, result] :
       llvm::zip_equal(cache.held, op.getOperands(), op.getResults())) {
    RankedTensorType to = OpLowering::type(result);
    held = held ? l.concat({held, input}, tokens) : input;
    RankedTensorType all = OpLowering::type(held);
    if (all.getDimSize(tokens) != to.getDimSize(tokens))
      return l.refuse() << "its result has the type " << to
                        << ", but its cache then holds " << all
                        << "; caches are empty when a function starts";
    results.push_back(l.repeat(
        held, heads,
        to.getDimSize(heads) / std::max<int64_t>(all.getDimSize(heads), 1)));
  }
  return l.replace(results);
}

static LogicalResult lower(OpLowering &l, mllm::CausalMaskOp op) {
  RankedTensorType type = l.resultType();
  unsigned rank = static_cast<unsigned>(type.getRank());
  int64_t past = type.getDimSize(rank - 1) - type.getDimSize(rank - 2);
  int64_t window = op.getWindow();
  return l.replace(l.elementwise(
      type, op.getX(), [&](OpBuilder &b, Location loc, ValueRange n) -> Value {
        auto number = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(b, loc, value);
        };
        using P = arith::CmpIPredicate;
        Value row = linalg::IndexOp::create(b, loc, rank - 2);
        Value key = linalg::IndexOp::create(b, loc, rank - 1);
        Value own = arith::AddIOp::create(b, loc, row, number(past));
        Value isSeen = arith::CmpIOp::create(b, loc, P::sle, key, own);
        if (window > 0) {
          Value first = arith::SubIOp::create(b, loc, own, number(window));
          Value isNear = arith::CmpIOp::create(b, loc, P::sgt, key, first);
          isSeen = arith::AndIOp::create(b, loc, isSeen, isNear);
        }
        Value hidden =
            arith::ConstantOp::create(b, loc, b.getF32FloatAttr(-1e10F));
        return arith::SelectOp::create(b, loc, isSeen, n[0], hidden);
      }));
}

namespace {
/// Additional features of the attention ops.
struct AttentionOptions {
  bool causal = true;
  FloatAttr scale = {};
  IntegerAttr window = {};
  Value sinks = {};
  FloatAttr softCap = {};
  bool chunked = false;
};
} // namespace

/// q, k, v and the result are [tokens, heads, head size], with a leading
/// dimension for several sequences.
static Value attend(OpLowering &l, RankedTensorType result, Value q, Value k,
                    Value v, const AttentionOptions &options) {
  auto inRanks = [&](Value x) {
    return l.reshape(x, withSequences(OpLowering::type(x).getShape()));
  };
  auto mixedType = result.clone(withSequences(result.getShape()));
  Value mixed = ll::AttentionOp::create(
      l.b(), mixedType, inRanks(q), inRanks(k), inRanks(v), /*mask=*/Value(),
      options.sinks, options.causal, {}, {}, options.scale, options.window,
      options.softCap, {}, options.chunked);
  return l.reshape(mixed, result.getShape());
}

static LogicalResult lower(OpLowering &l, mllm::FlashAttention2Op op) {
  return l.replace(
      attend(l, l.resultType(), op.getQ(), op.getK(), op.getV(),
             {op.getCausal(), op.getScaleAttr(), {}, {}, op.getSoftCapAttr()}));
}

IntegerAttr windowOf(mllm::FlashAttention2SwaSinkOp op) {
  return op.getSlidingWindow() > 0 ? op.getSlidingWindowAttr() : IntegerAttr();
}

static LogicalResult lower(OpLowering &l, mllm::FlashAttention2SwaSinkOp op) {
  return l.replace(
      attend(l, l.resultType(), op.getQ(), op.getK(), op.getV(),
             {op.getCausal(), op.getScaleAttr(), windowOf(op), op.getSAux(),
              op.getSoftCapAttr(), op.getChunked()}));
}

static LogicalResult lower(OpLowering &l, mllm::RadixAttnSwaSinkOp op) {
  return l.replace(attend(
      l, l.resultType(), op.getQ(), l.gather(op.getKPool(), op.getK(), 0),
      l.gather(op.getVPool(), op.getV(), 0),
      {true, op.getScaleAttr(), op.getSlidingWindowAttr(), op.getSAux()}));
}

static LogicalResult lower(OpLowering &l, mllm::RadixAttnRelaxOp op) {
  return l.replace(attend(l, l.resultType(), op.getQ(),
                          l.gather(op.getKPool(), op.getK(), 0),
                          l.gather(op.getVPool(), op.getV(), 0),
                          {true, op.getScaleAttr(), {}, {}}));
}

/// Attention with one-hot values, which yields the softmax weights.
static Value attentionWeights(OpLowering &l, mllm::PagedAttnOp op, Value keys,
                              const AttentionOptions &options) {
  RankedTensorType k = OpLowering::type(keys), q = OpLowering::type(op.getQ());
  int64_t count = k.getDimSize(1);
  auto identityType = k.clone({k.getDimSize(0), count, k.getDimSize(2), count});
  Value identity = l.elementwise(
      identityType, {}, [](OpBuilder &b, Location loc, ValueRange) -> Value {
        auto number = [&](float value) -> Value {
          return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
        };
        Value isOwn = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::eq,
            linalg::IndexOp::create(b, loc, 1).getResult(),
            linalg::IndexOp::create(b, loc, 3).getResult());
        return arith::SelectOp::create(b, loc, isOwn, number(1), number(0));
      });
  auto mixed =
      q.clone({q.getDimSize(0), q.getDimSize(1), q.getDimSize(2), count});
  return exchangeHeads(l, attend(l, mixed, op.getQ(), keys, identity, options));
}

static LogicalResult lower(OpLowering &l, mllm::PagedAttnOp op) {
  AttentionOptions options{true, op.getScaleAttr(), {}, {}};
  Value keys = l.gather(op.getK(), op.getIndex(), 1);
  SmallVector<Value> results{attend(l, l.resultType(), op.getQ(), keys,
                                    l.gather(op.getV(), op.getIndex(), 1),
                                    options)};
  if (op.getWeights())
    results.push_back(attentionWeights(l, op, keys, options));
  return l.replace(results);
}

void addAttentionLowerings(LoweringTable &table) {
  table.add<mllm::PositionsOp>(lower);
  table.add<mllm::RoPEOp>(lower);
  table.add<mllm::MultimodalRoPEOp>(lower);
  table.add<mllm::VisionRoPEOp>(lower);
  table.add<mllm::KVCacheOp>(lower);
  table.add<mllm::CausalMaskOp>(lower);
  table.add<mllm::FlashAttention2Op>(lower);
  table.add<mllm::FlashAttention2SwaSinkOp>(lower);
  table.add<mllm::RadixAttnSwaSinkOp>(lower);
  table.add<mllm::RadixAttnRelaxOp>(lower);
  table.add<mllm::PagedAttnOp>(lower);
}

} // namespace llmir

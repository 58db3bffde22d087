//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention over tensors: scores, masks, a softmax relative to the maximum, and
// the weighted sum of values. Query head h is head r of the group of KV head g,
// with h = g · R + r and R = H / G.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace mlir::llm;

namespace llmir {

namespace {

using arith::CmpFPredicate;
using arith::CmpIPredicate;

constexpr double kHidden = -std::numeric_limits<double>::infinity();

class AttentionLoops {
public:
  AttentionLoops(TensorBuilder &t, AttentionOpInterface op,
                 const AttentionOperands &given)
      : t(t), op(op), key(given.key), value(given.value), mask(given.mask),
        sinks(given.sinks) {
    OpFoldResult heads = t.size(given.query, 2);
    kvHeads = t.size(key, 2);
    perGroup = t.quotientOf(heads, kvHeads);
    if (!isa<Attribute>(kvHeads)) {
      // A dynamic dimension cannot be split into several dynamic ones, so
      // repeat the keys for each head.
      key = repeated(key, heads);
      value = repeated(value, heads);
      kvHeads = heads;
      perGroup = t.fixed(1);
    }
    batch = t.size(given.query, 0);
    queries = t.size(given.query, 1);
    keys = t.size(key, 1);
    query = splitHeads(given.query, 2);
    if (sinks)
      sinks = splitHeads(sinks, 0);
    headDim = t.asValue(t.size(query, 4));
    // Key j is at position j, query i at i + keys - queries.
    firstPosition = t.subi(t.asValue(keys), t.asValue(queries));
  }

  Value build() {
    Value scores = adjusted(products());
    Value greatest = maxima(scores);
    Value weights = t.compute(scoreSizes(), t.getF32Type(), {scores, greatest},
                              {ofScores(5), t.map(5, {0, 1, 2, 3})},
                              [](ScalarBuilder &s, ValueRange v) {
                                return s.exp(s.subf(v[0], v[1]));
                              });
    return outputs(weights, totals(weights, greatest));
  }

private:
  // Loops b, g, r, i, j of the scores [B, G, R, Tq, Tk].
  TensorBuilder::Sizes scoreSizes() {
    return {batch, kvHeads, perGroup, queries, keys};
  }
  TensorBuilder::Sizes rowSizes() {
    return {batch, kvHeads, perGroup, queries};
  }
  AffineMap ofScores(int64_t loops) { return t.map(loops, {0, 1, 2, 3, 4}); }

  /// [B, Tk, G, D] as [B, Tk, H, D]: repeats each KV head for its query heads.
  Value repeated(Value x, OpFoldResult heads) {
    TensorBuilder::Sizes sizes = t.sizes(x);
    sizes[2] = heads;
    return t.compute(sizes, t.elementType(x), {}, {},
                     [&](ScalarBuilder &s, ValueRange) -> Value {
                       Value head = s.divi(s.loop(2), s.asValue(perGroup));
                       return tensor::ExtractOp::create(
                           s, x,
                           ValueRange{s.loop(0), s.loop(1), head, s.loop(3)});
                     });
  }

  /// Splits the head dimension into groups and heads of a group.
  Value splitHeads(Value x, int64_t dim) { return t.split(x, dim, perGroup); }

  bool hides() { return op.isCausal() || op.getWindowSize() || mask; }

  Value products() {
    // Loop 5 is d.
    return t.reduce(
        t.filled(scoreSizes(), 0), {query, key},
        {t.map(6, {0, 3, 1, 2, 5}), t.map(6, {0, 4, 1, 5}), ofScores(6)},
        [](ScalarBuilder &s, ValueRange v) {
          return s.addf(v[2], s.mulf(v[0], v[1]));
        });
  }

  Value scale(ScalarBuilder &s) {
    if (double known = op.getScaleOrDefault(); known != 0)
      return s.f32(known);
    return s.divf(s.f32(1), math::SqrtOp::create(s, s.indexToF32(headDim)));
  }

  /// The mask as an input of loops over scores: the head dimension is split
  /// into groups, dimensions of size 1 map to 0. Static sizes only.
  std::pair<Value, AffineMap> maskInput() {
    RankedTensorType type = TensorBuilder::type(mask);
    auto loop = [&](int64_t dim, int64_t loop) {
      return type.getDimSize(dim) == 1 ? -1 : loop;
    };
    Value split =
        t.split(mask, 1, type.getDimSize(1) == 1 ? t.fixed(1) : perGroup);
    return {split, t.map(5, {loop(0, 0), loop(1, 1), loop(1, 2), loop(2, 3),
                             loop(3, 4)})};
  }

  /// An element of a mask with dynamic sizes, which may be 1.
  Value maskElement(ScalarBuilder &s, ArrayRef<Value> maskSizes) {
    Value head = s.addi(s.muli(s.loop(1), s.asValue(perGroup)), s.loop(2));
    SmallVector<Value> indices = {s.loop(0), head, s.loop(3), s.loop(4)};
    for (auto [index, size] : llvm::zip_equal(indices, maskSizes))
      index = s.select(s.cmp(CmpIPredicate::eq, size, s.index(1)), s.index(0),
                       index);
    Value element = tensor::ExtractOp::create(s, mask, indices);
    return isa<FloatType>(element.getType()) ? s.toF32(element) : element;
  }

  /// The first key in the window of a position.
  Value firstKey(ScalarBuilder &s, Value position, int64_t window) {
    Value size = s.index(window);
    if (!op.isChunked())
      return s.subi(position, s.index(window - 1));
    return s.subi(position, arith::RemSIOp::create(s, position, size));
  }

  /// The end of the window of a position, which may be negative.
  Value keyEnd(ScalarBuilder &s, Value position, int64_t window) {
    if (!op.isChunked())
      return s.addi(position, s.index(window));
    // Rounded up to a multiple of the window.
    Value next =
        arith::MaxSIOp::create(s, s.addi(position, s.index(1)), s.index(0));
    Value chunks = arith::DivSIOp::create(s, s.addi(next, s.index(window - 1)),
                                          s.index(window));
    return s.muli(chunks, s.index(window));
  }

  /// Whether the key at the loop indices is hidden; null if none is.
  Value hiddenByPosition(ScalarBuilder &s) {
    Value result;
    auto add = [&](Value hidden) {
      result = result ? s.orb(result, hidden) : hidden;
    };
    if (!op.isCausal() && !op.getWindowSize())
      return result;
    Value position = s.addi(s.loop(3), firstPosition), key = s.loop(4);
    if (op.isCausal())
      add(s.cmp(CmpIPredicate::sgt, key, position));
    if (std::optional<int64_t> window = op.getWindowSize()) {
      add(s.cmp(CmpIPredicate::slt, key, firstKey(s, position, *window)));
      if (!op.isCausal())
        add(s.cmp(CmpIPredicate::sge, key, keyEnd(s, position, *window)));
    }
    return result;
  }

  /// The score, with cap, slopes and mask applied.
  Value adjustedScore(ScalarBuilder &s, Value product, Value slope,
                      Value maskElement) {
    Value score = s.mulf(product, scale(s));
    if (std::optional<double> cap = op.getSoftCapOrNone()) {
      Value limit = s.f32(*cap);
      Value inner = math::TanhOp::create(s, s.divf(score, limit));
      score = s.mulf(limit, inner);
    }
    if (slope) {
      Value distance = s.subi(s.loop(4), s.addi(s.loop(3), firstPosition));
      score = s.addf(score, s.mulf(slope, s.indexToF32(distance)));
    }
    Value hidden = hiddenByPosition(s), nothing = s.f32(kHidden);
    if (maskElement && maskElement.getType().isF32()) {
      score = s.addf(score, maskElement);
      // Hidden, even if the key is NaN.
      score = s.select(s.cmp(CmpFPredicate::OEQ, maskElement, nothing), nothing,
                       score);
    } else if (maskElement) {
      score = s.select(maskElement, score, nothing);
    }
    return hidden ? s.select(hidden, nothing, score) : score;
  }

  Value adjusted(Value products) {
    SmallVector<Value> inputs = {products};
    SmallVector<AffineMap> maps = {ofScores(5)};
    bool hasSlopes = !op.getSlopes().empty();
    if (hasSlopes) {
      SmallVector<float> slopes(op.getSlopes());
      auto type =
          RankedTensorType::get({int64_t(slopes.size())}, t.getF32Type());
      Value vector = arith::ConstantOp::create(
          t, DenseElementsAttr::get(type, ArrayRef<float>(slopes)));
      inputs.push_back(splitHeads(vector, 0));
      maps.push_back(t.map(5, {1, 2}));
    }
    bool isInput = mask && TensorBuilder::type(mask).hasStaticShape() &&
                   isa<Attribute>(perGroup);
    SmallVector<Value> maskSizes;
    if (isInput) {
      auto [tensor, map] = maskInput();
      inputs.push_back(tensor);
      maps.push_back(map);
    } else if (mask) {
      for (OpFoldResult size : t.sizes(mask))
        maskSizes.push_back(t.asValue(size));
    }
    return t.compute(
        scoreSizes(), t.getF32Type(), inputs, maps,
        [&](ScalarBuilder &s, ValueRange v) {
          Value element;
          if (mask)
            element = isInput ? v.back() : maskElement(s, maskSizes);
          return adjustedScore(s, v[0], hasSlopes ? v[1] : Value(), element);
        });
  }

  /// The maximum score of each query, including the sink; 0 if every key is
  /// hidden, so that exponentials are 0.
  Value maxima(Value scores) {
    SmallVector<Value> inputs = {t.rowMaximum(scores)};
    SmallVector<AffineMap> maps = {t.map(4, {0, 1, 2, 3})};
    if (sinks) {
      inputs.push_back(sinks);
      maps.push_back(t.map(4, {1, 2}));
    }
    return t.compute(rowSizes(), t.getF32Type(), inputs, maps,
                     [](ScalarBuilder &s, ValueRange v) -> Value {
                       Value most = v[0];
                       if (v.size() > 1)
                         most = arith::MaximumFOp::create(s, most, v[1]);
                       return s.finiteOrZero(most);
                     });
  }

  /// The denominators of the softmax.
  Value totals(Value weights, Value greatest) {
    Value first = t.filled(rowSizes(), 0);
    if (sinks)
      first = t.compute(rowSizes(), t.getF32Type(), {sinks, greatest},
                        {t.map(4, {1, 2}), t.map(4, {0, 1, 2, 3})},
                        [](ScalarBuilder &s, ValueRange v) {
                          return s.exp(s.subf(v[0], v[1]));
                        });
    return t.reduce(
        first, weights, {ofScores(5), t.map(5, {0, 1, 2, 3})},
        [](ScalarBuilder &s, ValueRange v) { return s.addf(v[1], v[0]); });
  }

  Value outputs(Value weights, Value totals) {
    TensorBuilder::Sizes sizes = {batch, queries, kvHeads, perGroup,
                                  t.size(value, 3)};
    // Loops b, i, g, r, j, v.
    Value sums = t.reduce(t.filled(sizes, 0), {weights, value},
                          {t.map(6, {0, 2, 3, 1, 4}), t.map(6, {0, 4, 2, 5}),
                           t.map(6, {0, 1, 2, 3, 5})},
                          [&](ScalarBuilder &s, ValueRange v) {
                            Value term = s.mulf(v[0], v[1]);
                            // Hidden values are ignored even if they are not
                            // finite.
                            if (hides()) {
                              Value isHidden =
                                  s.cmp(CmpFPredicate::OEQ, v[0], s.f32(0));
                              term = s.select(isHidden, s.f32(0), term);
                            }
                            return s.addf(v[2], term);
                          });
    Value result = t.compute(
        sizes, t.elementType(query), {sums, totals},
        {t.map(5, {0, 1, 2, 3, 4}), t.map(5, {0, 2, 3, 1})},
        [](ScalarBuilder &s, ValueRange v) { return s.shareOf(v[0], v[1]); });
    return t.join(result, 2);
  }

  TensorBuilder &t;
  AttentionOpInterface op;
  Value query, key, value, mask,
      sinks; ///< With split heads of query and sinks.
  OpFoldResult batch, kvHeads, perGroup, queries, keys;
  Value headDim, firstPosition;
};

} // namespace

Value attend(TensorBuilder &t, AttentionOpInterface op,
             const AttentionOperands &operands) {
  return AttentionLoops(t, op, operands).build();
}

/// [B, T, D] as [B, T, 1, D], [B, Tq, Tk] as [B, 1, Tq, Tk].
static Value withOneHead(TensorBuilder &t, Value x, int64_t dim) {
  if (!x)
    return x;
  TensorBuilder::Sizes sizes = t.sizes(x);
  sizes.insert(sizes.begin() + dim, t.fixed(1));
  return t.expand(x,
                  dim == 1 ? TensorBuilder::Groups{{0, 1}, {2}, {3}}
                           : TensorBuilder::Groups{{0}, {1}, {2, 3}},
                  sizes);
}

static SmallVector<Value> convertAttention(TensorBuilder &t, AttentionOp op,
                                           AttentionOp::Adaptor operands) {
  auto attention = cast<AttentionOpInterface>(op.getOperation());
  AttentionOperands given{operands.getQuery(), operands.getKey(),
                          operands.getValue(), operands.getMask(),
                          operands.getSinks()};
  if (!op.hasOneHead())
    return {attend(t, attention, given)};
  for (Value *x : {&given.query, &given.key, &given.value})
    *x = withOneHead(t, *x, 2);
  given.mask = withOneHead(t, given.mask, 1);
  return {t.join(attend(t, attention, given), 2)};
}

void addAttentionPatterns(LinalgPatterns &patterns) {
  patterns.add(convertAttention);
}

} // namespace llmir

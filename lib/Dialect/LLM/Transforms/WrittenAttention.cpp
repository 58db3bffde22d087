//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Matches from the second product down to the first, and from there to the
// operands.
//
//===----------------------------------------------------------------------===//

#include "WrittenAttention.h"

#include "WrittenScores.h"

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cmath>

using namespace mlir;
using namespace mlir::llm;
namespace mllm = llmir::mllm;

Axes WrittenAttention::axesOf(const Digits &tokens, const Digits &headDigits,
                              const Digits &size) const {
  if (!heads)
    return {batch, tokens, size};
  return {batch, tokens, headDigits, size};
}

//===----------------------------------------------------------------------===//
// Matcher state
//===----------------------------------------------------------------------===//

namespace {

class Matcher {
public:
  Matcher(const Contraction &second, PatternRewriter &rewriter)
      : second(second), rewriter(rewriter) {}

  FailureOr<WrittenAttention> match();

private:
  LogicalResult fail(const char *why) {
    return rewriter.notifyMatchFailure(second.result.getDefiningOp(), why);
  }

  // The second product.
  LogicalResult nameLoops();

  // Its left operand.
  QueryAndKey positions() const {
    return {queryLoop, keyLoop, sizes[queryLoop], sizes[keyLoop]};
  }
  bool isAllKeys(const Digits &digits) const {
    return digits == wholeLoop(keyLoop, sizes[keyLoop]);
  }
  void noteHeads(const Axes &axes);

  // The operands.
  LogicalResult findHeads();
  LogicalResult takeOperands(const WrittenScores &scores);
  LogicalResult takeKeysAndValues(ArrayRef<ElementView> keys,
                                  ArrayRef<ElementView> values);
  LogicalResult takeMask(const WrittenScores &scores);
  std::optional<Digits> kvHeadsOf(const ElementView &view, const Digits &tokens,
                                  const Digits &size) const;
  LogicalResult takeResult();
  LogicalResult checkTypes();

  const Contraction &second;
  PatternRewriter &rewriter;
  /// Loops of the second product; the first one sums over `depthLoop`.
  SmallVector<unsigned> batchLoops;
  unsigned queryLoop = 0, keyLoop = 0, valueLoop = 0, depthLoop = 0;
  Value probabilities, values;
  ArrayRef<int> probabilityLoops, valueLoops;
  SmallVector<int64_t> sizes;
  /// The position of the heads among the digits of a single batch loop.
  std::optional<int64_t> headWeight;
  WrittenAttention found;
};

} // namespace

//===----------------------------------------------------------------------===//
// The second product
//===----------------------------------------------------------------------===//

/// The size of a loop, from the type of any operand.
static void measureLoops(SmallVectorImpl<int64_t> &sizes, Value value,
                         ArrayRef<int> loops) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  for (auto [size, loop] : llvm::zip_equal(shape, loops))
    if (loop >= 0 && !ShapedType::isDynamic(size))
      sizes[size_t(loop)] = size;
}

/// Whether a softmax defines the tensor, looking through moves and casts.
static bool comesFromSoftmax(Value value) {
  ElementView view{value, {}};
  for (auto [d, size] :
       llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape()))
    view.axes.push_back(wholeLoop(unsigned(d), size));
  while (!isa_and_nonnull<SoftmaxOp, linalg::SoftmaxOp, mllm::SoftmaxOp>(
      view.value.getDefiningOp())) {
    std::optional<ElementOp> from = getElementOp(view);
    if (!from || (from->kind != ElementOpKind::Move &&
                  from->kind != ElementOpKind::Cast))
      return false;
    view = from->operands[0];
  }
  return true;
}

LogicalResult Matcher::nameLoops() {
  const bool isLeft = comesFromSoftmax(second.lhs);
  if (!isLeft && !comesFromSoftmax(second.rhs))
    return fail("no softmax feeds the product");
  probabilities = isLeft ? second.lhs : second.rhs;
  values = isLeft ? second.rhs : second.lhs;
  probabilityLoops = isLeft ? second.lhsLoops : second.rhsLoops;
  valueLoops = isLeft ? second.rhsLoops : second.lhsLoops;
  sizes.assign(second.numLoops + 1, ShapedType::kDynamic);
  depthLoop = second.numLoops;
  measureLoops(sizes, probabilities, probabilityLoops);
  measureLoops(sizes, values, valueLoops);
  measureLoops(sizes, second.result, second.resultLoops);

  SmallVector<int> summed, ofValues, ofRows;
  for (int loop = 0; loop < int(second.numLoops); ++loop) {
    const bool inResult = llvm::is_contained(second.resultLoops, loop);
    const bool inRows = llvm::is_contained(probabilityLoops, loop);
    const bool inValues = llvm::is_contained(valueLoops, loop);
    if (!inResult && inRows && inValues)
      summed.push_back(loop);
    else if (inResult && inValues && !inRows)
      ofValues.push_back(loop);
    else if (inResult && inRows && !inValues)
      ofRows.push_back(loop);
    else if (!inResult || !inRows)
      return fail("not a dimension of attention");
  }
  if (summed.size() != 1 || ofValues.size() != 1 || ofRows.empty())
    return fail("not one dimension each of keys, values and queries");
  // Query heads that share values have no dimension there, nor do queries; the
  // query dimension is the inner one.
  keyLoop = unsigned(summed[0]);
  valueLoop = unsigned(ofValues[0]);
  for (int loop : probabilityLoops)
    if (llvm::is_contained(ofRows, loop))
      queryLoop = unsigned(loop);
  for (int loop : second.resultLoops)
    if (unsigned(loop) != queryLoop && unsigned(loop) != valueLoop)
      batchLoops.push_back(unsigned(loop));
  if (batchLoops.empty() || sizes[keyLoop] == 1 || llvm::is_contained(sizes, 0))
    return fail("no batch, a single key, or nothing at all");
  return success();
}

/// The indices of an operand's dimensions, given those of the loops.
static Axes indicesOf(ArrayRef<int> loops, ArrayRef<Digits> digits) {
  Axes axes;
  for (int loop : loops)
    axes.push_back(loop < 0 ? Digits() : digits[size_t(loop)]);
  return axes;
}

static SmallVector<Digits> wholeLoops(ArrayRef<int64_t> sizes) {
  SmallVector<Digits> digits;
  for (auto [loop, size] : llvm::enumerate(sizes))
    digits.push_back(wholeLoop(unsigned(loop), size));
  return digits;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A batch loop that is split consists of sequences and heads.
void Matcher::noteHeads(const Axes &axes) {
  if (batchLoops.size() != 1 || headWeight)
    return;
  for (const Digits &axis : axes)
    for (const Digit &digit : axis) {
      if (digit.loop != batchLoops[0] || digit.weight == 1)
        continue;
      headWeight = std::max(headWeight.value_or(0), digit.weight);
    }
}

/// Returns the tensors that hold the elements of an operand without constant
/// factors, which are multiplied into the scale.
static ElementViews scaledOriginsOf(ElementView view, double &scale) {
  ElementViews origins = originsOf(view);
  while (!origins.empty()) {
    auto scaled = getScaled(origins.back());
    // A scale in a body scales an element of the op's operand.
    ElementView last = origins.back();
    while (!scaled) {
      std::optional<ElementOp> from = getElementOp(last);
      if (!from || from->kind != ElementOpKind::Move)
        break;
      last = from->operands[0];
      scaled = getScaled(last);
    }
    if (!scaled)
      return origins;
    ElementViews before = originsOf(scaled->second);
    if (before.empty())
      return origins;
    scale *= scaled->first;
    origins = before;
  }
  return origins;
}

/// Returns the view that needs the cheapest layout change to these axes.
static const ElementView *easiest(ArrayRef<ElementView> views,
                                  ArrayRef<Digits> axes) {
  const ElementView *best = nullptr;
  std::optional<LayoutChange> change;
  for (const ElementView &view : views)
    if (auto own = layoutChangeOf(view, axes);
        own && (!change || own < change)) {
      best = &view;
      change = own;
    }
  return best;
}

/// The first batch loop is the sequences, the others are the heads; a single
/// loop is split into both.
LogicalResult Matcher::findHeads() {
  const unsigned first = batchLoops[0];
  found.batch = wholeLoop(first, sizes[first]);
  if (batchLoops.size() > 1) {
    found.heads.emplace();
    for (unsigned loop : ArrayRef(batchLoops).drop_front())
      llvm::append_range(*found.heads, wholeLoop(loop, sizes[loop]));
  } else if (headWeight) {
    found.heads = Digits{{first, 1, *headWeight}};
    found.batch.clear();
    if (sizes[first] != *headWeight)
      found.batch.push_back({first, *headWeight, sizes[first] / *headWeight});
  }
  found.queries = wholeLoop(queryLoop, sizes[queryLoop]);
  found.keys = wholeLoop(keyLoop, sizes[keyLoop]);
  found.headDim = wholeLoop(depthLoop, sizes[depthLoop]);
  found.valueDim = wholeLoop(valueLoop, sizes[valueLoop]);
  return success();
}

/// The KV heads: the query heads, or their most significant digits, so that
/// consecutive query heads share them.
std::optional<Digits> Matcher::kvHeadsOf(const ElementView &view,
                                         const Digits &tokens,
                                         const Digits &size) const {
  if (!found.heads)
    return Digits();
  const Digits all = digitsOf(view.axes);
  const Digits heads = refined(*found.heads, all);
  Digits own;
  for (const Digit &digit : heads)
    if (llvm::is_contained(refined(all, heads), digit))
      own.push_back(digit);
  if (!std::equal(own.begin(), own.end(), heads.begin()))
    return std::nullopt;
  own = merged(own);
  return layoutChangeOf(view, found.axesOf(tokens, own, size))
             ? std::optional(own)
             : std::nullopt;
}

LogicalResult Matcher::takeKeysAndValues(ArrayRef<ElementView> keys,
                                         ArrayRef<ElementView> values) {
  // Take the fewest heads that keys and values have: those closest to their
  // origin.
  for (const ElementView &view : llvm::reverse(keys)) {
    std::optional<Digits> heads = kvHeadsOf(view, found.keys, found.headDim);
    if (!heads)
      continue;
    const ElementView *key =
        easiest(keys, found.axesOf(found.keys, *heads, found.headDim));
    const ElementView *value =
        easiest(values, found.axesOf(found.keys, *heads, found.valueDim));
    if (!key || !value)
      continue;
    found.key = *key;
    found.value = *value;
    found.kvHeads = *heads;
    return success();
  }
  return fail("keys and values are not laid out as heads of sequences");
}

Axes WrittenAttention::maskAxes() const {
  const Digits all = digitsOf(mask->axes);
  auto own = [&](const Digits &digits) {
    const Digits parts = refined(digits, all);
    const bool isThere = llvm::any_of(parts, [&](const Digit &digit) {
      return llvm::is_contained(refined(all, parts), digit);
    });
    return isThere ? digits : Digits();
  };
  if (!heads)
    return {own(batch), own(queries), own(keys)};
  return {own(batch), own(*heads), own(queries), own(keys)};
}

LogicalResult Matcher::takeMask(const WrittenScores &scores) {
  found.maskHides = scores.maskHides;
  if (scores.masks.empty())
    return success();
  std::optional<LayoutChange> change;
  std::optional<ElementView> best;
  for (const ElementView &view : scores.masks) {
    found.mask = view;
    if (auto own = layoutChangeOf(view, found.maskAxes());
        own && (!change || own < change)) {
      best = view;
      change = own;
    }
  }
  found.mask = best;
  if (!best)
    return fail("the dimensions of the mask are not sequences, heads, queries "
                "and keys");
  return success();
}

LogicalResult Matcher::takeOperands(const WrittenScores &scores) {
  const Contraction &first = scores.product;
  // Maps each loop of the first product to the meaning of its result dimension
  // in the second; the one without a dimension is the reduction.
  SmallVector<Digits> digits(first.numLoops);
  std::optional<unsigned> summed;
  int keyAt = -1;
  for (int loop = 0; loop < int(first.numLoops); ++loop) {
    const auto *at = llvm::find(first.resultLoops, loop);
    if (at == first.resultLoops.end()) {
      if (summed)
        return fail("the scores sum over several dimensions");
      summed = unsigned(loop);
      continue;
    }
    digits[size_t(loop)] =
        scores.productAxes[size_t(at - first.resultLoops.begin())];
    if (isAllKeys(digits[size_t(loop)]))
      keyAt = loop;
  }
  if (!summed || keyAt < 0)
    return fail("no dimension of the scores is the keys");
  SmallVector<int64_t> own(first.numLoops, ShapedType::kDynamic);
  measureLoops(own, first.lhs, first.lhsLoops);
  measureLoops(own, first.rhs, first.rhsLoops);
  sizes[depthLoop] = own[*summed];
  digits[*summed] = wholeLoop(depthLoop, own[*summed]);

  const bool keysAreRight = llvm::is_contained(first.rhsLoops, keyAt);
  if (keysAreRight == llvm::is_contained(first.lhsLoops, keyAt))
    return fail("the keys are not a separate operand");
  ElementView left{first.lhs, indicesOf(first.lhsLoops, digits)};
  ElementView right{first.rhs, indicesOf(first.rhsLoops, digits)};
  found.scale = scores.scale;
  ElementViews queries =
      scaledOriginsOf(keysAreRight ? left : right, found.scale);
  ElementViews keys = scaledOriginsOf(keysAreRight ? right : left, found.scale);
  ElementViews valueViews =
      originsOf({values, indicesOf(valueLoops, wholeLoops(sizes))});
  for (const Axes &axes : scores.passed)
    noteHeads(axes);
  for (ArrayRef<ElementView> views :
       {ArrayRef(queries), ArrayRef(keys), ArrayRef(valueViews)})
    for (const ElementView &view : views)
      noteHeads(view.axes);
  if (failed(findHeads()))
    return failure();
  const Digits heads = found.heads.value_or(Digits());
  const ElementView *query =
      easiest(queries, found.axesOf(found.queries, heads, found.headDim));
  if (!query)
    return fail("the queries are not laid out as heads of sequences");
  found.query = *query;
  if (failed(takeKeysAndValues(keys, valueViews)))
    return failure();
  found.positions = scores.positions;
  // The window of llm.attention has keys after the query, too.
  if (found.positions.window > 0 && !found.positions.causal &&
      sizes[queryLoop] != 1)
    return fail("a window that hides only keys before the query");
  return takeMask(scores);
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// Maps the indices of `view` to those of `origin` if it is `origin` after
/// moves and casts.
static std::optional<Axes> indicesAt(Value origin, ElementView view) {
  while (view.value != origin) {
    std::optional<ElementOp> from = getElementOp(view);
    if (!from || (from->kind != ElementOpKind::Move &&
                  from->kind != ElementOpKind::Cast))
      return std::nullopt;
    view = from->operands[0];
  }
  return view.axes;
}

/// The result of the only user of a tensor, or null.
static Value onlyResult(Value value) {
  if (!value.hasOneUse())
    return {};
  Operation *user = *value.user_begin();
  if (user->getNumResults() != 1 ||
      !isa<RankedTensorType>(user->getResult(0).getType()))
    return {};
  return user->getResult(0);
}

/// The product itself, or the result of its chain of single users that has the
/// layout of an attention result.
LogicalResult Matcher::takeResult() {
  const Axes axes = indicesOf(second.resultLoops, wholeLoops(sizes));
  found.result = second.result;
  found.resultAxes = axes;
  Type element = getElementTypeOrSelf(found.query.value.getType());
  // An f16 product accumulated in f32 is rounded to f16 again.
  if (getElementTypeOrSelf(found.result.getType()) != element) {
    found.result = onlyResult(second.result);
    if (!found.result ||
        cast<RankedTensorType>(found.result.getType()).getRank() !=
            int64_t(axes.size()) ||
        indicesAt(second.result, {found.result, axes}) != axes)
      return fail("the result has a different element type");
  }
  const Axes wanted = found.axesOf(
      found.queries, found.heads.value_or(Digits()), found.valueDim);
  for (Value moved = onlyResult(found.result); moved;
       moved = onlyResult(moved)) {
    auto type = cast<RankedTensorType>(moved.getType());
    if (type.getElementType() != element)
      break;
    if (type.getRank() != int64_t(wanted.size()))
      continue;
    ElementView view{moved, wanted};
    if (layoutChangeOf(view, wanted) &&
        indicesAt(second.result, view) == axes) {
      found.result = moved;
      found.resultAxes = wanted;
      break;
    }
  }
  return success();
}

LogicalResult Matcher::checkTypes() {
  Type element = getElementTypeOrSelf(found.query.value.getType());
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return fail("element type not supported by attention");
  for (Value operand : {found.key.value, found.value.value, found.result})
    if (getElementTypeOrSelf(operand.getType()) != element)
      return fail("mixed element types");
  if (found.mask) {
    Type mask = getElementTypeOrSelf(found.mask->value.getType());
    if (!mask.isInteger(1) && !mask.isF16() && !mask.isBF16() && !mask.isF32())
      return fail("mask not supported by attention");
  }
  SmallVector<Value> tensors{found.query.value, found.key.value,
                             found.value.value, found.result};
  if (found.mask)
    tensors.push_back(found.mask->value);
  for (Value tensor : tensors)
    if (cast<RankedTensorType>(tensor.getType()).getEncoding())
      return fail("the types have an encoding");
  // In attention, a scale of 0 is the default, and negative scales are invalid.
  if (!(found.scale > 0) || !std::isfinite(found.scale))
    return fail("the scale is not one positive number");
  // llm.attention must have the type of the value that it replaces.
  const Axes own = found.axesOf(found.queries, found.heads.value_or(Digits()),
                                found.valueDim);
  if (!layoutChangeOf({found.result, found.resultAxes}, own))
    return fail("sizes are static in one type only");
  return success();
}

FailureOr<WrittenAttention> Matcher::match() {
  if (failed(nameLoops()))
    return failure();
  std::optional<WrittenScores> scores = matchWrittenScores(
      {probabilities, indicesOf(probabilityLoops, wholeLoops(sizes))},
      positions());
  if (!scores)
    return fail(
        "no chain of product, scale, mask and softmax with one use each");
  if (failed(takeOperands(*scores)) || failed(takeResult()) ||
      failed(checkTypes()))
    return failure();
  return found;
}

FailureOr<WrittenAttention>
mlir::llm::matchWrittenAttention(Operation *op, PatternRewriter &rewriter) {
  std::optional<Contraction> second = matchContraction(op);
  if (!second)
    return failure();
  return Matcher(*second, rewriter).match();
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Matches from the probabilities down to the first product.
//
//===----------------------------------------------------------------------===//

#include "WrittenScores.h"

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cmath>

using namespace mlir;
using namespace mlir::llm;
namespace mllm = llmir::mllm;

namespace {
class ScoresMatcher {
public:
  explicit ScoresMatcher(const QueryAndKey &loops) : loops(loops) {}

  std::optional<WrittenScores> walkProbabilities(ElementView view);

private:
  std::optional<WrittenScores> walkScores(ElementView view,
                                          WrittenScores scores);
  std::optional<WrittenScores> walkMasked(const ElementOp &op,
                                          const WrittenScores &scores);
  std::optional<WrittenScores> walkSelected(const ElementOp &op,
                                            const ElementView &view,
                                            WrittenScores scores);

  const QueryAndKey &loops;
};
} // namespace

/// Both masks hide.
static void addPositions(PositionMask &mask, const PositionMask &other) {
  mask.causal |= other.causal;
  mask.isFinite |= other.isFinite;
  if (other.window > 0)
    mask.window =
        mask.window > 0 ? std::min(mask.window, other.window) : other.window;
}

/// The operand of a softmax over the last dimension of the view.
static std::optional<ElementView> matchSoftmax(const ElementView &view,
                                               size_t &axis) {
  Operation *op = view.value.getDefiningOp();
  axis = view.axes.size() - 1;
  if (auto softmax = dyn_cast_or_null<SoftmaxOp>(op))
    return ElementView{softmax.getX(), view.axes};
  if (auto softmax = dyn_cast_or_null<linalg::SoftmaxOp>(op)) {
    axis = softmax.getDimension();
    if (softmax->getNumResults() == 1)
      return ElementView{softmax.getInput(), view.axes};
  }
  if (auto softmax = dyn_cast_or_null<mllm::SoftmaxOp>(op)) {
    const int64_t at = softmax.getAxis();
    axis = size_t(at < 0 ? at + int64_t(view.axes.size()) : at);
    return ElementView{softmax.getX(), view.axes};
  }
  return std::nullopt;
}

std::optional<WrittenScores>
ScoresMatcher::walkProbabilities(ElementView view) {
  WrittenScores scores;
  while (true) {
    // Scores with other uses must be computed anyway.
    if (!view.value.hasOneUse())
      return std::nullopt;
    scores.passed.push_back(view.axes);
    size_t axis = 0;
    if (auto input = matchSoftmax(view, axis)) {
      if (view.axes[axis] != wholeLoop(loops.key, loops.numKeys))
        return std::nullopt;
      return walkScores(*input, std::move(scores));
    }
    std::optional<ElementOp> from = getElementOp(view);
    if (!from || (from->kind != ElementOpKind::Move &&
                  from->kind != ElementOpKind::Cast))
      return std::nullopt;
    view = from->operands[0];
  }
}

std::optional<WrittenScores> ScoresMatcher::walkScores(ElementView view,
                                                       WrittenScores scores) {
  while (true) {
    if (!view.value.hasOneUse())
      return std::nullopt;
    scores.passed.push_back(view.axes);
    if (auto product = matchContraction(view.value.getDefiningOp())) {
      if (scores.positions.isFinite && !scores.masks.empty())
        return std::nullopt;
      scores.product = *product;
      scores.productAxes = view.axes;
      return scores;
    }
    if (auto scaled = getScaled(view)) {
      scores.scale *= scaled->first;
      scores.isScaled = true;
      view = scaled->second;
      continue;
    }
    std::optional<ElementOp> from = getElementOp(view);
    if (!from)
      return std::nullopt;
    switch (from->kind) {
    case ElementOpKind::Move:
    case ElementOpKind::Cast:
      view = from->operands[0];
      continue;
    case ElementOpKind::Add:
      return walkMasked(*from, scores);
    case ElementOpKind::Select:
      return walkSelected(*from, view, scores);
    case ElementOpKind::CausalMask: {
      // Hides by -1e10, which is equivalent if every query has a visible key.
      auto mask = view.value.getDefiningOp<mllm::CausalMaskOp>();
      if (scores.isScaled || ShapedType::isDynamic(loops.numQueries) ||
          ShapedType::isDynamic(loops.numKeys) ||
          loops.numKeys < loops.numQueries)
        return std::nullopt;
      // Its rows and columns must be the queries and keys.
      if (view.axes.back() != wholeLoop(loops.key, loops.numKeys) ||
          view.axes[view.axes.size() - 2] !=
              wholeLoop(loops.query, loops.numQueries))
        return std::nullopt;
      addPositions(scores.positions,
                   {/*causal=*/true, int64_t(mask.getWindow()),
                    /*isFinite=*/true});
      view = from->operands[0];
      continue;
    }
    case ElementOpKind::Mul:
    case ElementOpKind::Div:
      return std::nullopt; // Not a uniform constant.
    }
  }
}

/// One operand is a mask, the other the scores.
std::optional<WrittenScores>
ScoresMatcher::walkMasked(const ElementOp &op, const WrittenScores &scores) {
  if (scores.isScaled) // The mask would be scaled, too.
    return std::nullopt;
  for (int i : {0, 1}) {
    const ElementView &mask = op.operands[size_t(1 - i)];
    WrittenScores next = scores;
    if (auto positionMask = matchAddedPositionMask(mask, loops)) {
      addPositions(next.positions, *positionMask);
    } else {
      next.masks = originsOf(mask, /*throughWidening=*/true);
      if (!scores.masks.empty() || next.masks.empty())
        continue;
    }
    if (auto result = walkScores(op.operands[size_t(i)], next))
      return result;
  }
  return std::nullopt;
}

std::optional<WrittenScores>
ScoresMatcher::walkSelected(const ElementOp &op, const ElementView &view,
                            WrittenScores scores) {
  if (scores.isScaled)
    return std::nullopt;
  const std::optional<double> yes = getUniformNumber(op.operands[1]),
                              no = getUniformNumber(op.operands[2]);
  const bool hides = yes.has_value();
  if (hides == no.has_value())
    return std::nullopt;
  auto positionMask = matchPositionMask(op.operands[0], hides, loops);
  const bool everyQuerySees = positionMask && loops.numKeys >= loops.numQueries;
  if (!hidesBy(hides ? *yes : *no, getElementTypeOrSelf(view.value.getType()),
               everyQuerySees))
    return std::nullopt;
  if (positionMask) {
    positionMask->isFinite = std::isfinite(hides ? *yes : *no);
    addPositions(scores.positions, *positionMask);
  } else {
    if (!scores.masks.empty())
      return std::nullopt;
    scores.masks = originsOf(op.operands[0]);
    scores.maskHides = hides;
    if (scores.masks.empty())
      return std::nullopt;
  }
  return walkScores(op.operands[hides ? 2 : 1], std::move(scores));
}

std::optional<WrittenScores>
mlir::llm::matchWrittenScores(const ElementView &probabilities,
                              const QueryAndKey &loops) {
  return ScoresMatcher(loops).walkProbabilities(probabilities);
}

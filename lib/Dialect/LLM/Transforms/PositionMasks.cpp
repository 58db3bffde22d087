//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matching of causal and window conditions on the positions of query and key.
//
//===----------------------------------------------------------------------===//

#include "PositionMasks.h"

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::llm;
namespace mllm = llmir::mllm;

namespace {
enum class Relation { Less, LessEqual, Greater, GreaterEqual };

/// `lhs relation rhs` of two integers.
struct Comparison {
  Relation relation;
  ElementView lhs, rhs;
};
} // namespace

static std::optional<Relation> relationOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return Relation::Less;
  case arith::CmpIPredicate::sle:
    return Relation::LessEqual;
  case arith::CmpIPredicate::sgt:
    return Relation::Greater;
  case arith::CmpIPredicate::sge:
    return Relation::GreaterEqual;
  default:
    return std::nullopt; // Unsigned comparisons wrap; the others do not hide a
                         // range.
  }
}

static std::optional<Relation> relationOf(mllm::Comparison comparison) {
  switch (comparison) {
  case mllm::Comparison::Less:
    return Relation::Less;
  case mllm::Comparison::LessEqual:
    return Relation::LessEqual;
  case mllm::Comparison::Greater:
    return Relation::Greater;
  case mllm::Comparison::GreaterEqual:
    return Relation::GreaterEqual;
  default:
    return std::nullopt;
  }
}

static Relation negated(Relation relation) {
  switch (relation) {
  case Relation::Less:
    return Relation::GreaterEqual;
  case Relation::LessEqual:
    return Relation::Greater;
  case Relation::Greater:
    return Relation::LessEqual;
  case Relation::GreaterEqual:
    return Relation::Less;
  }
  llvm_unreachable("one of the four");
}

static std::optional<Comparison> matchComparison(const ElementView &view) {
  if (auto compare = view.value.getDefiningOp<arith::CmpIOp>()) {
    std::optional<Relation> relation = relationOf(compare.getPredicate());
    if (!relation)
      return std::nullopt;
    return Comparison{*relation,
                      {compare.getLhs(), view.axes},
                      {compare.getRhs(), view.axes}};
  }
  if (auto compare = view.value.getDefiningOp<mllm::CompareOp>()) {
    std::optional<Relation> relation = relationOf(compare.getComparison());
    auto operands = getBroadcastOperands(compare, view);
    if (!relation || !operands)
      return std::nullopt;
    return Comparison{*relation, (*operands)[0], (*operands)[1]};
  }
  return std::nullopt;
}

/// Keys for which `form <= 0`.
static std::optional<PositionMask> maskOf(const LinearIndex &form,
                                          const QueryAndKey &loops) {
  int64_t query = 0, key = 0;
  for (auto [loop, factor] : form.factors) {
    if (factor == 0)
      continue;
    if (loop == loops.query)
      query = factor;
    else if (loop == loops.key)
      key = factor;
    else
      return std::nullopt;
  }
  const int64_t past = loops.numKeys - loops.numQueries;
  // A single query has index 0, so its factor is irrelevant.
  auto isQuery = [&](int64_t factor) {
    return query == factor || loops.numQueries == 1;
  };
  PositionMask mask;
  if (key == 1 && isQuery(-1) && form.constant == -past) {
    mask.causal = true; // key - query - past <= 0
    return mask;
  }
  // query + past - window - key + 1 <= 0
  mask.window = past + 1 - form.constant;
  if (key == -1 && isQuery(1) && mask.window > 0)
    return mask;
  return std::nullopt;
}

static std::optional<PositionMask> both(std::optional<PositionMask> a,
                                        std::optional<PositionMask> b) {
  if (!a || !b)
    return std::nullopt;
  a->causal |= b->causal;
  a->isFinite |= b->isFinite;
  if (b->window > 0)
    a->window = a->window > 0 ? std::min(a->window, b->window) : b->window;
  return a;
}

/// Combines the masks of two conditions at the same indices.
template <typename ArithOp, typename MLLMOp>
static std::optional<std::pair<ElementView, ElementView>>
matchLogical(const ElementView &view) {
  if (auto op = view.value.getDefiningOp<ArithOp>())
    return std::pair(ElementView{op.getLhs(), view.axes},
                     ElementView{op.getRhs(), view.axes});
  if (auto op = view.value.getDefiningOp<MLLMOp>())
    if (auto operands = getBroadcastOperands(op, view))
      return std::pair((*operands)[0], (*operands)[1]);
  return std::nullopt;
}

/// The condition that a condition negates.
static std::optional<ElementView> matchNot(const ElementView &view) {
  if (auto op = view.value.getDefiningOp<mllm::LogicalNotOp>())
    return ElementView{op.getX(), view.axes};
  if (auto op = view.value.getDefiningOp<arith::XOrIOp>())
    if (matchPattern(op.getRhs(), m_One()))
      return ElementView{op.getLhs(), view.axes};
  return std::nullopt;
}

std::optional<PositionMask>
mlir::llm::matchPositionMask(ElementView condition, bool hides,
                             const QueryAndKey &loops) {
  while (true) {
    std::optional<ElementOp> from = getElementOp(condition);
    if (!from || from->kind != ElementOpKind::Move)
      break;
    condition = from->operands[0];
  }
  if (ShapedType::isDynamic(loops.numKeys) ||
      ShapedType::isDynamic(loops.numQueries))
    return std::nullopt;
  if (auto operand = matchNot(condition))
    return matchPositionMask(*operand, !hides, loops);
  auto logical =
      hides ? matchLogical<arith::OrIOp, mllm::LogicalOrOp>(condition)
            : matchLogical<arith::AndIOp, mllm::LogicalAndOp>(condition);
  if (logical)
    return both(matchPositionMask(logical->first, hides, loops),
                matchPositionMask(logical->second, hides, loops));
  std::optional<Comparison> comparison = matchComparison(condition);
  if (!comparison)
    return std::nullopt;
  std::optional<LinearIndex> lhs = getLinearIndex(comparison->lhs),
                             rhs = getLinearIndex(comparison->rhs);
  if (!lhs || !rhs)
    return std::nullopt;
  const Relation relation =
      hides ? negated(comparison->relation) : comparison->relation;
  const bool isLess =
      relation == Relation::Less || relation == Relation::LessEqual;
  LinearIndex form = isLess ? difference(*lhs, *rhs) : difference(*rhs, *lhs);
  if (relation == Relation::Less || relation == Relation::Greater)
    ++form.constant;
  return maskOf(form, loops);
}

bool mlir::llm::hidesBy(double number, Type element, bool everyQuerySees) {
  if (number == -std::numeric_limits<double>::infinity())
    return true;
  return everyQuerySees && number <= (element.isF16() ? -6e4 : -1e9);
}

std::optional<PositionMask>
mlir::llm::matchAddedPositionMask(ElementView mask, const QueryAndKey &loops) {
  while (true) {
    std::optional<ElementOp> from = getElementOp(mask);
    if (!from)
      return std::nullopt;
    if (from->kind == ElementOpKind::Select) {
      std::optional<double> yes = getUniformNumber(from->operands[1]),
                            no = getUniformNumber(from->operands[2]);
      const bool hides = no && *no == 0;
      if (!yes || !no || (!hides && *yes != 0))
        return std::nullopt;
      std::optional<PositionMask> found =
          matchPositionMask(from->operands[0], hides, loops);
      // The hiding value has an effect if all keys of a row are hidden.
      const bool everyQuerySees = loops.numKeys >= loops.numQueries;
      if (!found ||
          !hidesBy(hides ? *yes : *no,
                   getElementTypeOrSelf(mask.value.getType()), everyQuerySees))
        return std::nullopt;
      found->isFinite = std::isfinite(hides ? *yes : *no);
      return found;
    }
    if (from->kind != ElementOpKind::Move && from->kind != ElementOpKind::Cast)
      return std::nullopt;
    mask = from->operands[0];
  }
}

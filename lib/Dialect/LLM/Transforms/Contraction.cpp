//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matching of contractions, independent of the op.
//
//===----------------------------------------------------------------------===//

#include "WrittenAttention.h"

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::llm;
namespace mllm = llmir::mllm;

/// The loop of each dimension; nullopt if an index is computed.
static std::optional<SmallVector<int>> loopsOf(AffineMap map) {
  SmallVector<int> loops;
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops.push_back(int(dim.getPosition()));
    else if (auto at = dyn_cast<AffineConstantExpr>(expr);
             at && at.getValue() == 0)
      loops.push_back(-1);
    else
      return std::nullopt;
  }
  return loops;
}

/// Looks through a widening cast in the body.
static Value beforeWidening(Value value) {
  while (auto wider = value.getDefiningOp<arith::ExtFOp>())
    value = wider.getIn();
  return value;
}

/// acc + a * b, in any order of operands.
static bool isSumOfProducts(Block &body) {
  auto sum = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || body.getNumArguments() != 3)
    return false;
  for (auto [before, added] : {std::pair(sum.getLhs(), sum.getRhs()),
                               std::pair(sum.getRhs(), sum.getLhs())}) {
    auto product = added.getDefiningOp<arith::MulFOp>();
    if (before != body.getArgument(2) || !product)
      continue;
    Value a = beforeWidening(product.getLhs());
    Value b = beforeWidening(product.getRhs());
    if ((a == body.getArgument(0) && b == body.getArgument(1)) ||
        (a == body.getArgument(1) && b == body.getArgument(0)))
      return true;
  }
  return false;
}

static std::optional<Contraction> matchStructured(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 ||
      op->getNumResults() != 1 || !isSumOfProducts(*op.getBlock()))
    return std::nullopt;
  // llm.attention does not accumulate.
  Value initial = op.getDpsInits()[0];
  ElementView start{initial, {}};
  start.axes.resize(
      size_t(cast<RankedTensorType>(initial.getType()).getRank()));
  std::optional<double> number = getUniformNumber(start);
  if (!number || *number != 0.0)
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto lhs = loopsOf(maps[0]), rhs = loopsOf(maps[1]), out = loopsOf(maps[2]);
  if (!lhs || !rhs || !out || llvm::is_contained(*out, -1))
    return std::nullopt;
  // A loop is a reduction if and only if the result has no dimension for it.
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if ((kind == utils::IteratorType::parallel) !=
        llvm::is_contained(*out, int(loop)))
      return std::nullopt;
  return Contraction{op.getDpsInputs()[0],
                     op.getDpsInputs()[1],
                     op->getResult(0),
                     *lhs,
                     *rhs,
                     *out,
                     op.getNumLoops()};
}

static Contraction matchMatMul(mllm::MatMulOp op) {
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  ArrayRef<int64_t> result = shapeOf(op.getResult());
  const size_t batch = result.size() - 2;
  const int row = int(batch), column = row + 1, depth = row + 2;
  auto operand = [&](Value value, int first, int second) {
    ArrayRef<int64_t> shape = shapeOf(value);
    SmallVector<int> loops;
    for (size_t d = 0; d + 2 < shape.size(); ++d) {
      const size_t place = batch + 2 - shape.size() + d;
      const bool repeats = shape[d] == 1 && result[place] != 1;
      loops.push_back(repeats ? -1 : int(place));
    }
    loops.append({first, second});
    return loops;
  };
  SmallVector<int> lhs = operand(op.getLhs(), op.getTransposeA() ? depth : row,
                                 op.getTransposeA() ? row : depth);
  SmallVector<int> rhs =
      operand(op.getRhs(), op.getTransposeB() ? column : depth,
              op.getTransposeB() ? depth : column);
  SmallVector<int> out = llvm::to_vector(llvm::seq<int>(0, int(result.size())));
  return {op.getLhs(),
          op.getRhs(),
          op.getResult(),
          lhs,
          rhs,
          out,
          unsigned(result.size() + 1)};
}

std::optional<Contraction> mlir::llm::matchContraction(Operation *op) {
  if (auto structured = dyn_cast_or_null<linalg::LinalgOp>(op))
    return matchStructured(structured);
  if (auto product = dyn_cast_or_null<mllm::MatMulOp>(op))
    return matchMatMul(product);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops: result types, builders, canonicalization.
//
//===----------------------------------------------------------------------===//

#include "LLMPositionalOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::llm;

#define GET_OP_CLASSES
#include "mlir/Dialect/LLM/IR/LLMOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Result types and builders
//===----------------------------------------------------------------------===//

void EmbeddingOp::build(OpBuilder &builder, OperationState &state, Value ids,
                        Value table) {
  int64_t tokens = cast<RankedTensorType>(ids.getType()).getDimSize(0);
  auto type = RankedTensorType::get(
      {tokens, getWeightShape(table.getType())[1]}, builder.getF32Type());
  build(builder, state, type, ids, table);
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         ValueRange operands, DictionaryAttr,
                                         OpaqueProperties, RegionRange,
                                         SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(operands[0].getType());
  SmallVector<int64_t> shape(x.getShape());
  shape.back() = getWeightShape(operands[1].getType())[0];
  types.push_back(x.clone(shape));
  return success();
}

LogicalResult SelectRowsOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(operands[0].getType());
  SmallVector<int64_t> shape(x.getShape());
  shape.front() = cast<RankedTensorType>(operands[1].getType()).getDimSize(0);
  types.push_back(x.clone(shape));
  return success();
}

//===----------------------------------------------------------------------===//
// select_rows: upwards through ops that treat each row alone
//===----------------------------------------------------------------------===//

namespace {

/// select_rows(op(x, …), rows) => op(select_rows(x, rows), …) for an op whose
/// row t of the result depends on row t of its row operands alone. The op must
/// have no other use, or it would be computed twice.
template <typename RowOp>
struct SelectRowsBefore : OpRewritePattern<SelectRowsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SelectRowsOp select,
                                PatternRewriter &rewriter) const override {
    auto producer = select.getX().template getDefiningOp<RowOp>();
    if (!producer || !producer->hasOneUse())
      return failure();
    // In another block the rows might not be known yet where the op stands.
    if (producer->getBlock() != select->getBlock())
      return failure();

    // A projection of a vector mixes what would be rows.
    auto isRows = [](Value operand) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      return type && type.getRank() >= 2;
    };
    // Of norm and projection only the first operand has rows; of element-wise
    // ops all have.
    SmallVector<Value> operands(producer->getOperands());
    size_t rowOperands =
        producer->template hasTrait<OpTrait::SameOperandsAndResultType>()
            ? operands.size()
            : 1;
    if (!llvm::all_of(ArrayRef(operands).take_front(rowOperands), isRows))
      return failure();

    for (Value &operand : MutableArrayRef(operands).take_front(rowOperands))
      operand = SelectRowsOp::create(rewriter, select.getLoc(), operand,
                                     select.getRows());
    Operation *moved = rewriter.clone(*producer);
    rewriter.modifyOpInPlace(moved, [&] {
      moved->setOperands(operands);
      moved->getResult(0).setType(select.getType());
    });
    rewriter.replaceOp(select, moved);
    rewriter.eraseOp(producer);
    return success();
  }
};

} // namespace

void SelectRowsOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<SelectRowsBefore<RMSNormOp>, SelectRowsBefore<LinearOp>,
               SelectRowsBefore<SiluOp>, SelectRowsBefore<AddOp>,
               SelectRowsBefore<MulOp>>(context);
}

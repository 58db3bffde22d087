//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What each op of `mllm.linalg` becomes: ops of llm, linalg and tensor. There
// is one lowering for both forms. In a function of static shapes all sizes are
// constants. In a step, one dimension of a value may be dynamic, that of the
// tokens (TokenDimensions.h), and every other size is a constant. To lower an
// op, write
//
//   static LogicalResult lower(OpLowering &l, mllm::MyOp op) {
//     return l.replace(l.elementwise(l.resultType(), {op.getX()},
//         [](OpBuilder &b, Location loc, ValueRange x) -> Value {
//           return math::ExpOp::create(b, loc, x[0]);
//         }));
//   }
//
// in the file of its group (LowerElementwise.cpp, …) and name it in that file's
// add…Lowerings:
//
//   table.add<mllm::MyOp>(lower);
//
// The few ops that read what surrounds a step (positions, the cache) have a
// lowering of their own there (LowerStep.cpp): table.addForSteps<mllm::MyOp>.
// An op whose results depend on tokens needs a rule in TokenDimensions.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_MLLMTOLLM_OPLOWERING_H
#define LLMIR_LIB_CONVERSION_MLLMTOLLM_OPLOWERING_H

#include "llmir/Conversion/MLLMToLLM.h"
#include "llmir/Dialect/MLLM/MLLMLinalgOps.h"
#include "llmir/Reference/Tensor.h"

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/StringMap.h"

#include <array>
#include <functional>
#include <map>

namespace llmir {

class StepFunction;

/// What the ops of a function leave for those after them.
struct LoweringState {
  StepFunction *step = nullptr; ///< Null in a function of static shapes.
  struct Cache {
    std::array<mlir::Value, 2> held; ///< All keys, all values.
    mlir::Region *region = nullptr;  ///< Where the last ones were added.
  };
  std::map<int64_t, Cache> caches; ///< By layer, which a file may say.
};

/// Writes what an op becomes before it.
class OpLowering {
public:
  /// Makes one number from numbers. Floats come and go as f32, whatever the
  /// tensors hold; they are rounded once, at the end.
  using Scalar = llvm::function_ref<mlir::Value(
      mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

  OpLowering(mlir::Operation *op, LoweringState &state)
      : state(state), op(op), builder(op->getLoc(), op) {}

  LoweringState &state;

  mlir::ImplicitLocOpBuilder &b() { return builder; }

  //===--------------------------------------------------------------------===//
  // Types
  //===--------------------------------------------------------------------===//

  /// The type of a result: sizes and elements.
  mlir::RankedTensorType resultType(unsigned i = 0) {
    return type(op->getResult(i));
  }
  static mlir::RankedTensorType type(mlir::Value tensor) {
    return llvm::cast<mlir::RankedTensorType>(tensor.getType());
  }
  /// Number of a dimension that may count from the end.
  static int64_t dimOf(int64_t dim, int64_t rank) {
    return dim < 0 ? dim + rank : dim;
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// The value of a parameter.
  mlir::Value parameter(mlir::FlatSymbolRefAttr symbol);
  /// The parameter as a tensor for loops; null, with a diagnostic, where it is
  /// stored in blocks.
  mlir::Value plainParameter(mlir::FlatSymbolRefAttr symbol);
  /// A tensor whose elements are written next.
  mlir::Value empty(mlir::RankedTensorType type);
  /// One number in all elements.
  mlir::Value filled(mlir::RankedTensorType type, reference::Number value);
  mlir::Value constant(mlir::DenseElementsAttr value);
  /// Numbers in f32.
  mlir::Value constant(const reference::Tensor &numbers);
  /// The same elements in order. The elements before a dimension of tokens are
  /// as many in both shapes.
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// x as rows of its last `tail` dimensions: [rows, columns], or in a step
  /// [tokens, columns], or [tokens, rows of a token, columns] where a token has
  /// several.
  mlir::Value asRows(mlir::Value x, int64_t tail);
  /// What asRows() gives, or the same with other columns, in that shape.
  mlir::Value fromRows(mlir::Value rows, llvm::ArrayRef<int64_t> shape);
  /// Applies `f` to x [rows, columns], or in a step to the [tokens, columns] of
  /// each row that a token has. Empty, with a diagnostic, where a token has no
  /// rows or too many.
  llvm::SmallVector<mlir::Value>
  mapRows(mlir::Value x,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value)> f);
  /// Dimension i of the result is dimension `axes[i]` of x.
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> axes);
  /// The elements offsets[d] + i * steps[d] of each dimension.
  mlir::Value slice(mlir::Value x, llvm::ArrayRef<int64_t> offsets,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> steps);
  mlir::Value concat(mlir::ValueRange parts, int64_t dim);
  /// Each slice of a dimension `times` times in a row.
  mlir::Value repeat(mlir::Value x, int64_t dim, int64_t times);
  /// `value` before and after each dimension.
  mlir::Value pad(mlir::Value x, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, reference::Number value);
  /// The slices of a dimension that the indices select; the shape of the
  /// indices replaces the dimension.
  mlir::Value gather(mlir::Value x, mlir::Value indices, int64_t dim);
  mlir::Value gather(mlir::Value x, llvm::ArrayRef<int32_t> indices,
                     int64_t dim);
  /// The elements in another type, as mllm.linalg.cast_type converts them.
  mlir::Value cast(mlir::Value x, mlir::Type element);

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// `scalar` for each element of the result, whose shape the inputs' shapes
  /// broadcast to.
  mlir::Value elementwise(mlir::RankedTensorType result,
                          mlir::ValueRange inputs, Scalar scalar);
  /// The same with a map from the result's dimensions to each input's.
  mlir::Value compute(mlir::RankedTensorType result, mlir::ValueRange inputs,
                      llvm::ArrayRef<mlir::AffineMap> maps, Scalar scalar);
  /// The elements that `map` names, moved.
  mlir::Value move(mlir::RankedTensorType result, mlir::Value x,
                   mlir::AffineMap map);
  /// Reduces loops of `sizes` after those of the result: `scalar` gets the
  /// inputs' elements, whose maps are of all loops, and last what has been
  /// reduced so far, at first `initial`. Floats are added up in f32.
  mlir::Value reduce(mlir::RankedTensorType result,
                     llvm::ArrayRef<int64_t> sizes, reference::Number initial,
                     mlir::ValueRange inputs,
                     llvm::ArrayRef<mlir::AffineMap> maps, Scalar scalar);
  /// The sum of products over loops of `sizes`.
  mlir::Value sumOfProducts(mlir::RankedTensorType result,
                            llvm::ArrayRef<int64_t> sizes, mlir::Value x,
                            mlir::Value y,
                            llvm::ArrayRef<mlir::AffineMap> maps);
  /// The map to these expressions.
  mlir::AffineMap map(unsigned dims, llvm::ArrayRef<mlir::AffineExpr> exprs) {
    return mlir::AffineMap::get(dims, 0, exprs, builder.getContext());
  }
  mlir::AffineExpr dim(unsigned i) { return builder.getAffineDimExpr(i); }
  /// Of the first dimensions of more.
  llvm::SmallVector<mlir::AffineExpr> dims(unsigned first, unsigned count);

  //===--------------------------------------------------------------------===//
  // The end
  //===--------------------------------------------------------------------===//

  /// Replaces the op's results by the values, and erases it.
  mlir::LogicalResult replace(mlir::ValueRange values);
  mlir::InFlightDiagnostic refuse() {
    return op->emitOpError("cannot be compiled: ");
  }

private:
  /// Sizes of a type, the number of tokens for a dynamic one.
  llvm::SmallVector<mlir::OpFoldResult>
  mixedSizes(llvm::ArrayRef<int64_t> sizes);
  mlir::Value matchUnitSizes(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value generic(mlir::RankedTensorType result, mlir::Value initial,
                      unsigned numReduced, mlir::ValueRange inputs,
                      llvm::ArrayRef<mlir::AffineMap> maps, Scalar scalar);

  mlir::Operation *op;
  mlir::ImplicitLocOpBuilder builder;
};

/// The lowering of every op that has one, by name.
class LoweringTable {
public:
  using Lower =
      std::function<mlir::LogicalResult(OpLowering &, mlir::Operation *)>;

  static const LoweringTable &get();

  template <typename OpTy>
  void add(mlir::LogicalResult (*lower)(OpLowering &, OpTy)) {
    entries[OpTy::getOperationName()] = [lower](OpLowering &l,
                                                mlir::Operation *op) {
      return lower(l, llvm::cast<OpTy>(op));
    };
  }
  /// A lowering in steps for an op that has another one there than in
  /// functions, or only that.
  template <typename OpTy>
  void addForSteps(mlir::LogicalResult (*lower)(OpLowering &, OpTy)) {
    entriesForSteps[OpTy::getOperationName()] = [lower](OpLowering &l,
                                                        mlir::Operation *op) {
      return lower(l, llvm::cast<OpTy>(op));
    };
  }
  /// Null where the op has no lowering.
  const Lower *find(mlir::Operation *op, bool inStep) const;

private:
  LoweringTable();

  llvm::StringMap<Lower> entries, entriesForSteps;
};

/// Lowers the ops of a function of static shapes, or with `step` of a step.
mlir::LogicalResult lowerMLLMOps(mlir::func::FuncOp function,
                                 StepFunction *step);

/// The number in that type: floats are rounded, and integers keep their low
/// bits (reference::roundTo).
mlir::TypedAttr numberAttr(mlir::Type element, reference::Number number);

/// Where ranges begin: negative starts count from the end.
llvm::SmallVector<int64_t> rangeStarts(llvm::ArrayRef<int64_t> starts,
                                       llvm::ArrayRef<int64_t> shape);

/// A dimension with what `mode`, which is not Constant, puts before and after
/// it. (LowerShape.cpp)
mlir::Value padDimension(OpLowering &l, mlir::Value x, int64_t dim, int64_t low,
                         int64_t high, mllm::PadMode mode);

/// A rotation by tables of sines and cosines. (LowerAttention.cpp)
mlir::LogicalResult lowerRotationByTables(OpLowering &l, mllm::RoPEOp op);

void addElementwiseLowerings(LoweringTable &table);
void addShapeLowerings(LoweringTable &table);
void addIndexLowerings(LoweringTable &table);
void addVisionLowerings(LoweringTable &table);
void addSignalLowerings(LoweringTable &table);
void addNNLowerings(LoweringTable &table);
void addAttentionLowerings(LoweringTable &table);
void addControlFlowLowerings(LoweringTable &table);
void addStepLowerings(LoweringTable &table);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_OPLOWERING_H

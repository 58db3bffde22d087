//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowering of `mllm.linalg` to ops of llm, linalg and tensor, which is the
// same for both forms. In a function all shapes are static. In a step, one
// dimension of a value may be dynamic, that of the tokens (TokenDimensions.h).
// To lower an op, write
//
//   static LogicalResult lower(OpLowering &l, mllm::MyOp op) {
//     return l.replace(l.elementwise(l.resultType(), {op.getX()},
//         [](OpBuilder &b, Location loc, ValueRange x) -> Value {
//           return math::ExpOp::create(b, loc, x[0]);
//         }));
//   }
//
// in the file of its group (LowerElementwise.cpp, …) and register it in the
// add…Lowerings function of that file:
//
//   table.add<mllm::MyOp>(lower);
//
// The few ops that read the state of a step (positions, the cache) have
// separate lowerings for steps (LowerStep.cpp): table.addForSteps<mllm::MyOp>.
// An op on tokens requires a rule in TokenDimensions.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_MLLMTOLLM_OPLOWERING_H
#define LLMIR_LIB_CONVERSION_MLLMTOLLM_OPLOWERING_H

#include "llmir/Conversion/Dimensions.h"
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

/// The state of the lowering of a function.
struct LoweringState {
  StepFunction *step = nullptr; ///< Null in a function of static shapes.
  struct Cache {
    std::array<mlir::Value, 2> held; ///< All keys, all values.
    mlir::Region *region = nullptr;  ///< The op that added the last ones.
  };
  std::map<int64_t, Cache> caches; ///< By layer, a number from the input file.
};

/// Creates the lowered ops before an op.
class OpLowering {
public:
  /// Computes a scalar from scalars. Floats are f32 for any element type;
  /// results are rounded once, at the end.
  using Scalar = llvm::function_ref<mlir::Value(
      mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

  OpLowering(mlir::Operation *op, LoweringState &state)
      : state(state), op(op), builder(op->getLoc(), op) {}

  LoweringState &state;

  mlir::ImplicitLocOpBuilder &b() { return builder; }

  //===--------------------------------------------------------------------===//
  // Types
  //===--------------------------------------------------------------------===//

  /// The lowered type of a result.
  mlir::RankedTensorType resultType(unsigned i = 0) {
    return type(op->getResult(i));
  }
  static mlir::RankedTensorType type(mlir::Value tensor) {
    return llvm::cast<mlir::RankedTensorType>(tensor.getType());
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// The value of a parameter.
  mlir::Value parameter(mlir::FlatSymbolRefAttr symbol);
  /// The parameter as a tensor for loops; null, with a diagnostic, if it is
  /// stored in blocks.
  mlir::Value plainParameter(mlir::FlatSymbolRefAttr symbol);
  /// An uninitialized tensor.
  mlir::Value empty(mlir::RankedTensorType type);
  /// A tensor filled with a scalar.
  mlir::Value filled(mlir::RankedTensorType type, reference::Number value);
  mlir::Value constant(mlir::DenseElementsAttr value);
  /// A constant tensor of f32.
  mlir::Value constant(const reference::Tensor &numbers);
  /// A reshape. The number of elements before a token dimension must not
  /// change.
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// x as rows of its last `tail` dimensions: [rows, columns], or in a step
  /// [tokens, columns], or [tokens, rows per token, columns] if a token has
  /// several.
  mlir::Value asRows(mlir::Value x, int64_t tail);
  /// The inverse of asRows(): reshapes rows, possibly with other columns, to
  /// the shape.
  mlir::Value fromRows(mlir::Value rows, llvm::ArrayRef<int64_t> shape);
  /// Applies `f` to x [rows, columns], or in a step to [tokens, columns] for
  /// each row of a token. Empty, with a diagnostic, if a token has no rows or
  /// too many.
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
  /// Repeats each slice of a dimension `times` times.
  mlir::Value repeat(mlir::Value x, int64_t dim, int64_t times);
  /// Pads each dimension with `value`.
  mlir::Value pad(mlir::Value x, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, reference::Number value);
  /// Gathers slices of a dimension; the shape of the indices replaces the
  /// dimension.
  mlir::Value gather(mlir::Value x, mlir::Value indices, int64_t dim);
  mlir::Value gather(mlir::Value x, llvm::ArrayRef<int32_t> indices,
                     int64_t dim);
  /// Converts the elements like mllm.linalg.cast_type.
  mlir::Value cast(mlir::Value x, mlir::Type element);

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// Computes `scalar` for each element of the result; inputs are broadcast to
  /// its shape.
  mlir::Value elementwise(mlir::RankedTensorType result,
                          mlir::ValueRange inputs, Scalar scalar);
  /// The same with a map from the result's dimensions to each input's.
  mlir::Value compute(mlir::RankedTensorType result, mlir::ValueRange inputs,
                      llvm::ArrayRef<mlir::AffineMap> maps, Scalar scalar);
  /// Moves the elements at `map`.
  mlir::Value move(mlir::RankedTensorType result, mlir::Value x,
                   mlir::AffineMap map);
  /// Reduces over loops of `sizes`, after those of the result: the operands of
  /// `scalar` are the inputs' elements, whose maps have all loops, and the
  /// accumulator, initially `initial`. Floats are accumulated in f32.
  mlir::Value reduce(mlir::RankedTensorType result,
                     llvm::ArrayRef<int64_t> sizes, reference::Number initial,
                     mlir::ValueRange inputs,
                     llvm::ArrayRef<mlir::AffineMap> maps, Scalar scalar);
  /// The sum of products over loops of `sizes`.
  mlir::Value sumOfProducts(mlir::RankedTensorType result,
                            llvm::ArrayRef<int64_t> sizes, mlir::Value x,
                            mlir::Value y,
                            llvm::ArrayRef<mlir::AffineMap> maps);
  /// The map with these results.
  mlir::AffineMap map(unsigned dims, llvm::ArrayRef<mlir::AffineExpr> exprs) {
    return mlir::AffineMap::get(dims, 0, exprs, builder.getContext());
  }
  mlir::AffineExpr dim(unsigned i) { return builder.getAffineDimExpr(i); }
  /// The identity of the leading dimensions.
  llvm::SmallVector<mlir::AffineExpr> dims(unsigned first, unsigned count);

  //===--------------------------------------------------------------------===//
  // The end
  //===--------------------------------------------------------------------===//

  /// Replaces the op with the values, and erases it.
  mlir::LogicalResult replace(mlir::ValueRange values);
  mlir::InFlightDiagnostic refuse() {
    return op->emitOpError("cannot be compiled: ");
  }

private:
  /// The sizes of a type, with the number of tokens for a dynamic one.
  llvm::SmallVector<mlir::OpFoldResult>
  mixedSizes(llvm::ArrayRef<int64_t> sizes);
  mlir::Value matchUnitSizes(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value generic(mlir::RankedTensorType result, mlir::Value initial,
                      unsigned numReduced, mlir::ValueRange inputs,
                      llvm::ArrayRef<mlir::AffineMap> maps, Scalar scalar);

  mlir::Operation *op;
  mlir::ImplicitLocOpBuilder builder;
};

/// The lowerings of ops, by name.
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
  /// A lowering for steps only, which takes precedence over the common one.
  template <typename OpTy>
  void addForSteps(mlir::LogicalResult (*lower)(OpLowering &, OpTy)) {
    entriesForSteps[OpTy::getOperationName()] = [lower](OpLowering &l,
                                                        mlir::Operation *op) {
      return lower(l, llvm::cast<OpTy>(op));
    };
  }
  /// Null if the op has no lowering.
  const Lower *find(mlir::Operation *op, bool inStep) const;

private:
  LoweringTable();

  llvm::StringMap<Lower> entries, entriesForSteps;
};

/// Lowers the ops of a function, or of a step if `step` is not null.
mlir::LogicalResult lowerMLLMOps(mlir::func::FuncOp function,
                                 StepFunction *step);

/// Converts the value to the type: floats are rounded, and integers are
/// truncated to their low bits (reference::roundTo).
mlir::TypedAttr numberAttr(mlir::Type element, reference::Number number);

/// The starts of ranges: negative ones count from the end.
llvm::SmallVector<int64_t> rangeStarts(llvm::ArrayRef<int64_t> starts,
                                       llvm::ArrayRef<int64_t> shape);

/// Pads a dimension in `mode`, which is not Constant. (LowerShape.cpp)
mlir::Value padDimension(OpLowering &l, mlir::Value x, int64_t dim, int64_t low,
                         int64_t high, mllm::PadMode mode);

/// A slice or a mean that does not divide or combine tokens. (LowerShape.cpp,
/// LowerIndex.cpp)
mlir::LogicalResult lowerSlice(OpLowering &l, mllm::SliceOp op);
mlir::LogicalResult lowerMean(OpLowering &l, mllm::MeanOp op);

/// Rotates by tables of sines and cosines. (LowerAttention.cpp)
mlir::LogicalResult lowerRotationByTables(OpLowering &l, mllm::RoPEOp op);
/// The window of an attention op of `llm`; null for all tokens.
/// (LowerAttention.cpp)
mlir::IntegerAttr windowOf(mllm::FlashAttention2SwaSinkOp op);

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

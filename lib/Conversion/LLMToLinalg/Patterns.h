//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How an op of the llm dialect becomes ops of linalg. To convert an op, write
//
//   static SmallVector<Value> convert(TensorBuilder &t, llm::MyOp op,
//                                     llm::MyOp::Adaptor operands) { … }
//
// in the file of its group, which returns the values of the op's results, and
// name it in that file's add…Patterns:
//
//   patterns.add(convert);
//
// What cannot be converted is refused by Refusals.cpp before any pattern runs,
// so that a conversion cannot fail.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOLINALG_PATTERNS_H
#define LLMIR_LIB_CONVERSION_LLMTOLINALG_PATTERNS_H

#include "TensorBuilder.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Transforms/DialectConversion.h"

#include <optional>
#include <string>

namespace llmir {

template <typename OpTy>
class LinalgPattern : public mlir::OpConversionPattern<OpTy> {
public:
  using Convert = llvm::SmallVector<mlir::Value> (*)(TensorBuilder &, OpTy,
                                                     typename OpTy::Adaptor);

  LinalgPattern(const mlir::TypeConverter &types, mlir::MLIRContext *context,
                Convert convert)
      : mlir::OpConversionPattern<OpTy>(types, context), convert(convert) {
    this->setDebugName(OpTy::getOperationName());
  }

  mlir::LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor operands,
                  mlir::ConversionPatternRewriter &rewriter) const override {
    TensorBuilder t(op.getLoc(), rewriter);
    llvm::SmallVector<mlir::Value> values = convert(t, op, operands);
    // Loops may know more, or less, of a size than the op's type.
    for (auto [value, type] : llvm::zip_equal(values, op->getResultTypes()))
      if (llvm::isa<mlir::RankedTensorType>(value.getType()))
        value = t.castTo(value, this->getTypeConverter()->convertType(type));
    rewriter.replaceOp(op, values);
    return mlir::success();
  }

private:
  Convert convert;
};

class LinalgPatterns {
public:
  LinalgPatterns(mlir::RewritePatternSet &patterns,
                 const mlir::TypeConverter &types)
      : patterns(patterns), types(types) {}

  template <typename OpTy>
  void add(llvm::SmallVector<mlir::Value> (*convert)(TensorBuilder &, OpTy,
                                                     typename OpTy::Adaptor)) {
    patterns.add(std::make_unique<LinalgPattern<OpTy>>(
        types, patterns.getContext(), convert));
  }

private:
  mlir::RewritePatternSet &patterns;
  const mlir::TypeConverter &types;
};

void addRowPatterns(LinalgPatterns &patterns);
void addProductPatterns(LinalgPatterns &patterns);
void addAttentionPatterns(LinalgPatterns &patterns);
void addQuantizationPatterns(LinalgPatterns &patterns);
void addExpertPatterns(LinalgPatterns &patterns);
void addCachePatterns(LinalgPatterns &patterns);

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// A matrix, or a stack of them, as an operand has it: a tensor of floats, or
/// the bytes of stored blocks.
struct WeightOperand {
  mlir::Value tensor; ///< Converted.
  mlir::Type type;    ///< Of the llm dialect.

  mlir::llm::QuantizedTensorType blocks() const {
    return llvm::dyn_cast<mlir::llm::QuantizedTensorType>(type);
  }
  /// Whether what it multiplies is rounded to bf16.
  bool roundsInputs() const;
  /// Sizes of what is represented.
  TensorBuilder::Sizes sizes(TensorBuilder &t) const;
  /// One element, in f32.
  mlir::Value at(ScalarBuilder &s, mlir::ValueRange indices) const;
  /// All elements as a tensor of floats: blocks are decoded to f32.
  mlir::Value decoded(TensorBuilder &t) const;
};

/// The type of the bytes in which blocks are stored: a row of the tensor is a
/// row of bytes.
mlir::RankedTensorType bytesOf(mlir::llm::QuantizedTensorType type);

/// What a row is multiplied as beside weights of bf16: rounded, in f32.
mlir::Value roundedToBF16(ScalarBuilder &s, mlir::Value x);

/// x · weightᵀ (or x · weight where `weight` is [K, N]), plus a bias, rounded
/// to the element type of x. `weight` has floats.
mlir::Value project(TensorBuilder &t, mlir::Value x, mlir::Value weight,
                    mlir::Value bias, bool isTransposed);

/// Sums in f32 plus a bias of the last dimension, if there is one, rounded to
/// the element type.
mlir::Value withBias(TensorBuilder &t, mlir::Value sums, mlir::Value bias,
                     mlir::Type element);

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The softmax of each row; a row of nothing but -inf gives 0.
mlir::Value softmaxOfRows(TensorBuilder &t, mlir::Value x, mlir::Type element);

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Attention of one or more sequences of equal lengths; `op` says the formula.
struct AttentionOperands {
  mlir::Value query; ///< [B, Tq, H, D]
  mlir::Value key;   ///< [B, Tk, G, D]
  mlir::Value value; ///< [B, Tk, G, V]
  mlir::Value mask;  ///< [B, H, Tq, Tk], each size may be 1; or null.
  mlir::Value sinks; ///< [H], or null.
};

/// [B, Tq, H, V], of the query's element type.
mlir::Value attend(TensorBuilder &t, mlir::llm::AttentionOpInterface op,
                   const AttentionOperands &operands);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOLINALG_PATTERNS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion functions of llm ops. To convert an op, write
//
//   static SmallVector<Value> convert(TensorBuilder &t, llm::MyOp op,
//                                     llm::MyOp::Adaptor operands) { … }
//
// in the file of its group, which returns the values of the op's results, and
// register it in that file's add…Patterns:
//
//   patterns.add(convert);
//
// Refusals.cpp rejects unsupported ops before any pattern runs, so that a
// conversion cannot fail.
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
    // Result types of loops may be more or less static than that of the op.
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

/// A matrix operand, or a stack of matrices: a tensor of floats, or the bytes
/// of stored blocks.
struct WeightOperand {
  mlir::Value tensor; ///< Converted.
  mlir::Type type;    ///< Type in the llm dialect.

  mlir::llm::QuantizedTensorType blocks() const {
    return llvm::dyn_cast<mlir::llm::QuantizedTensorType>(type);
  }
  /// Whether the other factor is rounded to bf16.
  bool roundsInputs() const;
  /// The sizes of the represented tensor.
  TensorBuilder::Sizes sizes(TensorBuilder &t) const;
  /// One element, in f32.
  mlir::Value at(ScalarBuilder &s, mlir::ValueRange indices) const;
  /// All elements as a tensor of floats: blocks are dequantized to f32.
  mlir::Value decoded(TensorBuilder &t) const;
};

/// The type of the bytes in which blocks are stored: a row of the tensor is a
/// row of bytes.
mlir::RankedTensorType bytesOf(mlir::llm::QuantizedTensorType type);

/// Rounds a factor of bf16 weights to bf16, in f32.
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

/// The softmax of each row; a row in which every element is -inf yields 0.
mlir::Value softmaxOfRows(TensorBuilder &t, mlir::Value x, mlir::Type element);

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Operands of attention over one or more sequences of equal lengths; `op`
/// holds the attributes.
struct AttentionOperands {
  mlir::Value query; ///< [B, Tq, H, D]
  mlir::Value key;   ///< [B, Tk, G, D]
  mlir::Value value; ///< [B, Tk, G, V]
  mlir::Value mask;  ///< [B, H, Tq, Tk], broadcastable; or null.
  mlir::Value sinks; ///< [H], or null.
};

/// [B, Tq, H, V], of the query's element type.
mlir::Value attend(TensorBuilder &t, mlir::llm::AttentionOpInterface op,
                   const AttentionOperands &operands);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOLINALG_PATTERNS_H

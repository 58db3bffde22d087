//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention products with rounded queries and weights: pairs of bf16 elements
// on levels that have a bf16 dot product, and bytes on every level.
//
//===----------------------------------------------------------------------===//

#include "../Matmul/ByteProducts.h"
#include "AttentionProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Pairs of bf16
//===----------------------------------------------------------------------===//

namespace {
/// A query is represented as the sum of two bf16 values (relative error 2^-17),
/// and a weight as one bf16 value; adjacent elements share a 32-bit word. The
/// row of a query holds the high parts, followed by the remainders.
class Bf16Products : public AttentionProducts {
public:
  Bf16Products(KernelBuilder &kb, const KVBlockLayout &layout)
      : AttentionProducts(kb, layout) {}

  int64_t queryBytes() const override { return 2 * planeBytes(); }
  int64_t weightBytes() const override { return kSpanKeys * 2; }

  void prepareQuery(Value to,
                    llvm::function_ref<Value(Value)> numbers) override {
    kb.loop(0, layout.headDim, kLanes, [&](Value dim) {
      Value number = numbers(dim), at = kb.mul(dim, 2);
      Value greater = encodeFloat(kb, TensorFormat::BF16, number);
      kb.storeAt(greater, to, at);
      Value rest = kb.subf(number, widened(greater));
      Value lesser = encodeFloat(kb, TensorFormat::BF16, rest);
      kb.storeAt(lesser, to, kb.add(at, planeBytes()));
    });
  }

  /// Weights are non-negative; denormal weights may be flushed to zero.
  SmallVector<Value> prepareWeights(Value to, ArrayRef<Value> weights,
                                    const KeySpan &span) override {
    SmallVector<Value> rounded;
    for (auto [tile, p] : llvm::enumerate(weights)) {
      Value halves =
          arith::TruncFOp::create(kb, kb.vec(kLanes, kb.getBF16Type()), p);
      kb.storeAt(halves, to, kb.index(static_cast<int64_t>(tile) * kLanes * 2));
      rounded.push_back(arith::ExtFOp::create(kb, kb.f32x16(), halves));
    }
    return rounded;
  }

private:
  Value pairs(Value words) {
    return vector::BitCastOp::create(kb, kb.vec(2 * kLanes, kb.getBF16Type()),
                                     words);
  }
  Operands keyOperands(Value words) override { return {pairs(words)}; }
  Operands valueOperands(Value words) override { return {pairs(words)}; }
  /// Size of the high parts, and of the remainders, of a query.
  int64_t planeBytes() const { return roundUpTo(layout.headDim, kLanes) * 2; }
  /// Extends 16 bf16 values, given as their bits, to f32.
  Value widened(Value halves) {
    Value words = arith::ExtUIOp::create(kb, kb.i32x16(), halves);
    Value bits =
        arith::ShLIOp::create(kb, words, kb.intConstant(kb.i32x16(), 16));
    return arith::BitcastOp::create(kb, kb.f32x16(), bits);
  }
  Value wordAt(Value row, Value bytes) {
    return pairs(broadcastAt(kb.getI32Type(), row, bytes));
  }
  Operands queryOperands(Value query, Value number) override {
    Value at = kb.mul(number, 4);
    return {wordAt(query, at), wordAt(query, kb.add(at, planeBytes()))};
  }
  Operands weightOperands(Value weights, Value number) override {
    return {wordAt(weights, kb.mul(number, 4))};
  }
  void multiply(MutableArrayRef<Value> sums, ArrayRef<Value> line,
                ArrayRef<Value> row) override {
    for (Value words : row)
      sums[0] = LLVM::CallIntrinsicOp::create(
                    kb, kb.f32x16(),
                    kb.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
                    ValueRange{sums[0], line[0], words})
                    .getResult(0);
  }
};
} // namespace

std::unique_ptr<AttentionProducts>
createBf16Products(KernelBuilder &kb, const KVBlockLayout &layout) {
  return std::make_unique<Bf16Products>(kb, layout);
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// The greatest code of two signed bytes, 255 * high + low, where neither byte
/// is -128.
static constexpr double kMaxCode = 127 * 255 + 127;

/// Rows whose maximum is smaller are treated as zero. The inverse of this value
/// times the greatest code is still finite.
static constexpr double kMinMaximum = 0x1p-100;

namespace {
/// Queries and weights are quantized to 16 bits with one scale per row, scale =
/// max|x| / 32512, and stored as two planes of signed bytes, so that products
/// are exact sums of byte products. Layout of a row:
///   f32 scale, i32 sums of either plane times -bias, 64 bytes in all;
///   the high bytes, then the low ones.
class ByteRowProducts : public AttentionProducts {
public:
  ByteRowProducts(KernelBuilder &kb, const KVBlockLayout &layout)
      : AttentionProducts(kb, layout),
        products(kb, signedBytes, /*maxActivation=*/128) {}

  int64_t queryBytes() const override {
    return kHeader + 2 * roundUpTo(layout.headDim, kLanes);
  }
  int64_t weightBytes() const override { return kHeader + 2 * kSpanKeys; }
  /// A zero weight cancels any integer.
  int64_t seenBytes() const override { return 0; }

  void prepareQuery(Value to,
                    llvm::function_ref<Value(Value)> numbers) override {
    Value dims = kb.index(roundUpTo(layout.headDim, kLanes));
    auto overVectors = [&](ArrayRef<Value> initial, auto body) {
      return kb.reduce(kb.index(0), dims, kLanes, initial,
                       [&](Value dim, ValueRange carried) {
                         return body(dim, numbers(dim), carried);
                       });
    };
    Value noBits = kb.intConstant(kb.i32x16(), 0);
    Value greatest = overVectors(
        {noBits}, [&](Value, Value x, ValueRange most) -> SmallVector<Value> {
          return {greaterMagnitude(most[0], x)};
        })[0];
    Value factor = writeScale(to, greatest);
    SmallVector<Value> sums =
        overVectors({noBits, noBits}, [&](Value dim, Value x, ValueRange sums) {
          return writeCodes(to, dim, roundUpTo(layout.headDim, kLanes),
                            kb.mulf(x, factor), sums);
        });
    writeSums(to, sums);
  }

  SmallVector<Value> prepareWeights(Value to, ArrayRef<Value> weights,
                                    const KeySpan &span) override {
    SmallVector<Value> scaled;
    Value greatest = kb.intConstant(kb.i32x16(), 0);
    for (auto [p, keys] : llvm::zip(weights, span.keys)) {
      // The scale of a token whose weight is zero may be arbitrary.
      Value counts =
          arith::CmpFOp::create(kb, arith::CmpFPredicate::UNE, p, zeros());
      Value product = kb.mulf(p, tileScales(kb, layout, keys, true));
      scaled.push_back(arith::SelectOp::create(kb, counts, product, zeros()));
      greatest = greaterMagnitude(greatest, scaled.back());
    }
    Value factor = writeScale(to, greatest);
    SmallVector<Value> sums(2, kb.intConstant(kb.i32x16(), 0));
    for (auto [tile, x] : llvm::enumerate(scaled))
      sums = writeCodes(to, kb.index(static_cast<int64_t>(tile) * kLanes),
                        kSpanKeys, kb.mulf(x, factor), sums);
    writeSums(to, sums);
    return SmallVector<Value>(weights);
  }

private:
  static constexpr int64_t kHeader = 64;

  /// The greater |x| of each lane as the bits of an f32; NaN compares greater
  /// than all other values.
  Value greaterMagnitude(Value most, Value x) {
    Value bits = arith::BitcastOp::create(kb, kb.i32x16(), x);
    Value magnitude = arith::AndIOp::create(
        kb, bits, kb.intConstant(kb.i32x16(), 0x7fffffff));
    return arith::MaxUIOp::create(kb, most, magnitude);
  }

  /// Writes the scale; returns the factor that quantizes the elements, in all
  /// lanes.
  Value writeScale(Value to, Value greatest) {
    Value bits = kb.foldLanes(greatest, [&](Value a, Value b) -> Value {
      return arith::MaxUIOp::create(kb, a, b);
    });
    Value most = arith::BitcastOp::create(kb, kb.getF32Type(), bits);
    kb.storeAt(kb.mulf(most, kb.f32(1.0 / kMaxCode)), to, kb.index(0));
    Value none = arith::CmpFOp::create(kb, arith::CmpFPredicate::OLT, most,
                                       kb.f32(kMinMaximum));
    Value factor = kb.divf(kb.f32(kMaxCode), most);
    return kb.broadcast(arith::SelectOp::create(kb, none, kb.f32(0.0), factor));
  }

  /// Writes 16 codes at position `at` of `count`; adds them to the sums.
  SmallVector<Value> writeCodes(Value to, Value at, int64_t count, Value x,
                                ValueRange sums) {
    Type bytes = kb.vec(kLanes, kb.getI8Type());
    auto constant = [&](double value) {
      return kb.floatConstant(kb.f32x16(), value);
    };
    auto integer = [&](Value number) -> Value {
      return arith::FPToSIOp::create(kb, kb.i32x16(), number);
    };
    Value code = math::RoundEvenOp::create(kb, x);
    Value highs =
        math::RoundEvenOp::create(kb, kb.mulf(code, constant(1.0 / 255)));
    Value high = integer(highs);
    Value low = integer(kb.fma(highs, constant(-255), code));
    SmallVector<Value> next;
    const Value parts[] = {high, low};
    for (auto [plane, part] : llvm::enumerate(parts)) {
      Value truncated = arith::TruncIOp::create(kb, bytes, part);
      kb.storeAt(truncated, to,
                 kb.add(at, kHeader + static_cast<int64_t>(plane) * count));
      next.push_back(arith::AddIOp::create(kb, sums[plane], part));
    }
    return next;
  }

  void writeSums(Value to, ArrayRef<Value> sums) {
    for (auto [plane, lanes] : llvm::enumerate(sums)) {
      Value sum = kb.foldLanes(lanes, [&](Value a, Value b) -> Value {
        return arith::AddIOp::create(kb, a, b);
      });
      Value start = arith::MulIOp::create(
          kb, sum, kb.intConstant(kb.getI32Type(), -products.weightBias()));
      kb.storeAt(start, to, kb.index(4 + 4 * static_cast<int64_t>(plane)));
    }
  }

  int64_t planes() const override { return 2; }
  Operands operandsOf(Value words) { return products.weightOperands(words); }
  Operands keyOperands(Value words) override { return operandsOf(words); }
  Operands valueOperands(Value words) override { return operandsOf(words); }
  /// A word of the high bytes, and one of the low ones.
  Operands wordsOf(Value row, Value number, int64_t count) {
    Operands words;
    for (int64_t plane : {0, 1})
      llvm::append_range(
          words, products.activationOperands(kb.loadAt(
                     kb.getI32Type(), row,
                     kb.add(kb.mul(number, 4), kHeader + plane * count))));
    return words;
  }
  Operands queryOperands(Value query, Value number) override {
    return wordsOf(query, number, roundUpTo(layout.headDim, kLanes));
  }
  Operands weightOperands(Value weights, Value number) override {
    return wordsOf(weights, number, kSpanKeys);
  }
  void multiply(MutableArrayRef<Value> sums, ArrayRef<Value> line,
                ArrayRef<Value> row) override {
    size_t words = row.size() / 2;
    for (size_t plane : {0, 1}) {
      ByteProducts::Sum sum{sums[plane], Value(), 0};
      products.add(sum, Operands(line),
                   Operands(row.slice(plane * words, words)));
      sums[plane] = products.finish(sum);
    }
  }

  Operands startOf(Value row) {
    Operands sums;
    for (int64_t plane : {0, 1})
      sums.push_back(
          broadcastAt(kb.getI32Type(), row, kb.index(4 + 4 * plane)));
    return sums;
  }
  Value codeSum(ArrayRef<Value> sums) {
    Value high = arith::SIToFPOp::create(kb, kb.f32x16(), sums[0]);
    Value low = arith::SIToFPOp::create(kb, kb.f32x16(), sums[1]);
    return kb.fma(high, kb.floatConstant(kb.f32x16(), 255), low);
  }
  Value scaleOf(Value row) {
    return broadcastAt(kb.getF32Type(), row, kb.index(0));
  }
  Operands startScores(Value query) override { return startOf(query); }
  Value finishScores(ArrayRef<Value> sums, Value query,
                     Value tileKeys) override {
    Value scales = tileScales(kb, layout, tileKeys, false);
    Value scaled = kb.mulf(codeSum(sums), scales);
    return kb.mulf(scaled, scaleOf(query));
  }
  Operands startValues(Value weights, Value before) override {
    return startOf(weights);
  }
  Value finishValues(ArrayRef<Value> sums, Value weights,
                     Value before) override {
    Value sum = codeSum(sums);
    return kb.fma(sum, scaleOf(weights), before);
  }

  IntegerFormat signedBytes; ///< Format of the cache: eight bits.
  ByteProducts products;
};
} // namespace

std::unique_ptr<AttentionProducts>
createByteProducts(KernelBuilder &kb, const KVBlockLayout &layout) {
  return std::make_unique<ByteRowProducts>(kb, layout);
}

Value tileScales(KernelBuilder &kb, const KVBlockLayout &layout, Value tileKeys,
                 bool ofValues) {
  // In K, too, adjacent tokens are 4 bytes apart.
  int64_t behind =
      ofValues ? layout.valueScaleOffset(0, 0) : layout.keyScaleOffset(0, 0);
  return kb.loadAt(kb.f32x16(), tileKeys, kb.index(behind));
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fourier transforms of frames and their inverses, as sums over a constant
// basis.
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"

#include "llmir/Reference/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace llmir {

/// cos and -sin of 2 pi f n / N times the factor of f, [frequencies, 2, N].
/// Fails, with a diagnostic, if the table is too large.
static FailureOr<Value>
fourierBasis(OpLowering &l, int64_t frequencies, int64_t n,
             llvm::function_ref<double(int64_t)> factorOf) {
  if (Status status = reference::checkAffordable({frequencies, 2, n}); !status)
    return l.refuse() << "its table of sines and cosines is not affordable: "
                      << status.message();
  const double turn = 2 * std::acos(-1.0);
  SmallVector<float> numbers;
  for (int64_t f = 0; f < frequencies; ++f)
    for (bool isImaginary : {false, true})
      for (int64_t i = 0; i < n; ++i) {
        double angle =
            turn * static_cast<double>(f * i % n) / static_cast<double>(n);
        numbers.push_back(static_cast<float>(
            factorOf(f) * (isImaginary ? -std::sin(angle) : std::cos(angle))));
      }
  auto type = RankedTensorType::get({frequencies, 2, n}, l.b().getF32Type());
  return l.constant(DenseElementsAttr::get(type, ArrayRef(numbers)));
}

/// The window, centered and padded with zeros.
static Value wholeWindow(OpLowering &l, Value window, int64_t n) {
  int64_t size = OpLowering::type(window).getDimSize(0);
  int64_t before = (n - size) / 2;
  return l.pad(window, before, n - size - before, 0.0);
}

static std::optional<mllm::PadMode> padModeOf(StringRef name) {
  return mllm::symbolizePadMode(name);
}

/// The distance of frames in samples.
template <typename OpTy> static int64_t hopOf(OpTy op) {
  int64_t hop = op.getHopLength(), n = op.getNFft();
  return hop == 0 ? std::max<int64_t>(n / 4, 1) : hop;
}

static LogicalResult lower(OpLowering &l, mllm::STFTOp op) {
  RankedTensorType result = l.resultType();
  unsigned batch = static_cast<unsigned>(result.getRank() - 3);
  int64_t n = op.getNFft(), frequencies = result.getDimSize(batch);
  int64_t hop = hopOf(op);
  Value x = op.getX();
  if (op.getCenter()) {
    mllm::PadMode mode = *padModeOf(op.getPadMode());
    SmallVector<int64_t> around(batch, 0);
    around.push_back(n / 2);
    x = mode == mllm::PadMode::Constant
            ? l.pad(x, around, around, 0.0)
            : padDimension(l, x, batch, n / 2, n / 2, mode);
  }
  double factor =
      op.getNormalized() ? 1 / std::sqrt(static_cast<double>(n)) : 1.0;
  FailureOr<Value> basis =
      fourierBasis(l, frequencies, n, [&](int64_t) { return factor; });
  if (failed(basis))
    return failure();
  Value windowed = l.elementwise(
      OpLowering::type(*basis), {*basis, wholeWindow(l, op.getWindow(), n)},
      [](OpBuilder &b, Location loc, ValueRange e) -> Value {
        return arith::MulFOp::create(b, loc, e[0], e[1]);
      });
  // Loops: batch…, f, t, part, n.
  unsigned rank = batch + 4;
  SmallVector<AffineExpr> sample = l.dims(0, batch);
  sample.push_back(l.dim(batch + 1) * hop + l.dim(batch + 3));
  SmallVector<AffineExpr> wave{l.dim(batch), l.dim(batch + 2),
                               l.dim(batch + 3)};
  return l.replace(l.sumOfProducts(result, n, x, windowed,
                                   {l.map(rank, sample), l.map(rank, wave)}));
}

/// Overlap-add of frames [batch…, T, N] at a distance of `hop` samples: the
/// samples [first, first + count); those after the last frame are 0.
static Value addFrames(OpLowering &l, Value frames, int64_t hop, int64_t first,
                       int64_t count) {
  RankedTensorType type = OpLowering::type(frames);
  unsigned batch = static_cast<unsigned>(type.getRank() - 2);
  int64_t t = type.getDimSize(batch), n = type.getDimSize(batch + 1);
  // Sample q * hop + r is the sum over j of sample j * hop + r of frame q - j.
  int64_t pieces = (n + hop - 1) / hop;
  int64_t strides = std::max((first + count + hop - 1) / hop, t);
  SmallVector<int64_t> low(batch + 2, 0), high(batch + 2, 0);
  low[batch] = pieces - 1;
  high[batch] = strides - t;
  high[batch + 1] = pieces * hop - n;
  Value padded = l.pad(frames, low, high, 0.0);
  SmallVector<int64_t> shape(OpLowering::type(padded).getShape());
  shape.pop_back();
  shape.append({pieces, hop});
  padded = l.reshape(padded, shape);
  // Loops: batch…, q, r, j.
  unsigned rank = batch + 3;
  AffineExpr q = l.dim(batch), r = l.dim(batch + 1), j = l.dim(batch + 2);
  SmallVector<AffineExpr> from = l.dims(0, batch);
  from.append({q - j + (pieces - 1), j, r});
  SmallVector<int64_t> sums(type.getShape().take_front(batch));
  sums.append({strides, hop});
  Value sum = l.reduce(type.clone(sums), pieces, 0.0, padded, l.map(rank, from),
                       [](OpBuilder &b, Location loc, ValueRange e) -> Value {
                         return arith::AddFOp::create(b, loc, e[1], e[0]);
                       });
  SmallVector<int64_t> flat(type.getShape().take_front(batch));
  flat.push_back(strides * hop);
  SmallVector<int64_t> offsets(batch + 1, 0), steps(batch + 1, 1), sizes(flat);
  offsets.back() = first;
  sizes.back() = count;
  return l.slice(l.reshape(sum, flat), offsets, sizes, steps);
}

static LogicalResult lower(OpLowering &l, mllm::ISTFTOp op) {
  RankedTensorType result = l.resultType();
  RankedTensorType from = OpLowering::type(op.getX());
  Type f32 = l.b().getF32Type();
  unsigned batch = static_cast<unsigned>(result.getRank() - 1);
  int64_t n = op.getNFft(), hop = hopOf(op), count = result.getShape().back();
  int64_t frequencies = from.getDimSize(batch), t = from.getDimSize(batch + 1);
  if (t == 0 || result.getNumElements() == 0)
    return l.replace(l.filled(result, 0.0));
  double unit = op.getNormalized() ? std::sqrt(static_cast<double>(n))
                                   : static_cast<double>(n);
  FailureOr<Value> basis = fourierBasis(l, frequencies, n, [&](int64_t f) {
    bool hasConjugate = op.getOnesided() && f > 0 && 2 * f != n;
    return (hasConjugate ? 2 : 1) / unit;
  });
  if (failed(basis))
    return failure();
  Value window = wholeWindow(l, l.cast(op.getWindow(), f32), n);
  auto product = [](OpBuilder &b, Location loc, ValueRange e) -> Value {
    return arith::MulFOp::create(b, loc, e[0], e[1]);
  };
  // Loops: batch…, t, n, f, part.
  unsigned rank = batch + 4;
  SmallVector<AffineExpr> number = l.dims(0, batch);
  number.append({l.dim(batch + 2), l.dim(batch), l.dim(batch + 3)});
  SmallVector<AffineExpr> wave{l.dim(batch + 2), l.dim(batch + 3),
                               l.dim(batch + 1)};
  SmallVector<int64_t> shape(result.getShape().drop_back());
  shape.append({t, n});
  auto framesType = RankedTensorType::get(shape, f32);
  Value frames =
      l.sumOfProducts(framesType, {frequencies, 2}, l.cast(op.getX(), f32),
                      *basis, {l.map(rank, number), l.map(rank, wave)});
  frames = l.elementwise(framesType, {frames, window}, product);
  auto squaresType = RankedTensorType::get({t, n}, f32);
  Value squares = l.elementwise(squaresType, {window, window}, product);

  int64_t first = op.getCenter() ? n / 2 : 0;
  Value sums = addFrames(l, frames, hop, first, count);
  Value weights = addFrames(l, squares, hop, first, count);
  return l.replace(l.elementwise(
      result, {sums, weights},
      [](OpBuilder &b, Location loc, ValueRange e) -> Value {
        Value least =
            arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1e-11F));
        Value counts = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                             e[1], least);
        Value quotient = arith::DivFOp::create(b, loc, e[0], e[1]);
        return arith::SelectOp::create(b, loc, counts, quotient, e[0]);
      }));
}

void addSignalLowerings(LoweringTable &table) {
  table.add<mllm::STFTOp>(lower);
  table.add<mllm::ISTFTOp>(lower);
}

} // namespace llmir

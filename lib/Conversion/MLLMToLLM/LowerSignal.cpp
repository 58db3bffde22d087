//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fourier transforms of frames: sums over a basis that is known now.
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace llmir {

/// cos and -sin of 2 pi f n / N times `factor`, [frequencies, 2, N].
static Value fourierBasis(OpLowering &l, int64_t frequencies, int64_t n,
                          double factor) {
  const double turn = 2 * std::acos(-1.0);
  SmallVector<float> numbers;
  for (int64_t f = 0; f < frequencies; ++f)
    for (bool isImaginary : {false, true})
      for (int64_t i = 0; i < n; ++i) {
        double angle =
            turn * static_cast<double>(f * i % n) / static_cast<double>(n);
        numbers.push_back(static_cast<float>(
            factor * (isImaginary ? -std::sin(angle) : std::cos(angle))));
      }
  auto type = RankedTensorType::get({frequencies, 2, n}, l.b().getF32Type());
  return l.constant(DenseElementsAttr::get(type, ArrayRef(numbers)));
}

/// The window in the middle of zeros.
static Value wholeWindow(OpLowering &l, Value window, int64_t n) {
  int64_t size = OpLowering::type(window).getDimSize(0);
  int64_t before = (n - size) / 2;
  return l.pad(window, before, n - size - before, 0.0);
}

static std::optional<mllm::PadMode> padModeOf(StringRef name) {
  return mllm::symbolizePadMode(name);
}

static LogicalResult lower(OpLowering &l, mllm::STFTOp op) {
  RankedTensorType result = l.resultType();
  unsigned batch = static_cast<unsigned>(result.getRank() - 3);
  int64_t n = op.getNFft(), frequencies = result.getDimSize(batch);
  int64_t hop = op.getHopLength();
  if (hop == 0)
    hop = std::max<int64_t>(n / 4, 1);
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
  Value basis = fourierBasis(l, frequencies, n, factor);
  Value windowed = l.elementwise(
      OpLowering::type(basis), {basis, wholeWindow(l, op.getWindow(), n)},
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

void addSignalLowerings(LoweringTable &table) {
  table.add<mllm::STFTOp>(lower);
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions: sums of products over a padded picture.
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace llmir {

template <typename OpTy>
static LogicalResult lowerConvolution(OpLowering &l, OpTy op) {
  RankedTensorType x = OpLowering::type(op.getX()), result = l.resultType();
  shapes::Window window = op.getWindow();
  unsigned spatial = static_cast<unsigned>(x.getRank() - 2);
  int64_t groups = op.getGroups();
  int64_t channels = x.getDimSize(1) / groups;
  int64_t outputs = result.getDimSize(1) / groups;
  Value weight = l.plainParameter(op.getWeightAttr());
  if (!weight)
    return failure();

  // x [B, G, C, places…] and weights [G, O, C, kernel…] give [B, G, O,
  // places…].
  SmallVector<int64_t> low{0, 0}, high{0, 0};
  low.append(window.padLow.begin(), window.padLow.end());
  high.append(window.padHigh.begin(), window.padHigh.end());
  Value padded = l.pad(op.getX(), low, high, 0.0);
  SmallVector<int64_t> from{x.getDimSize(0), groups, channels};
  llvm::append_range(from, OpLowering::type(padded).getShape().drop_front(2));
  padded = l.reshape(padded, from);
  SmallVector<int64_t> kernel{groups, outputs, channels};
  llvm::append_range(kernel, window.kernel);
  weight = l.reshape(weight, kernel);
  SmallVector<int64_t> to{x.getDimSize(0), groups, outputs};
  llvm::append_range(to, result.getShape().drop_front(2));

  // Loops: b, g, o, places…, c, taps….
  unsigned c = 3 + spatial, rank = c + 1 + spatial;
  SmallVector<AffineExpr> xPlace{l.dim(0), l.dim(1), l.dim(c)};
  SmallVector<AffineExpr> wPlace{l.dim(1), l.dim(2), l.dim(c)};
  SmallVector<int64_t> sizes{channels};
  for (unsigned i = 0; i < spatial; ++i) {
    xPlace.push_back(l.dim(3 + i) * window.stride[i] +
                     l.dim(c + 1 + i) * window.dilation[i]);
    wPlace.push_back(l.dim(c + 1 + i));
    sizes.push_back(window.kernel[i]);
  }
  Value sum = l.sumOfProducts(RankedTensorType::get(to, l.b().getF32Type()),
                              sizes, padded, weight,
                              {l.map(rank, xPlace), l.map(rank, wPlace)});
  sum = l.reshape(sum, result.getShape());
  SmallVector<Value> inputs{sum};
  if (FlatSymbolRefAttr symbol = op.getBiasAttr()) {
    Value bias = l.plainParameter(symbol);
    if (!bias)
      return failure();
    SmallVector<int64_t> shape(spatial + 1, 1);
    shape[0] = result.getDimSize(1);
    inputs.push_back(l.reshape(bias, shape));
  }
  return l.replace(l.elementwise(
      result, inputs, [](OpBuilder &b, Location loc, ValueRange n) -> Value {
        return n.size() == 1 ? n[0]
                             : Value(arith::AddFOp::create(b, loc, n[0], n[1]));
      }));
}

void addVisionLowerings(LoweringTable &table) {
  table.add<mllm::Conv1DOp>(lowerConvolution);
  table.add<mllm::Conv2DOp>(lowerConvolution);
  table.add<mllm::Conv3DOp>(lowerConvolution);
}

} // namespace llmir

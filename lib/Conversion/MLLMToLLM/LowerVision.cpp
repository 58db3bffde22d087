//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions: sums of products over a padded image. Interpolation: weighted
// sums of a few elements for each new one.
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"

#include "llmir/Reference/Elementwise.h"
#include "llmir/Reference/Vision.h"

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

//===----------------------------------------------------------------------===//
// Interpolation
//===----------------------------------------------------------------------===//

namespace {
/// The source elements of each new element i of a dimension, and their weights:
/// row i of `count` values.
struct Taps {
  int64_t count = 1;
  SmallVector<int32_t> indices;
  SmallVector<float> weights;
};
} // namespace

/// Column i of the matrix [size, newSize] has the weights of new element i.
static Taps tapsOf(const reference::Tensor &matrix, int64_t size,
                   int64_t newSize) {
  auto rowsOf = [&](int64_t i) {
    SmallVector<int64_t> rows;
    for (int64_t row = 0; row < size; ++row)
      if (matrix[row * newSize + i] != 0)
        rows.push_back(row);
    return rows;
  };
  Taps taps;
  for (int64_t i = 0; i < newSize; ++i)
    taps.count = std::max<int64_t>(taps.count, rowsOf(i).size());
  for (int64_t i = 0; i < newSize; ++i) {
    SmallVector<int64_t> rows = rowsOf(i);
    rows.resize(taps.count, -1);
    for (int64_t row : rows) {
      taps.indices.push_back(static_cast<int32_t>(std::max<int64_t>(row, 0)));
      taps.weights.push_back(
          row < 0 ? 0.0F : static_cast<float>(matrix[row * newSize + i]));
    }
  }
  return taps;
}

/// Resizes dimension `dim` of x to `newSize`.
static FailureOr<Value> resample(OpLowering &l, Value x, unsigned dim,
                                 int64_t newSize,
                                 const reference::InterpolateParams &params) {
  RankedTensorType type = OpLowering::type(x);
  int64_t size = type.getDimSize(dim);
  if (Status status = reference::checkAffordable({size, size}); !status)
    return l.refuse() << status.message();
  // The results for one-hot images.
  reference::Tensor units(reference::ElementKind::F32, {1, size, size});
  for (int64_t i = 0; i < size; ++i)
    units[i * size + i] = 1;
  Expected<reference::Tensor> matrix =
      reference::interpolate(units, {newSize}, params);
  if (!matrix)
    return l.refuse() << matrix.status().message();
  Taps taps = tapsOf(*matrix, size, newSize);
  Value chosen = l.gather(x, taps.indices, dim);
  auto weightsType =
      RankedTensorType::get({newSize, taps.count}, l.b().getF32Type());
  Value weights =
      l.constant(DenseElementsAttr::get(weightsType, ArrayRef(taps.weights)));
  // Loops: those of the result, taps.
  unsigned rank = static_cast<unsigned>(type.getRank());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = newSize;
  RankedTensorType result = type.clone(shape);
  shape.insert(shape.begin() + dim + 1, taps.count);
  SmallVector<AffineExpr> from = l.dims(0, rank);
  from.insert(from.begin() + dim + 1, l.dim(rank));
  SmallVector<AffineExpr> weight{l.dim(dim), l.dim(rank)};
  return l.sumOfProducts(result, taps.count, l.reshape(chosen, shape), weights,
                         {l.map(rank + 1, from), l.map(rank + 1, weight)});
}

static LogicalResult lower(OpLowering &l, mllm::InterpolateOp op) {
  RankedTensorType result = l.resultType();
  if (llvm::is_contained(result.getShape(), 0))
    return l.replace(l.filled(result, 0.0));
  Value x = l.cast(op.getX(), l.b().getF32Type());
  for (int64_t d = 2; d < result.getRank(); ++d) {
    reference::InterpolateParams params;
    params.mode = reference::interpolateModeOf(
        std::string_view(op.getMode().data(), op.getMode().size()));
    params.alignCorners = op.getAlignCorners();
    params.antialias = op.getAntialias();
    if (op.getScaleFactor())
      params.factors = {(*op.getScaleFactor())[d - 2]};
    FailureOr<Value> next =
        resample(l, x, static_cast<unsigned>(d), result.getDimSize(d), params);
    if (failed(next))
      return failure();
    x = *next;
  }
  return l.replace(l.cast(x, result.getElementType()));
}

void addVisionLowerings(LoweringTable &table) {
  table.add<mllm::Conv1DOp>(lowerConvolution);
  table.add<mllm::Conv2DOp>(lowerConvolution);
  table.add<mllm::Conv3DOp>(lowerConvolution);
  table.add<mllm::InterpolateOp>(lower);
}

} // namespace llmir

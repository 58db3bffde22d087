//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops on integers with scales. In a function, integers are rows of f32 numbers,
// quantized and packed when the program runs. In a step, a parameter of the
// model is quantized and packed when it is compiled.
//
//===----------------------------------------------------------------------===//

#include "MatmulResult.h"

#include "llmir/Support/IntegerLayout.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

//===----------------------------------------------------------------------===//
// Scales of elements
//===----------------------------------------------------------------------===//

/// The box of elements that share a scale.
static SmallVector<int64_t> cellOf(ll::QuantizedTensorType type) {
  SmallVector<int64_t> cell(type.getShape());
  if (type.hasGroups()) {
    cell.assign(type.getRank(), 1);
    cell[type.getGroupedDim()] = type.getGroupSize();
  } else if (type.getQuantAxis() >= 0) {
    cell[type.getQuantAxis()] = 1;
  }
  return cell;
}

/// Scales and zero points; the latter may be absent.
namespace {
struct Scales {
  RowsValue scales, zeroPoints;
};
} // namespace

template <typename OpTy>
static FailureOr<Scales> lookupScales(ProgramConversion &c, OpTy op) {
  Scales result;
  FailureOr<RowsValue> scales = c.lookup(op, op.getScales());
  if (failed(scales))
    return failure();
  result.scales = *scales;
  if (Value zeroPoints = op.getZeroPoints()) {
    FailureOr<RowsValue> rows = c.lookup(op, zeroPoints, scales->columns);
    if (failed(rows))
      return failure();
    result.zeroPoints = *rows;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Quantization at run time
//===----------------------------------------------------------------------===//

/// In a step, only the weight of a quantized_matmul is quantized, which is done
/// when it is packed.
static LogicalResult checkPacked(Operation *op) {
  for (Operation *user : op->getUsers())
    if (!isa<ll::QuantizedMatmulOp>(user) &&
        !(isa<ll::QuantParamsOp>(op) && isa<ll::QuantizeOp>(user)))
      return op->emitOpError("cannot be computed in a step: only parameters "
                             "of the model are quantized, as weights of "
                             "llm.quantized_matmul");
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::QuantParamsOp op) {
  if (c.policy.quantizesWhenPacked)
    return checkPacked(op);
  ll::QuantizedTensorType type = op.getQuantizedType();
  FailureOr<RowsValue> x = c.lookup(op, op.getX());
  if (failed(x))
    return failure();
  RowsValue scales = c.createResult(op.getScales());
  Value zeroPoints;
  if (op.getZeroPoints())
    zeroPoints = c.createResult(op.getZeroPoints()).buffer;
  c.fixedKernel<kernel::QuantParamsOp>(
      op.getLoc(), kernelName("quant_params", type.getShape()), x->buffer,
      scales.buffer, zeroPoints, static_cast<int64_t>(type.getNumBits()),
      type.getShape(), cellOf(type), x->columns, scales.columns);
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::QuantizeOp op) {
  if (c.policy.quantizesWhenPacked)
    return checkPacked(op);
  auto type = cast<ll::QuantizedTensorType>(op.getType());
  FailureOr<RowsValue> x = c.lookup(op, op.getX(), rowColumns(op.getResult()));
  FailureOr<Scales> scales = lookupScales(c, op);
  if (failed(x) || failed(scales))
    return failure();
  RowsValue out = c.createResult(op.getResult());
  c.fixedKernel<kernel::QuantizeOp>(
      op.getLoc(), kernelName("quantize", type.getShape()), x->buffer,
      scales->scales.buffer, scales->zeroPoints.buffer, out.buffer,
      static_cast<int64_t>(type.getNumBits()), type.getShape(), cellOf(type),
      x->columns, scales->scales.columns);
  return success();
}

/// The dequantized values of the integers `q`.
static void dequantize(ProgramConversion &c, Location loc,
                       ll::QuantizedTensorType type, const RowsValue &q,
                       const Scales &scales, const RowsValue &out) {
  c.fixedKernel<kernel::DequantizeOp>(
      loc, kernelName("dequantize", type.getShape()), q.buffer,
      scales.scales.buffer, scales.zeroPoints.buffer, out.buffer,
      type.getShape(), cellOf(type), q.columns, scales.scales.columns);
}

static LogicalResult convert(ProgramConversion &c, ll::DequantizeOp op) {
  auto type = cast<ll::QuantizedTensorType>(op.getX().getType());
  FailureOr<RowsValue> q = c.lookup(op, op.getX(), rowColumns(op.getResult()));
  FailureOr<Scales> scales = lookupScales(c, op);
  if (failed(q) || failed(scales))
    return failure();
  dequantize(c, op.getLoc(), type, *q, *scales, c.createResult(op.getResult()));
  return success();
}

//===----------------------------------------------------------------------===//
// The weights of a matmul
//===----------------------------------------------------------------------===//

namespace {
/// The packed form of a matmul's weights [N, K], and the type of products.
struct MatmulPlan {
  IntegerFormat format;
  int64_t segment = 0; ///< 0: activations are f32.
  /// The integers are too wide for an integer kernel: products are f32.
  bool asNumbers = false;
};
} // namespace

static int64_t dimOfK(ll::QuantizedMatmulOp op) {
  return op.getTransposeRhs() ? 1 : 0;
}

static MatmulPlan planMatmul(ll::QuantizedMatmulOp op) {
  auto type = cast<ll::QuantizedTensorType>(op.getRhs().getType());
  int64_t k = op.getNumInputs(), group = cellOf(type)[dimOfK(op)];
  MatmulPlan plan;
  // The bits of elements, which may be more than those of their values.
  plan.format.bits = type.getElementType().getIntOrFloatBitWidth();
  plan.format.group = group < k ? group : 0;
  plan.format.zeroPoints = static_cast<bool>(op.getZeroPoints());
  int64_t zeroBits = plan.format.zeroPoints
                         ? getElementTypeOrSelf(op.getZeroPoints().getType())
                               .getIntOrFloatBitWidth()
                         : 0;
  if (zeroBits > 8)
    plan.format.bits = 16; // Wide zero points require wide integers.
  plan.asNumbers =
      zeroBits > 16 || (op.getActivationBits() && plan.format.bits > 8);
  if (!op.getActivationBits() || plan.asNumbers)
    return plan;
  plan.segment =
      commonSegment(k, plan.format.group, op.getActivationGroupOrDefault());
  IntegerMatrixLayout layout{plan.format, op.getNumOutputs(), k};
  if (plan.segment < layout.group() &&
      plan.segment % layout.valuesPerLine() != 0)
    plan.format.segment = plan.segment;
  return plan;
}

/// Packs integers that are computed by the program.
static FailureOr<Value> packIntegers(ProgramConversion &c,
                                     ll::QuantizedMatmulOp op,
                                     const MatmulPlan &plan) {
  auto type = cast<ll::QuantizedTensorType>(op.getRhs().getType());
  FailureOr<RowsValue> q = c.lookup(op, op.getRhs());
  FailureOr<Scales> scales = lookupScales(c, op);
  if (failed(q) || failed(scales))
    return failure();
  int64_t dimK = dimOfK(op), dimN = 1 - dimK;
  SmallVector<int64_t> cell = cellOf(type), strides(2, 0);
  int64_t stride = 1;
  for (int64_t d : {1, 0}) {
    int64_t cells = type.getShape()[d] / cell[d];
    strides[d] = cells > 1 ? stride : 0;
    stride *= cells;
  }
  int64_t rows = op.getNumOutputs(), columns = op.getNumInputs();
  IntegerMatrixLayout layout{plan.format, rows, columns};
  RowsValue packed =
      c.createScratch(op.getLoc(), layout.bytes() / kLineBytes, kTileRows);
  c.fixedKernel<kernel::PackIntegersOp>(
      op.getLoc(), kernelName("pack_integers", {rows, columns}), q->buffer,
      scales->scales.buffer, scales->zeroPoints.buffer, packed.buffer,
      plan.format.name(), rows, columns, q->columns,
      dimN == 0 ? type.getShape()[1] : 1, dimK == 0 ? type.getShape()[1] : 1,
      scales->scales.columns, strides[dimN], strides[dimK], cell[dimN]);
  return packed.buffer;
}

/// The parameter whose quantized form is the op's weight; null, with a
/// diagnostic, for other weights.
static Value quantizedParameter(ll::QuantizedMatmulOp op) {
  auto quantize = op.getRhs().getDefiningOp<ll::QuantizeOp>();
  auto params = op.getScales().getDefiningOp<ll::QuantParamsOp>();
  bool ofOneParameter = quantize && params &&
                        quantize.getX() == params.getX() &&
                        quantize.getScales() == op.getScales() &&
                        quantize.getZeroPoints() == op.getZeroPoints() &&
                        params.getZeroPoints() == op.getZeroPoints() &&
                        quantize.getType() == params.getQuantizedType();
  if (!ofOneParameter) {
    op.emitOpError("has a weight in a step that is not a parameter of the "
                   "model, quantized with its own llm.quant_params");
    return {};
  }
  if (op.getTransposeRhs() && params.getAxis() == 0)
    return quantize.getX();
  op.emitOpError("has a weight in a step that is quantized along ")
      << (op.getTransposeRhs() ? "more than a row" : "its columns")
      << "; weights [N, K] of a step have scales for each row";
  return {};
}

/// Adds the bias to the weights packed by the program.
static LogicalResult appendBias(ProgramConversion &c, ll::QuantizedMatmulOp op,
                                KernelWeights &weights) {
  if (!op.getBias())
    return success();
  FailureOr<RowsValue> bias = c.lookup(op, op.getBias(), op.getNumOutputs());
  if (failed(bias))
    return failure();
  weights.all.push_back(bias->buffer);
  return success();
}

static FailureOr<KernelWeights> matmulWeights(ProgramConversion &c,
                                              ll::QuantizedMatmulOp op,
                                              const MatmulPlan &plan) {
  KernelWeights result;
  result.format = plan.format.name();
  if (!c.policy.quantizesWhenPacked) {
    FailureOr<Value> packed = packIntegers(c, op, plan);
    if (failed(packed))
      return failure();
    result.all.push_back(*packed);
    if (failed(appendBias(c, op, result)))
      return failure();
    return result;
  }
  Value parameter = quantizedParameter(op);
  if (!parameter)
    return failure();
  FailureOr<KernelWeight> matrix =
      c.quantizedParameter(op, parameter, plan.format);
  if (failed(matrix))
    return failure();
  result.all.push_back(*matrix);
  if (op.getBias()) {
    FailureOr<KernelWeights> bias = c.weights(op, {op.getBias()});
    if (failed(bias))
      return failure();
    result.all.push_back((*bias)[0]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The matmul
//===----------------------------------------------------------------------===//

RowQuantization quantizeRowsFor(const IntegerMatrixLayout &weights,
                                int64_t group, int64_t segment) {
  auto row = QuantizedRowLayout::forWeights(weights, segment);
  return {weights.columns, std::min(group, weights.columns), row.segment,
          row.padded};
}

RowsValue quantizedRows(ProgramConversion &c, Location loc, Value tensor,
                        const RowsValue &x, const RowQuantization &how) {
  RowsValue &known = c.quantizedRows(
      tensor, Builder(loc.getContext())
                  .getDenseI64ArrayAttr(
                      {how.columns, how.group, how.segment, how.padded}));
  if (known.buffer)
    return known;
  known = c.createRowsLike(loc, x, how.words());
  c.kernel<kernel::QuantizeRowsOp>(
      loc, kernelName("quantize_rows", {how.columns, how.group}), x, x.buffer,
      known.buffer, how.columns, how.group, how.segment, how.padded,
      /*choices=*/1, /*parts=*/1, x.over);
  return known;
}

/// x rounded by the quantization of activations, as f32.
static RowsValue roundedRows(ProgramConversion &c, ll::QuantizedMatmulOp op,
                             const RowsValue &x) {
  int64_t k = op.getNumInputs();
  int64_t group = std::min(op.getActivationGroupOrDefault(), k);
  if (!op.getActivationBits() || x.rows == 0)
    return x;
  const int64_t shape[] = {x.rows, k}, cell[] = {1, group};
  int64_t gridColumns = ceilDiv(k, group);
  RowsValue scales = c.createRowsLike(op.getLoc(), x, gridColumns);
  RowsValue q = c.createRowsLike(op.getLoc(), x, k);
  RowsValue rounded = c.createRowsLike(op.getLoc(), x, k);
  const Value noZeroPoints;
  Location loc = op.getLoc();
  c.fixedKernel<kernel::QuantParamsOp>(
      loc, kernelName("quant_params", shape), x.buffer, scales.buffer,
      noZeroPoints, 8, ArrayRef(shape), ArrayRef(cell), k, gridColumns);
  c.fixedKernel<kernel::QuantizeOp>(
      loc, kernelName("quantize", shape), x.buffer, scales.buffer, noZeroPoints,
      q.buffer, 8, ArrayRef(shape), ArrayRef(cell), k, gridColumns);
  c.fixedKernel<kernel::DequantizeOp>(loc, kernelName("dequantize", shape),
                                      q.buffer, scales.buffer, noZeroPoints,
                                      rounded.buffer, ArrayRef(shape),
                                      ArrayRef(cell), k, gridColumns);
  return rounded;
}

/// A product with dequantized integers, as an f32 matmul.
static LogicalResult convertAsNumbers(ProgramConversion &c,
                                      ll::QuantizedMatmulOp op,
                                      const RowsValue &x) {
  if (c.policy.quantizesWhenPacked)
    return op.emitOpError(
        "has integers of more than 8 bits, which kernels of a "
        "step cannot multiply");
  auto type = cast<ll::QuantizedTensorType>(op.getRhs().getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t n = op.getNumOutputs(), k = op.getNumInputs();
  FailureOr<RowsValue> q = c.lookup(op, op.getRhs(), shape[1]);
  FailureOr<Scales> scales = lookupScales(c, op);
  if (failed(q) || failed(scales))
    return failure();
  RowsValue numbers = c.createScratch(op.getLoc(), shape[0], shape[1]);
  dequantize(c, op.getLoc(), type, *q, *scales, numbers);
  bool transposed = op.getTransposeRhs();
  KernelWeights weights;
  weights.format = "f32";
  weights.all.push_back(c.packMatrix(op.getLoc(), numbers, n, k,
                                     transposed ? k : 1, transposed ? 1 : n));
  if (failed(appendBias(c, op, weights)))
    return failure();
  RowsValue input = roundedRows(c, op, x);
  return convertMatmul(c, op, kernelName("linear_f32", {n, k}), {n, k}, weights,
                       x, input.buffer);
}

static LogicalResult convert(ProgramConversion &c, ll::QuantizedMatmulOp op) {
  int64_t n = op.getNumOutputs(), k = op.getNumInputs();
  MatmulPlan plan = planMatmul(op);
  FailureOr<RowsValue> x = c.lookup(op, op.getX(), k);
  if (failed(x))
    return failure();
  if (plan.asNumbers)
    return convertAsNumbers(c, op, *x);
  FailureOr<KernelWeights> weights = matmulWeights(c, op, plan);
  if (failed(weights))
    return failure();
  RowsValue input = *x;
  if (plan.segment)
    input = quantizedRows(c, op.getLoc(), op.getX(), *x,
                          quantizeRowsFor({plan.format, n, k},
                                          op.getActivationGroupOrDefault(),
                                          plan.segment));
  return convertMatmul(c, op, kernelName("quantized_linear", {n, k}),
                       {n, k, plan.segment}, *weights, *x, input.buffer);
}

LogicalResult convertBlockLinear(ProgramConversion &c, ll::LinearOp op,
                                 const RowsValue &x,
                                 const KernelWeights &weights,
                                 const IntegerFormat &format) {
  ArrayRef<int64_t> shape = ll::getWeightShape(op.getWeight().getType());
  int64_t n = shape[0], k = shape[1], segment = 0;
  RowsValue input = x;
  if (c.policy.quantizesActivations) {
    segment = commonSegment(k, format.group, kActivationGroup);
    input = quantizedRows(
        c, op.getLoc(), op.getX(), x,
        quantizeRowsFor({format, n, k}, kActivationGroup, segment));
  }
  return convertMatmul(c, op, kernelName("quantized_linear", {n, k}),
                       {n, k, segment}, weights, x, input.buffer);
}

/// The heads of the rows, each quantized like a row.
static RowsValue quantizedHeads(ProgramConversion &c, ll::HeadLinearOp op,
                                const RowsValue &x,
                                const RowQuantization &how) {
  ArrayRef<int64_t> shape = ll::getWeightShape(op.getWeight().getType());
  RowsValue out = c.createRowsLike(op.getLoc(), x, shape[0] * how.words());
  c.kernel<kernel::QuantizeRowsOp>(
      op.getLoc(), kernelName("quantize_heads", {how.columns, how.group}), x,
      x.buffer, out.buffer, how.columns, how.group, how.segment, how.padded,
      /*choices=*/1, /*parts=*/shape[0], x.over);
  return out;
}

static LogicalResult convert(ProgramConversion &c, ll::HeadLinearOp op) {
  ArrayRef<int64_t> shape = ll::getWeightShape(op.getWeight().getType());
  int64_t heads = shape[0], rows = shape[1], columns = shape[2];
  if (rows % kernel::kTileColumns != 0 || columns % kernel::kTileColumns != 0)
    return op.emitOpError("maps heads of ")
           << columns << " elements to " << rows
           << "; a program requires multiples of " << kernel::kTileColumns;
  FailureOr<RowsValue> x = c.lookup(op, op.getX(), heads * columns);
  FailureOr<KernelWeights> weights = c.weights(op, {op.getWeight()});
  if (failed(x) || failed(weights))
    return failure();
  RowsValue input;
  IntegerAttr segment;
  auto integers = IntegerFormat::fromName(weights->format);
  if (integers && c.policy.quantizesActivations) {
    RowQuantization how = quantizeRowsFor(
        {*integers, rows, columns}, kActivationGroup,
        commonSegment(columns, integers->group, kActivationGroup));
    segment = Builder(op.getContext()).getI64IntegerAttr(how.segment);
    input = quantizedHeads(c, op, *x, how);
  } else {
    input = c.matmulInput(op.getLoc(), op.getX(), *x, op.getWeight().getType(),
                          weights->format);
  }
  RowsValue out = c.createResult(op.getResult(), *x, heads * rows);
  c.kernel<kernel::HeadLinearOp>(
      op.getLoc(), kernelName(Twine("head_linear_") + weights->format, shape),
      out, (*weights)[0], input.buffer, out.buffer, weights->format, heads,
      rows, columns, segment, out.over);
  return success();
}

void addQuantConversions(ConversionTable &table) {
  table.add<ll::QuantParamsOp>(convert, OpForm::Exact);
  table.add<ll::QuantizeOp>(convert, OpForm::Exact);
  table.add<ll::DequantizeOp>(convert);
  table.add<ll::QuantizedMatmulOp>(convert);
  table.add<ll::HeadLinearOp>(convert);
}

} // namespace llmir

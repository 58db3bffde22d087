//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "llmir/Dialect/MLLM/MLLMProgramOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace llmir::mllm::kernel {

int64_t saturatingProduct(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Whether the layout is contiguous and row-major.
static bool isPlain(MemRefType type) {
  return type.hasStaticShape() && type.getLayout().isIdentity() &&
         !type.getMemorySpace();
}

LogicalResult verifyRows(Operation *op, ArrayRef<RowsNeed> needs) {
  for (const RowsNeed &need : needs) {
    if (!need.buffer)
      continue;
    auto type = cast<MemRefType>(need.buffer.getType());
    const bool isF32 = type.getElementType().isF32();
    if (isPlain(type) && type.getRank() == 2 &&
        type.getDimSize(1) >= need.columns &&
        (!isF32 || type.getDimSize(1) % kTileColumns == 0))
      continue;
    InFlightDiagnostic diag = op->emitOpError("takes ")
                              << type << " as '" << need.name
                              << "', expected contiguous static rows of "
                              << need.columns << " or more columns";
    if (isF32)
      diag << ", padded to whole tiles of " << kTileColumns;
    return diag;
  }
  return success();
}

int64_t rowsOf(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getDimSize(0);
}

int64_t elementsOf(Value buffer, int64_t columns) {
  return saturatingProduct(rowsOf(buffer), columns);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

LogicalResult verifyWeight(Operation *op, StringRef name, Value weight,
                           int64_t bytes) {
  if (!weight)
    return success();
  auto type = cast<MemRefType>(weight.getType());
  int64_t has = 0;
  if (isPlain(type) && type.getElementType().isIntOrFloat()) {
    has = type.getElementTypeBitWidth() / 8;
    for (int64_t size : type.getShape())
      has = saturatingProduct(has, size);
  }
  if (has >= bytes)
    return success();
  return op->emitOpError("takes ")
         << type << " as '" << name
         << "', expected a contiguous static buffer of " << bytes
         << " bytes or more";
}

LogicalResult verifyVector(Operation *op, StringRef name, Value weight,
                           int64_t size) {
  return verifyWeight(op, name, weight, packedVectorBytes(size));
}

SmallVector<WeightNeed> needsOfVectors(ArrayRef<VectorOperand> vectors) {
  SmallVector<WeightNeed> needs;
  for (const VectorOperand &vector : vectors)
    for (OpOperand &operand : vector.operand)
      needs.push_back({operand.getOperandNumber(), "", {vector.size}});
  return needs;
}

FailureOr<TensorFormat> plainFormat(Operation *op, StringRef name) {
  std::optional<TensorFormat> format =
      tensorFormatFromName(std::string_view(name.data(), name.size()));
  if (!format || *format == TensorFormat::F64)
    return op->emitOpError("has the unknown format \"") << name << "\"";
  if (auto integers = IntegerFormat::ofBlocks(*format))
    return op->emitOpError("has the block format \"")
           << name << "\", which is called \"" << integers->name() << "\"";
  return *format;
}

static LogicalResult verifySegments(Operation *op, int64_t segment,
                                    const IntegerMatrixLayout &weights) {
  const IntegerFormat &format = weights.format;
  // The sum of 65536 products of 255 and 128 fits into an i32.
  if (segment > 65536)
    return op->emitOpError("accumulates segments of ")
           << segment << " products, expected 65536 or fewer";
  if (format.bits > 8)
    return op->emitOpError("has quantized activations and weights of ")
           << format.bits << " bits; expected at most 8 bits";
  const bool divides = format.group == 0 || format.group % segment == 0;
  const bool inLines =
      segment == format.segment ||
      ((segment % weights.valuesPerLine() == 0 || segment >= weights.group()) &&
       format.segment % weights.bundleValues() == 0);
  if (!divides || !inLines)
    return op->emitOpError("has segments of ")
           << segment << " elements in weights of format \"" << format.name()
           << "\", whose groups are not divided into whole lines";
  return success();
}

FailureOr<PackedMatrix> verifyMatrix(Operation *op, StringRef format,
                                     int64_t rows, int64_t columns,
                                     std::optional<int64_t> segment) {
  if (std::optional<IntegerFormat> integers = integerFormat(format)) {
    IntegerMatrixLayout weights{*integers, rows, columns};
    if (!segment)
      return PackedMatrix{weights.bytes(), columns};
    if (failed(verifySegments(op, *segment, weights)))
      return failure();
    return PackedMatrix{
        weights.bytes(),
        QuantizedRowLayout::forWeights(weights, *segment).words()};
  }
  FailureOr<TensorFormat> plain = plainFormat(op, format);
  if (failed(plain))
    return failure();
  if (segment)
    return op->emitOpError("has segments, but weights of format \"")
           << format << "\"; only integer weights support segments";
  return PackedMatrix{PackedMatrixLayout{*plain, rows, columns}.bytes(),
                      *plain == TensorFormat::BF16 ? RoundRowsOp::words(columns)
                                                   : columns};
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

LogicalResult verifyBox(Operation *op, const Box &box) {
  constexpr int64_t limit = int64_t(1) << 40;
  if (box.start < 0 || box.start > limit)
    return op->emitOpError("starts at element ")
           << box.start << " of '" << box.name << "'";
  int64_t last = box.start;
  for (auto [size, stride] : llvm::zip_equal(box.sizes, box.strides)) {
    if (stride < 0 || stride > limit / size)
      return op->emitOpError("has a box in '")
             << box.name << "' with stride " << stride << " and size " << size
             << "; expected a non-negative stride and a smaller tensor";
    last += (size - 1) * stride;
  }
  const int64_t elements = elementsOf(box.buffer, box.columns);
  if (last >= elements)
    return op->emitOpError("has a box that ends at element ")
           << last << " of '" << box.name << "', which has " << elements;
  return success();
}

//===----------------------------------------------------------------------===//
// Loop nests
//===----------------------------------------------------------------------===//

namespace {
/// The range of an expression's values, inclusive.
struct Range {
  int64_t first, last;
};
} // namespace

static std::optional<Range> addRanges(Range a, Range b) {
  Range sum;
  if (llvm::AddOverflow(a.first, b.first, sum.first) ||
      llvm::AddOverflow(a.last, b.last, sum.last))
    return std::nullopt;
  return sum;
}

static std::optional<Range> scaleRange(Range a, int64_t factor) {
  Range product;
  if (llvm::MulOverflow(a.first, factor, product.first) ||
      llvm::MulOverflow(a.last, factor, product.last))
    return std::nullopt;
  if (factor < 0)
    std::swap(product.first, product.last);
  return product;
}

/// The range of a quotient or a remainder by a positive constant.
static std::optional<Range> divideRange(AffineExprKind kind, Range a,
                                        int64_t divisor) {
  if (a.first < 0 || divisor < 1)
    return std::nullopt;
  if (kind == AffineExprKind::Mod)
    return a.last < divisor ? a : Range{0, divisor - 1};
  const int64_t up = kind == AffineExprKind::CeilDiv ? divisor - 1 : 0;
  if (a.last > INT64_MAX - up)
    return std::nullopt;
  return Range{(a.first + up) / divisor, (a.last + up) / divisor};
}

/// The range of the expression's values, or nullopt if kernels do not support
/// it: they support sums, products with constants, and quotients and remainders
/// of non-negative values.
static std::optional<Range> rangeOf(AffineExpr expr, const Nest &nest,
                                    int depth = 0) {
  constexpr int maxDepth = 64;
  if (depth > maxDepth)
    return std::nullopt;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Range{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Range{0, nest.sizes[dim.getPosition()] - 1};
  if (isa<AffineSymbolExpr>(expr))
    return Range{0, nest.bound - 1};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Range> lhs = rangeOf(binary.getLHS(), nest, depth + 1);
  std::optional<Range> rhs = rangeOf(binary.getRHS(), nest, depth + 1);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return addRanges(*lhs, *rhs);
  if (rhs->first != rhs->last)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mul)
    return scaleRange(*lhs, rhs->first);
  return divideRange(expr.getKind(), *lhs, rhs->first);
}

static LogicalResult verifyNestSizes(Operation *op, const Nest &nest) {
  constexpr int64_t maxLoops = 16, limit = int64_t(1) << 40;
  int64_t points = 1;
  for (int64_t size : nest.sizes)
    points = saturatingProduct(points, size);
  if (static_cast<int64_t>(nest.sizes.size()) <= maxLoops && points <= limit)
    return success();
  return op->emitOpError("has loops of [")
         << nest.sizes << "]; expected at most " << maxLoops
         << " with at most 2^40 points";
}

static LogicalResult verifyNestMaps(Operation *op, const Nest &nest) {
  if (nest.maps.size() != op->getNumOperands())
    return op->emitOpError("has ") << nest.maps.size() << " maps for "
                                   << op->getNumOperands() << " buffers";
  for (auto [number, attr] : llvm::enumerate(nest.maps)) {
    AffineMap map = cast<AffineMapAttr>(attr).getValue();
    auto report = [&, number = number, attr = attr]() -> InFlightDiagnostic {
      return op->emitOpError("has the map ")
             << attr << " for buffer " << number;
    };
    if (map.getNumDims() != nest.sizes.size() || map.getNumResults() != 2 ||
        map.getNumSymbols() > (nest.bound > 0 ? 1 : 0))
      return report() << "; expected the row and column of a point of "
                      << nest.sizes.size() << " loops";
    auto type = cast<MemRefType>(op->getOperand(number).getType());
    for (auto [expr, size] : llvm::zip(map.getResults(), type.getShape())) {
      std::optional<Range> range = rangeOf(expr, nest);
      if (!range)
        return report()
               << ", which has other expressions than sums, multiples, "
                  "quotients and remainders of non-negative values";
      if (range->first < 0 || range->last >= size)
        return report() << ", which ranges from " << range->first << " to "
                        << range->last << " in a dimension of " << size;
    }
  }
  return success();
}

LogicalResult verifyNest(Operation *op, const Nest &nest) {
  if (failed(verifyNestSizes(op, nest)))
    return failure();
  for (Value operand : op->getOperands())
    if (failed(verifyRows(op, {{"buffer", operand, 1}})))
      return failure();
  return verifyNestMaps(op, nest);
}

//===----------------------------------------------------------------------===//
// Scalar regions
//===----------------------------------------------------------------------===//

/// Whether the value is an unsigned integer of at least 1: maxui(x, 1).
static bool isAtLeastOne(Value value) {
  auto most = value.getDefiningOp<arith::MaxUIOp>();
  return most && llvm::any_of(most->getOperands(), [](Value operand) {
           auto constant = operand.getDefiningOp<arith::ConstantOp>();
           auto number = constant ? dyn_cast<IntegerAttr>(constant.getValue())
                                  : IntegerAttr();
           return number && !number.getValue().isZero();
         });
}

/// Whether code can be generated for a value of the type.
static bool isScalar(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() >= 1 && integer.getWidth() <= 64;
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type, IndexType>(
      type);
}

/// Whether the op is a pure scalar computation that cannot trap: integer
/// quotients are allowed by constants other than 0 and -1, and unsigned ones by
/// a value that is at least 1.
static bool isScalarOp(Operation &op) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          op.getDialect()) ||
      op.getNumRegions() != 0 || op.getNumResults() != 1 ||
      !isScalar(op.getResult(0).getType()))
    return false;
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
           arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return true;
  if (isa<arith::DivUIOp, arith::RemUIOp>(op) && isAtLeastOne(op.getOperand(1)))
    return true;
  auto divisor = op.getOperand(1).getDefiningOp<arith::ConstantOp>();
  auto number =
      divisor ? dyn_cast<IntegerAttr>(divisor.getValue()) : IntegerAttr();
  return number && !number.getValue().isZero() &&
         !number.getValue().isAllOnes();
}

LogicalResult verifyScalarRegion(Operation *op, Block *body,
                                 TypeRange arguments, Type result) {
  // Ops of the region are not verified yet.
  if (!body || body->empty() || !isa<program::YieldOp>(body->back()) ||
      body->getArgumentTypes() != arguments ||
      body->back().getNumOperands() != 1 ||
      body->back().getOperand(0).getType() != result)
    return op->emitOpError("needs a region that takes (")
           << arguments << ") and ends with an mllm.program.yield of "
           << result;
  for (Operation &scalar : body->without_terminator())
    if (!isScalarOp(scalar))
      return scalar.emitOpError("is not a speculatable scalar computation, "
                                "which the region of a kernel requires");
  return success();
}

//===----------------------------------------------------------------------===//
// The KV cache
//===----------------------------------------------------------------------===//

LogicalResult verifyCache(Operation *op, const CacheGeometry &geometry) {
  std::optional<KVFormat> format = kvFormatFromName(
      std::string_view(geometry.format.data(), geometry.format.size()));
  if (!format)
    return op->emitOpError("has a cache of the unknown format \"")
           << geometry.format << "\"";
  // A cell of the cache holds elements of consecutive tokens.
  const int64_t cell = 4 / kvStoredBytes(*format);
  if (geometry.blockSize % cell != 0)
    return op->emitOpError("has block size ")
           << geometry.blockSize << ", which is not a multiple of the " << cell
           << " elements in a cell of the cache";
  if (geometry.valuesInKeys && geometry.valueDim > geometry.headDim)
    return op->emitOpError("has values of ")
           << geometry.valueDim << " elements in keys of " << geometry.headDim;
  return success();
}

} // namespace llmir::mllm::kernel

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels of loops, of places in buffers and of sorting check before they
// are emitted: whatever a program says, no element beyond a buffer is touched.
//
//===----------------------------------------------------------------------===//

#include "KernelEmission.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// Every value of an expression lies within.
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

/// Of a quotient or a remainder by a positive constant.
static std::optional<Range> divideRange(AffineExprKind kind, Range a,
                                        int64_t divisor) {
  if (a.first < 0 || divisor < 1)
    return std::nullopt;
  if (kind == AffineExprKind::Mod)
    return a.last < divisor ? a : Range{0, divisor - 1};
  int64_t up = kind == AffineExprKind::CeilDiv ? divisor - 1 : 0;
  if (a.last > INT64_MAX - up)
    return std::nullopt;
  return Range{(a.first + up) / divisor, (a.last + up) / divisor};
}

/// Where the expression's values lie, or nothing where it is none that kernels
/// compute: sums, products with constants, quotients and remainders of numbers
/// that are not negative.
static std::optional<Range> rangeOf(AffineExpr expr, ArrayRef<int64_t> sizes,
                                    int64_t bound, int depth = 0) {
  constexpr int maxDepth = 64;
  if (depth > maxDepth)
    return std::nullopt;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Range{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Range{0, sizes[dim.getPosition()] - 1};
  if (isa<AffineSymbolExpr>(expr))
    return Range{0, bound - 1};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto lhs = rangeOf(binary.getLHS(), sizes, bound, depth + 1);
  auto rhs = rangeOf(binary.getRHS(), sizes, bound, depth + 1);
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

LogicalResult KernelEmission::checkNest(ArrayRef<int64_t> sizes,
                                        ArrayRef<AffineMap> maps,
                                        int64_t bound) {
  constexpr int64_t maxLoops = 16, limit = int64_t(1) << 40;
  int64_t points = 1;
  for (int64_t size : sizes) {
    if (failed(checkSizes({{"sizes", size}})))
      return failure();
    points = std::min(points * size, limit + 1);
  }
  if (sizes.size() > maxLoops || points > limit)
    return kernel.emitOpError("has loops of ")
           << sizes << "; expected at most " << maxLoops
           << " of them with at most 2^40 points";
  ArrayAttr types = kernel.getOperandTypes();
  if (maps.size() > types.size())
    return kernel.emitOpError("has ")
           << maps.size() << " maps for " << types.size() << " buffers";
  for (size_t number = 0; number < maps.size(); ++number) {
    AffineMap map = maps[number];
    auto report = [&]() -> InFlightDiagnostic {
      return kernel.emitOpError("has the map ")
             << AffineMapAttr::get(map) << " for buffer " << number;
    };
    auto type = dyn_cast<MemRefType>(cast<TypeAttr>(types[number]).getValue());
    if (!type || type.getRank() != 2)
      return report() << ", which has no rows";
    if (map.getNumDims() != sizes.size() || map.getNumResults() != 2 ||
        map.getNumSymbols() > (bound > 0 ? 1 : 0))
      return report() << "; expected row and column of a point of "
                      << sizes.size() << " loops";
    for (auto [expr, size] : llvm::zip(map.getResults(), type.getShape())) {
      std::optional<Range> range = rangeOf(expr, sizes, bound);
      if (!range)
        return report() << ", which is more than sums, multiples, quotients "
                           "and remainders of numbers that are not negative";
      if (range->first < 0 || range->last >= size)
        return report() << ", which goes from " << range->first << " to "
                        << range->last << " in a dimension of " << size;
    }
  }
  return success();
}

LogicalResult KernelEmission::beginNest(size_t buffers) {
  SmallVector<unsigned> integers, wide;
  for (unsigned i = 0; i < buffers; ++i) {
    if (isIntegerBuffer(i))
      integers.push_back(i);
    if (isIntegerBuffer(i, 64))
      wide.push_back(i);
  }
  return begin({}, SmallVector<int64_t>(buffers, 1), integers, wide);
}

LogicalResult KernelEmission::checkPadding(int64_t columns) {
  auto types = kernel.getOperandTypes().getAsValueRange<TypeAttr>();
  auto out = types.empty() ? MemRefType()
                           : dyn_cast<MemRefType>(*std::prev(types.end()));
  if (out && out.getRank() == 2 && columns > 0 &&
      columns <= out.getDimSize(1) && out.getDimSize(1) - columns < kTileRows)
    return success();
  return kernel.emitOpError("has ")
         << columns << " columns in its output, expected so many that less "
         << "than " << kTileRows << " are padding";
}

//===----------------------------------------------------------------------===//
// loops
//===----------------------------------------------------------------------===//

/// Whether the number is at least 1, taken as unsigned: maxui(x, 1).
static bool isAtLeastOne(Value value) {
  auto most = value.getDefiningOp<arith::MaxUIOp>();
  return most && llvm::any_of(most->getOperands(), [](Value operand) {
           auto constant = operand.getDefiningOp<arith::ConstantOp>();
           auto number = constant ? dyn_cast<IntegerAttr>(constant.getValue())
                                  : IntegerAttr();
           return number && !number.getValue().isZero();
         });
}

/// Whether the op computes numbers from numbers and nothing else, and cannot
/// trap: of quotients of integers those by constants that are neither 0 nor -1,
/// and unsigned ones by what is at least 1.
static bool isScalarOp(Operation &op) {
  if (!isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
      op.getNumRegions() != 0 || op.getNumResults() != 1 ||
      !op.getResult(0).getType().isIntOrIndexOrFloat())
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

LogicalResult KernelEmission::checkLoopsRegion(const LoopsSpec &spec) {
  Block &body = kernel.getBody().front();
  auto types =
      llvm::to_vector(kernel.getOperandTypes().getAsValueRange<TypeAttr>());
  size_t loops = spec.sizes.size();
  bool fits = !types.empty() && !body.empty() && isa<YieldOp>(body.back()) &&
              body.getNumArguments() + 1 == loops + types.size();
  for (size_t i = 0; fits && i < loops; ++i)
    fits = body.getArgument(i).getType().isIndex();
  for (size_t i = 0; fits && i < types.size(); ++i) {
    Value element = i + 1 < types.size() ? Value(body.getArgument(loops + i))
                                         : body.back().getOperand(0);
    auto buffer = dyn_cast<MemRefType>(types[i]);
    fits = buffer && buffer.getElementType() == element.getType();
  }
  if (!fits)
    return kernel.emitOpError("of kind loops needs a region that takes ")
           << loops << " indices and the element of each buffer but the last, "
           << "whose element it yields";
  for (Operation &op : body.without_terminator())
    if (!isScalarOp(op))
      return op.emitOpError("cannot stand in the region of a kernel: it is no "
                            "scalar computation that always has a result");
  return success();
}

LogicalResult KernelEmission::emit(const LoopsSpec &spec) {
  if (kernel.getBody().empty())
    return kernel.emitOpError("of kind loops needs its scalar region");
  int64_t loops = spec.sizes.size(), buffers = spec.maps.size();
  bool reduces = spec.parallel < loops;
  if (spec.parallel < 0 || spec.parallel > loops || buffers < (reduces ? 2 : 1))
    return kernel.emitOpError("has ") << spec.parallel << " parallel loops of "
                                      << loops << " and " << buffers << " maps";
  if (failed(checkNest(spec.sizes, spec.maps, /*bound=*/0)) ||
      failed(checkPadding(spec.columns)) || failed(beginNest(buffers)) ||
      failed(checkLoopsRegion(spec)))
    return failure();
  for (AffineMap map : ArrayRef(spec.maps).take_back(reduces ? 2 : 1))
    for (int64_t d = spec.parallel; d < loops; ++d)
      if (map.isFunctionOfDim(d))
        return kernel.emitOpError("has an output that depends on loop ")
               << d << ", which reduces";
  emitLoops(kb, spec, kernel.getBody().front());
  return success();
}

//===----------------------------------------------------------------------===//
// gather, scatter
//===----------------------------------------------------------------------===//

bool KernelEmission::hasIndexAndElements() {
  return kernel.getOperandTypes().size() == 3 &&
         (isIntegerBuffer(0) || isIntegerBuffer(0, 64)) &&
         elementOfBuffer(1) == elementOfBuffer(2);
}

/// Whether no map but number `indexed` has a symbol.
static bool onlyMapHasIndex(ArrayRef<AffineMap> maps, size_t indexed) {
  for (auto [number, map] : llvm::enumerate(maps))
    if (number != indexed && map.getNumSymbols() != 0)
      return false;
  return maps.size() == 3;
}

LogicalResult KernelEmission::emit(const GatherSpec &spec) {
  if (!hasIndexAndElements() || !onlyMapHasIndex(spec.maps, 1))
    return kernel.emitOpError(
        "of kind gather needs an index of i32 or i64, and two "
        "buffers of one type, with a map for each");
  if (failed(checkSizes({{"bound", spec.bound}})) ||
      failed(checkNest(spec.sizes, spec.maps, spec.bound)) ||
      failed(checkPadding(spec.columns)) || failed(beginNest(3)))
    return failure();
  emitGather(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const ScatterSpec &spec) {
  int64_t loops = spec.sizes.size();
  if (!hasIndexAndElements() || !onlyMapHasIndex(spec.maps, 2))
    return kernel.emitOpError(
        "of kind scatter needs an index of i32 or i64, and two "
        "buffers of one type, with a map for each");
  if (failed(checkSizes({{"bound", spec.bound}})) ||
      failed(checkNest(spec.sizes, spec.maps, spec.bound)) ||
      failed(beginNest(3)))
    return failure();
  bool known = spec.indexed >= 0 && spec.indexed <= loops;
  for (int64_t d = std::max<int64_t>(spec.indexed, 0); known && d < loops; ++d)
    known = !spec.maps[0].isFunctionOfDim(d);
  if (!known)
    return kernel.emitOpError("has an index that depends on more than ")
           << spec.indexed << " of its " << loops << " loops";
  emitScatter(kb, spec);
  return success();
}

//===----------------------------------------------------------------------===//
// sort
//===----------------------------------------------------------------------===//

LogicalResult KernelEmission::emit(const SortSpec &spec) {
  if (failed(checkSizes({{"rows", spec.rows},
                         {"columns", spec.columns},
                         {"count", spec.count}})))
    return failure();
  if (spec.count > spec.columns)
    return kernel.emitOpError("gives ")
           << spec.count << " numbers of rows of " << spec.columns;
  SmallVector<unsigned> integers{2, 3, 4}, wide;
  if (isIntegerBuffer(0))
    integers.append({0, 1});
  if (isIntegerBuffer(0, 64))
    wide.append({0, 1});
  if (failed(begin(
          {},
          {spec.columns, spec.count, spec.count, spec.columns, spec.columns},
          integers, wide)))
    return failure();
  for (unsigned i = 0; i < 5; ++i)
    if (bufferRows(i) < spec.rows)
      return kernel.emitOpError("sorts ")
             << spec.rows << " rows; buffer " << i << " has " << bufferRows(i);
  emitSort(kb, spec);
  return success();
}

} // namespace llmir

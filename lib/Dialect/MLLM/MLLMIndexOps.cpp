//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gathers, scatters, sorts and reductions.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMIndexOps.h"

#include "LinalgHelpers.h"
#include "llmir/Dialect/MLLM/MLLMShapeOps.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

//===----------------------------------------------------------------------===//
// Assembly of indexers
//===----------------------------------------------------------------------===//

/// `[:, %i, 0:4]`: a range or an index tensor per dimension.
static ParseResult
parseIndexers(OpAsmParser &parser,
              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &indices,
              DenseI64ArrayAttr &dims, DenseI64ArrayAttr &starts,
              DenseI64ArrayAttr &ends, DenseI64ArrayAttr &steps) {
  RangeLists lists;
  SmallVector<int64_t> places;
  auto parseOne = [&]() -> ParseResult {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (!parsed.has_value())
      return lists.parseNext(parser);
    places.push_back(int64_t(lists.size()));
    indices.push_back(operand);
    lists.addAll();
    return *parsed;
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
    return failure();
  dims = DenseI64ArrayAttr::get(parser.getContext(), places);
  lists.get(parser.getContext(), starts, ends, steps);
  return success();
}

static void printIndexers(OpAsmPrinter &printer, Operation *,
                          OperandRange indices, DenseI64ArrayAttr dims,
                          DenseI64ArrayAttr starts, DenseI64ArrayAttr ends,
                          DenseI64ArrayAttr steps) {
  size_t next = 0;
  printer << "[";
  llvm::interleaveComma(llvm::seq<int64_t>(0, starts.size()), printer,
                        [&](int64_t d) {
                          if (next < size_t(dims.size()) && dims[next] == d)
                            printer << indices[next++];
                          else
                            printRange(printer, starts[d], ends[d], steps[d]);
                        });
  printer << "]";
}

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMIndexOps.cpp.inc"

void MLLMDialect::addIndexOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMIndexOps.cpp.inc"
      >();
}

Expected<ResultTypes> GatherOp::inferResults(Adaptor op) {
  LLMIR_RETURN_IF_ERROR(checkSameDevice(op.getOperands())); // c2
  // c1, c3
  return shaped(shapes::gather(shapeOf(op.getTable()), shapeOf(op.getIndices()),
                               op.getDim()),
                op.getTable());
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

Expected<ResultTypes> ScatterOp::inferResults(Adaptor op) {
  const shapes::Shape x = shapeOf(op.getX());
  Expected<int64_t> dim = shapes::normalizeAxis(op.getDim(), x.size(), "dim");
  if (!dim) // c1
    return dim.takeStatus();
  // c2
  Expected<shapes::Shape> shape =
      shapes::sameShape(shapeOf(op.getIndices()), shapeOf(op.getSource()));
  if (!shape)
    return shape.takeStatus();
  if (shape->size() != x.size())
    return shapes::shapeError(
        "has indices of rank " + std::to_string(shape->size()) +
        " for a tensor of rank " + std::to_string(x.size()));
  for (size_t d = 0; d < x.size(); ++d) {
    std::optional<int64_t> have = (*shape)[d].constant();
    std::optional<int64_t> most = x[d].constant();
    if (int64_t(d) != *dim && have && most && *have > *most)
      return shapes::shapeError("has " + std::to_string(*have) +
                                " indices in dimension " + std::to_string(d) +
                                ", in which 'x' has " + std::to_string(*most));
  }
  // c3
  LLMIR_RETURN_IF_ERROR(checkSameElements({op.getX(), op.getSource()}));
  LLMIR_RETURN_IF_ERROR(checkSameDevice(op.getOperands()));
  return sameAs(op.getX()); // c4
}

Expected<ResultTypes> MaskedScatterOp::inferResults(Adaptor op) {
  // c1
  const shapes::Shape x = shapeOf(op.getX());
  Expected<shapes::Shape> both = shapes::broadcast(x, shapeOf(op.getMask()));
  if (!both)
    return both.takeStatus();
  if (!shapes::sameShape(x, *both))
    return shapes::shapeError("has a mask " +
                              shapes::str(shapeOf(op.getMask())) +
                              " that is larger than " + shapes::str(x));
  // c2
  LLMIR_RETURN_IF_ERROR(checkSameElements({op.getX(), op.getSource()}));
  LLMIR_RETURN_IF_ERROR(checkSameDevice(op.getOperands()));
  return sameAs(op.getX()); // c3
}

//===----------------------------------------------------------------------===//
// Index
//===----------------------------------------------------------------------===//

Expected<ResultTypes> IndexOp::inferResults(Adaptor op) {
  LLMIR_RETURN_IF_ERROR(checkSameDevice(op.getOperands())); // c4
  Expected<std::vector<shapes::Range>> ranges =
      makeRanges(op.getStarts(), op.getEnds(), op.getSteps()); // c1
  if (!ranges)
    return ranges.takeStatus();
  // c3
  if (op.getDims().size() != op.getIndices().size())
    return shapes::shapeError(
        "names " + std::to_string(op.getDims().size()) + " dimensions for " +
        std::to_string(op.getIndices().size()) + " index tensors");
  std::vector<shapes::Shape> tensors;
  for (Value tensor : op.getIndices())
    tensors.push_back(shapeOf(tensor));
  // c1 to c5
  return shaped(shapes::index(shapeOf(op.getX()), *ranges,
                              {op.getDims().begin(), op.getDims().end()},
                              tensors),
                op.getX());
}

namespace {
/// Without index tensors, it is a slice.
struct IndexToSlice : OpRewritePattern<IndexOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(IndexOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getIndices().empty())
      return failure();
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), op.getX(),
                                         op.getStartsAttr(), op.getEndsAttr(),
                                         op.getStepsAttr());
    return success();
  }
};
} // namespace

void IndexOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<IndexToSlice>(context);
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

Expected<ResultTypes> TopKOp::inferResults(Adaptor op) {
  shapes::Shape shape = shapeOf(op.getX());
  Expected<int64_t> dim =
      shapes::normalizeAxis(op.getDim(), shape.size(), "dim");
  if (!dim) // c1
    return dim.takeStatus();
  // c2
  const int64_t k = op.getK();
  shapes::DimExpr &size = shape[size_t(*dim)];
  if (k < 0 || (size.isConstant() && k > *size.constant()))
    return shapes::shapeError("has 'k' " + std::to_string(k) +
                              " for a dimension of " + size.str());
  size = k;
  // c3
  ResultTypes types = shaped(shape, op.getX());
  types.append(
      shaped(shape, op.getX(), IntegerType::get(op.getX().getContext(), 32)));
  return types;
}

Expected<ResultTypes> ArgsortOp::inferResults(Adaptor op) {
  const shapes::Shape shape = shapeOf(op.getX());
  Expected<int64_t> dim =
      shapes::normalizeAxis(op.getDim(), shape.size(), "dim");
  if (!dim) // c1
    return dim.takeStatus();
  // c2
  return shaped(shape, op.getX(), IntegerType::get(op.getX().getContext(), 32));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Expected<ResultTypes>
llmir::mllm::detail::reductionOf(Value x, std::optional<int64_t> dim,
                                 bool keepDim) {
  shapes::Shape shape = shapeOf(x);
  if (dim) { // c1
    Expected<int64_t> axis = shapes::normalizeAxis(*dim, shape.size(), "dim");
    if (!axis)
      return axis.takeStatus();
  }
  std::vector<int64_t> axes;
  if (dim)
    axes.push_back(*dim);
  return shaped(shapes::reduce(shape, axes, keepDim), x); // c2
}

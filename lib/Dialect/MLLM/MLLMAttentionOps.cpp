//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions, caches and attention.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMAttentionOps.h"

#include "LinalgCosts.h"
#include "llmir/Dialect/MLLM/MLLMStateOps.h"
#include "llmir/Dialect/MLLM/ShapeRules.h"

#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;
using shapes::DimExpr;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMAttentionOps.cpp.inc"

void MLLMDialect::addAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMAttentionOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMStateOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Dimensions of heads
//===----------------------------------------------------------------------===//

/// The token and head dimensions, which precede the last one.
static int64_t tokenDimOf(Value heads, StringRef layout) {
  return tensorType(heads).getRank() - (layout == "bhsd" ? 2 : 3);
}
static int64_t headDimOf(Value heads, StringRef layout) {
  return tensorType(heads).getRank() - (layout == "bhsd" ? 3 : 2);
}

namespace {
/// The sizes of heads, independent of the layout.
struct HeadSizes {
  HeadSizes(Value value, StringRef layout = "bshd") {
    const shapes::Shape shape = shapeOf(value);
    if (shape.size() == 4)
      sequences = shape.front();
    tokens = shape[size_t(tokenDimOf(value, layout))];
    heads = shape[size_t(headDimOf(value, layout))];
    size = shape.back();
  }
  DimExpr sequences = 1, tokens, heads, size;
};
} // namespace

/// Fails if one number of heads cannot be a multiple of the other.
static Status checkGroups(const DimExpr &heads, const DimExpr &keyHeads,
                          const std::string &name, const std::string &keyName) {
  std::optional<int64_t> many = heads.constant(), few = keyHeads.constant();
  if (!many || !few || (*few > 0 && *many % *few == 0))
    return Status::ok();
  return shapes::shapeError(name + " has " + std::to_string(*many) +
                            " heads, expected a multiple of " + keyName +
                            "'s " + std::to_string(*few));
}

/// Fails if two sizes differ: "q has 16 values per head, but k has 8".
static Status checkSame(const DimExpr &a, const std::string &aName,
                        const DimExpr &b, const std::string &bName,
                        const std::string &unit) {
  if (DimExpr::mayEqual(a, b))
    return Status::ok();
  return shapes::shapeError(aName + " has " + a.str() + " " + unit + ", but " +
                            bName + " has " + b.str());
}

static Status checkSameRank(ValueRange values) {
  for (Value value : values)
    if (tensorType(value).getRank() != tensorType(values.front()).getRank())
      return shapes::shapeError(
          "operands have rank " +
          std::to_string(tensorType(values.front()).getRank()) + " and " +
          std::to_string(tensorType(value).getRank()) +
          ", expected equal ranks");
  return Status::ok();
}

static Status checkOneKind(ValueRange values) {
  LLMIR_RETURN_IF_ERROR(checkSameElements(values));
  return checkSameDevice(values);
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

Expected<ResultTypes> PositionsOp::inferResults(Adaptor op) {
  if (tensorType(op.getIds()).getRank() < 1) // c1
    return shapes::shapeError(
        "has a scalar operand, expected a list of tokens");
  Type index = IntegerType::get(op.getIds().getContext(), 64);
  return shaped(shapeOf(op.getIds()), op.getIds(), index); // c2
}

/// Fails unless two tables have equal shapes and match the tokens (and, if
/// present, sequences) of x, and `pairs` fits the head size.
static Status checkTables(Value x, StringRef layout, Value sines, Value cosines,
                          const DimExpr &tokens, const DimExpr &pairs) {
  if (!shapes::sameShape(shapeOf(sines), shapeOf(cosines)) ||
      !checkSameDevice({x, sines, cosines}))
    return shapes::shapeError("has sines " + shapes::str(shapeOf(sines)) +
                              " and cosines " + shapes::str(shapeOf(cosines)) +
                              ", expected equal shapes, on the device of x");
  const HeadSizes heads(x, layout);
  LLMIR_RETURN_IF_ERROR(
      checkSame(heads.tokens, "x", tokens, "a table", "tokens"));
  std::optional<int64_t> size = heads.size.constant(), count = pairs.constant();
  if (size && count && *count > *size / 2)
    return shapes::shapeError("has " + std::to_string(*count) +
                              " pairs for heads of size " +
                              std::to_string(*size) + ", expected at most " +
                              std::to_string(*size / 2));
  return Status::ok();
}

/// The same for tables [tokens, pairs] or [sequences, tokens, pairs].
static Status checkTables(Value x, StringRef layout, ValueRange tables) {
  const shapes::Shape shape = shapeOf(tables[0]);
  if (shape.size() == 3 && shape.front() != DimExpr(1))
    LLMIR_RETURN_IF_ERROR(checkSame(HeadSizes(x, layout).sequences, "x",
                                    shape.front(), "a table", "sequences"));
  return checkTables(x, layout, tables[0], tables[1], shape[shape.size() - 2],
                     shape.back());
}

Expected<ResultTypes> RoPEOp::inferResults(Adaptor op) {
  const bool hasFrequencies = bool(op.getFrequenciesAttr());
  if (op.getTables().size() != (hasFrequencies ? 0 : 2)) // c4
    return shapes::shapeError(
        "has " + std::to_string(op.getTables().size()) + " tables " +
        (hasFrequencies ? "in addition to frequencies, expected none"
                        : "and no frequencies, expected sines and cosines"));
  if (!hasFrequencies) // c1, c5
    LLMIR_RETURN_IF_ERROR(
        checkTables(op.getX(), op.getLayout(), op.getTables()));
  return sameAs(op.getX()); // c6
}

int64_t RoPEOp::getTokenDim() { return tokenDimOf(getX(), getLayout()); }

std::optional<int64_t> RoPEOp::getNumPairs() {
  if (getFrequencies())
    return int64_t(getFrequencies()->size());
  return shapeOf(getTables()[0]).back().constant();
}

LogicalResult RoPEOp::verify() {
  std::optional<int64_t> headDim = shapeOf(getX()).back().constant();
  if (getFrequencies()) {
    const int64_t count = int64_t(getFrequencies()->size());
    // c1
    if (count < 1 || (headDim && count > *headDim / 2))
      return emitOpError() << "has " << count
                           << " frequencies for heads of size "
                           << shapeOf(getX()).back().str() << ", expected 1 to "
                           << (headDim ? std::to_string(*headDim / 2)
                                       : std::string("half of it"));
    // c2
    for (auto [index, frequency] : llvm::enumerate(*getFrequencies()))
      if (!std::isfinite(frequency))
        return emitOpError() << "frequency #" << index << " is " << frequency
                             << ", expected a finite number";
  }
  // c3
  return verifyPositive(*this, getScaling(), "scaling");
}

std::optional<int64_t> RoPEOp::getFlops() {
  // Six operations per two elements.
  return scaled(detail::numResultValues(*this), {3});
}

Expected<ResultTypes> MultimodalRoPEOp::inferResults(Adaptor op) {
  const shapes::Shape table = shapeOf(op.getSin());
  DimExpr sum = 0;
  for (int64_t section : op.getMropeSection()) {
    if (section < 0) // c1
      return shapes::shapeError("has a section of " + std::to_string(section) +
                                " pairs, expected 0 or more");
    sum = sum + DimExpr(section);
  }
  if (!sum.isKnown() || !DimExpr::mayEqual(sum, table.back()))
    return shapes::shapeError("has sections of " + sum.str() +
                              " pairs in total, but tables of " +
                              table.back().str());
  // c2, c3
  LLMIR_RETURN_IF_ERROR(checkTables(op.getX(), op.getLayout(), op.getSin(),
                                    op.getCos(), table[1], sum));
  return sameAs(op.getX()); // c4
}

/// Checks a grid of patches for heads of `size` and the given tokens.
static Status checkGrid(ArrayRef<int64_t> grid, int64_t merge,
                        const HeadSizes &x) {
  constexpr int64_t most = int64_t(1) << 20; // Patches per side.
  auto isSide = [&](int64_t side) { return side >= 1 && side <= most; };
  if (grid.size() != 3 || !llvm::all_of(grid, isSide) || !isSide(merge) ||
      grid[1] % merge != 0 || grid[2] % merge != 0) // c2
    return shapes::shapeError(
        "has an invalid grid, expected [frames, rows, columns] from 1 to 2^20, "
        "rows and columns divisible by " +
        std::to_string(merge));
  LLMIR_RETURN_IF_ERROR(checkSame(x.tokens, "x",
                                  DimExpr(grid[0] * grid[1] * grid[2]),
                                  "the grid", "patches")); // c3
  if (std::optional<int64_t> size = x.size.constant(); size && *size % 4 != 0)
    return shapes::shapeError("has heads of size " + std::to_string(*size) +
                              ", expected a multiple of 4"); // c4
  return Status::ok();
}

Expected<ResultTypes> VisionRoPEOp::inferResults(Adaptor op) {
  const bool hasGrid = bool(op.getGridAttr());
  if (op.getTables().size() != (hasGrid ? 0 : 2)) // c1
    return shapes::shapeError(
        "has " + std::to_string(op.getTables().size()) + " tables " +
        (hasGrid ? "in addition to a grid, expected none"
                 : "and no grid, expected sines and cosines"));
  const HeadSizes x(op.getX());
  if (hasGrid)
    LLMIR_RETURN_IF_ERROR(
        checkGrid(*op.getGrid(), int64_t(op.getSpatialMergeSize()), x));
  else // c6
    LLMIR_RETURN_IF_ERROR(checkTables(op.getX(), "bshd", op.getTables()));
  return sameAs(op.getX()); // c7
}

LogicalResult VisionRoPEOp::verify() {
  return verifyPositive(*this, getTheta(), "theta"); // c5
}

//===----------------------------------------------------------------------===//
// Cache and mask
//===----------------------------------------------------------------------===//

int64_t KVCacheOp::getTokenDim() { return tokenDimOf(getK(), getLayout()); }
int64_t KVCacheOp::getHeadDim() { return headDimOf(getK(), getLayout()); }

/// Checks a result of a cache against its operand and the requested heads.
static Status checkCached(KVCacheOp op, Value one, const std::string &name,
                          Value all, const std::string &allName) {
  const HeadSizes have(one, op.getLayout()), got(all, op.getLayout());
  // c2
  LLMIR_RETURN_IF_ERROR(
      checkSame(have.sequences, name, got.sequences, allName, "sequences"));
  LLMIR_RETURN_IF_ERROR(
      checkSame(have.size, name, got.size, allName, "values per head"));
  // c6
  if (std::optional<uint64_t> heads = op.getQHead())
    return checkSame(DimExpr(int64_t(*heads)), "'q_head'", got.heads, allName,
                     "heads");
  return checkSame(have.heads, name, got.heads, allName, "heads");
}

static Status checkCache(KVCacheOp op) {
  // c7
  Value all[] = {op.getK(), op.getV(), op.getKeys(), op.getValues()};
  LLMIR_RETURN_IF_ERROR(checkSameRank(all));
  LLMIR_RETURN_IF_ERROR(checkSameDevice(all));
  // c1
  const HeadSizes k(op.getK(), op.getLayout()), v(op.getV(), op.getLayout());
  LLMIR_RETURN_IF_ERROR(
      checkSame(k.sequences, "k", v.sequences, "v", "sequences"));
  LLMIR_RETURN_IF_ERROR(checkSame(k.tokens, "k", v.tokens, "v", "tokens"));
  LLMIR_RETURN_IF_ERROR(checkSame(k.heads, "k", v.heads, "v", "heads"));
  // c4
  if (int64_t(op.getLayer()) < 0)
    return shapes::shapeError("'layer' is " +
                              std::to_string(int64_t(op.getLayer())) +
                              ", expected 0 or more");
  // c5
  if (std::optional<uint64_t> heads = op.getQHead())
    LLMIR_RETURN_IF_ERROR(
        checkGroups(DimExpr(int64_t(*heads)), k.heads, "'q_head'", "k"));
  LLMIR_RETURN_IF_ERROR(checkCached(op, op.getK(), "k", op.getKeys(), "keys"));
  LLMIR_RETURN_IF_ERROR(
      checkCached(op, op.getV(), "v", op.getValues(), "values"));
  // c3
  return checkSame(HeadSizes(op.getKeys(), op.getLayout()).tokens, "keys",
                   HeadSizes(op.getValues(), op.getLayout()).tokens, "values",
                   "tokens");
}

LogicalResult KVCacheOp::verify() { return report(*this, checkCache(*this)); }

Expected<ResultTypes> CausalMaskOp::inferResults(Adaptor op) {
  if (tensorType(op.getX()).getRank() < 2) // c1
    return shapes::shapeError("has an operand " +
                              shapes::str(shapeOf(op.getX())) +
                              ", expected scores [..., queries, keys]");
  if (int64_t(op.getWindow()) < 0) // c2
    return shapes::shapeError("'window' is " +
                              std::to_string(int64_t(op.getWindow())) +
                              ", expected 0 or more");
  return sameAs(op.getX()); // c3
}

OpFoldResult CausalMaskOp::fold(FoldAdaptor) {
  auto inner = getX().getDefiningOp<CausalMaskOp>();
  const bool isSame =
      inner && inner.getWindow() == getWindow() && inner.getType() == getType();
  return isSame ? inner.getResult() : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The shape of an attention result: `q` with the head size of `v`.
static Expected<shapes::Shape> attended(Value q, Value k, Value v,
                                        const std::string &kName,
                                        const std::string &vName) {
  const HeadSizes queries(q), keys(k), values(v);
  LLMIR_RETURN_IF_ERROR(
      checkGroups(queries.heads, keys.heads, "q", kName)); // c1
  LLMIR_RETURN_IF_ERROR(checkSame(queries.size, "q", keys.size, kName,
                                  "values per head")); // c2
  LLMIR_RETURN_IF_ERROR(
      checkSame(keys.heads, kName, values.heads, vName, "heads")); // c3
  shapes::Shape result = shapeOf(q);
  result.back() = values.size;
  return result;
}

/// The same for keys and values of the tokens of sequences.
static Expected<shapes::Shape> attendedTokens(Value q, Value k, Value v) {
  LLMIR_RETURN_IF_ERROR(checkSameRank({q, k, v})); // c6
  LLMIR_RETURN_IF_ERROR(checkOneKind({q, k, v}));
  const HeadSizes queries(q), keys(k), values(v);
  LLMIR_RETURN_IF_ERROR(
      checkSame(queries.sequences, "q", keys.sequences, "k", "sequences"));
  LLMIR_RETURN_IF_ERROR(
      checkSame(queries.sequences, "q", values.sequences, "v", "sequences"));
  LLMIR_RETURN_IF_ERROR(
      checkSame(keys.tokens, "k", values.tokens, "v", "tokens")); // c3
  return attended(q, k, v, "k", "v");
}

/// Two operations per product of a query and a key and of a weight and a value,
/// and four per exponential; nullopt if a size is dynamic.
static std::optional<int64_t> attentionFlops(Value q, const DimExpr &keys,
                                             Value v) {
  const HeadSizes queries(q), values(v);
  std::optional<int64_t> size = queries.size.constant();
  std::optional<int64_t> valueSize = values.size.constant();
  if (!keys.constant() || !size || !valueSize)
    return std::nullopt;
  std::optional<int64_t> rows = numValuesOf(q.getType());
  if (rows && *size > 0)
    *rows /= *size;
  return scaled(rows, {*keys.constant(), 2 * (*size + *valueSize) + 4});
}

Expected<ResultTypes> FlashAttention2Op::inferResults(Adaptor op) {
  return shaped(attendedTokens(op.getQ(), op.getK(), op.getV()),
                op.getQ()); // c4
}

/// Checks the scale and the soft cap of an op.
template <typename OpT> static LogicalResult verifyScores(OpT op) {
  if (op.getSoftCap() &&
      failed(verifyPositive(op, *op.getSoftCap(), "soft_cap"))) // c7, c9
    return failure();
  return verifyPositive(op, op.getScale(), "scale"); // c5
}

LogicalResult FlashAttention2Op::verify() { return verifyScores(*this); }

std::optional<int64_t> FlashAttention2Op::getFlops() {
  return attentionFlops(getQ(), HeadSizes(getK()).tokens, getV());
}

/// Fails unless sinks are absent or have one element per head of `q`.
static Status checkSinks(Value q, Value sinks) {
  if (!sinks)
    return Status::ok();
  LLMIR_RETURN_IF_ERROR(checkOneKind({q, sinks}));
  return checkSame(HeadSizes(q).heads, "q", shapeOf(sinks).front(), "'s_aux'",
                   "heads");
}

static Status checkWindow(int64_t window, int64_t least) {
  if (window >= least)
    return Status::ok();
  return shapes::shapeError("'sliding_window' is " + std::to_string(window) +
                            ", expected " + std::to_string(least) + " or more");
}

Expected<ResultTypes> FlashAttention2SwaSinkOp::inferResults(Adaptor op) {
  LLMIR_RETURN_IF_ERROR(checkWindow(int64_t(op.getSlidingWindow()),
                                    op.getChunked() ? 1 : 0)); // c7
  LLMIR_RETURN_IF_ERROR(checkSinks(op.getQ(), op.getSAux()));  // c8
  return shaped(attendedTokens(op.getQ(), op.getK(), op.getV()),
                op.getQ()); // c4
}

LogicalResult FlashAttention2SwaSinkOp::verify() { return verifyScores(*this); }

std::optional<int64_t> FlashAttention2SwaSinkOp::getFlops() {
  return attentionFlops(getQ(), HeadSizes(getK()).tokens, getV());
}

/// The result shape of attention over pool rows.
static Expected<shapes::Shape> attendedRows(Value q, Value keyPool,
                                            Value valuePool, Value keys,
                                            Value values) {
  LLMIR_RETURN_IF_ERROR(checkOneKind({q, keyPool, valuePool})); // c6
  LLMIR_RETURN_IF_ERROR(checkSameDevice({q, keys, values}));
  LLMIR_RETURN_IF_ERROR(checkSame(HeadSizes(q).sequences, "q", DimExpr(1),
                                  "a list of rows", "sequences"));
  LLMIR_RETURN_IF_ERROR(checkSame(shapeOf(keys).front(), "k",
                                  shapeOf(values).front(), "v",
                                  "rows")); // c3
  return attended(q, keyPool, valuePool, "k_pool", "v_pool");
}

Expected<ResultTypes> RadixAttnSwaSinkOp::inferResults(Adaptor op) {
  LLMIR_RETURN_IF_ERROR(
      checkWindow(int64_t(op.getSlidingWindow()), /*least=*/1)); // c7
  LLMIR_RETURN_IF_ERROR(checkSinks(op.getQ(), op.getSAux()));    // c8
  const DimExpr tokens = HeadSizes(op.getQ()).tokens;
  const DimExpr keys = shapeOf(op.getK()).front();
  const bool isPrefill = op.getPattern() == "prefill";
  if (isPrefill || op.getPattern() == "decode") // c9
    if (!DimExpr::mayEqual(tokens, isPrefill ? keys : DimExpr(1)))
      return shapes::shapeError("has " + tokens.str() + " new tokens among " +
                                keys.str() + ", but its pattern is " +
                                op.getPattern().str());
  return shaped(attendedRows(op.getQ(), op.getKPool(), op.getVPool(), op.getK(),
                             op.getV()),
                op.getQ()); // c4
}

LogicalResult RadixAttnSwaSinkOp::verify() {
  return verifyPositive(*this, getScale(), "scale"); // c5
}

std::optional<int64_t> RadixAttnSwaSinkOp::getFlops() {
  return attentionFlops(getQ(), shapeOf(getK()).front(), getVPool());
}

Expected<ResultTypes> RadixAttnRelaxOp::inferResults(Adaptor op) {
  return shaped(attendedRows(op.getQ(), op.getKPool(), op.getVPool(), op.getK(),
                             op.getV()),
                op.getQ()); // c4
}

LogicalResult RadixAttnRelaxOp::verify() {
  return verifyPositive(*this, getScale(), "scale"); // c5
}

std::optional<int64_t> RadixAttnRelaxOp::getFlops() {
  return attentionFlops(getQ(), shapeOf(getK()).front(), getVPool());
}

LogicalResult PagedAttnOp::verify() {
  // c1, c2, c3, c6
  Expected<shapes::Shape> shape = attendedTokens(getQ(), getK(), getV());
  if (!shape)
    return report(*this, shape.status());
  if (Status status = checkSameDevice({getQ(), getIndex()}); !status)
    return report(*this, status);
  // c4
  ResultTypes want = shaped(*shape, getQ());
  if (getWeights()) {
    const HeadSizes q(getQ());
    want.append(shaped(
        {q.sequences, q.heads, q.tokens, shapeOf(getIndex()).front()}, getQ()));
  }
  if (failed(detail::verifyResultTypes(*this, want)))
    return failure();
  return verifyPositive(*this, getScale(), "scale"); // c5
}

std::optional<int64_t> PagedAttnOp::getFlops() {
  return attentionFlops(getQ(), shapeOf(getIndex()).front(), getV());
}

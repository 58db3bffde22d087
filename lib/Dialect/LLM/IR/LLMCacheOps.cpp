//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention and paged cache ops: assembly, result types, builders, interfaces.
//
//===----------------------------------------------------------------------===//

#include "LLMAssembly.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::llm;

#include "mlir/Dialect/LLM/IR/LLMInterfaces.cpp.inc"

double mlir::llm::detail::getScaleOrDefault(Attribute scale, int64_t headDim) {
  double given = getOptionalDouble(scale).value_or(0);
  if (given != 0 || headDim <= 0)
    return given;
  return 1.0 / std::sqrt(double(headDim));
}

std::optional<double> mlir::llm::detail::getOptionalDouble(Attribute number) {
  if (auto attr = dyn_cast_or_null<FloatAttr>(number))
    return attr.getValueAsDouble();
  return std::nullopt;
}

/// A size of a type, or -1 if it is dynamic.
static int64_t getSize(Value value, unsigned dim) {
  int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  return ShapedType::isDynamic(size) ? -1 : size;
}

/// The type with a different last dimension.
static RankedTensorType withLastSize(RankedTensorType type, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = size;
  return type.clone(shape);
}

/// The product, or -1 if a factor is -1.
static int64_t multiply(int64_t a, int64_t b) {
  return a < 0 || b < 0 ? -1 : a * b;
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

ParseResult AttentionOp::parse(OpAsmParser &parser, OperationState &state) {
  WrittenOp written;
  if (parseWrittenOp(parser, {"mask", "sinks"}, state, written))
    return failure();
  size_t count = written.listed.size();
  bool maskIsListed = count == 4;
  OperandSlot mask = written.getNamed("mask");
  if ((count != 3 && !maskIsListed) || (maskIsListed && mask))
    return parser.emitError(written.loc)
           << "expected query, key, value and at most one mask, but there are "
           << count + (mask ? 1 : 0) << " operands";
  if (maskIsListed)
    mask = written.listed[3];
  return addSegmentsAndResults<AttentionOp>(
      parser, written,
      {written.listed[0], written.listed[1], written.listed[2], mask,
       written.getNamed("sinks")},
      /*numResults=*/1, state);
}

void AttentionOp::print(OpAsmPrinter &printer) {
  printWrittenOp(printer, *this, {getQuery(), getKey(), getValue()},
                 {{"mask", getMask()}, {"sinks", getSinks()}});
}

LogicalResult
AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                              ValueRange operands, DictionaryAttr attributes,
                              OpaqueProperties properties, RegionRange regions,
                              SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto value = cast<RankedTensorType>(adaptor.getValue().getType());
  types.push_back(
      withLastSize(cast<RankedTensorType>(adaptor.getQuery().getType()),
                   value.getShape().back()));
  return success();
}

Value AttentionOp::getAttentionOutput() { return getOutput(); }
int64_t AttentionOp::countSequences() { return getSize(getQuery(), 0); }
int64_t AttentionOp::countQueries() { return getSize(getQuery(), 1); }
int64_t AttentionOp::countKeys() { return getSize(getKey(), 1); }
int64_t AttentionOp::countHeads() {
  return hasOneHead() ? 1 : getSize(getQuery(), 2);
}
int64_t AttentionOp::countKVHeads() {
  return hasOneHead() ? 1 : getSize(getKey(), 2);
}
int64_t AttentionOp::sizeOfHead() {
  return getSize(getQuery(), getQuery().getType().getRank() - 1);
}

//===----------------------------------------------------------------------===//
// paged_attention
//===----------------------------------------------------------------------===//

/// The number of sequences of a batched query, otherwise the number of lengths.
static int64_t countPagedSequences(bool isRagged, Value query, Value seqLens) {
  int64_t lengths = getSize(seqLens, 0);
  return isRagged || lengths >= 0 ? lengths : getSize(query, 0);
}

/// The number of queries per sequence of a batched query, otherwise -1.
static int64_t countPagedQueries(bool isRagged, Value query) {
  if (isRagged)
    return -1;
  return cast<RankedTensorType>(query.getType()).getRank() == 3
             ? 1
             : getSize(query, 1);
}

static int64_t countPagedHeads(Value query) {
  return getSize(query, cast<RankedTensorType>(query.getType()).getRank() - 2);
}

ParseResult PagedAttentionOp::parse(OpAsmParser &parser,
                                    OperationState &state) {
  WrittenOp written;
  if (parseWrittenOp(parser, {"offsets", "layer", "mask", "sinks"}, state,
                     written))
    return failure();
  moveCacheTo(written, 1);
  ArrayRef<WrittenOperand> listed = written.listed;
  if (listed.size() != 4)
    return parser.emitError(written.loc)
           << "expected query, cache, block indices and lengths, but there are "
           << listed.size() << " operands";
  return addSegmentsAndResults<PagedAttentionOp>(
      parser, written,
      {listed[0], listed[1], listed[2], listed[3], written.getNamed("offsets"),
       written.getNamed("layer"), written.getNamed("mask"),
       written.getNamed("sinks")},
      /*numResults=*/1, state);
}

void PagedAttentionOp::print(OpAsmPrinter &printer) {
  printWrittenOp(printer, *this,
                 {getQuery(), getCache(), getBlockIndices(), getSeqLens()},
                 {{"offsets", getQueryOffsets()},
                  {"layer", getLayer()},
                  {"mask", getMask()},
                  {"sinks", getSinks()}},
                 /*causalDefault=*/true);
}

LogicalResult PagedAttentionOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto cache = cast<PagedKVCacheType>(adaptor.getCache().getType());
  types.push_back(
      withLastSize(cast<RankedTensorType>(adaptor.getQuery().getType()),
                   cache.getValueDim()));
  return success();
}

void PagedAttentionOp::build(OpBuilder &builder, OperationState &state,
                             Value query, Value cache, Value blockIndices,
                             Value seqLens, Value queryOffsets, Value layer,
                             FloatAttr scale, bool causal) {
  auto cacheType = cast<PagedKVCacheType>(cache.getType());
  Type type = withLastSize(cast<RankedTensorType>(query.getType()),
                           cacheType.getValueDim());
  build(builder, state, type, query, cache, blockIndices, seqLens, queryOffsets,
        layer, /*mask=*/Value(), /*sinks=*/Value(), causal,
        /*num_heads=*/Attribute(), /*head_dim=*/Attribute(), scale,
        /*window=*/Attribute(), /*soft_cap=*/Attribute(),
        /*alibi_slopes=*/DenseF64ArrayAttr());
}

Value PagedAttentionOp::getAttentionOutput() { return getOutput(); }
int64_t PagedAttentionOp::countSequences() {
  return countPagedSequences(isRagged(), getQuery(), getSeqLens());
}
int64_t PagedAttentionOp::countQueries() {
  return countPagedQueries(isRagged(), getQuery());
}
int64_t PagedAttentionOp::countHeads() { return countPagedHeads(getQuery()); }
Value PagedAttentionOp::getCacheInput() { return getCache(); }
Value PagedAttentionOp::getCacheOutput() { return Value(); }
Value PagedAttentionOp::getLayerOperand() { return getLayer(); }
SmallVector<Value> PagedAttentionOp::getBlockOperands() {
  return {getBlockIndices()};
}

//===----------------------------------------------------------------------===//
// append_kv
//===----------------------------------------------------------------------===//
// The values that are not null.
static SmallVector<Value> listValues(ArrayRef<Value> values) {
  return llvm::filter_to_vector(values,
                                [](Value value) { return bool(value); });
}

/// The number of tokens in keys of the ragged or batched form, or -1.
static int64_t countTokens(Value keys) {
  bool hasTokens = cast<RankedTensorType>(keys.getType()).getRank() == 4;
  return multiply(getSize(keys, 0), hasTokens ? getSize(keys, 1) : 1);
}

/// The type of block indices with one column per token of `keys`.
static RankedTensorType getBlockIndicesType(Value keys) {
  auto type = cast<RankedTensorType>(keys.getType());
  int64_t tokens = type.getRank() == 4 ? type.getDimSize(1) : 1;
  return RankedTensorType::get({type.getDimSize(0), tokens},
                               IntegerType::get(type.getContext(), 32));
}

ParseResult AppendKVOp::parse(OpAsmParser &parser, OperationState &state) {
  WrittenOp written;
  if (parseWrittenOp(parser, {"slots", "layer"}, state, written))
    return failure();
  moveCacheTo(written, 0);
  ArrayRef<WrittenOperand> listed = written.listed;
  OperandSlot cache;
  if (!listed.empty() && isa<PagedKVCacheType>(listed.front().type)) {
    cache = listed.front();
    listed = listed.drop_front();
  }
  if (listed.size() != 2 && listed.size() != 3)
    return parser.emitError(written.loc)
           << "expected keys, values and at most sequence ids besides the "
              "cache, but there are "
           << listed.size() << " operands";
  OperandSlot seqIds;
  if (listed.size() == 3)
    seqIds = listed[2];
  return addSegmentsAndResults<AppendKVOp>(
      parser, written,
      {cache, listed[0], listed[1], seqIds, written.getNamed("slots"),
       written.getNamed("layer")},
      /*numResults=*/seqIds ? 2 : 1, state);
}

void AppendKVOp::print(OpAsmPrinter &printer) {
  printWrittenOp(printer, *this,
                 {getCache(), getKeys(), getValues(), getSeqIds()},
                 {{"slots", getSlotMapping()}, {"layer", getLayer()}});
}

void AppendKVOp::build(OpBuilder &builder, OperationState &state, Value cache,
                       Value keys, Value values, Value slotMapping,
                       Value layer) {
  build(builder, state, cache.getType(), /*blockIndices=*/Type(), cache, keys,
        values, /*seqIds=*/Value(), slotMapping, layer,
        /*block_size=*/Attribute(), /*max_seq_len=*/Attribute());
}

void AppendKVOp::build(OpBuilder &builder, OperationState &state, Value cache,
                       Value keys, Value values, Value seqIds) {
  build(builder, state, cache.getType(), getBlockIndicesType(keys), cache, keys,
        values, seqIds, /*slotMapping=*/Value(), /*layer=*/Value(),
        /*block_size=*/Attribute(), /*max_seq_len=*/Attribute());
}

void AppendKVOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // Two new caches must not be merged, even if the operands are equal.
  if (!getCache())
    effects.emplace_back(MemoryEffects::Allocate::get(),
                         getOperation()->getOpResult(0));
}

Value AppendKVOp::getCacheInput() { return getCache(); }
Value AppendKVOp::getCacheOutput() { return getUpdatedCache(); }
Value AppendKVOp::getLayerOperand() { return getLayer(); }
SmallVector<Value> AppendKVOp::getBlockOperands() {
  return listValues({getSlotMapping()});
}
SmallVector<Value> AppendKVOp::getBlockResults() {
  return listValues({getBlockIndices()});
}
int64_t AppendKVOp::countNewTokens() { return countTokens(getKeys()); }

//===----------------------------------------------------------------------===//
// fused_attention
//===----------------------------------------------------------------------===//

/// Whether the types agree except for result `at`, the block indices.
static bool agreeButForRows(TypeRange inferred, TypeRange actual, size_t at) {
  if (inferred.size() != actual.size())
    return false;
  for (size_t i = 0; i < inferred.size(); ++i)
    if (i != at && inferred[i] != actual[i])
      return false;
  return true;
}

ParseResult FusedAttentionOp::parse(OpAsmParser &parser,
                                    OperationState &state) {
  WrittenOp written;
  if (parseWrittenOp(parser, {"slots", "offsets", "layer", "mask", "sinks"},
                     state, written))
    return failure();
  ArrayRef<WrittenOperand> listed = written.listed;
  if (listed.size() != 6 && listed.size() != 7)
    return parser.emitError(written.loc)
           << "expected query, keys, values, cache, sequence ids in the "
              "batched form, block tables and lengths, but there are "
           << listed.size() << " operands";
  OperandSlot seqIds;
  if (listed.size() == 7)
    seqIds = listed[4];
  return addSegmentsAndResults<FusedAttentionOp>(
      parser, written,
      {listed[0], listed[1], listed[2], listed[3], seqIds,
       listed[listed.size() - 2], listed.back(), written.getNamed("slots"),
       written.getNamed("offsets"), written.getNamed("layer"),
       written.getNamed("mask"), written.getNamed("sinks")},
      /*numResults=*/seqIds ? 3 : 2, state);
}

void FusedAttentionOp::print(OpAsmPrinter &printer) {
  printWrittenOp(printer, *this,
                 {getQuery(), getKeys(), getValues(), getCache(), getSeqIds(),
                  getBlockTables(), getSeqLens()},
                 {{"slots", getSlotMapping()},
                  {"offsets", getQueryOffsets()},
                  {"layer", getLayer()},
                  {"mask", getMask()},
                  {"sinks", getSinks()}},
                 /*causalDefault=*/true);
}

LogicalResult FusedAttentionOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto cache = cast<PagedKVCacheType>(adaptor.getCache().getType());
  types.push_back(
      withLastSize(cast<RankedTensorType>(adaptor.getQuery().getType()),
                   cache.getValueDim()));
  types.push_back(cache);
  if (adaptor.getSeqIds())
    types.push_back(getBlockIndicesType(adaptor.getKeys()));
  return success();
}

bool FusedAttentionOp::isCompatibleReturnTypes(TypeRange inferred,
                                               TypeRange actual) {
  return agreeButForRows(inferred, actual, /*at=*/2);
}

Value FusedAttentionOp::getAttentionOutput() { return getOutput(); }
int64_t FusedAttentionOp::countSequences() {
  return countPagedSequences(isRagged(), getQuery(), getSeqLens());
}
int64_t FusedAttentionOp::countQueries() {
  return countPagedQueries(isRagged(), getQuery());
}
int64_t FusedAttentionOp::countHeads() { return countPagedHeads(getQuery()); }
Value FusedAttentionOp::getCacheInput() { return getCache(); }
Value FusedAttentionOp::getCacheOutput() { return getUpdatedCache(); }
Value FusedAttentionOp::getLayerOperand() { return getLayer(); }
SmallVector<Value> FusedAttentionOp::getBlockOperands() {
  return listValues({getBlockTables(), getSlotMapping()});
}
SmallVector<Value> FusedAttentionOp::getBlockResults() {
  return listValues({getBlockIndices()});
}
int64_t FusedAttentionOp::countNewTokens() { return countTokens(getKeys()); }

//===----------------------------------------------------------------------===//
// lookup_kv
//===----------------------------------------------------------------------===//

ParseResult LookupKVOp::parse(OpAsmParser &parser, OperationState &state) {
  WrittenOp written;
  if (parseWrittenOp(parser, {"layer"}, state, written))
    return failure();
  moveCacheTo(written, 0);
  ArrayRef<WrittenOperand> listed = written.listed;
  if (listed.size() != 3)
    return parser.emitError(written.loc)
           << "expected cache, block indices and lengths, but there are "
           << listed.size() << " operands";
  return addOperandsAndResults(
      parser, written,
      {listed[0], listed[1], listed[2], written.getNamed("layer")},
      /*numResults=*/2, state);
}

void LookupKVOp::print(OpAsmPrinter &printer) {
  printWrittenOp(printer, *this, {getCache(), getBlockIndices(), getSeqLens()},
                 {{"layer", getLayer()}});
}

Value LookupKVOp::getCacheInput() { return getCache(); }
Value LookupKVOp::getCacheOutput() { return Value(); }
Value LookupKVOp::getLayerOperand() { return getLayer(); }
SmallVector<Value> LookupKVOp::getBlockOperands() {
  return {getBlockIndices()};
}

//===----------------------------------------------------------------------===//
// block_tables
//===----------------------------------------------------------------------===//

Value BlockTablesOp::getCacheInput() { return getCache(); }
Value BlockTablesOp::getCacheOutput() { return Value(); }
Value BlockTablesOp::getLayerOperand() { return getLayer(); }
SmallVector<Value> BlockTablesOp::getBlockOperands() {
  return {getBlockIndices()};
}
SmallVector<Value> BlockTablesOp::getBlockResults() {
  return {getBlockTables()};
}

//===----------------------------------------------------------------------===//
// Creating caches and managing sequences
//===----------------------------------------------------------------------===//

Value CreatePagedCacheOp::getCacheInput() { return Value(); }
Value CreatePagedCacheOp::getCacheOutput() { return getCache(); }
Value CreatePagedCacheOp::getLayerOperand() { return Value(); }
SmallVector<Value> CreatePagedCacheOp::getBlockOperands() { return {}; }

LogicalResult
ReserveKVOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                              ValueRange operands, DictionaryAttr attributes,
                              OpaqueProperties properties, RegionRange regions,
                              SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto cache = cast<PagedKVCacheType>(adaptor.getCache().getType());
  int64_t batch =
      cast<RankedTensorType>(adaptor.getSeqIds().getType()).getDimSize(0);
  // The verifier rejects negative counts.
  int64_t tokens = std::max<int64_t>(0, adaptor.getTokens());
  Type i32 = IntegerType::get(context, 32);
  int64_t slots = batch;
  if (!ShapedType::isDynamic(batch) && llvm::MulOverflow(batch, tokens, slots))
    return failure();
  types.push_back(cache);
  types.push_back(RankedTensorType::get({slots}, i32));
  types.push_back(RankedTensorType::get({batch, tokens}, i32));
  types.push_back(
      RankedTensorType::get({batch, cache.getMaxBlocksPerSequence()}, i32));
  types.push_back(RankedTensorType::get({batch}, i32));
  return success();
}

bool ReserveKVOp::isCompatibleReturnTypes(TypeRange inferred,
                                          TypeRange actual) {
  constexpr size_t blockIndices = 2;
  if (!agreeButForRows(inferred, actual, blockIndices))
    return false;
  auto rows = dyn_cast<RankedTensorType>(actual[blockIndices]);
  auto expected = cast<RankedTensorType>(inferred[blockIndices]);
  return rows && rows.getRank() == 2 &&
         rows.getDimSize(0) == expected.getDimSize(0);
}

Value ReserveKVOp::getCacheInput() { return getCache(); }
Value ReserveKVOp::getCacheOutput() { return getUpdatedCache(); }
Value ReserveKVOp::getLayerOperand() { return getLayer(); }
SmallVector<Value> ReserveKVOp::getBlockOperands() { return {}; }
SmallVector<Value> ReserveKVOp::getBlockResults() {
  return {getSlots(), getBlockIndices(), getBlockTables()};
}
int64_t ReserveKVOp::countNewTokens() {
  return multiply(getSize(getSeqIds(), 0), getTokens());
}

Value ForkKVOp::getCacheInput() { return getCache(); }
Value ForkKVOp::getCacheOutput() { return getUpdatedCache(); }
Value ForkKVOp::getLayerOperand() { return Value(); }
SmallVector<Value> ForkKVOp::getBlockOperands() { return {}; }

Value FreeKVOp::getCacheInput() { return getCache(); }
Value FreeKVOp::getCacheOutput() { return getUpdatedCache(); }
Value FreeKVOp::getLayerOperand() { return Value(); }
SmallVector<Value> FreeKVOp::getBlockOperands() { return {}; }

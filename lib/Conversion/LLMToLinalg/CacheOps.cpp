//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers cache ops to calls of the C runtime, include/llmir-c/KVCache.h. A
// cache is a pointer, which each op forwards. Arrays are passed to calls as
// memrefs: inputs are bufferized in place, outputs are allocated here and then
// read as tensors.
//
//===----------------------------------------------------------------------===//

#include "LLMToLinalg.h"
#include "Patterns.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::llm;

namespace llmir {

namespace {

/// Collects the arguments of a call, in order, and creates it.
class RuntimeCall {
public:
  /// `element` is the element type of keys and values, which is the suffix of
  /// the name.
  RuntimeCall(TensorBuilder &t, const Twine &name, Type element = Type())
      : t(t), name(("llmirKVCache" + name + suffixOf(element)).str()) {}

  RuntimeCall &pass(Value scalar) {
    operands.push_back(scalar);
    return *this;
  }
  RuntimeCall &pass(int64_t scalar) {
    return pass(
        Value(arith::ConstantOp::create(t, t.getI64IntegerAttr(scalar))));
  }
  RuntimeCall &pass(OpFoldResult size) {
    return pass(
        Value(arith::IndexCastOp::create(t, t.getI64Type(), t.asValue(size))));
  }
  /// The layer of an op, by default 0.
  RuntimeCall &layer(Value layer) {
    return layer ? pass(OpFoldResult(layer)) : pass(int64_t(0));
  }
  /// An input tensor.
  RuntimeCall &read(Value tensor) {
    RankedTensorType type = TensorBuilder::type(tensor);
    auto unknown = RankedTensorType::get(
        SmallVector<int64_t>(type.getRank(), ShapedType::kDynamic),
        type.getElementType());
    return pass(Value(bufferization::ToBufferOp::create(
        t, anyBuffer(unknown), t.castTo(tensor, unknown),
        /*read_only=*/true)));
  }
  /// A new output tensor.
  RuntimeCall &write(ArrayRef<OpFoldResult> sizes, Type element) {
    SmallVector<int64_t> shape;
    SmallVector<Value> dynamic;
    dispatchIndexOpFoldResults(sizes, dynamic, shape);
    auto type = RankedTensorType::get(shape, element);
    Value buffer =
        memref::AllocOp::create(t, MemRefType::get(shape, element), dynamic);
    written.push_back(buffer);
    return pass(Value(memref::CastOp::create(t, anyBuffer(type), buffer)));
  }

  /// Creates the call and returns its outputs.
  SmallVector<Value> make(Type result = Type()) {
    SmallVector<Type> results;
    if (result)
      results.push_back(result);
    auto type = t.getFunctionType(ValueRange(operands).getTypes(), results);
    declare(type);
    auto call = func::CallOp::create(t, name, results, operands);
    SmallVector<Value> values(call.getResults());
    for (Value buffer : written)
      values.push_back(bufferization::ToTensorOp::create(
          t, memref::getTensorTypeFromMemRefType(buffer.getType()), buffer,
          /*restrict=*/true, /*writable=*/true));
    return values;
  }

private:
  static StringRef suffixOf(Type element) {
    if (!element)
      return "";
    return element.isF32() ? "F32" : element.isF16() ? "F16" : "BF16";
  }

  /// With any sizes, strides and offset.
  static MemRefType anyBuffer(RankedTensorType type) {
    SmallVector<int64_t> unknown(type.getRank(), ShapedType::kDynamic);
    return MemRefType::get(unknown, type.getElementType(),
                           StridedLayoutAttr::get(type.getContext(),
                                                  ShapedType::kDynamic,
                                                  unknown));
  }

  void declare(FunctionType type) {
    auto module =
        t.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
    if (module.lookupSymbol(name))
      return;
    OpBuilder::InsertionGuard guard(t);
    t.setInsertionPointToStart(module.getBody());
    auto function = func::FuncOp::create(t, name, type);
    function.setPrivate();
    if (llvm::any_of(type.getInputs(), llvm::IsaPred<MemRefType>))
      function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                        t.getUnitAttr());
  }

  TensorBuilder &t;
  std::string name;
  SmallVector<Value> operands, written;
};

} // namespace

/// [B] as [B, 1].
static Value asRows(TensorBuilder &t, Value indices) {
  if (t.type(indices).getRank() == 2)
    return indices;
  return t.expand(indices, {{0, 1}}, {t.size(indices, 0), t.fixed(1)});
}

//===----------------------------------------------------------------------===//
// Caches and sequences
//===----------------------------------------------------------------------===//

static Value createCache(TensorBuilder &t, PagedKVCacheType type) {
  Type element = type.getElementType();
  int32_t kind = element.isF32()    ? 0
                 : element.isF16()  ? 1
                 : element.isBF16() ? 2
                                    : 3;
  RuntimeCall call(t, "Create");
  call.pass(t.i32(kind));
  for (int64_t size :
       {type.getNumLayers(), type.getNumHeads(), type.getHeadDim(),
        type.getValueDim(), type.getBlockSize(), type.getMaxSeqLen()})
    call.pass(size);
  return call.make(LLVM::LLVMPointerType::get(t.getContext())).front();
}

static SmallVector<Value> convertCreate(TensorBuilder &t, CreatePagedCacheOp op,
                                        CreatePagedCacheOp::Adaptor) {
  return {createCache(t, cast<PagedKVCacheType>(op.getType()))};
}

namespace {
struct Reservation {
  Value slots, rows, tables, lengths;
};
} // namespace

static Reservation reserve(TensorBuilder &t, PagedKVCacheType type, Value cache,
                           Value layer, Value ids, OpFoldResult tokens,
                           OpFoldResult columns) {
  OpFoldResult batch = t.size(ids, 0);
  Type i32 = t.getI32Type();
  SmallVector<Value> arrays =
      RuntimeCall(t, "Reserve")
          .pass(cache)
          .layer(layer)
          .pass(tokens)
          .read(ids)
          .write({t.product(batch, tokens)}, i32)
          .write({batch, columns}, i32)
          .write({batch, t.fixed(type.getMaxBlocksPerSequence())}, i32)
          .write({batch}, i32)
          .make();
  return {arrays[0], arrays[1], arrays[2], arrays[3]};
}

static SmallVector<Value> convertReserve(TensorBuilder &t, ReserveKVOp op,
                                         ReserveKVOp::Adaptor operands) {
  Value cache = operands.getCache();
  OpFoldResult tokens = t.fixed(int64_t(op.getTokens())), columns = tokens;
  if (int64_t known = t.type(op.getBlockIndices()).getDimSize(1);
      !ShapedType::isDynamic(known))
    columns = t.fixed(known);
  Reservation room =
      reserve(t, cast<PagedKVCacheType>(op.getCache().getType()), cache,
              operands.getLayer(), operands.getSeqIds(), tokens, columns);
  return {cache, room.slots, room.rows, room.tables, room.lengths};
}

static SmallVector<Value> convertFork(TensorBuilder &t, ForkKVOp op,
                                      ForkKVOp::Adaptor operands) {
  RuntimeCall(t, "Fork")
      .pass(operands.getCache())
      .read(operands.getSrcIds())
      .read(operands.getDstIds())
      .make();
  return {operands.getCache()};
}

static SmallVector<Value> convertFree(TensorBuilder &t, FreeKVOp op,
                                      FreeKVOp::Adaptor operands) {
  RuntimeCall(t, "Free")
      .pass(operands.getCache())
      .read(operands.getSeqIds())
      .make();
  return {operands.getCache()};
}

static Value findTables(TensorBuilder &t, PagedKVCacheType type, Value cache,
                        Value layer, Value rows, Value lengths) {
  OpFoldResult columns = t.fixed(type.getMaxBlocksPerSequence());
  return RuntimeCall(t, "FindTables")
      .pass(cache)
      .layer(layer)
      .read(asRows(t, rows))
      .read(lengths)
      .write({t.size(lengths, 0), columns}, t.getI32Type())
      .make()
      .front();
}

static SmallVector<Value> convertBlockTables(TensorBuilder &t, BlockTablesOp op,
                                             BlockTablesOp::Adaptor operands) {
  return {findTables(t, cast<PagedKVCacheType>(op.getCache().getType()),
                     operands.getCache(), operands.getLayer(),
                     operands.getBlockIndices(), operands.getSeqLens())};
}

//===----------------------------------------------------------------------===//
// Keys and values
//===----------------------------------------------------------------------===//

/// [B, n, G, D] as [B · n, G, D].
static Value asTokens(TensorBuilder &t, Value x) {
  return t.type(x).getRank() == 4 ? t.join(x, 0) : x;
}

static SmallVector<Value> convertAppend(TensorBuilder &t, AppendKVOp op,
                                        AppendKVOp::Adaptor operands) {
  PagedKVCacheType type = op.getCacheType();
  Value cache =
      operands.getCache() ? operands.getCache() : createCache(t, type);
  Value keys = operands.getKeys(), slots = operands.getSlotMapping(), rows;
  if (!op.isRagged()) {
    OpFoldResult tokens =
        t.type(keys).getRank() == 4 ? t.size(keys, 1) : t.fixed(1);
    RankedTensorType indices = t.type(op.getBlockIndices());
    OpFoldResult columns = indices.getRank() == 1 ? t.fixed(1)
                           : indices.isDynamicDim(1)
                               ? tokens
                               : t.fixed(indices.getDimSize(1));
    Reservation room = reserve(t, type, cache, operands.getLayer(),
                               operands.getSeqIds(), tokens, columns);
    slots = room.slots;
    rows = indices.getRank() == 1 ? t.collapse(room.rows, {{0, 1}}) : room.rows;
  }
  RuntimeCall(t, "Append", t.elementType(keys))
      .pass(cache)
      .layer(operands.getLayer())
      .read(asTokens(t, keys))
      .read(asTokens(t, operands.getValues()))
      .read(slots)
      .make();
  return rows ? SmallVector<Value>{cache, rows} : SmallVector<Value>{cache};
}

/// The greatest length, clamped to the range from 0 to the maximum length.
static Value greatestLength(TensorBuilder &t, Value lengths, int64_t most) {
  Value zero = linalg::FillOp::create(t, t.i32(0), t.empty({}, t.getI32Type()))
                   .getResult(0);
  Value greatest = t.reduce(zero, lengths, {t.map(1, {0}), t.map(1, {})},
                            [](ScalarBuilder &s, ValueRange v) -> Value {
                              return arith::MaxSIOp::create(s, v[0], v[1]);
                            });
  Value length =
      t.toIndex(tensor::ExtractOp::create(t, greatest, ValueRange()));
  return arith::MinSIOp::create(t, length, t.index(most));
}

static SmallVector<Value> convertLookup(TensorBuilder &t, LookupKVOp op,
                                        LookupKVOp::Adaptor operands) {
  auto type = cast<PagedKVCacheType>(op.getCache().getType());
  Value lengths = operands.getSeqLens();
  OpFoldResult tokens;
  if (int64_t known = t.type(op.getKeys()).getDimSize(1);
      !ShapedType::isDynamic(known))
    tokens = t.fixed(known);
  else
    tokens = greatestLength(t, lengths, type.getMaxSeqLen());
  TensorBuilder::Sizes keys = {t.size(lengths, 0), tokens,
                               t.fixed(type.getNumHeads()),
                               t.fixed(type.getHeadDim())};
  TensorBuilder::Sizes values = keys;
  values.back() = t.fixed(type.getValueDim());
  Type element = type.getComputeElementType();
  return RuntimeCall(t, "Lookup", element)
      .pass(operands.getCache())
      .layer(operands.getLayer())
      .read(asRows(t, operands.getBlockIndices()))
      .read(lengths)
      .write(keys, element)
      .write(values, element)
      .make();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {

/// Attention over keys and values gathered from the cache, one sequence after
/// another: results do not depend on other sequences.
class PagedAttention {
public:
  PagedAttention(TensorBuilder &t, PagedAttentionOp op,
                 PagedAttentionOp::Adaptor operands)
      : t(t), op(op), operands(operands),
        type(cast<PagedKVCacheType>(op.getCache().getType())),
        query(operands.getQuery()) {}

  Value build() {
    if (op.isRagged())
      return loopOverSequences(operands.getBlockIndices(),
                               operands.getQueryOffsets());
    Value tables =
        findTables(t, type, operands.getCache(), operands.getLayer(),
                   operands.getBlockIndices(), operands.getSeqLens());
    return loopOverSequences(tables, evenOffsets(tokensOfBatch()));
  }

private:
  /// Whether the query is [B, tokens, H, D].
  bool isBatch() { return t.type(query).getRank() == 4; }
  OpFoldResult tokensOfBatch() {
    return isBatch() ? t.size(query, 1) : t.fixed(1);
  }

  /// The offsets b · tokens of all sequences and the end.
  Value evenOffsets(OpFoldResult tokens) {
    Value count =
        t.addi(t.asValue(t.size(operands.getSeqLens(), 0)), t.index(1));
    return t.compute({OpFoldResult(count)}, t.getI32Type(), {}, {},
                     [&](ScalarBuilder &s, ValueRange) -> Value {
                       Value offset = s.muli(s.loop(0), s.asValue(tokens));
                       return arith::IndexCastOp::create(s, s.getI32Type(),
                                                         offset);
                     });
  }

  OpFoldResult maskColumns() {
    Value mask = operands.getMask();
    return mask ? t.size(mask, t.type(mask).getRank() - 1) : t.fixed(0);
  }

  /// Copies of the lengths and offsets, clamped so that accesses are in bounds.
  SmallVector<Value> checkedBatch(Value tables, Value offsets) {
    Value lengths = operands.getSeqLens();
    return RuntimeCall(t, "CheckBatch")
        .pass(operands.getCache())
        .read(tables)
        .read(lengths)
        .read(offsets)
        .pass(t.product(t.size(query, 0), tokensOfBatch()))
        .pass(maskColumns())
        .write({t.size(lengths, 0)}, t.getI32Type())
        .write({t.size(offsets, 0)}, t.getI32Type())
        .make();
  }

  Value loopOverSequences(Value tables, Value offsets) {
    SmallVector<Value> checked = checkedBatch(tables, offsets);
    TensorBuilder::Sizes sizes = t.sizes(query);
    sizes.back() = t.fixed(type.getValueDim());
    Value zeros = zerosOf(sizes);
    Value count = t.asValue(t.size(checked[0], 0));
    auto loop = scf::ForOp::create(t, t.index(0), count, t.index(1), zeros);
    OpBuilder::InsertionGuard guard(t);
    t.setInsertionPointToStart(loop.getBody());
    Value result = attendSequence(loop.getInductionVar(), tables, checked[0],
                                  checked[1], loop.getRegionIterArg(0));
    scf::YieldOp::create(t, result);
    return loop.getResult(0);
  }

  Value zerosOf(ArrayRef<OpFoldResult> sizes) {
    Type element = t.elementType(query);
    Value zero = arith::ConstantOp::create(t, t.getFloatAttr(element, 0));
    return linalg::FillOp::create(t, zero, t.empty(sizes, element))
        .getResult(0);
  }

  Value at(Value vector, Value index) {
    return t.toIndex(tensor::ExtractOp::create(t, vector, index));
  }

  /// The first `length` tokens of a sequence.
  SmallVector<Value> keysAndValues(Value tables, Value sequence, Value length) {
    TensorBuilder::Sizes keys = {OpFoldResult(length),
                                 t.fixed(type.getNumHeads()),
                                 t.fixed(type.getHeadDim())};
    TensorBuilder::Sizes values = keys;
    values.back() = t.fixed(type.getValueDim());
    Type element = type.getComputeElementType();
    return RuntimeCall(t, "Gather", element)
        .pass(operands.getCache())
        .layer(operands.getLayer())
        .read(tables)
        .pass(OpFoldResult(sequence))
        .write(keys, element)
        .write(values, element)
        .make();
  }

  /// Inserts the rows of one sequence into the result.
  Value attendSequence(Value sequence, Value tables, Value lengths,
                       Value offsets, Value result) {
    Value first = at(offsets, sequence);
    Value rows = t.subi(at(offsets, t.addi(sequence, t.index(1))), first);
    // Skip sequences without queries.
    Value hasQueries = t.cmp(arith::CmpIPredicate::ne, rows, t.index(0));
    Value length = t.select(hasQueries, at(lengths, sequence), t.index(0));
    SmallVector<Value> found = keysAndValues(tables, sequence, length);
    auto attention = cast<AttentionOpInterface>(op.getOperation());
    AttentionOperands given;
    TensorBuilder::Sizes part = t.sizes(query);
    TensorBuilder::Sizes places(part.size(), t.fixed(0));
    TensorBuilder::Sizes strides(part.size(), t.fixed(1));
    part[isBatch() ? 1 : 0] = rows;
    if (isBatch())
      part[0] = t.fixed(1);
    places[0] = isBatch() ? sequence : first;
    Value queries =
        tensor::ExtractSliceOp::create(t, query, places, part, strides);
    given.query = isBatch() ? queries : asBatch(queries);
    given.key = asBatch(found[0]);
    given.value = asBatch(found[1]);
    given.mask = maskOf(sequence, first, rows, length);
    given.sinks = operands.getSinks();
    Value output = attend(t, attention, given);
    if (!isBatch())
      output = t.join(output, 0);
    part.back() = t.fixed(type.getValueDim());
    return tensor::InsertSliceOp::create(t, output, result, places, part,
                                         strides);
  }

  /// [T, H, D] as [1, T, H, D].
  Value asBatch(Value x) {
    TensorBuilder::Sizes sizes = t.sizes(x);
    sizes.insert(sizes.begin(), t.fixed(1));
    return t.expand(x, {{0, 1}, {2}, {3}}, sizes);
  }

  /// `offset` and `size` of a dimension of the mask, or its only element.
  std::pair<OpFoldResult, OpFoldResult>
  rangeOf(int64_t dim, OpFoldResult offset, OpFoldResult size) {
    Value mask = operands.getMask();
    int64_t known = t.type(mask).getDimSize(dim);
    if (known == 1)
      return {t.fixed(0), t.fixed(1)};
    if (!ShapedType::isDynamic(known))
      return {offset, size};
    Value isOne = t.cmp(arith::CmpIPredicate::eq, t.asValue(t.size(mask, dim)),
                        t.index(1));
    return {OpFoldResult(t.select(isOne, t.index(0), t.asValue(offset))),
            OpFoldResult(t.select(isOne, t.index(1), t.asValue(size)))};
  }

  /// [1, H, rows, length], broadcastable; null without a mask.
  Value maskOf(Value sequence, Value first, Value rows, Value length) {
    Value mask = operands.getMask();
    if (!mask)
      return mask;
    OpFoldResult zero = t.fixed(0);
    if (!op.isRagged()) {
      auto [place, one] = rangeOf(0, OpFoldResult(sequence), t.fixed(1));
      auto [none, columns] = rangeOf(3, zero, OpFoldResult(length));
      mask = t.slice(mask, 0, place, t.fixed(1));
      return t.slice(mask, 3, none, columns);
    }
    auto [none, columns] = rangeOf(1, zero, OpFoldResult(length));
    mask = t.slice(t.slice(mask, 0, first, rows), 1, none, columns);
    return t.expand(mask, {{0, 1, 2}, {3}},
                    {t.fixed(1), t.fixed(1), OpFoldResult(rows), columns});
  }

  TensorBuilder &t;
  PagedAttentionOp op;
  PagedAttentionOp::Adaptor operands;
  PagedKVCacheType type;
  Value query; ///< [T, H, D] or [B, tokens, H, D]
};

} // namespace

static SmallVector<Value>
convertPagedAttention(TensorBuilder &t, PagedAttentionOp op,
                      PagedAttentionOp::Adaptor operands) {
  return {PagedAttention(t, op, operands).build()};
}

void addCachePatterns(LinalgPatterns &patterns) {
  patterns.add(convertCreate);
  patterns.add(convertReserve);
  patterns.add(convertFork);
  patterns.add(convertFree);
  patterns.add(convertBlockTables);
  patterns.add(convertAppend);
  patterns.add(convertLookup);
  patterns.add(convertPagedAttention);
}

//===----------------------------------------------------------------------===//
// Destruction of caches
//===----------------------------------------------------------------------===//

/// Whether caches created in this block are destroyed at its end.
static bool endsWithBlock(Block &block) {
  auto isPointer = [](Type type) { return isa<LLVM::LLVMPointerType>(type); };
  return llvm::hasSingleElement(*block.getParent()) &&
         llvm::none_of(block.getTerminator()->getOperandTypes(), isPointer);
}

void destroyCaches(ModuleOp module) {
  SmallVector<func::CallOp> created;
  module.walk([&](func::CallOp call) {
    if (call.getCallee() == "llmirKVCacheCreate" &&
        endsWithBlock(*call->getBlock()))
      created.push_back(call);
  });
  for (func::CallOp call : created) {
    OpBuilder builder(call->getBlock()->getTerminator());
    TensorBuilder t(call.getLoc(), builder);
    RuntimeCall(t, "Destroy").pass(call.getResult(0)).make();
  }
}

} // namespace llmir

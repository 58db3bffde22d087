//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir-c/Dialects.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/Dialect/LLM/IR/LLM.h"

using namespace mlir;
using namespace mlir::llm;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(LLM, llm, mlir::llm::LLMDialect)

/// The type with these parameters in the context of `location`, or null after a
/// diagnostic. Loads the dialect first, which the type requires.
template <typename T, typename... Parameters>
static MlirType getChecked(MlirLocation location, Parameters &&...parameters) {
  Location loc = unwrap(location);
  loc.getContext()->loadDialect<LLMDialect>();
  auto emitError = [loc] { return mlir::emitError(loc); };
  return wrap(Type(T::getChecked(emitError, loc.getContext(),
                                 std::forward<Parameters>(parameters)...)));
}

//===----------------------------------------------------------------------===//
// !llm.paged_kv_cache
//===----------------------------------------------------------------------===//

static PagedKVCacheType cacheType(MlirType type) {
  return cast<PagedKVCacheType>(unwrap(type));
}

bool mlirTypeIsALLMPagedKVCache(MlirType type) {
  return isa<PagedKVCacheType>(unwrap(type));
}

MlirTypeID mlirLLMPagedKVCacheTypeGetTypeID() {
  return wrap(PagedKVCacheType::getTypeID());
}

MlirType mlirLLMPagedKVCacheTypeGetChecked(MlirLocation location,
                                           MlirType elementType,
                                           int64_t numLayers, int64_t numHeads,
                                           int64_t headDim, int64_t blockSize,
                                           int64_t maxSeqLen,
                                           int64_t valueDim) {
  return getChecked<PagedKVCacheType>(location, unwrap(elementType), numLayers,
                                      numHeads, headDim, blockSize, maxSeqLen,
                                      valueDim, /*valuesInKeys=*/false);
}

MlirType mlirLLMPagedKVCacheTypeGetElementType(MlirType type) {
  return wrap(cacheType(type).getElementType());
}

int64_t mlirLLMPagedKVCacheTypeGetNumLayers(MlirType type) {
  return cacheType(type).getNumLayers();
}

int64_t mlirLLMPagedKVCacheTypeGetNumHeads(MlirType type) {
  return cacheType(type).getNumHeads();
}

int64_t mlirLLMPagedKVCacheTypeGetHeadDim(MlirType type) {
  return cacheType(type).getHeadDim();
}

int64_t mlirLLMPagedKVCacheTypeGetBlockSize(MlirType type) {
  return cacheType(type).getBlockSize();
}

int64_t mlirLLMPagedKVCacheTypeGetMaxSeqLen(MlirType type) {
  return cacheType(type).getMaxSeqLen();
}

int64_t mlirLLMPagedKVCacheTypeGetValueDim(MlirType type) {
  return cacheType(type).getValueDim();
}

//===----------------------------------------------------------------------===//
// !llm.sharded_tensor
//===----------------------------------------------------------------------===//

static ShardedTensorType shardedType(MlirType type) {
  return cast<ShardedTensorType>(unwrap(type));
}

bool mlirTypeIsALLMShardedTensor(MlirType type) {
  return isa<ShardedTensorType>(unwrap(type));
}

MlirTypeID mlirLLMShardedTensorTypeGetTypeID() {
  return wrap(ShardedTensorType::getTypeID());
}

MlirType mlirLLMShardedTensorTypeGetChecked(MlirLocation location,
                                            MlirType originalType,
                                            int64_t shardDim, int64_t numShards,
                                            int64_t shardIndex) {
  auto tensor = dyn_cast<RankedTensorType>(unwrap(originalType));
  if (!tensor) {
    emitError(unwrap(location)) << "a sharded tensor is cut from a ranked "
                                   "tensor, not from "
                                << unwrap(originalType);
    return MlirType{nullptr};
  }
  return getChecked<ShardedTensorType>(location, tensor, shardDim, numShards,
                                       shardIndex);
}

MlirType mlirLLMShardedTensorTypeGetOriginalType(MlirType type) {
  return wrap(Type(shardedType(type).getOriginalType()));
}

MlirType mlirLLMShardedTensorTypeGetShardType(MlirType type) {
  return wrap(Type(shardedType(type).getShardType()));
}

int64_t mlirLLMShardedTensorTypeGetShardDim(MlirType type) {
  return shardedType(type).getShardDim();
}

int64_t mlirLLMShardedTensorTypeGetNumShards(MlirType type) {
  return shardedType(type).getNumShards();
}

int64_t mlirLLMShardedTensorTypeGetShardIndex(MlirType type) {
  return shardedType(type).getShardIndex();
}

//===----------------------------------------------------------------------===//
// !llm.quantized_tensor
//===----------------------------------------------------------------------===//

static QuantizedTensorType quantizedType(MlirType type) {
  return cast<QuantizedTensorType>(unwrap(type));
}

bool mlirTypeIsALLMQuantizedTensor(MlirType type) {
  return isa<QuantizedTensorType>(unwrap(type));
}

MlirTypeID mlirLLMQuantizedTensorTypeGetTypeID() {
  return wrap(QuantizedTensorType::getTypeID());
}

MlirType mlirLLMQuantizedTensorTypeGetChecked(
    MlirLocation location, MlirType elementType, intptr_t rank,
    const int64_t *shape, bool isSymmetric, bool isPerChannel,
    int64_t quantAxis, int64_t groupSize, int64_t numBits,
    MlirStringRef format) {
  return getChecked<QuantizedTensorType>(
      location, unwrap(elementType), ArrayRef<int64_t>(shape, rank),
      isSymmetric, isPerChannel, quantAxis, groupSize, numBits, unwrap(format));
}

MlirType mlirLLMQuantizedTensorTypeGetElementType(MlirType type) {
  return wrap(quantizedType(type).getElementType());
}

intptr_t mlirLLMQuantizedTensorTypeGetRank(MlirType type) {
  return quantizedType(type).getRank();
}

int64_t mlirLLMQuantizedTensorTypeGetDimSize(MlirType type, intptr_t dim) {
  return quantizedType(type).getShape()[dim];
}

bool mlirLLMQuantizedTensorTypeIsSymmetric(MlirType type) {
  return quantizedType(type).getIsSymmetric();
}

bool mlirLLMQuantizedTensorTypeIsPerChannel(MlirType type) {
  return quantizedType(type).getIsPerChannel();
}

int64_t mlirLLMQuantizedTensorTypeGetQuantAxis(MlirType type) {
  return quantizedType(type).getQuantAxis();
}

int64_t mlirLLMQuantizedTensorTypeGetGroupSize(MlirType type) {
  return quantizedType(type).getGroupSize();
}

int64_t mlirLLMQuantizedTensorTypeGetNumBits(MlirType type) {
  return quantizedType(type).getNumBits();
}

MlirStringRef mlirLLMQuantizedTensorTypeGetFormat(MlirType type) {
  return wrap(quantizedType(type).getFormat());
}

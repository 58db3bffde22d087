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

/// The type of `location`'s context with these parameters, or null after a
/// diagnostic. The dialect is loaded, so that it can be asked for at once.
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
                                           int64_t maxSeqLen) {
  return getChecked<PagedKVCacheType>(location, unwrap(elementType), numLayers,
                                      numHeads, headDim, blockSize, maxSeqLen);
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

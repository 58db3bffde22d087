//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `llm` dialect for users of MLIR's C API:
//
//   MlirContext context = mlirContextCreate();
//   mlirDialectHandleLoadDialect(mlirGetDialectHandle__llm__(), context);
//   MlirType cache = mlirLLMPagedKVCacheTypeGetChecked(
//       mlirLocationUnknownGet(context), mlirF16TypeGet(context),
//       /*numLayers=*/12, /*numHeads=*/16, /*headDim=*/64, /*blockSize=*/16,
//       /*maxSeqLen=*/4096, /*valueDim=*/64);
//
// A GetChecked function reports invalid parameters at the location and returns
// a null type. The other getters require a type of their own kind.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_C_DIALECTS_H
#define LLMIR_C_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(LLM, llm);

//===----------------------------------------------------------------------===//
// !llm.paged_kv_cache
//===----------------------------------------------------------------------===//

MLIR_CAPI_EXPORTED bool mlirTypeIsALLMPagedKVCache(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID mlirLLMPagedKVCacheTypeGetTypeID(void);

/// `headDim` and `valueDim` are the head sizes of keys and values, which are
/// equal for most models.
MLIR_CAPI_EXPORTED MlirType mlirLLMPagedKVCacheTypeGetChecked(
    MlirLocation location, MlirType elementType, int64_t numLayers,
    int64_t numHeads, int64_t headDim, int64_t blockSize, int64_t maxSeqLen,
    int64_t valueDim);

MLIR_CAPI_EXPORTED MlirType
mlirLLMPagedKVCacheTypeGetElementType(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirLLMPagedKVCacheTypeGetNumLayers(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirLLMPagedKVCacheTypeGetNumHeads(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirLLMPagedKVCacheTypeGetHeadDim(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirLLMPagedKVCacheTypeGetBlockSize(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirLLMPagedKVCacheTypeGetMaxSeqLen(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirLLMPagedKVCacheTypeGetValueDim(MlirType type);

//===----------------------------------------------------------------------===//
// !llm.sharded_tensor
//===----------------------------------------------------------------------===//

MLIR_CAPI_EXPORTED bool mlirTypeIsALLMShardedTensor(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID mlirLLMShardedTensorTypeGetTypeID(void);

/// `originalType` is the ranked tensor that was sharded.
MLIR_CAPI_EXPORTED MlirType mlirLLMShardedTensorTypeGetChecked(
    MlirLocation location, MlirType originalType, int64_t shardDim,
    int64_t numShards, int64_t shardIndex);

MLIR_CAPI_EXPORTED MlirType
mlirLLMShardedTensorTypeGetOriginalType(MlirType type);
/// The shard as a ranked tensor.
MLIR_CAPI_EXPORTED MlirType mlirLLMShardedTensorTypeGetShardType(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirLLMShardedTensorTypeGetShardDim(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirLLMShardedTensorTypeGetNumShards(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirLLMShardedTensorTypeGetShardIndex(MlirType type);

//===----------------------------------------------------------------------===//
// !llm.quantized_tensor
//===----------------------------------------------------------------------===//

MLIR_CAPI_EXPORTED bool mlirTypeIsALLMQuantizedTensor(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID mlirLLMQuantizedTensorTypeGetTypeID(void);

/// `quantAxis` is -1 for per-tensor scales, `groupSize` is -1 without groups;
/// `format` is empty or a stored block format ("q8_0").
MLIR_CAPI_EXPORTED MlirType mlirLLMQuantizedTensorTypeGetChecked(
    MlirLocation location, MlirType elementType, intptr_t rank,
    const int64_t *shape, bool isSymmetric, bool isPerChannel,
    int64_t quantAxis, int64_t groupSize, int64_t numBits,
    MlirStringRef format);

MLIR_CAPI_EXPORTED MlirType
mlirLLMQuantizedTensorTypeGetElementType(MlirType type);
MLIR_CAPI_EXPORTED intptr_t mlirLLMQuantizedTensorTypeGetRank(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirLLMQuantizedTensorTypeGetDimSize(MlirType type,
                                                                intptr_t dim);
MLIR_CAPI_EXPORTED bool mlirLLMQuantizedTensorTypeIsSymmetric(MlirType type);
MLIR_CAPI_EXPORTED bool mlirLLMQuantizedTensorTypeIsPerChannel(MlirType type);
MLIR_CAPI_EXPORTED int64_t
mlirLLMQuantizedTensorTypeGetQuantAxis(MlirType type);
MLIR_CAPI_EXPORTED int64_t
mlirLLMQuantizedTensorTypeGetGroupSize(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirLLMQuantizedTensorTypeGetNumBits(MlirType type);
MLIR_CAPI_EXPORTED MlirStringRef
mlirLLMQuantizedTensorTypeGetFormat(MlirType type);

#ifdef __cplusplus
}
#endif

#endif // LLMIR_C_DIALECTS_H

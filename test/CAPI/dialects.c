//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `llm` dialect through MLIR's C API, compiled as C.
//
// RUN: llmir-capi-dialects | FileCheck %s
//
//===----------------------------------------------------------------------===//

#include "llmir-c/Dialects.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"

#include <stdio.h>
#include <stdlib.h>

static void check(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "does not hold: %s\n", what);
  exit(1);
}
#define CHECK(condition) check(condition, #condition)

static void print(MlirStringRef text, void *unused) {
  (void)unused;
  fwrite(text.data, 1, text.length, stdout);
}

static void printType(MlirType type) {
  mlirTypePrint(type, print, NULL);
  puts("");
}

static MlirLogicalResult printDiagnostic(MlirDiagnostic diagnostic,
                                         void *unused) {
  (void)unused;
  mlirDiagnosticPrint(diagnostic, print, NULL);
  puts("");
  return mlirLogicalResultSuccess();
}

static void testDialect(MlirContext context) {
  MlirDialectHandle handle = mlirGetDialectHandle__llm__();
  print(mlirDialectHandleGetNamespace(handle), NULL);
  puts("");
  // CHECK: llm
  MlirDialect dialect = mlirDialectHandleLoadDialect(handle, context);
  CHECK(!mlirDialectIsNull(dialect));

  // An op of the dialect parses, and prints as it was.
  MlirModule module = mlirModuleCreateParse(
      context, mlirStringRefCreateFromCString(
                   "%x = \"builtin.unrealized_conversion_cast\"() : () -> "
                   "tensor<2x4xf32>\n%y = llm.silu %x : tensor<2x4xf32>\n"));
  CHECK(!mlirModuleIsNull(module));
  mlirOperationPrint(mlirModuleGetOperation(module), print, NULL);
  // CHECK: llm.silu %{{.*}} : tensor<2x4xf32>
  mlirModuleDestroy(module);
}

// SPEC: 28 83 113 151-157: each parameter by its name, all of them different.
static void testPagedKVCache(MlirContext context) {
  MlirLocation location = mlirLocationUnknownGet(context);
  MlirType f16 = mlirF16TypeGet(context);
  MlirType cache = mlirLLMPagedKVCacheTypeGetChecked(location, f16, 12, 16, 64,
                                                     32, 4096, 64);
  printType(cache);
  // CHECK: !llm.paged_kv_cache<f16, 12, 16, 64, 32, 4096>
  CHECK(mlirTypeIsALLMPagedKVCache(cache));
  CHECK(!mlirTypeIsALLMPagedKVCache(f16));
  CHECK(mlirTypeIDEqual(mlirTypeGetTypeID(cache),
                        mlirLLMPagedKVCacheTypeGetTypeID()));
  CHECK(mlirTypeEqual(mlirLLMPagedKVCacheTypeGetElementType(cache), f16));
  CHECK(mlirLLMPagedKVCacheTypeGetNumLayers(cache) == 12);
  CHECK(mlirLLMPagedKVCacheTypeGetNumHeads(cache) == 16);
  CHECK(mlirLLMPagedKVCacheTypeGetHeadDim(cache) == 64);
  CHECK(mlirLLMPagedKVCacheTypeGetBlockSize(cache) == 32);
  CHECK(mlirLLMPagedKVCacheTypeGetMaxSeqLen(cache) == 4096);
  CHECK(mlirLLMPagedKVCacheTypeGetValueDim(cache) == 64);
  printType(mlirLLMPagedKVCacheTypeGetChecked(location, f16, 1, 1, 576, 16,
                                              4096, 512));
  // CHECK: !llm.paged_kv_cache<f16, 1, 1, 576, 16, 4096, valueDim = 512>

  MlirType wrong = mlirLLMPagedKVCacheTypeGetChecked(location, f16, 12, 16, 64,
                                                     17, 4096, 64);
  // CHECK: 17
  CHECK(mlirTypeIsNull(wrong));
}

// SPEC: 29 83 114 159-163
static void testShardedTensor(MlirContext context) {
  MlirLocation location = mlirLocationUnknownGet(context);
  MlirType f16 = mlirF16TypeGet(context);
  int64_t shape[] = {4096, 1024}, shardShape[] = {4096, 256};
  MlirType whole =
      mlirRankedTensorTypeGet(2, shape, f16, mlirAttributeGetNull());
  MlirType shard =
      mlirRankedTensorTypeGet(2, shardShape, f16, mlirAttributeGetNull());
  MlirType type = mlirLLMShardedTensorTypeGetChecked(location, whole, 1, 4, 2);
  printType(type);
  // CHECK: !llm.sharded_tensor<tensor<4096x1024xf16>, 1, 4, 2>
  CHECK(mlirTypeIsALLMShardedTensor(type));
  CHECK(!mlirTypeIsALLMShardedTensor(whole));
  CHECK(mlirTypeIDEqual(mlirTypeGetTypeID(type),
                        mlirLLMShardedTensorTypeGetTypeID()));
  CHECK(mlirTypeEqual(mlirLLMShardedTensorTypeGetOriginalType(type), whole));
  CHECK(mlirTypeEqual(mlirLLMShardedTensorTypeGetShardType(type), shard));
  CHECK(mlirLLMShardedTensorTypeGetShardDim(type) == 1);
  CHECK(mlirLLMShardedTensorTypeGetNumShards(type) == 4);
  CHECK(mlirLLMShardedTensorTypeGetShardIndex(type) == 2);

  CHECK(mlirTypeIsNull(
      mlirLLMShardedTensorTypeGetChecked(location, whole, 1, 4, 4)));
  // CHECK: 4
  CHECK(mlirTypeIsNull(
      mlirLLMShardedTensorTypeGetChecked(location, f16, 1, 4, 0)));
  // CHECK: a sharded tensor is cut from a ranked tensor, not from 'f16'
}

// SPEC: 30 83 165-172
static void testQuantizedTensor(MlirContext context) {
  MlirLocation location = mlirLocationUnknownGet(context);
  MlirType i4 = mlirIntegerTypeGet(context, 4);
  int64_t shape[] = {48, 64};
  MlirType type = mlirLLMQuantizedTensorTypeGetChecked(
      location, i4, 2, shape, /*isSymmetric=*/false, /*isPerChannel=*/true,
      /*quantAxis=*/0, /*groupSize=*/32, /*numBits=*/4,
      mlirStringRefCreateFromCString(""));
  printType(type);
  // CHECK: !llm.quantized_tensor<i4, [48, 64], false, true, 0, 32, 4>
  CHECK(mlirTypeIsALLMQuantizedTensor(type));
  CHECK(!mlirTypeIsALLMQuantizedTensor(i4));
  CHECK(mlirTypeIDEqual(mlirTypeGetTypeID(type),
                        mlirLLMQuantizedTensorTypeGetTypeID()));
  CHECK(mlirTypeEqual(mlirLLMQuantizedTensorTypeGetElementType(type), i4));
  CHECK(mlirLLMQuantizedTensorTypeGetRank(type) == 2);
  CHECK(mlirLLMQuantizedTensorTypeGetDimSize(type, 0) == 48);
  CHECK(mlirLLMQuantizedTensorTypeGetDimSize(type, 1) == 64);
  CHECK(!mlirLLMQuantizedTensorTypeIsSymmetric(type));
  CHECK(mlirLLMQuantizedTensorTypeIsPerChannel(type));
  CHECK(mlirLLMQuantizedTensorTypeGetQuantAxis(type) == 0);
  CHECK(mlirLLMQuantizedTensorTypeGetGroupSize(type) == 32);
  CHECK(mlirLLMQuantizedTensorTypeGetNumBits(type) == 4);
  CHECK(mlirLLMQuantizedTensorTypeGetFormat(type).length == 0);

  MlirType stored = mlirLLMQuantizedTensorTypeGetChecked(
      location, mlirIntegerTypeGet(context, 8), 2, shape, true, false, -1, 32,
      8, mlirStringRefCreateFromCString("q8_0"));
  print(mlirLLMQuantizedTensorTypeGetFormat(stored), NULL);
  puts("");
  // CHECK: q8_0

  MlirType wrong = mlirLLMQuantizedTensorTypeGetChecked(
      location, i4, 2, shape, true, false, -1, 24, 4,
      mlirStringRefCreateFromCString(""));
  // CHECK: 24
  CHECK(mlirTypeIsNull(wrong));
}

int main(void) {
  MlirContext context = mlirContextCreate();
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(context, printDiagnostic, NULL, NULL);
  testDialect(context);
  testPagedKVCache(context);
  testShardedTensor(context);
  testQuantizedTensor(context);
  mlirContextDetachDiagnosticHandler(context, handler);
  mlirContextDestroy(context);
  puts("done");
  // CHECK: done
  return 0;
}

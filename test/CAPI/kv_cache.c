//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C runtime of caches, compiled as C and called as generated code calls it.
//
// RUN: llmir-capi-kvcache 2>&1 | FileCheck %s
// RUN: llvm-readelf -d %llmir_lib/libLLMIRKVCache.so | FileCheck %s --check-prefix=NEEDED
// NEEDED: NEEDED
// NEEDED-NOT: {{libMLIR|libLLVM}}
//
//===----------------------------------------------------------------------===//

#include "llmir-c/KVCache.h"

#include <stdio.h>
#include <string.h>

enum { kTokens = 3, kHeads = 1, kDim = 2, kRow = kHeads * kDim };

static LLMIRIndexVector indices(int32_t *data, int64_t size) {
  LLMIRIndexVector vector = {data, data, 0, {size}, {1}};
  return vector;
}

static LLMIRIndexTable table(int32_t *data, int64_t rows, int64_t columns) {
  LLMIRIndexTable result = {data, data, 0, {rows, columns}, {columns, 1}};
  return result;
}

static LLMIRTokens tokens(float *data, int64_t count) {
  LLMIRTokens result = {data, data, 0, {count, kHeads, kDim}, {kRow, kDim, 1}};
  return result;
}

static LLMIRBatch batch(float *data, int64_t count) {
  LLMIRBatch result = {
      data, data, 0, {1, count, kHeads, kDim}, {count * kRow, kRow, kDim, 1}};
  return result;
}

static LLMIRKVCache *create(void) {
  return llmirKVCacheCreate(LLMIR_KV_F32, /*numLayers=*/1, kHeads, kDim,
                            /*valueDim=*/kDim, /*blockSize=*/2,
                            /*maxSeqLen=*/4);
}

static const char *errorOf(const LLMIRKVCache *cache) {
  const char *error = llmirKVCacheGetError(cache);
  return error ? error : "none";
}

// Reserves three tokens of sequence 7, writes them, finds them again.
static void appendAndLookUp(LLMIRKVCache *cache) {
  int32_t id = 7, slots[kTokens], row[2], blocks[2], length;
  float in[kTokens * kRow] = {1, 2, 3, 4, 5, 6};
  float keys[kTokens * kRow], values[kTokens * kRow];
  LLMIRIndexVector ids = indices(&id, 1), places = indices(slots, kTokens);
  LLMIRIndexVector lengths = indices(&length, 1);
  LLMIRIndexTable rows = table(row, 1, 1), tables = table(blocks, 1, 2);
  LLMIRTokens given = tokens(in, kTokens);
  LLMIRBatch k = batch(keys, kTokens), v = batch(values, kTokens);
  _mlir_ciface_llmirKVCacheReserve(cache, 0, kTokens, &ids, &places, &rows,
                                   &tables, &lengths);
  _mlir_ciface_llmirKVCacheAppendF32(cache, 0, &given, &given, &places);
  _mlir_ciface_llmirKVCacheLookupF32(cache, 0, &rows, &lengths, &k, &v);
  // CHECK: length 3, 3 tokens: 1 2 3 4 5 6, error: none
  printf("length %d, %lld tokens: %g %g %g %g %g %g, error: %s\n", length,
         (long long)llmirKVCacheGetSequenceLength(cache, 7), keys[0], keys[1],
         values[2], values[3], keys[4], keys[5], errorOf(cache));
}

// A view of every other token of a larger array.
static void readStrided(LLMIRKVCache *cache) {
  int32_t blocks[2] = {0, 1};
  float keys[2 * kTokens * kRow], values[kTokens * kRow];
  LLMIRIndexTable tables = table(blocks, 1, 2);
  LLMIRTokens k = {keys, keys, 1, {2, kHeads, kDim}, {2 * kRow, kDim, 1}};
  LLMIRTokens v = tokens(values, 2);
  memset(keys, 0, sizeof keys);
  _mlir_ciface_llmirKVCacheGatherF32(cache, 0, &tables, 0, &k, &v);
  // CHECK: strided: 0 1 2 0 0 3 4
  printf("strided: %g %g %g %g %g %g %g\n", keys[0], keys[1], keys[2], keys[3],
         keys[4], keys[5], keys[6]);
}

// The first error is kept, and all outputs are zeros from then on.
static void keepErrors(LLMIRKVCache *cache) {
  int32_t slot = 1000, block = 0, length = 1, offset[2] = {0, 1};
  int32_t checked = 5, checkedOffsets[2] = {5, 5};
  float in[kRow] = {1, 2}, out[kRow] = {9, 9};
  LLMIRIndexVector slots = indices(&slot, 1), lengths = indices(&length, 1);
  LLMIRIndexVector offsets = indices(offset, 2), c = indices(&checked, 1);
  LLMIRIndexVector o = indices(checkedOffsets, 2);
  LLMIRIndexTable tables = table(&block, 1, 1);
  LLMIRTokens given = tokens(in, 1), found = tokens(out, 1);
  _mlir_ciface_llmirKVCacheAppendF32(cache, 0, &given, &given, &slots);
  _mlir_ciface_llmirKVCacheGatherF32(cache, 0, &tables, 0, &found, &found);
  _mlir_ciface_llmirKVCacheCheckBatch(cache, &tables, &lengths, &offsets, 1, 0,
                                      &c, &o);
  // CHECK: KV cache: token 0 goes to slot 1000
  // CHECK: zeros: 0 0 0 0 0, error: KV cache: token 0 goes to slot 1000
  printf("zeros: %g %g %d %d %d, error: %s\n", out[0], out[1], checked,
         checkedOffsets[0], checkedOffsets[1], errorOf(cache));
}

// Arrays of other sizes, another element type, a layer that is not there.
static void refuse(const char *what, LLMIRKVCache *cache) {
  printf("%s: %s\n", what, errorOf(cache));
  llmirKVCacheDestroy(cache);
}

static void refuseArrays(void) {
  int32_t slot[2] = {0, 1}, block = 0, length[2] = {1, 1};
  uint16_t half[kRow];
  float in[kRow] = {1, 2};
  LLMIRIndexVector two = indices(slot, 2), lengths = indices(length, 2);
  LLMIRIndexTable tables = table(&block, 1, 1);
  LLMIRTokens given = tokens(in, 1), other = tokens(in, 1), few = tokens(in, 1);
  LLMIRKVCache *cache = create();
  _mlir_ciface_llmirKVCacheAppendF32(cache, 0, &given, &given, &two);
  // CHECK: slots: KV cache: 1 tokens have 2 slots
  refuse("slots", cache);
  cache = create();
  other.sizes[2] = 1;
  _mlir_ciface_llmirKVCacheAppendF32(cache, 0, &other, &given, &two);
  // CHECK: shape: KV cache: keys or values do not have the cache's shape: it has 1 heads of 2 and 2 elements
  refuse("shape", cache);
  cache = create();
  few.allocated = few.aligned = half;
  _mlir_ciface_llmirKVCacheGatherF16(cache, 0, &tables, 0, &few, &few);
  // CHECK: type: KV cache: the element type of the cache does not match that of the function
  refuse("type", cache);
  cache = create();
  _mlir_ciface_llmirKVCacheGatherF32(cache, 3, &tables, 0, &given, &given);
  // CHECK: layer: KV cache: layer 3 does not exist
  refuse("layer", cache);
  cache = create();
  _mlir_ciface_llmirKVCacheCheckBatch(cache, &tables, &lengths, &two, 1, 0,
                                      &lengths, &two);
  // CHECK: rows: KV cache: 2 lengths for 1 rows of block indices
  refuse("rows", cache);
  cache = create();
  slot[1] = 1; // The call before has written zeros.
  _mlir_ciface_llmirKVCacheFork(cache, &two, &two);
  // CHECK: fork: sequence 0 does not exist
  refuse("fork", cache);
}

// Results for other sequences than there are, and a row that is not there.
static void refuseRows(void) {
  int32_t blocks[2] = {0, 0}, found[4], length[2] = {1, 1};
  float out[kRow];
  LLMIRIndexTable two = table(blocks, 2, 1), one = table(found, 1, 2);
  LLMIRIndexVector lengths = indices(length, 2);
  LLMIRBatch room = batch(out, 1);
  LLMIRTokens token = tokens(out, 1);
  LLMIRKVCache *cache = create();
  _mlir_ciface_llmirKVCacheFindTables(cache, 0, &two, &lengths, &one);
  // CHECK: tables: KV cache: the results have room for 1 sequences, not for 2
  refuse("tables", cache);
  cache = create();
  _mlir_ciface_llmirKVCacheLookupF32(cache, 0, &two, &lengths, &room, &room);
  // CHECK: lookup: KV cache: the results have room for 1 sequences, not for 2
  refuse("lookup", cache);
  cache = create();
  _mlir_ciface_llmirKVCacheGatherF32(cache, 0, &two, 2, &token, &token);
  // CHECK: row: KV cache: row 2 does not exist; there are 2
  refuse("row", cache);
}

int main(void) {
  // In order with the output to stderr.
  setvbuf(stdout, NULL, _IONBF, 0);
  LLMIRKVCache *cache = create();
  appendAndLookUp(cache);
  readStrided(cache);
  keepErrors(cache);
  llmirKVCacheDestroy(cache);
  refuseArrays();
  refuseRows();
  // CHECK: element type: KV cache: there is no element type 9
  refuse("element type", llmirKVCacheCreate(9, 1, 1, 1, 1, 2, 4));
  // CHECK: geometry: KV cache: blockSize is 3
  refuse("geometry", llmirKVCacheCreate(LLMIR_KV_I8, 1, 1, 1, 1, 3, 4));
  // CHECK: null: KV cache: out of memory while creating it
  refuse("null", NULL);
  return 0;
}

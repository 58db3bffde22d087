//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The paged KV cache for code compiled with
// `-convert-llm-to-linalg=cache=runtime` and for C programs that call such
// code. libLLMIRKVCache.so provides the functions; it needs neither MLIR nor
// LLVM.
//
//   LLMIRKVCache *cache =
//       llmirKVCacheCreate(LLMIR_KV_BF16, /*numLayers=*/12, /*numHeads=*/16,
//                          /*headDim=*/64, /*valueDim=*/64, /*blockSize=*/16,
//                          /*maxSeqLen=*/4096);
//   … call the compiled function with the cache …
//   const char *error = llmirKVCacheGetError(cache);
//   if (error)
//     fprintf(stderr, "%s\n", error);
//   llmirKVCacheDestroy(cache);
//
// Errors are sticky: the first one is printed to stderr, kept in the cache, and
// returned by llmirKVCacheGetError; from then on the functions only fill their
// outputs with zeros. Compiled code therefore needs no branches for errors, and
// memory outside of the cache is never accessed. A null cache is treated as one
// with an error.
//
// Generated code calls the functions from llmirKVCacheReserve on by their names
// with the prefix `_mlir_ciface_`, as defined by `llvm.emit_c_interface`;
// memrefs are pointers to descriptors and may have any strides. Shapes: T
// tokens, B sequences, G heads, D and V elements of a head of keys and of
// values. Elements have the type of the cache (f32 if it stores i8); f16 and
// bf16 are passed as uint16_t. docs/Dialects/LLM.md describes the index arrays.
//
// A cache may be used by only one thread at a time.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_C_KVCACHE_H
#define LLMIR_C_KVCACHE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LLMIR_KV_EXPORTED __attribute__((visibility("default")))

typedef struct LLMIRKVCache LLMIRKVCache;

/// The storage type of an element.
enum LLMIRKVElementType {
  LLMIR_KV_F32 = 0,
  LLMIR_KV_F16 = 1,
  LLMIR_KV_BF16 = 2,
  LLMIR_KV_I8 = 3 ///< A byte, with a scale for each head of each token.
};

/// A memref of `Rank` dimensions, as in MLIR's C interface.
#define LLMIR_KV_DESCRIPTOR(Name, Element, Rank)                               \
  typedef struct Name {                                                        \
    Element *allocated;                                                        \
    Element *aligned;                                                          \
    int64_t offset;                                                            \
    int64_t sizes[Rank];                                                       \
    int64_t strides[Rank];                                                     \
  } Name

LLMIR_KV_DESCRIPTOR(LLMIRIndexVector, int32_t, 1);
LLMIR_KV_DESCRIPTOR(LLMIRIndexTable, int32_t, 2);
/// Elements are float, or uint16_t if the function's name contains F16 or BF16.
LLMIR_KV_DESCRIPTOR(LLMIRTokens, void, 3);
LLMIR_KV_DESCRIPTOR(LLMIRBatch, void, 4);
#undef LLMIR_KV_DESCRIPTOR

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

/// Creates a cache without sequences; `headDim` is D, `valueDim` is V. The
/// caller destroys it. Invalid sizes result in a cache with an error; null
/// means out of memory.
LLMIR_KV_EXPORTED LLMIRKVCache *
llmirKVCacheCreate(int32_t elementType, int64_t numLayers, int64_t numHeads,
                   int64_t headDim, int64_t valueDim, int64_t blockSize,
                   int64_t maxSeqLen);

/// Destroys a cache; null is ignored.
LLMIR_KV_EXPORTED void llmirKVCacheDestroy(LLMIRKVCache *cache);

/// The first error and advice about it; null if there was none. Owned by the
/// cache.
LLMIR_KV_EXPORTED const char *llmirKVCacheGetError(const LLMIRKVCache *cache);

/// Tokens of a sequence; 0 if it does not exist.
LLMIR_KV_EXPORTED int64_t
llmirKVCacheGetSequenceLength(const LLMIRKVCache *cache, int64_t sequence);

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// llm.reserve_kv: lengthens each of `seqIds` [B] by `tokens` in the layer, and
/// writes `slots` [B · tokens], `blockIndices` [B, n], `blockTables` [B, M] and
/// `seqLens` [B].
LLMIR_KV_EXPORTED void _mlir_ciface_llmirKVCacheReserve(
    LLMIRKVCache *cache, int64_t layer, int64_t tokens,
    const LLMIRIndexVector *seqIds, LLMIRIndexVector *slots,
    LLMIRIndexTable *blockIndices, LLMIRIndexTable *blockTables,
    LLMIRIndexVector *seqLens);

/// llm.fork_kv: creates `dstIds` [B] with the tokens of `srcIds` [B].
LLMIR_KV_EXPORTED void
_mlir_ciface_llmirKVCacheFork(LLMIRKVCache *cache,
                              const LLMIRIndexVector *srcIds,
                              const LLMIRIndexVector *dstIds);

/// llm.free_kv: removes sequences [B].
LLMIR_KV_EXPORTED void
_mlir_ciface_llmirKVCacheFree(LLMIRKVCache *cache,
                              const LLMIRIndexVector *seqIds);

/// llm.block_tables: the whole block table [B, M] of the sequence that each row
/// of `blockIndices` [B, n] identifies, for a reader of `seqLens` [B] tokens.
LLMIR_KV_EXPORTED void _mlir_ciface_llmirKVCacheFindTables(
    LLMIRKVCache *cache, int64_t layer, const LLMIRIndexTable *blockIndices,
    const LLMIRIndexVector *seqLens, LLMIRIndexTable *blockTables);

/// Called before attention: copies `seqLens` [S] and `queryOffsets` [S + 1] if
/// everything that will be read exists, and writes zeros otherwise, so that
/// nothing is read. `maskColumns` is 0 without a mask, 1 if all keys share a
/// column.
LLMIR_KV_EXPORTED void _mlir_ciface_llmirKVCacheCheckBatch(
    LLMIRKVCache *cache, const LLMIRIndexTable *blockTables,
    const LLMIRIndexVector *seqLens, const LLMIRIndexVector *queryOffsets,
    int64_t numQueries, int64_t maskColumns, LLMIRIndexVector *checkedLens,
    LLMIRIndexVector *checkedOffsets);

//===----------------------------------------------------------------------===//
// Keys and values
//===----------------------------------------------------------------------===//

/// For each element type: llm.append_kv with slots, llm.lookup_kv, and loading
/// the first tokens of one block table.
#define LLMIR_KV_FUNCTIONS(Type)                                               \
  /** Stores token t of keys [T, G, D] and values [T, G, V] in `slots`[t]. F32 \
   * is rounded to the cache's type. */                                        \
  LLMIR_KV_EXPORTED void _mlir_ciface_llmirKVCacheAppend##Type(                \
      LLMIRKVCache *cache, int64_t layer, const LLMIRTokens *keys,             \
      const LLMIRTokens *values, const LLMIRIndexVector *slots);               \
  /** Writes the first `seqLens`[b] tokens of the sequence that row b of       \
   * `blockIndices` identifies to keys [B, N, G, D] and values [B, N, G, V],   \
   * followed by zeros. */                                                     \
  LLMIR_KV_EXPORTED void _mlir_ciface_llmirKVCacheLookup##Type(                \
      LLMIRKVCache *cache, int64_t layer, const LLMIRIndexTable *blockIndices, \
      const LLMIRIndexVector *seqLens, LLMIRBatch *keys, LLMIRBatch *values);  \
  /** Writes the first T tokens of row `sequence` of `blockTables` to keys     \
   * [T, G, D] and values [T, G, V]. */                                        \
  LLMIR_KV_EXPORTED void _mlir_ciface_llmirKVCacheGather##Type(                \
      LLMIRKVCache *cache, int64_t layer, const LLMIRIndexTable *blockTables,  \
      int64_t sequence, LLMIRTokens *keys, LLMIRTokens *values);

LLMIR_KV_FUNCTIONS(F32)
LLMIR_KV_FUNCTIONS(F16)
LLMIR_KV_FUNCTIONS(BF16)
#undef LLMIR_KV_FUNCTIONS

#ifdef __cplusplus
}
#endif

#endif // LLMIR_C_KVCACHE_H

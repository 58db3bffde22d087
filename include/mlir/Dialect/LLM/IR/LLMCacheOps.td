//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention and paged cache ops. In shapes: T tokens of a step, S sequences, B
// sequences of a batch of equal lengths, H query heads, G KV heads, D elements
// of a query or key head, V elements of a value head, M blocks.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_CACHE_OPS_TD
#define LLM_CACHE_OPS_TD

include "mlir/Dialect/LLM/IR/LLMInterfaces.td"
include "mlir/Dialect/LLM/IR/LLMTypes.td"

/// An op on a cache, which implements countNewTokens() and getLayerOperand().
/// Its traits state whether it is pure.
class LLM_CacheOp<string mnemonic, list<Trait> traits = []>
    : LLM_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<LLM_KVCacheOpInterface>], traits)>;

/// Attributes that all attention ops share: `score = scale · (q · k)`, then
/// capped, then biased by position and mask.
defvar LLM_AttentionAttributes = (ins
    Arg<OptionalAttr<LLM_CountAttr>, "Number of query heads, as in the query type">:$num_heads,
    Arg<OptionalAttr<LLM_CountAttr>, "Number of elements of a query head, as in the query type">:$head_dim,
    Arg<OptionalAttr<LLM_ScaleAttr>, "Factor of the scores; 1 / sqrt(D) if absent or 0">:$scale,
    Arg<OptionalAttr<LLM_CountAttr>, "A query attends to keys at a distance of less than this; at any if absent">:$window,
    Arg<OptionalAttr<LLM_ScaleAttr>, "Bound c of the capped scores c · tanh(score / c); uncapped if absent">:$soft_cap,
    Arg<OptionalAttr<DenseF64ArrayAttr>, "ALiBi slope of each head [H]: slope · (key position - query position) is added to the scores">:$alibi_slopes,
    Arg<UnitAttr, "Windows are chunks, which begin at multiples of their size">:$chunked);

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def LLM_AttentionOp : LLM_InferredOp<"attention", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<LLM_AttentionOpInterface>]> {
  let summary = "Attention over key and value tensors";
  let description = [{
    ```
    score[b, i, h, j] = scale · Σ_d query[b, i, h, d] · key[b, j, g, d],   g = h / (H / G)
    score             = soft_cap · tanh(score / soft_cap)                  where given
    score            += alibi_slopes[h] · (j - p_i)                        where given
    score            += mask[b, h, i, j], or -∞ where an i1 mask is false  where given
    output[b, i, h]   = Σ_j softmax_j(score[b, i, h, j]) · value[b, j, g]
    ```
    Key j is at position j and query i at position `p_i = Tk - Tq + i`: the last
    query and the last key are the same token. `causal` restricts keys to j ≤
    p_i, `window` to |j - p_i| < window, or with `chunked` to ⌊j / window⌋ =
    ⌊p_i / window⌋: the keys of its chunk. `sinks[h]` is a score without a value:
    `exp(sinks[h])` is added to the denominator of the softmax. A query without
    visible keys yields zeros; one with a NaN score for a visible key yields
    NaN. Hidden keys and values never affect the result, even if they are NaN.
    `scale` absent or 0 means 1 / sqrt(D).

    Operands of rank 3 are `[B, T, D]` with a single head and a mask
    `[B, Tq, Tk]`. Dimensions of the mask may be 1 and are then broadcast.

    The parser also accepts `llm.attention %q, %k, %v, %m` for
    `llm.attention %q, %k, %v mask(%m)`, parentheses around the operands, and
    operand types without parentheses.

    Fails verification when
    - c1: `query`, `key` and `value` differ in rank;
    - c2: they differ in element type;
    - c3: they differ in B;
    - c4: `key` and `value` differ in Tk;
    - c5: `query` and `key` differ in D;
    - c6: `key` and `value` differ in G, or H is not a multiple of G;
    - c7: `mask` cannot be broadcast to `[B, H, Tq, Tk]` (`[B, Tq, Tk]`);
    - c8: `scale` is negative or not finite;
    - c9: `num_heads` or `head_dim` differs from that of the query;
    - c10: `window` is not positive;
    - c11: `soft_cap` is not positive and finite;
    - c12: `sinks` does not have H elements;
    - c13: `alibi_slopes` does not have H elements, or one is not finite;
    - c14: `chunked` is given without `window`.

    Example:
    ```mlir
    %o = llm.attention %q, %k, %v mask(%m) {causal = true, scale = 0.125 : f64}
        : (tensor<2x8x16x64xf16>, tensor<2x32x4x64xf16>, tensor<2x32x4x64xf16>, tensor<1x1x8x32xi1>)
          -> tensor<2x8x16x64xf16>
    ```
  }];
  let arguments = !con((ins
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Queries [B, Tq, H, D]">:$query,
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Keys [B, Tk, G, D]">:$key,
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Values [B, Tk, G, V]">:$value,
    Arg<Optional<LLM_MaskTensor>, "Boolean (i1) or additive mask of the scores">:$mask,
    Arg<Optional<LLM_FloatVector>, "Attention sink of each head: a score without a value [H]">:$sinks,
    Arg<DefaultValuedAttr<BoolAttr, "false">, "Whether a query attends only to keys up to its own position">:$causal),
    LLM_AttentionAttributes);
  let results = (outs
    Res<LLM_FloatTensorOfRank<[3, 4]>, "Attention output, one row per query [B, Tq, H, V]">:$output);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// True if operands have rank 3 and thus no head dimension.
    bool hasOneHead() { return getQuery().getType().getRank() == 3; }
    int64_t countSequences();
    int64_t countQueries();
    int64_t countKeys();
    int64_t countHeads();
    int64_t countKVHeads();
    int64_t sizeOfHead();
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_PagedAttentionOp : LLM_CacheOp<"paged_attention", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<LLM_AttentionOpInterface>]> {
  let summary = "Attention over keys and values in a paged cache";
  let description = [{
    Equivalent to `llm.attention` with the keys and values of the first
    `seqLens[s]` positions of each sequence, which are read from the cache. The
    queries are the last tokens of their sequence. Formulas, attributes, `mask`
    and `sinks` are those of `llm.attention`, except that `causal` is true by
    default.

    Batched form: row b of `blockIndices` identifies a sequence as described at
    `llm.append_kv`. `query` is `[B, tokens, H, D]`, or `[B, H, D]` for one
    token per sequence; a mask must be broadcastable to `[B, H, tokens, M]`.

    Ragged form (`offsets`): `blockIndices` is an explicit block table that the
    host guarantees to be valid: position p of sequence s is token
    `p mod blockSize` of the block in entry `p / blockSize` of row s. `query` is
    `[T, H, D]`, and sequence s owns its rows from `queryOffsets[s]` up to
    `queryOffsets[s + 1]`; a mask is `[T, M]`, where M is at least the greatest
    length, or 1 to broadcast over keys.

    For some cache element types, compiled code rounds the other factor of a
    product:
    - i8: products are integer products. The query times `scale` is quantized as
      one row, and so are the softmax weights of keys 64j to 64j + 63, each
      times the scale of its value. A row x becomes `t · roundeven(x / t)` with
      t = max|x| / 32512, or zeros if max|x| is less than 2^-100. The weight of
      a key with score s is exp(s - m), where m is the maximum score of its
      chunk of 512 keys up to key 64j + 63. The denominator of the softmax is
      the sum of the unrounded weights.
    - bf16, at CPU levels with bf16 products: the query times `scale` is rounded
      to the sum of two bf16 values, and a weight, exp(s - m) as above, to one,
      also in the denominator.

    Without a mask, the query is multiplied by log2(e) before it is rounded.

    The parser also accepts operand types without parentheses, and parentheses
    around the operands, with the cache last:
    `llm.paged_attention(%q, %idx, %lens, %cache)`.

    Fails verification when
    - c1: the form does not allow the rank of `query`;
    - c2: H is not a multiple of G;
    - c3: D differs from that of the cache;
    - c4: the numbers of sequences of `blockIndices`, `seqLens` and `query` (or
      `queryOffsets`) differ;
    - c5: `scale` is negative or not finite;
    - c6: `num_heads` or `head_dim` differs from that of the query;
    - c7: the block indices of the ragged form have rank 1;
    - c8: `layer` is absent in the ragged form and the cache has several layers;
    - c9: `window` is not positive;
    - c10: `soft_cap` is not positive and finite;
    - c11: `sinks` does not have H elements;
    - c12: `alibi_slopes` does not have H elements, or one is not finite;
    - c13: the form does not allow the rank of `mask`, or `mask` cannot be
      broadcast to the shape of the scores;
    - c14: `chunked` is given without `window`.

    Example:
    ```mlir
    %o = llm.paged_attention %q, %c2, %tables, %lens offsets(%offs) layer(%l) {scale = 0.125 : f64}
       : (tensor<?x8x64xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>)
         -> tensor<?x8x64xf32>
    %p = llm.paged_attention %q, %c2, %blocks, %lens {num_heads = 16 : i32}
       : (tensor<2x1x16x64xf16>, !cache, tensor<2x128xi32>, tensor<2xi32>)
         -> tensor<2x1x16x64xf16>
    ```
  }];
  let arguments = !con((ins
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Queries [T, H, D] or [B, tokens, H, D]">:$query,
    Arg<LLM_PagedKVCacheType, "Cache with the keys and values, including those of the new tokens">:$cache,
    Arg<LLM_IndexTable, "Rows that identify the sequences [B, n] or [B]; ragged form: block tables [S, M]">:$blockIndices,
    Arg<LLM_IndexVector, "Length of each sequence, including the new tokens [S]">:$seqLens,
    Arg<Optional<LLM_IndexVector>, "Ragged form: first row of each sequence [S + 1]">:$queryOffsets,
    Arg<Optional<Index>, "Layer of the cache; layer 0 if absent">:$layer,
    Arg<Optional<LLM_MaskTensor>, "Boolean (i1) or additive mask of the scores">:$mask,
    Arg<Optional<LLM_FloatVector>, "Attention sink of each head: a score without a value [H]">:$sinks,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "Whether a token attends only to tokens up to itself">:$causal),
    LLM_AttentionAttributes);
  let results = (outs
    Res<LLM_FloatTensorOfRank<[3, 4]>, "Attention output, of the query's shape with V as the last dimension">:$output);
  let hasCustomAssemblyFormat = 1;
  let builders = [
    // Ragged form.
    OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$cache,
                   "::mlir::Value":$blockIndices, "::mlir::Value":$seqLens,
                   "::mlir::Value":$queryOffsets, "::mlir::Value":$layer,
                   "::mlir::FloatAttr":$scale, "bool":$causal)>
  ];
  let extraClassDeclaration = [{
    /// True if this is the ragged form.
    bool isRagged() { return static_cast<bool>(getQueryOffsets()); }
    int64_t countSequences();
    int64_t countQueries();
    int64_t countKeys() { return -1; }
    int64_t countHeads();
    int64_t countKVHeads() { return getCache().getType().getNumHeads(); }
    int64_t sizeOfHead() { return getCache().getType().getHeadDim(); }
    int64_t countNewTokens() { return 0; }
    /// The factor of the scores, or its default.
    double getScaleOrDefault() {
      return ::mlir::llm::detail::getScaleOrDefault(getScaleAttr(), sizeOfHead());
    }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_FusedAttentionOp : LLM_CacheOp<"fused_attention", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<LLM_AttentionOpInterface>]> {
  let summary = "Append keys and values to a paged cache, then compute attention over it";
  let description = [{
    Equivalent to
    ```mlir
    %c2 = llm.append_kv %cache, %k, %v slots(%slots) layer(%l)
    %o = llm.paged_attention %q, %c2, %tables, %lens offsets(%offs) layer(%l)
    ```
    in the ragged form, and to `llm.append_kv %cache, %k, %v, %ids` followed by
    batched attention in the batched form, with the same operands, attributes
    and results. In the batched form, the rows of `blockTables` identify the
    sequences in the updated cache. The fused form lets a target reuse the new
    keys and values before they leave the CPU caches. There may be fewer queries
    than new tokens, for example if only the last token is needed.

    Fails verification when
    - c1: not exactly one of `seqIds` and `slotMapping` is given, or only one of
      `queryOffsets` and `slotMapping` is;
    - c2: an operand or result violates one of the rules c2 to c7 and c9 of
      `llm.append_kv`;
    - c3: an operand or attribute violates one of the rules c1 to c14 of
      `llm.paged_attention`.

    Example:
    ```mlir
    %o, %c2 = llm.fused_attention %q, %k, %v, %c, %tables, %lens slots(%slots) offsets(%offs) layer(%l)
       : (tensor<?x8x64xf32>, tensor<?x2x64xf32>, tensor<?x2x64xf32>, !cache, tensor<?x?xi32>,
          tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x8x64xf32>, !cache)
    %o, %c2, %idx = llm.fused_attention %q, %k, %v, %c, %ids, %tables, %lens
       : (tensor<2x1x16x64xf16>, tensor<2x1x16x64xf16>, tensor<2x1x16x64xf16>, !cache, tensor<2xi32>,
          tensor<2x128xi32>, tensor<2xi32>) -> (tensor<2x1x16x64xf16>, !cache, tensor<2x1xi32>)
    ```
  }];
  let arguments = !con((ins
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Queries [T, H, D] or [B, tokens, H, D]">:$query,
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Keys of the new tokens [T, G, D] or [B, tokens, G, D]">:$keys,
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Values of the new tokens [T, G, V] or [B, tokens, G, V]">:$values,
    Arg<LLM_PagedKVCacheType, "Cache">:$cache,
    Arg<Optional<LLM_IndexVector>, "Batched form: sequence ids [B]">:$seqIds,
    Arg<LLM_IndexTable, "Rows that identify the sequences [B, n] or [B]; ragged form: block tables [S, M]">:$blockTables,
    Arg<LLM_IndexVector, "Length of each sequence, including the new tokens [S]">:$seqLens,
    Arg<Optional<LLM_IndexVector>, "Ragged form: slot of each new token [T]">:$slotMapping,
    Arg<Optional<LLM_IndexVector>, "Ragged form: first row of each sequence [S + 1]">:$queryOffsets,
    Arg<Optional<Index>, "Layer of the cache; layer 0 if absent">:$layer,
    Arg<Optional<LLM_MaskTensor>, "Boolean (i1) or additive mask of the scores">:$mask,
    Arg<Optional<LLM_FloatVector>, "Attention sink of each head: a score without a value [H]">:$sinks,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "Whether a token attends only to tokens up to itself">:$causal),
    LLM_AttentionAttributes);
  let results = (outs
    Res<LLM_FloatTensorOfRank<[3, 4]>, "Attention output, of the query's shape with V as the last dimension">:$output,
    Res<LLM_PagedKVCacheType, "Updated cache">:$updatedCache,
    Res<Optional<LLM_IndexTable>, "Batched form: rows that identify the sequences [B, n] or [B]">:$blockIndices);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// True if this is the ragged form.
    bool isRagged() { return static_cast<bool>(getSlotMapping()); }
    int64_t countSequences();
    int64_t countQueries();
    int64_t countKeys() { return -1; }
    int64_t countHeads();
    int64_t countKVHeads() { return getCache().getType().getNumHeads(); }
    int64_t sizeOfHead() { return getCache().getType().getHeadDim(); }
    int64_t countNewTokens();
    ::llvm::SmallVector<::mlir::Value> getBlockResults();
    /// Rows of block indices may have any length; the verifier checks the rest.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange actual);
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Writing and reading the cache
//===----------------------------------------------------------------------===//

def LLM_AppendKVOp : LLM_CacheOp<"append_kv", [AlwaysSpeculatable, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Append keys and values to a paged KV cache";
  let description = [{
    The result is the cache with the keys and values of the new tokens. The
    operand `cache` is consumed: bufferization makes the write in place.

    Ragged form (`slots`): `keys` is `[T, G, D]`, `values` `[T, G, V]`; the host
    has reserved the blocks, and token t is written to slot `slotMapping[t]`,
    which is `block · blockSize + offset`. Elements are f32 or of the cache's
    element type, to which they are rounded.

    Batched form (`seqIds`): `keys` is `[B, tokens, G, D]`, or `[B, G, D]` for
    one token per sequence, and `values` likewise with V; sequence `seqIds[b]`
    grows by its tokens in this layer, blocks are reserved as needed, and row b
    of `blockIndices` identifies the sequence to ops that read it.

    In all ops of the batched form, block indices identify sequences. A row of
    `[B, n]`, or an element of `[B]`, holds the last n blocks of a sequence's
    block table in order, padded with -1 if the table is shorter. A reading op
    takes the sequence that owns the last block of the row and reads through its
    whole table: the single block that a decode step yields, a full table and
    any window of it give the same result. A block that a fork shares has
    several owners, whose tables are equal up to that block; the owner taken is
    one with at least the length to be read. The following are runtime errors,
    in the interpreter and in compiled code: a length that is negative, greater
    than maxSeqLen or greater than that of the sequence in the layer; and, in a
    row whose length is not 0, no block, a block that does not exist or belongs
    to no sequence, a block after -1, blocks that are not consecutive in one
    sequence, and a last block whose owners differ in what is read after it.

    Without `cache`, the tokens are appended to a new, empty cache of the result
    type; such an op allocates, so that CSE does not merge two of them.

    The parser also accepts operand types without parentheses, and parentheses
    around the operands, with the cache last or absent:
    `llm.append_kv(%k, %v, %ids, %cache)`.

    Fails verification when
    - c1: not exactly one of `seqIds` and `slotMapping` is given, or only one of
      `blockIndices` and `seqIds` is;
    - c2: the form does not allow the rank of `keys`;
    - c3: the types of `keys` and `values` differ in more than the last
      dimension;
    - c4: the element type is not that of the cache (nor, in the ragged form,
      f32);
    - c5: G, D or V differs from that of the cache;
    - c6: `slotMapping` does not have T elements, or `seqIds` does not have B;
    - c7: `blockIndices` is neither `[B]` nor `[B, n]`;
    - c8: `block_size` or `max_seq_len` differs from that of the cache;
    - c9: `layer` is absent in the ragged form and the cache has several layers;
    - c10: `cache` and `updatedCache` differ in type;
    - c11: the ragged form has no cache (a new cache has no reserved blocks).

    Example:
    ```mlir
    %c2 = llm.append_kv %c1, %k, %v slots(%slots) layer(%l)
        : (!cache, tensor<?x2x64xf32>, tensor<?x2x64xf32>, tensor<?xi32>) -> !cache
    %c3, %blocks = llm.append_kv %c1, %k, %v, %seq_ids {block_size = 16 : i32}
        : (!cache, tensor<2x1x2x64xf16>, tensor<2x1x2x64xf16>, tensor<2xi32>)
          -> (!cache, tensor<2x1xi32>)
    ```
  }];
  let arguments = (ins
    Arg<Optional<LLM_PagedKVCacheType>, "Cache to append to; a new one if absent">:$cache,
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Keys [T, G, D] or [B, tokens, G, D]">:$keys,
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Values [T, G, V] or [B, tokens, G, V]">:$values,
    Arg<Optional<LLM_IndexVector>, "Batched form: sequence ids [B]">:$seqIds,
    Arg<Optional<LLM_IndexVector>, "Ragged form: slot of each new token [T]">:$slotMapping,
    Arg<Optional<Index>, "Layer of the cache; layer 0 if absent">:$layer,
    Arg<OptionalAttr<LLM_CountAttr>, "Number of tokens per block, as in the type">:$block_size,
    Arg<OptionalAttr<LLM_CountAttr>, "Maximum length of a sequence, as in the type">:$max_seq_len);
  let results = (outs
    Res<LLM_PagedKVCacheType, "Updated cache">:$updatedCache,
    Res<Optional<LLM_IndexTable>, "Batched form: rows that identify the sequences [B, n] or [B]">:$blockIndices);
  let hasCustomAssemblyFormat = 1;
  let builders = [
    // Ragged form.
    OpBuilder<(ins "::mlir::Value":$cache, "::mlir::Value":$keys, "::mlir::Value":$values,
                   "::mlir::Value":$slotMapping, "::mlir::Value":$layer)>,
    // Batched form, with as many block indices per row as tokens.
    OpBuilder<(ins "::mlir::Value":$cache, "::mlir::Value":$keys, "::mlir::Value":$values,
                   "::mlir::Value":$seqIds)>
  ];
  let extraClassDeclaration = [{
    /// True if this is the ragged form.
    bool isRagged() { return static_cast<bool>(getSlotMapping()); }
    /// The type of the cache, also if the operand is absent.
    PagedKVCacheType getCacheType() { return getUpdatedCache().getType(); }
    int64_t countNewTokens();
    ::llvm::SmallVector<::mlir::Value> getBlockResults();
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_LookupKVOp : LLM_CacheOp<"lookup_kv", [Pure]> {
  let summary = "Gather the keys and values of sequences from a paged cache";
  let description = [{
    `keys[b, n]` and `values[b, n]` are those of token n of the sequence that
    row b of `blockIndices` identifies (see `llm.append_kv`) for n less than
    `seqLens[b]`, and 0 for greater n. A dynamic N is the greatest length; a
    length greater than N is a runtime error.

    The parser also accepts operand types without parentheses, and parentheses
    around the operands, with the cache last:
    `llm.lookup_kv(%idx, %lens, %cache)`.

    Fails verification when
    - c1: `blockIndices`, `seqLens`, `keys` and `values` differ in B;
    - c2: `keys` and `values` differ in N;
    - c3: G, D or V differs from that of the cache;
    - c4: the element type differs from that of the cache;
    - c5: N is greater than maxSeqLen of the cache;
    - c6: `num_heads` or `head_dim` differs from that of the cache.

    Example:
    ```mlir
    %k, %v = llm.lookup_kv %cache, %blocks, %lens {num_heads = 16 : i32, head_dim = 64 : i32}
        : (!cache, tensor<2x128xi32>, tensor<2xi32>) -> (tensor<2x128x16x64xf16>, tensor<2x128x16x64xf16>)
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "Cache to read">:$cache,
    Arg<LLM_IndexTable, "Rows that identify the sequences [B, n] or [B]">:$blockIndices,
    Arg<LLM_IndexVector, "Length of each sequence [B]">:$seqLens,
    Arg<Optional<Index>, "Layer of the cache; layer 0 if absent">:$layer,
    Arg<OptionalAttr<LLM_CountAttr>, "Number of KV heads, as in the cache type">:$num_heads,
    Arg<OptionalAttr<LLM_CountAttr>, "Number of elements of a key head, as in the cache type">:$head_dim);
  let results = (outs
    Res<LLM_FloatTensorOfRank<[4]>, "Keys [B, N, G, D]">:$keys,
    Res<LLM_FloatTensorOfRank<[4]>, "Values [B, N, G, V]">:$values);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t countNewTokens() { return 0; }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_BlockTablesOp : LLM_CacheOp<"block_tables", [Pure]> {
  let summary = "Look up the block tables of sequences";
  let description = [{
    Row b of `blockTables` is the block table, padded with -1, of the sequence
    that row b of `blockIndices` identifies (see `llm.append_kv`), for reading
    its first `seqLens[b]` tokens. A length of 0 yields a row of -1. The result
    is the block table operand of ops in the ragged form.

    Fails verification when
    - c1: `blockIndices`, `seqLens` and `blockTables` differ in B;
    - c2: the number of columns of `blockTables` is not the maximum number of
      blocks of a sequence (`PagedKVCacheType::getMaxBlocksPerSequence`).

    Example:
    ```mlir
    %tables = llm.block_tables %cache, %blocks, %lens layer(%l)
        : (!cache, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x256xi32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "Cache that holds the sequences">:$cache,
    Arg<LLM_IndexTable, "Rows that identify the sequences [B, n] or [B]">:$blockIndices,
    Arg<LLM_IndexVector, "Number of tokens to be read of each sequence [B]">:$seqLens,
    Arg<Optional<Index>, "Layer of the cache; layer 0 if absent">:$layer);
  let results = (outs
    Res<LLM_IndexTable, "Block tables [B, M]">:$blockTables);
  let assemblyFormat = [{
    $cache `,` $blockIndices `,` $seqLens (`layer` `(` $layer^ `)`)? attr-dict `:`
    `(` qualified(type($cache)) `,` type($blockIndices) `,` type($seqLens) `)` `->` type($blockTables)
  }];
  let extraClassDeclaration = [{
    int64_t countNewTokens() { return 0; }
    ::llvm::SmallVector<::mlir::Value> getBlockResults();
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Creating caches and managing sequences
//===----------------------------------------------------------------------===//

def LLM_CreatePagedCacheOp : LLM_CacheOp<"create_paged_cache", []> {
  let summary = "Create a paged cache without sequences";
  let description = [{
    The op allocates: CSE does not merge two of them, and an unused one is
    erased.

    Example: `%c = llm.create_paged_cache : !llm.paged_kv_cache<f16, 12, 16, 64,
    16, 4096>`
  }];
  let arguments = (ins);
  let results = (outs Res<LLM_PagedKVCacheType, "New cache", [MemAlloc]>:$cache);
  let assemblyFormat = "attr-dict `:` qualified(type($cache))";
  let extraClassDeclaration = [{
    int64_t countNewTokens() { return 0; }
  }];
}

def LLM_ReserveKVOp : LLM_CacheOp<"reserve_kv", [Pure,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Reserve blocks for new tokens of sequences";
  let description = [{
    Each listed sequence grows by `tokens` tokens in this layer; an id not in
    the cache starts a new sequence. Blocks are allocated as needed, and a block
    shared with another sequence is copied before it is written (copy-on-write).
    With n = `tokens` and M the maximum number of blocks of a sequence
    (`PagedKVCacheType::getMaxBlocksPerSequence`):
    - `slots[b · n + i]` is the slot `block · blockSize + offset` of new token i
      of sequence b, as the ragged form of `llm.append_kv` takes it;
    - row b of `blockIndices` identifies the sequence (see `llm.append_kv`);
      rows may have any length;
    - `blockTables[b]` lists the blocks of the sequence in order, padded with
      -1;
    - `seqLens[b]` is the length of the sequence, including the new tokens.

    Fails verification when
    - c1: `tokens` is negative or greater than maxSeqLen of the cache.

    Example:
    ```mlir
    %c2, %slots, %blocks, %tables, %lens = llm.reserve_kv %c1, %ids {tokens = 3}
        : (!cache, tensor<2xi32>)
          -> (!cache, tensor<6xi32>, tensor<2x3xi32>, tensor<2x256xi32>, tensor<2xi32>)
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "Cache">:$cache,
    Arg<LLM_IndexVector, "Sequence ids, all distinct [B]">:$seqIds,
    Arg<Optional<Index>, "Layer of the cache; layer 0 if absent">:$layer,
    Arg<LLM_CountAttr, "Number of new tokens per sequence">:$tokens);
  let results = (outs
    Res<LLM_PagedKVCacheType, "Updated cache">:$updatedCache,
    Res<LLM_IndexVector, "Slot of each new token [B · tokens]">:$slots,
    Res<LLM_IndexTable, "Rows that identify the sequences [B, n]">:$blockIndices,
    Res<LLM_IndexTable, "Block tables [B, M]">:$blockTables,
    Res<LLM_IndexVector, "Length of each sequence [B]">:$seqLens);
  let assemblyFormat = [{
    $cache `,` $seqIds (`layer` `(` $layer^ `)`)? attr-dict `:`
    `(` qualified(type($cache)) `,` type($seqIds) `)` `->` `(` qualified(type($updatedCache)) `,`
    type($slots) `,` type($blockIndices) `,` type($blockTables) `,` type($seqLens) `)`
  }];
  let extraClassDeclaration = [{
    int64_t countNewTokens();
    ::llvm::SmallVector<::mlir::Value> getBlockResults();
    /// Rows of block indices may have any length.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange actual);
  }];
  let hasVerifier = 1;
}

def LLM_ForkKVOp : LLM_CacheOp<"fork_kv", [Pure, AllTypesMatch<["cache", "updatedCache"]>]> {
  let summary = "Fork sequences";
  let description = [{
    `dstIds[b]` becomes a new sequence with the tokens of `srcIds[b]`, which
    must exist. Blocks are shared and copied on write.

    Fails verification when
    - c1: `srcIds` and `dstIds` differ in length.

    Example:
    ```mlir
    %c2 = llm.fork_kv %c1, %from, %to : (!cache, tensor<2xi32>, tensor<2xi32>) -> !cache
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "Cache">:$cache,
    Arg<LLM_IndexVector, "Ids of existing sequences [B]">:$srcIds,
    Arg<LLM_IndexVector, "Ids of the new sequences [B]">:$dstIds);
  let results = (outs Res<LLM_PagedKVCacheType, "Updated cache">:$updatedCache);
  let assemblyFormat = [{
    $cache `,` $srcIds `,` $dstIds attr-dict `:`
    `(` qualified(type($cache)) `,` type($srcIds) `,` type($dstIds) `)` `->` qualified(type($updatedCache))
  }];
  let extraClassDeclaration = [{
    int64_t countNewTokens() { return 0; }
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def LLM_FreeKVOp : LLM_CacheOp<"free_kv", [Pure, AllTypesMatch<["cache", "updatedCache"]>]> {
  let summary = "Remove sequences from a cache";
  let description = [{
    The result is the cache without the listed sequences, which must exist.
    Blocks that no other sequence shares are freed.

    Example:
    ```mlir
    %c2 = llm.free_kv %c1, %ids : (!cache, tensor<2xi32>) -> !cache
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "Cache">:$cache,
    Arg<LLM_IndexVector, "Sequence ids [B]">:$seqIds);
  let results = (outs Res<LLM_PagedKVCacheType, "Updated cache">:$updatedCache);
  let assemblyFormat = [{
    $cache `,` $seqIds attr-dict `:` `(` qualified(type($cache)) `,` type($seqIds) `)` `->`
    qualified(type($updatedCache))
  }];
  let extraClassDeclaration = [{
    int64_t countNewTokens() { return 0; }
  }];
  let hasFolder = 1;
}

#endif // LLM_CACHE_OPS_TD

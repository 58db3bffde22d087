//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention and the paged cache. In shapes: T tokens of a step, S sequences,
// B sequences of a batch of equal lengths, H query heads, G key and value heads,
// D numbers in a head of queries and keys, V in a head of values, M blocks.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_CACHE_OPS_TD
#define LLM_CACHE_OPS_TD

include "mlir/Dialect/LLM/IR/LLMInterfaces.td"
include "mlir/Dialect/LLM/IR/LLMTypes.td"

/// An op on a cache whose countNewTokens() and getLayerOperand() are written
/// for it. Where it may be moved and repeated freely is said by its traits.
class LLM_CacheOp<string mnemonic, list<Trait> traits = []>
    : LLM_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<LLM_KVCacheOpInterface>], traits)>;

/// How scores are made from products of queries and keys; the same for every
/// attention. `score = scale · (q · k)`, then capped, then plus what position
/// and mask say.
defvar LLM_AttentionAttributes = (ins
    Arg<OptionalAttr<LLM_CountAttr>, "Heads of the query, as in its type">:$num_heads,
    Arg<OptionalAttr<LLM_CountAttr>, "Numbers in a head, as in the query's type">:$head_dim,
    Arg<OptionalAttr<LLM_ScaleAttr>, "Factor of the scores; absent or 0 means 1 / sqrt(D)">:$scale,
    Arg<OptionalAttr<LLM_CountAttr>, "Keys that a query sees, back from its own position and with it; absent: all">:$window,
    Arg<OptionalAttr<LLM_ScaleAttr>, "c where scores become c · tanh(score / c); absent: they stay">:$soft_cap,
    Arg<OptionalAttr<DenseF64ArrayAttr>, "Slope of each head [H]: slope · (key position - query position) is added to a score">:$alibi_slopes);

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def LLM_AttentionOp : LLM_InferredOp<"attention", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<LLM_AttentionOpInterface>]> {
  let summary = "Attention of queries to keys and values that are tensors";
  let description = [{
    ```
    score[b, i, h, j] = scale · Σ_d query[b, i, h, d] · key[b, j, g, d],   g = h / (H / G)
    score             = soft_cap · tanh(score / soft_cap)                  where given
    score            += alibi_slopes[h] · (j - p_i)                        where given
    score            += mask[b, h, i, j], or -∞ where an i1 mask is false  where given
    output[b, i, h]   = Σ_j softmax_j(score[b, i, h, j]) · value[b, j, g]
    ```
    Key j stands at position j, query i at `p_i = Tk - Tq + i`: the last query
    and the last key are the same token. `causal` leaves only keys with j ≤ p_i,
    `window` only those with j > p_i - window. `sinks[h]` is a score without a
    value: `exp(sinks[h])` joins the sum by which the softmax divides. A query
    that sees no key gives zeros. One that has a score that is not a number
    (NaN), of a key that it sees, gives NaN; what is hidden counts for nothing,
    whatever it is. `scale` absent or 0 means 1 / sqrt(D).

    Operands of rank 3 are `[B, T, D]`: one head, and a mask `[B, Tq, Tk]`.
    A size of the mask may be 1 where all share it.

    `llm.attention %q, %k, %v, %m` means `llm.attention %q, %k, %v mask(%m)`.
    The list of operands may stand in parentheses, the list of types without.

    Fails verification when
    - c1: `query`, `key` and `value` differ in rank;
    - c2: they differ in element type;
    - c3: they differ in B;
    - c4: `key` and `value` differ in Tk;
    - c5: `query` and `key` differ in D;
    - c6: `key` and `value` differ in G, or H is no multiple of it;
    - c7: `mask` cannot be broadcast to `[B, H, Tq, Tk]` (`[B, Tq, Tk]`);
    - c8: `scale` is negative or not finite;
    - c9: `num_heads` or `head_dim` is not the query's;
    - c10: `window` is not positive;
    - c11: `soft_cap` is not positive and finite;
    - c12: `sinks` does not have H entries;
    - c13: `alibi_slopes` does not have H entries, or one is not finite.

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
    Arg<Optional<LLM_MaskTensor>, "Which scores count (i1), or what is added to them">:$mask,
    Arg<Optional<LLM_FloatVector>, "Score of each head that has no value [H]">:$sinks,
    Arg<DefaultValuedAttr<BoolAttr, "false">, "Whether a query sees only keys up to itself">:$causal),
    LLM_AttentionAttributes);
  let results = (outs
    Res<LLM_FloatTensorOfRank<[3, 4]>, "One row per query [B, Tq, H, V]">:$output);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// True for operands of rank 3, which have no dimension of heads.
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
  let summary = "Attention of queries to the keys and values in a paged cache";
  let description = [{
    `llm.attention` with the keys and values of each sequence read from the
    cache, for the first `seqLens[s]` positions. The queries are the last tokens
    of their sequence. All formulas, attributes, `mask` and `sinks` are those of
    `llm.attention`, except that `causal` is the default.

    Batched form: row b of `blockIndices` names a sequence, as `llm.append_kv`
    says. `query` is `[B, tokens, H, D]`, or `[B, H, D]` for one token each; a
    mask can be broadcast to `[B, H, tokens, M]`.

    Ragged form (`offsets`): `blockIndices` is an explicit block table, which the
    host answers for: position p of sequence s is token `p mod blockSize` of the
    block in entry `p / blockSize` of row s. `query` is `[T, H, D]`,
    `queryOffsets` `[S + 1]` says which rows belong to which sequence; a mask is
    `[T, M]` with M not less than any length, or 1 where all keys share it.

    Compiled code rounds what it multiplies with the contents of some caches:
    - i8: integers multiply integers. The query times `scale` is one row; the
      weights of keys 64j to 64j + 63, each times the scale of its value, are
      another. A row x becomes `t · roundeven(x / t)` with t = max|x| / 32512, or
      zeros where max|x| is below 2^-100. The weight of a key with score s is
      exp(s - m), where m is the greatest score of its chunk of 512 keys up to
      key 64j + 63. The denominator of the softmax adds weights unrounded.
    - bf16, at CPU levels that multiply bf16: the query times `scale` becomes the
      sum of two bf16 values, and a weight, exp(s - m) as above, becomes one,
      which the denominator adds as well.

    Without a mask, the query is also multiplied by log2(e) before it is rounded.

    `scale` absent or 0 means 1 / sqrt(D). The parentheses around the list of
    types are optional in what is parsed; with parentheses around the operands
    the cache is the last of them: `llm.paged_attention(%q, %idx, %lens, %cache)`.

    Fails verification when
    - c1: the rank of `query` is not one of the form's;
    - c2: the query's heads are no multiple of the cache's;
    - c3: D is not the cache's;
    - c4: the sequences counted by `blockIndices`, `seqLens` and `query` (or
      `queryOffsets`) differ;
    - c5: `scale` is negative or not finite;
    - c6: `num_heads` or `head_dim` is not the query's;
    - c7: the ragged form has block indices of rank 1;
    - c8: the ragged form has no `layer` and the cache has several layers;
    - c9: `window` is not positive;
    - c10: `soft_cap` is not positive and finite;
    - c11: `sinks` does not have H entries;
    - c12: `alibi_slopes` does not have H entries, or one is not finite;
    - c13: `mask` is not of the form's rank, or its sizes before M are others.

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
    Arg<LLM_PagedKVCacheType, "Keys and values, the new tokens' among them">:$cache,
    Arg<LLM_IndexTable, "Rows that name the sequences [B, n] or [B]; ragged form: block tables [S, M]">:$blockIndices,
    Arg<LLM_IndexVector, "Tokens of each sequence, the new ones included [S]">:$seqLens,
    Arg<Optional<LLM_IndexVector>, "Ragged form: first row of each sequence [S + 1]">:$queryOffsets,
    Arg<Optional<Index>, "Layer of the cache; absent means layer 0">:$layer,
    Arg<Optional<LLM_MaskTensor>, "Which scores count (i1), or what is added to them">:$mask,
    Arg<Optional<LLM_FloatVector>, "Score of each head that has no value [H]">:$sinks,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "Whether a token sees only tokens up to itself">:$causal),
    LLM_AttentionAttributes);
  let results = (outs
    Res<LLM_FloatTensorOfRank<[3, 4]>, "One row per query, of the query's shape with V as the last size">:$output);
  let hasCustomAssemblyFormat = 1;
  let builders = [
    // The ragged form.
    OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$cache,
                   "::mlir::Value":$blockIndices, "::mlir::Value":$seqLens,
                   "::mlir::Value":$queryOffsets, "::mlir::Value":$layer,
                   "::mlir::FloatAttr":$scale, "bool":$causal)>
  ];
  let extraClassDeclaration = [{
    /// True for the ragged form.
    bool isRagged() { return static_cast<bool>(getQueryOffsets()); }
    int64_t countSequences();
    int64_t countQueries();
    int64_t countKeys() { return -1; }
    int64_t countHeads();
    int64_t countKVHeads() { return getCache().getType().getNumHeads(); }
    int64_t sizeOfHead() { return getCache().getType().getHeadDim(); }
    int64_t countNewTokens() { return 0; }
    /// The factor of the scores, with the default filled in.
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
  let summary = "Append keys and values to a paged cache, then attend to it";
  let description = [{
    Exactly
    ```mlir
    %c2 = llm.append_kv %cache, %k, %v slots(%slots) layer(%l)
    %o = llm.paged_attention %q, %c2, %tables, %lens offsets(%offs) layer(%l)
    ```
    in the ragged form, and `llm.append_kv %cache, %k, %v, %ids` followed by the
    batched attention in the batched form, with the same operands, attributes
    and results. In the batched form `blockTables` has rows that name the
    sequences, as the cache is after the append. A target can then read the new keys and values while they are still at hand. The queries
    may be fewer than the new tokens, as where the last one alone is wanted.

    Fails verification when
    - c1: not exactly one of `seqIds` and `slotMapping` is given, or
      `queryOffsets` is not there exactly with `slotMapping`;
    - c2: an operand or result of the append breaks its rule: see c2 to c7 and
      c9 of `llm.append_kv`;
    - c3: an operand or attribute of the attention breaks its rule: see c1 to
      c13 of `llm.paged_attention`.

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
    Arg<LLM_PagedKVCacheType, "The cache before">:$cache,
    Arg<Optional<LLM_IndexVector>, "Batched form: ids of the sequences [B]">:$seqIds,
    Arg<LLM_IndexTable, "Rows that name the sequences [B, n] or [B]; ragged form: block tables [S, M]">:$blockTables,
    Arg<LLM_IndexVector, "Tokens of each sequence, the new ones included [S]">:$seqLens,
    Arg<Optional<LLM_IndexVector>, "Ragged form: where each token goes [T]">:$slotMapping,
    Arg<Optional<LLM_IndexVector>, "Ragged form: first row of each sequence [S + 1]">:$queryOffsets,
    Arg<Optional<Index>, "Layer of the cache; absent means layer 0">:$layer,
    Arg<Optional<LLM_MaskTensor>, "Which scores count (i1), or what is added to them">:$mask,
    Arg<Optional<LLM_FloatVector>, "Score of each head that has no value [H]">:$sinks,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "Whether a token sees only tokens up to itself">:$causal),
    LLM_AttentionAttributes);
  let results = (outs
    Res<LLM_FloatTensorOfRank<[3, 4]>, "One row per query, of the query's shape with V as the last size">:$output,
    Res<LLM_PagedKVCacheType, "The cache after">:$updatedCache,
    Res<Optional<LLM_IndexTable>, "Batched form: rows that name the sequences [B, n] or [B]">:$blockIndices);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// True for the ragged form.
    bool isRagged() { return static_cast<bool>(getSlotMapping()); }
    int64_t countSequences();
    int64_t countQueries();
    int64_t countKeys() { return -1; }
    int64_t countHeads();
    int64_t countKVHeads() { return getCache().getType().getNumHeads(); }
    int64_t sizeOfHead() { return getCache().getType().getHeadDim(); }
    int64_t countNewTokens();
    ::llvm::SmallVector<::mlir::Value> getBlockResults();
    /// Rows of block indices have any size; the verifier looks at them.
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
    The cache with the keys and values of new tokens in it. The operand `cache`
    is used up: after bufferization the write is in place.

    Ragged form (`slots`): `keys` is `[T, G, D]`, `values` `[T, G, V]`; the host
    has reserved the blocks, and token t goes to slot `slotMapping[t]`, which is
    `block · blockSize + offset`. Numbers are rounded to the cache's element
    type; operands are of that type or f32.

    Batched form (`seqIds`): `keys` is `[B, tokens, G, D]`, or `[B, G, D]` for
    one token each, `values` likewise with V; sequence `seqIds[b]` grows by its
    tokens in this layer, blocks are reserved as needed, and row b of
    `blockIndices` names the sequence for the ops that read it.

    Block indices name sequences, wherever they stand. A row of `[B, n]`, or an
    entry of `[B]`, holds the last n blocks of a sequence's block table in order;
    where the table has fewer, -1 follows. An op that reads takes the sequence
    that owns the last block of the row, and reads through its whole table: the
    row of one block that a decode step gives, a full table and any window of it
    give the same result. A block that a fork shares has several owners, whose
    tables are equal up to that block; the one that is taken is as long as what
    is read. When a program runs, these are errors, of the interpreter and of
    compiled code alike: a length that is negative, more than maxSeqLen or more
    than the sequence has in the layer; and, in a row whose length is not 0, no
    block, a block that does not exist or belongs to no sequence, a block after
    -1, blocks that are not neighbors in one sequence, and a last block whose
    owners differ in what is read after it.

    Without `cache` the tokens go to a new, empty cache of the result's type;
    such an op allocates, so that two of them are never made one.

    The parentheses around the list of types are optional in what is parsed;
    with parentheses around the operands the cache is the last of them, or
    missing: `llm.append_kv(%k, %v, %ids, %cache)`.

    Fails verification when
    - c1: not exactly one of `seqIds` and `slotMapping` is given, or
      `blockIndices` is not there exactly with `seqIds`;
    - c2: the rank of `keys` is not one of the form's;
    - c3: `keys` and `values` differ in type otherwise than in the last size;
    - c4: the element type is not the cache's (nor, in the ragged form, f32);
    - c5: G, D or V is not the cache's;
    - c6: `slotMapping` does not have T entries, `seqIds` not B;
    - c7: `blockIndices` is neither `[B]` nor `[B, n]`;
    - c8: `block_size` or `max_seq_len` is not the cache's;
    - c9: the ragged form has no `layer` and the cache has several layers;
    - c10: `cache` and `updatedCache` differ in type;
    - c11: the ragged form has no cache: no block of a new one is reserved.

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
    Arg<Optional<LLM_PagedKVCacheType>, "The cache before; absent means a new one">:$cache,
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Keys [T, G, D] or [B, tokens, G, D]">:$keys,
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Values [T, G, V] or [B, tokens, G, V]">:$values,
    Arg<Optional<LLM_IndexVector>, "Batched form: ids of the sequences [B]">:$seqIds,
    Arg<Optional<LLM_IndexVector>, "Ragged form: where each token goes [T]">:$slotMapping,
    Arg<Optional<Index>, "Layer of the cache; absent means layer 0">:$layer,
    Arg<OptionalAttr<LLM_CountAttr>, "Tokens in a block, as in the type">:$block_size,
    Arg<OptionalAttr<LLM_CountAttr>, "Longest sequence, as in the type">:$max_seq_len);
  let results = (outs
    Res<LLM_PagedKVCacheType, "The cache after">:$updatedCache,
    Res<Optional<LLM_IndexTable>, "Batched form: rows that name the sequences [B, n] or [B]">:$blockIndices);
  let hasCustomAssemblyFormat = 1;
  let builders = [
    // The ragged form.
    OpBuilder<(ins "::mlir::Value":$cache, "::mlir::Value":$keys, "::mlir::Value":$values,
                   "::mlir::Value":$slotMapping, "::mlir::Value":$layer)>,
    // The batched form, with as many block indices in a row as tokens.
    OpBuilder<(ins "::mlir::Value":$cache, "::mlir::Value":$keys, "::mlir::Value":$values,
                   "::mlir::Value":$seqIds)>
  ];
  let extraClassDeclaration = [{
    /// True for the ragged form.
    bool isRagged() { return static_cast<bool>(getSlotMapping()); }
    /// The type of the cache, which is there also where the operand is not.
    PagedKVCacheType getCacheType() { return getUpdatedCache().getType(); }
    int64_t countNewTokens();
    ::llvm::SmallVector<::mlir::Value> getBlockResults();
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_LookupKVOp : LLM_CacheOp<"lookup_kv", [Pure]> {
  let summary = "The keys and values of sequences, gathered from a paged cache";
  let description = [{
    `keys[b, n]` and `values[b, n]` are those of token n of the sequence that row
    b of `blockIndices` names, as `llm.append_kv` says, for n below `seqLens[b]`,
    and 0 from there on. An N that the type does not know is the greatest length;
    a length that is more than N is an error when the program runs.

    The parentheses around the list of types are optional in what is parsed;
    with parentheses around the operands the cache is the last of them:
    `llm.lookup_kv(%idx, %lens, %cache)`.

    Fails verification when
    - c1: `blockIndices`, `seqLens`, `keys` and `values` differ in B;
    - c2: `keys` and `values` differ in N;
    - c3: G, D or V is not the cache's;
    - c4: the element type is not the cache's;
    - c5: N is more than the cache's maxSeqLen;
    - c6: `num_heads` or `head_dim` is not the cache's.

    Example:
    ```mlir
    %k, %v = llm.lookup_kv %cache, %blocks, %lens {num_heads = 16 : i32, head_dim = 64 : i32}
        : (!cache, tensor<2x128xi32>, tensor<2xi32>) -> (tensor<2x128x16x64xf16>, tensor<2x128x16x64xf16>)
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "Where keys and values are read">:$cache,
    Arg<LLM_IndexTable, "Rows that name the sequences [B, n] or [B]">:$blockIndices,
    Arg<LLM_IndexVector, "Tokens of each sequence [B]">:$seqLens,
    Arg<Optional<Index>, "Layer of the cache; absent means layer 0">:$layer,
    Arg<OptionalAttr<LLM_CountAttr>, "Heads, as in the cache's type">:$num_heads,
    Arg<OptionalAttr<LLM_CountAttr>, "Numbers in a head, as in the cache's type">:$head_dim);
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
  let summary = "The block tables of the sequences that block indices name";
  let description = [{
    Row b of `blockTables` is the whole block table of the sequence that row b of
    `blockIndices` names, as `llm.append_kv` says, then -1; for a reader of the
    first `seqLens[b]` tokens. A row of length 0 gives -1 alone. The result is
    what the ragged form of ops takes.

    Fails verification when
    - c1: `blockIndices`, `seqLens` and `blockTables` differ in B;
    - c2: `blockTables` does not have as many columns as a sequence can have
      blocks (`PagedKVCacheType::getMaxBlocksPerSequence`).

    Example:
    ```mlir
    %tables = llm.block_tables %cache, %blocks, %lens layer(%l)
        : (!cache, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x256xi32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "Where the sequences are">:$cache,
    Arg<LLM_IndexTable, "Rows that name the sequences [B, n] or [B]">:$blockIndices,
    Arg<LLM_IndexVector, "Tokens of each sequence that are to be read [B]">:$seqLens,
    Arg<Optional<Index>, "Layer whose tokens are meant; absent means layer 0">:$layer);
  let results = (outs
    Res<LLM_IndexTable, "Blocks of each sequence [B, M]">:$blockTables);
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
// Caches and sequences as a whole
//===----------------------------------------------------------------------===//

def LLM_CreatePagedCacheOp : LLM_CacheOp<"create_paged_cache", []> {
  let summary = "A new cache without sequences";
  let description = [{
    It allocates: two of them are two caches, and one that nobody uses goes.

    Example: `%c = llm.create_paged_cache : !llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096>`
  }];
  let arguments = (ins);
  let results = (outs Res<LLM_PagedKVCacheType, "The cache", [MemAlloc]>:$cache);
  let assemblyFormat = "attr-dict `:` qualified(type($cache))";
  let extraClassDeclaration = [{
    int64_t countNewTokens() { return 0; }
  }];
}

def LLM_ReserveKVOp : LLM_CacheOp<"reserve_kv", [Pure,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Make room in a cache for tokens of sequences";
  let description = [{
    Each listed sequence grows by `tokens` tokens in this layer; an id that the
    cache does not know begins a sequence. Blocks are taken as needed, and a block
    that is shared with another sequence is copied before its owner writes to it.
    With n = `tokens` and M the most blocks of a sequence
    (`PagedKVCacheType::getMaxBlocksPerSequence`):
    - `slots[b · n + i]` is `block · blockSize + offset` of new token i of
      sequence b, as the ragged `llm.append_kv` wants it;
    - row b of `blockIndices` names the sequence, as `llm.append_kv` says; it can
      have any size;
    - `blockTables[b]` lists the sequence's blocks in order, then -1;
    - `seqLens[b]` counts its tokens, the new ones among them.

    Fails verification when
    - c1: `tokens` is negative or more than a sequence can have.

    Example:
    ```mlir
    %c2, %slots, %blocks, %tables, %lens = llm.reserve_kv %c1, %ids {tokens = 3}
        : (!cache, tensor<2xi32>)
          -> (!cache, tensor<6xi32>, tensor<2x3xi32>, tensor<2x256xi32>, tensor<2xi32>)
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "The cache before">:$cache,
    Arg<LLM_IndexVector, "Ids of the sequences, all different [B]">:$seqIds,
    Arg<Optional<Index>, "Layer whose tokens are meant; absent means layer 0">:$layer,
    Arg<LLM_CountAttr, "Tokens by which each sequence grows">:$tokens);
  let results = (outs
    Res<LLM_PagedKVCacheType, "The cache with room">:$updatedCache,
    Res<LLM_IndexVector, "Where each new token goes [B · tokens]">:$slots,
    Res<LLM_IndexTable, "Rows that name the sequences [B, n]">:$blockIndices,
    Res<LLM_IndexTable, "Blocks of each sequence [B, M]">:$blockTables,
    Res<LLM_IndexVector, "Tokens of each sequence [B]">:$seqLens);
  let assemblyFormat = [{
    $cache `,` $seqIds (`layer` `(` $layer^ `)`)? attr-dict `:`
    `(` qualified(type($cache)) `,` type($seqIds) `)` `->` `(` qualified(type($updatedCache)) `,`
    type($slots) `,` type($blockIndices) `,` type($blockTables) `,` type($seqLens) `)`
  }];
  let extraClassDeclaration = [{
    int64_t countNewTokens();
    ::llvm::SmallVector<::mlir::Value> getBlockResults();
    /// Rows of block indices have any size.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange actual);
  }];
  let hasVerifier = 1;
}

def LLM_ForkKVOp : LLM_CacheOp<"fork_kv", [Pure, AllTypesMatch<["cache", "updatedCache"]>]> {
  let summary = "Sequences that begin with all tokens of others";
  let description = [{
    `dstIds[b]` becomes a new sequence with the tokens of `srcIds[b]`, which must
    be there. Blocks are shared: one is copied only when an owner writes to it.

    Fails verification when
    - c1: `srcIds` and `dstIds` differ in length.

    Example:
    ```mlir
    %c2 = llm.fork_kv %c1, %from, %to : (!cache, tensor<2xi32>, tensor<2xi32>) -> !cache
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "The cache before">:$cache,
    Arg<LLM_IndexVector, "Sequences that are there [B]">:$srcIds,
    Arg<LLM_IndexVector, "Ids of the new ones [B]">:$dstIds);
  let results = (outs Res<LLM_PagedKVCacheType, "The cache after">:$updatedCache);
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
  let summary = "Forget sequences";
  let description = [{
    The cache without the listed sequences, which must be there; blocks that no
    other sequence shares can be used anew.

    Example:
    ```mlir
    %c2 = llm.free_kv %c1, %ids : (!cache, tensor<2xi32>) -> !cache
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "The cache before">:$cache,
    Arg<LLM_IndexVector, "Ids of the sequences [B]">:$seqIds);
  let results = (outs Res<LLM_PagedKVCacheType, "The cache after">:$updatedCache);
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

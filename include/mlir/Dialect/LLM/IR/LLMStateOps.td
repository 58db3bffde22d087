//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of layers that keep a state of each sequence in place of keys and values.
// The states are part of the cache: a record for each layer and slot, of which each
// sequence has one. In shapes: T tokens of a step, S sequences, H value heads, G key
// heads, D elements of a key, V elements of a value, K factors per channel.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_STATE_OPS_TD
#define LLM_STATE_OPS_TD

include "mlir/Dialect/LLM/IR/LLMCacheOps.td"

class LLM_StateOp<string mnemonic, list<Trait> traits>
    : LLM_CacheOp<mnemonic, traits # [Pure, AllTypesMatch<["cache", "updatedCache"]>]>;

def LLM_CausalConvOp : LLM_StateOp<"causal_conv", [AllTypesMatch<["x", "result"]>]> {
  let summary = "Causal convolution of each channel over the tokens of each sequence";
  let description = [{
    Sequence s owns the rows from `queryOffsets[s]` up to `queryOffsets[s + 1]`;
    for each of them
    ```
    result[t, c] = Σ_j weight[j, c] · x[t - K + 1 + j, c]
    ```
    in ascending order of j, in f32, where the rows before those of the step are
    the state of the sequence: K - 1 rows of ⌈C / 16⌉ · 16 elements from
    `offset` on in the record of the layer and of slot `slots[s]`. The last K -
    1 rows become the state. A new sequence has a state of zeros.

    Fails verification when
    - c1: `x` and `weight` differ in the number of channels or in element type;
    - c2: K is not from 1 to 64;
    - c3: `offset` is negative, or not a multiple of 16.

    Example:
    ```mlir
    %y, %c2 = llm.causal_conv %x, %w, %c slots(%slots) offsets(%offs) layer(%l) {offset = 0}
       : (tensor<?x64xf32>, tensor<3x64xf32>, !cache, tensor<?xi32>, tensor<?xi32>, index) -> (tensor<?x64xf32>, !cache)
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[2]>, "Inputs [T, C]">:$x,
    Arg<LLM_FloatTensorOfRank<[2]>, "Factors [K, C], that of the token itself last">:$weight,
    Arg<LLM_PagedKVCacheType, "Cache with the states">:$cache,
    Arg<LLM_IndexVector, "Slot of each sequence's state [S]">:$slots,
    Arg<LLM_IndexVector, "First row of each sequence [S + 1]">:$queryOffsets,
    Arg<Index, "Layer, among those that keep a state">:$layer,
    Arg<LLM_IntAttr, "Start of the state in the layer's record, in elements">:$offset);
  let results = (outs
    Res<LLM_FloatTensorOfRank<[2]>, "Sums [T, C]">:$result,
    Res<LLM_PagedKVCacheType, "Updated cache">:$updatedCache);
  let assemblyFormat = [{
    $x `,` $weight `,` $cache `slots` `(` $slots `)` `offsets` `(` $queryOffsets `)`
    `layer` `(` $layer `)` attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    int64_t countNewTokens() { return 0; }
  }];
  let hasVerifier = 1;
}

def LLM_LinearAttentionOp : LLM_StateOp<"linear_attention", [AllTypesMatch<["v", "result"]>]> {
  let summary = "Attention as a recurrence over a matrix per head";
  let description = [{
    For each sequence, its tokens t in order, and each value head h with the key
    head g = ⌊h / (H / G)⌋, or h mod G with `interleaved`:
    ```
    S = decay[t, h] · S
    δ = v[t, h]                                without `beta`
      = beta[t, h] · (v[t, h] - Sᵀ k[t, g])    with it
    S = S + k[t, g] δᵀ
    result[t, h] = Sᵀ q[t, g]
    ```
    in f32. The matrix S [D, V] is the state of the sequence: from `offset` on in
    the record of the layer and of slot `slots[s]`, for each head and each 16
    columns of S, D rows of 16 elements. A new sequence has a state of zeros.
    Sequence s owns the rows from `queryOffsets[s]` up to `queryOffsets[s + 1]`.

    Fails verification when
    - c1: `q` and `k` differ in type;
    - c2: the operands differ in T or in element type;
    - c3: H is not a multiple of G;
    - c4: `decay` or `beta` does not have H columns;
    - c5: `offset` is negative, or not a multiple of 16.

    Example:
    ```mlir
    %y, %c2 = llm.linear_attention %q, %k, %v, %g, %c slots(%slots) offsets(%offs) layer(%l) beta(%b) {offset = 128}
       : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x4x16xf32>, tensor<?x4xf32>, !cache, tensor<?xi32>,
          tensor<?xi32>, index, tensor<?x4xf32>) -> (tensor<?x4x16xf32>, !cache)
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[3]>, "Queries [T, G, D]">:$q,
    Arg<LLM_FloatTensorOfRank<[3]>, "Keys [T, G, D]">:$k,
    Arg<LLM_FloatTensorOfRank<[3]>, "Values [T, H, V]">:$v,
    Arg<LLM_FloatTensorOfRank<[2]>, "Factors of the matrices [T, H]">:$decay,
    Arg<LLM_PagedKVCacheType, "Cache with the states">:$cache,
    Arg<LLM_IndexVector, "Slot of each sequence's state [S]">:$slots,
    Arg<LLM_IndexVector, "First row of each sequence [S + 1]">:$queryOffsets,
    Arg<Index, "Layer, among those that keep a state">:$layer,
    Arg<Optional<LLM_FloatTensorOfRank<[2]>>, "Factors of the delta rule [T, H]">:$beta,
    Arg<UnitAttr, "Value head h has key head h mod G">:$interleaved,
    Arg<LLM_IntAttr, "Start of the state in the layer's record, in elements">:$offset);
  let results = (outs
    Res<LLM_FloatTensorOfRank<[3]>, "Results of the queries [T, H, V]">:$result,
    Res<LLM_PagedKVCacheType, "Updated cache">:$updatedCache);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $decay `,` $cache `slots` `(` $slots `)` `offsets` `(` $queryOffsets `)`
    `layer` `(` $layer `)` (`beta` `(` $beta^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    int64_t countNewTokens() { return 0; }
  }];
  let hasVerifier = 1;
}

#endif // LLM_STATE_OPS_TD

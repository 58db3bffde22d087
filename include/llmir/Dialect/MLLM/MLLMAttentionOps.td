//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions, caches and attention.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMATTENTIONOPS
#define LLMIR_DIALECT_MLLM_MLLMATTENTIONOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

def MLLM_RoPEOp : MLLM_LinalgOpBase<"rope", "1e-10", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Rotary position embedding, halves of a head rotated together";
  let description = [{
    With n frequencies, the first 2n values of each head are rotated and the
    rest pass through. For a token at position p of its sequence and i < n,
    with `a = p * frequencies[i]`:
    `result[i]     = scaling * (x[i] * cos(a) - x[i + n] * sin(a))`,
    `result[i + n] = scaling * (x[i + n] * cos(a) + x[i] * sin(a))`.
    Scaling rules that change frequencies are folded into them.

    Fails verification when
    - c1: there is no frequency, or twice their number exceeds the head size;
    - c2: a frequency is not finite;
    - c3: `scaling` is not a finite positive number.

    Example:

    ```mlir
    %r = mllm.linalg.rope %q {frequencies = array<f64: 1.0, 0.01>, scaling = 1.0 : f64} : tensor<?x4x4xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Heads, "queries or keys [tokens, heads, head size]">:$x,
    Arg<DenseF64ArrayAttr, "radians per position, one for each rotated pair">:$frequencies,
    Arg<F64Attr, "factor of cosine and sine; 1 for most models">:$scaling
  );
  let results = (outs Res<MLLM_Heads, "the rotated heads, shaped as `x`">:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def MLLM_KVCacheOp : MLLM_LinalgOpBase<"kv_cache", "0", [
    MemoryEffects<[MemRead, MemWrite]>, AllElementTypesMatch<["k", "v", "keys", "values"]>]> {
  let summary = "Adds new keys and values to a layer's cache and gives all of them";
  let description = [{
    `k` and `v` follow what the layer's cache holds for the sequence and stay in
    it; `keys` and `values` are all of them, oldest first.

    Fails verification when
    - c1: `k` and `v` differ in their number of tokens or of heads;
    - c2: `keys` differs from `k`, or `values` from `v`, in heads or head size;
    - c3: `keys` and `values` differ in their number of tokens;
    - c4: `layer` is negative.

    Example:

    ```mlir
    %keys, %values = mllm.linalg.kv_cache %k, %v {layer = 3 : i64}
        : (tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>)
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Heads, "new keys [tokens, heads, head size], rotated">:$k,
    Arg<MLLM_Heads, "new values [tokens, heads, head size]">:$v,
    Arg<I64Attr, "index of the layer whose cache it is, from 0">:$layer
  );
  let results = (outs
    Res<MLLM_Heads, "all keys [past and new tokens, heads, head size]">:$keys,
    Res<MLLM_Heads, "all values [past and new tokens, heads, head size]">:$values
  );
  let assemblyFormat = [{
    $k `,` $v attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def MLLM_FlashAttention2Op : MLLM_LinalgOpBase<"flash_attention2", "1e-10", [Pure]> {
  let summary = "Attention of the new tokens over all keys and values";
  let description = [{
    For head h of the H query heads, served by key head `g = h / (H / G)` of G:
    `result[t][h] = sum over s of softmax(scale * q[t][h] . k[s][g]) * v[s][g]`,
    the softmax taken over s. The queries belong to the last tokens among the
    keys; when `causal`, a token sees itself and those before it.

    Fails verification when
    - c1: the heads of `q` are not a multiple of those of `k`;
    - c2: `q` and `k` differ in head size;
    - c3: `k` and `v` differ in their number of tokens or of heads;
    - c4: the result is not [tokens of `q`, heads of `q`, head size of `v`];
    - c5: `scale` is not a finite positive number.

    Example:

    ```mlir
    %y = mllm.linalg.flash_attention2 %q, %keys, %values {causal = true, scale = 0.25 : f64}
        : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Heads, "queries [tokens, heads, head size], rotated">:$q,
    Arg<MLLM_Heads, "all keys [past and new tokens, key heads, head size]">:$k,
    Arg<MLLM_Heads, "all values [past and new tokens, key heads, value size]">:$v,
    Arg<F64Attr, "factor of the scores, usually head size ^ -0.5">:$scale,
    Arg<BoolAttr, "whether a token sees only itself and those before it">:$causal
  );
  let results = (outs
    Res<MLLM_Heads, "mixed values [tokens, heads, value size]">:$result
  );
  let assemblyFormat = [{
    $q `,` $k `,` $v attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMATTENTIONOPS

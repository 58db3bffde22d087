//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that mean exactly a few other ops of the dialect one after another.
// `-llm-fuse-attention` makes them, so that a target can do the whole at once;
// `-llm-lowering` takes them apart for a target that cannot.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_FUSED_OPS_TD
#define LLM_FUSED_OPS_TD

include "mlir/Dialect/LLM/IR/LLMCacheOps.td"
include "mlir/Dialect/LLM/IR/LLMTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LLM_FusedLinearOp : LLM_Op<"fused_linear", [Pure, AttrSizedOperandSegments]> {
  let summary = "Several projections of the same rows, normalised first or not";
  let description = [{
    `results[i] = llm.linear(x', weights[i]) bias biases[i]`, where `x'` is
    `llm.rms_norm(x, normWeight)` if `norm_eps` is given and `x` otherwise. The
    projections of queries, keys and values are one such op, those of gate and
    up another: the rows are read (and normalised) once.

    Fails verification when
    - c1: the numbers of weights and results differ, or there is none;
    - c2: `biases` is neither empty nor one for each weight;
    - c3: `normWeight` is there without `norm_eps`;
    - c4: the last size of `x` is not a weight's K, or not that of `normWeight`;
    - c5: a bias does not have its weight's N entries;
    - c6: a result is not `x`'s type with its weight's N as the last size;
    - c7: `norm_eps` is negative or not finite;
    - c8: a quantized weight has no `format`: nothing says its scales.

    Example:
    ```mlir
    %q, %k, %v = llm.fused_linear %x norm(%g) weights(%wq, %wk, %wv) {norm_eps = 1.0e-5 : f64}
        : (tensor<?x64xf32>, tensor<64xf32>, tensor<64x64xbf16>, tensor<32x64xbf16>, tensor<32x64xbf16>)
          -> (tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>)
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Rows […, K]">:$x,
    Arg<Optional<LLM_FloatVector>, "Factor of each column in the norm [K]">:$normWeight,
    Arg<Variadic<LLM_WeightMatrix>, "Weights of the projections, [N_i, K] each">:$weights,
    Arg<Variadic<LLM_FloatVector>, "Added to the rows of each result [N_i]; none or one for each weight">:$biases,
    Arg<OptionalAttr<F64Attr>, "Added to the mean of the squares; absent means that rows are not normalised">:$norm_eps);
  let results = (outs Res<Variadic<LLM_FloatTensor>, "Outputs […, N_i], one for each weight">:$outputs);
  let assemblyFormat = [{
    $x (`norm` `(` $normWeight^ `)`)? `weights` `(` $weights `)`
    (`biases` `(` $biases^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_AddRMSNormOp : LLM_Op<"add_rms_norm", [Pure,
    AllTypesMatch<["x", "residual", "normed", "sum"]>]> {
  let summary = "A residual connection and the norm behind it";
  let description = [{
    `sum = llm.add(x, residual)`, `normed = llm.rms_norm(sum, weight)`. Both are
    results, since the sum goes on as the next residual.

    Fails verification when
    - c1: `weight` does not have as many entries as a row;
    - c2: `eps` is negative or not finite.

    Example:
    ```mlir
    %n, %s = llm.add_rms_norm %x, %r, %w {eps = 1.0e-5 : f64}
        : tensor<?x64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[2, 3]>, "Rows [T, K] or [T, H, K]">:$x,
    Arg<LLM_FloatTensorOfRank<[2, 3]>, "Rows that are added, of x's type">:$residual,
    Arg<LLM_FloatVector, "Factor of each column [K]">:$weight,
    Arg<F64Attr, "Added to the mean of the squares">:$eps);
  let results = (outs
    Res<LLM_FloatTensorOfRank<[2, 3]>, "Normalised sums, of x's type">:$normed,
    Res<LLM_FloatTensorOfRank<[2, 3]>, "The sums, of x's type">:$sum);
  let assemblyFormat = [{
    $x `,` $residual `,` $weight attr-dict `:` type($x) `,` type($weight)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_RopeAppendKVOp : LLM_CacheOp<"rope_append_kv", [Pure,
    AllTypesMatch<["cache", "updatedCache"]>, AllElementTypesMatch<["keys", "values"]>]> {
  let summary = "Rotate new keys by their positions and append them to the cache";
  let description = [{
    `llm.append_kv(cache, llm.rope(keys, positions), values) slots(slotMapping)`:
    the rotated keys go to the cache and nowhere else.

    Fails verification when
    - c1: T differs between `keys`, `values`, `positions` and `slotMapping`;
    - c2: the heads or the head sizes are not the cache's;
    - c3: the element type is neither the cache's nor f32;
    - c4: there is no frequency, or more than half of a head;
    - c5: a frequency or `scaling` is not finite;
    - c6: there is no `layer` and the cache has several layers.

    Example:
    ```mlir
    %c2 = llm.rope_append_kv %c1, %k, %v positions(%p) slots(%s) layer(%l)
        {frequencies = array<f64: 1.0, 0.1>}
        : (!cache, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?xi32>, tensor<?xi32>, index) -> !cache
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "The cache before">:$cache,
    Arg<LLM_FloatTensorOfRank<[3]>, "Keys before rotation [T, G, D]">:$keys,
    Arg<LLM_FloatTensorOfRank<[3]>, "Values [T, G, V]">:$values,
    Arg<LLM_IndexVector, "Position of each token in its sequence, from 0 [T]">:$positions,
    Arg<LLM_IndexVector, "Where each token goes: block · blockSize + offset [T]">:$slotMapping,
    Arg<Optional<Index>, "Layer of the cache; absent means layer 0">:$layer,
    Arg<DenseF64ArrayAttr, "Radians per position of each rotated pair">:$frequencies,
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "Factor of all cosines and sines">:$scaling,
    Arg<UnitAttr, "Pairs are neighbours, not halves of the head">:$interleaved);
  let results = (outs Res<LLM_PagedKVCacheType, "The cache after">:$updatedCache);
  let extraClassDeclaration = [{
    int64_t countNewTokens();
  }];
  let assemblyFormat = [{
    $cache `,` $keys `,` $values `positions` `(` $positions `)` `slots` `(` $slotMapping `)`
    (`layer` `(` $layer^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // LLM_FUSED_OPS_TD

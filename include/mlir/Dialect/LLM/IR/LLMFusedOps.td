//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that are equivalent to a sequence of other ops of the dialect.
// `-llm-fuse-attention` forms them for targets with a fused implementation;
// `-llm-lowering` decomposes them for other targets.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_FUSED_OPS_TD
#define LLM_FUSED_OPS_TD

include "mlir/Dialect/LLM/IR/LLMCacheOps.td"
include "mlir/Dialect/LLM/IR/LLMTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LLM_FusedLinearOp : LLM_Op<"fused_linear", [Pure, AttrSizedOperandSegments]> {
  let summary = "Several projections of the same rows, with an optional RMS norm";
  let description = [{
    `results[i] = llm.linear(x', weights[i]) bias biases[i]`, where `x'` is
    `llm.rms_norm(x, normWeight)` if `norm_eps` is given and `x` otherwise. Used
    for the query, key and value projections and for the gate and up
    projections, so that the rows are read (and normalized) once.

    Fails verification when
    - c1: the numbers of weights and results differ or are zero;
    - c2: `biases` is neither empty nor has one operand per weight;
    - c3: `normWeight` is given without `norm_eps`;
    - c4: the last dimension of `x` differs from K of a weight, or from the size
      of `normWeight`;
    - c5: a bias does not have N elements, N being that of its weight;
    - c6: a result type is not the type of `x` with N of its weight as the last
      dimension;
    - c7: `norm_eps` is negative or not finite;
    - c8: a quantized weight has no `format` and therefore no scales.

    Example:
    ```mlir
    %q, %k, %v = llm.fused_linear %x norm(%g) weights(%wq, %wk, %wv) {norm_eps = 1.0e-5 : f64}
        : (tensor<?x64xf32>, tensor<64xf32>, tensor<64x64xbf16>, tensor<32x64xbf16>, tensor<32x64xbf16>)
          -> (tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>)
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Rows […, K]">:$x,
    Arg<Optional<LLM_FloatVector>, "Scale of each column in the norm [K]">:$normWeight,
    Arg<Variadic<LLM_WeightMatrix>, "Weights of the projections, [N_i, K] each">:$weights,
    Arg<Variadic<LLM_FloatVector>, "Biases, [N_i] each; none, or one per weight">:$biases,
    Arg<OptionalAttr<F64Attr>, "Added to the mean of the squares; if absent, rows are not normalized">:$norm_eps);
  let results = (outs Res<Variadic<LLM_FloatTensor>, "Outputs […, N_i], one per weight">:$outputs);
  let assemblyFormat = [{
    $x (`norm` `(` $normWeight^ `)`)? `weights` `(` $weights `)`
    (`biases` `(` $biases^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_AddRMSNormOp : LLM_Op<"add_rms_norm", [Pure,
    AllTypesMatch<["x", "residual", "normed", "sum"]>]> {
  let summary = "Residual connection followed by an RMS norm";
  let description = [{
    `sum = llm.add(x, residual)`, `normed = llm.rms_norm(sum, weight)`. Both are
    results, since the sum is also the next residual.

    Fails verification when
    - c1: `weight` does not have as many elements as a row;
    - c2: `eps` is negative or not finite.

    Example:
    ```mlir
    %n, %s = llm.add_rms_norm %x, %r, %w {eps = 1.0e-5 : f64}
        : tensor<?x64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[2, 3]>, "Rows [T, K] or [T, H, K]">:$x,
    Arg<LLM_FloatTensorOfRank<[2, 3]>, "Residual, same type as x">:$residual,
    Arg<LLM_FloatVector, "Scale of each column [K]">:$weight,
    Arg<F64Attr, "Added to the mean of the squares">:$eps);
  let results = (outs
    Res<LLM_FloatTensorOfRank<[2, 3]>, "Normalized sums, same type as x">:$normed,
    Res<LLM_FloatTensorOfRank<[2, 3]>, "The sums, same type as x">:$sum);
  let assemblyFormat = [{
    $x `,` $residual `,` $weight attr-dict `:` type($x) `,` type($weight)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_RopeAppendKVOp : LLM_CacheOp<"rope_append_kv", [Pure,
    AllTypesMatch<["cache", "updatedCache"]>, AllElementTypesMatch<["keys", "values"]>]> {
  let summary = "Apply rotary embedding to new keys and append them to the cache";
  let description = [{
    `llm.append_kv(cache, llm.rope(keys, positions), values)
    slots(slotMapping)`: the rotated keys are not available outside the cache.

    Fails verification when
    - c1: T differs between `keys`, `values`, `positions` and `slotMapping`;
    - c2: the number of heads or a head size differs from that of the cache;
    - c3: the element type is neither that of the cache nor f32;
    - c4: there are no frequencies, or more than D / 2;
    - c5: a frequency or `scaling` is not finite;
    - c6: `layer` is absent and the cache has several layers.

    Example:
    ```mlir
    %c2 = llm.rope_append_kv %c1, %k, %v positions(%p) slots(%s) layer(%l)
        {frequencies = array<f64: 1.0, 0.1>}
        : (!cache, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?xi32>, tensor<?xi32>, index) -> !cache
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "Cache to append to">:$cache,
    Arg<LLM_FloatTensorOfRank<[3]>, "Keys before rotation [T, G, D]">:$keys,
    Arg<LLM_FloatTensorOfRank<[3]>, "Values [T, G, V]">:$values,
    Arg<LLM_IndexVector, "0-based position of each token in its sequence [T]">:$positions,
    Arg<LLM_IndexVector, "Slot of each token: block · blockSize + offset [T]">:$slotMapping,
    Arg<Optional<Index>, "Layer of the cache; layer 0 if absent">:$layer,
    Arg<DenseF64ArrayAttr, "Angle per position of each rotated pair, in radians">:$frequencies,
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "Factor of cosines and sines">:$scaling,
    Arg<UnitAttr, "Whether pairs are adjacent elements">:$interleaved);
  let results = (outs Res<LLM_PagedKVCacheType, "Updated cache">:$updatedCache);
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

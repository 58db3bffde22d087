//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of a mixture of experts. A place is one (token, choice) pair in the
// order of the experts; there are `top_k` places per token.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_EXPERTKERNELS
#define LLMIR_DIALECT_MLLM_KERNELS_EXPERTKERNELS

include "llmir/Dialect/MLLM/Kernels/KernelBase.td"

def MLLMKernel_MoERouteOp : MLLM_KernelOp<"moe_route", ["getDivisionOf"]> {
  let summary = "Selects the experts of each token";
  let description = [{
    Selects the `top_k` experts of each token in the order of descending scores,
    the lower expert first if scores are equal, and computes their weights: the
    softmax (or sigmoid) of the scores, divided by the sum over the selected
    experts if `normalize`. Divided by rows.

    Fails verification when:
    - c1: it selects more experts than there are;
    - c2: a buffer has fewer columns than the kernel needs, or an f32 buffer is
      not padded to whole tiles.

    Example:
    ```mlir
    mllm.kernel.moe_route ins(%logits : memref<512x16xf32>)
        outs(%weights, %chosen : memref<512x16xf32>, memref<512x16xi32>) {experts = 8, top_k = 2}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "scores, [tokens, experts]", [MemRead]>:$logits,
    Arg<MLLM_F32Rows, "[tokens, top_k]", [MemWrite]>:$weights,
    Arg<MLLM_I32Rows, "the selected experts, [tokens, top_k]", [MemWrite]>:$chosen,
    Arg<MLLM_Size, "number of experts">:$experts,
    Arg<MLLM_Size, "experts selected per token">:$top_k,
    Arg<UnitAttr, "weights are the sigmoid of the scores instead of the softmax">:$sigmoid,
    Arg<UnitAttr, "weights are divided by the sum of the selected ones">:$normalize);
  let assemblyFormat = [{
    `ins` `(` $logits `:` type($logits) `)`
    `outs` `(` $weights `,` $chosen `:` type($weights) `,` type($chosen) `)` attr-dict
  }];
}

def MLLMKernel_MoESortOp : MLLM_KernelOp<"moe_sort", ["getRowsOf"]> {
  let summary = "Sorts the choices of all tokens by expert";
  let description = [{
    Sorts the pairs (token, choice) by expert and then by token. Choice j of
    token t is pair t * top_k + j. `offsets` is the first place of each expert,
    followed by the number of places, `pairs` the pair at each place, and
    `places` the place of each pair, or -1 if the choice is not a valid expert;
    each is one row. Executed by the first worker.

    Fails verification when:
    - c1: there are more than 65536 experts;
    - c2: a buffer has fewer columns than the kernel needs.

    Example:
    ```mlir
    mllm.kernel.moe_sort ins(%chosen : memref<512x16xi32>)
        outs(%offsets, %pairs, %places : memref<1x16xi32>, memref<1x1024xi32>, memref<1x1024xi32>)
        {experts = 8, top_k = 2}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_I32Rows, "the selected experts, [tokens, top_k]", [MemRead]>:$chosen,
    Arg<MLLM_I32Rows, "[experts + 1]", [MemWrite]>:$offsets,
    Arg<MLLM_I32Rows, "[places]", [MemWrite]>:$pairs,
    Arg<MLLM_I32Rows, "[places]", [MemWrite]>:$places,
    Arg<MLLM_Size, "number of experts">:$experts,
    Arg<MLLM_Size, "experts selected per token">:$top_k);
  let assemblyFormat = [{
    `ins` `(` $chosen `:` type($chosen) `)`
    `outs` `(` $offsets `,` $pairs `,` $places `:` type($offsets) `,` type($pairs) `,` type($places) `)` attr-dict
  }];
}

def MLLMKernel_MoEGatherOp : MLLM_KernelOp<"moe_gather", ["getRowsOf"]> {
  let summary = "Gathers the row of each place's token";
  let description = [{
    Divided by rows of the result, the places.

    Fails verification when:
    - c1: a buffer has fewer columns than the kernel needs, or an f32 buffer is
      not padded to whole tiles.

    Example:
    ```mlir
    mllm.kernel.moe_gather ins(%pairs, %x : memref<1x1024xi32>, memref<512x64xf32>)
        outs(%y : memref<1024x64xf32>) {columns = 64, top_k = 2}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_I32Rows, "the pair at each place, one row", [MemRead]>:$pairs,
    Arg<MLLM_F32Rows, "[tokens, columns]", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "[places, columns]", [MemWrite]>:$out,
    Arg<MLLM_Size, "elements of a row">:$columns,
    Arg<MLLM_Size, "experts selected per token">:$top_k);
  let assemblyFormat = [{
    `ins` `(` $pairs `,` $x `:` type($pairs) `,` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_MoELinearOp : MLLM_KernelOp<"moe_linear", ["getWeightNeeds", "getRowsOf"]> {
  let summary = "Multiplies rows by the matrix of their expert";
  let description = [{
    y = x W_e^T [+ b_e] for the places of each expert e. The rows of `x` are
    stored as for `linear` with the same format and segment. A bias is packed as
    a matrix of one column. Divided by columns.

    Fails verification when:
    - c1: the format is unknown or a GGUF block format, whose packed form has a
      different name;
    - c2: there are segments, but the weights are not integers of at most 8
      bits, or the segments do not divide their groups into whole lines, or an
      i32 cannot hold the sum of a segment;
    - c3: a weight has fewer bytes than the kernel reads, or its size
      overflows;
    - c4: a buffer has fewer columns than the kernel needs, or an f32 buffer is
      not padded to whole tiles;
    - c5: there is a bias without `bias_format` or vice versa, or the format is
      not f32, f16 or bf16.

    Example:
    ```mlir
    mllm.kernel.moe_linear weights(%w : memref<65536xi8>)
        ins(%offsets, %x : memref<1x16xi32>, memref<1024x32xf32>) outs(%y : memref<1024x64xf32>)
        {format = "bf16", experts = 8, rows = 64, columns = 64}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_PackedWeight, "the matrices [experts, rows, columns], packed (tiles16), in sequence", [MemRead]>:$weight,
    Arg<Optional<MLLM_PackedWeight>, "the biases [experts, rows, 1], packed in the same way", [MemRead]>:$bias,
    Arg<MLLM_I32Rows, "the first place of each expert and the number of places, one row", [MemRead]>:$offsets,
    Arg<MLLM_F32Rows, "[places, columns], stored as the format requires", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "[places, rows]", [MemWrite]>:$out,
    Arg<StrAttr, "storage format of the packed weights">:$format,
    Arg<MLLM_Size, "number of experts">:$experts,
    Arg<MLLM_Size, "rows of a matrix (N)">:$rows,
    Arg<MLLM_Size, "columns of a matrix (K)">:$columns,
    Arg<OptionalAttr<MLLM_Size>, "elements of x whose products are accumulated as integers">:$segment,
    Arg<OptionalAttr<StrAttr>, "storage format of the packed biases">:$bias_format);
  let assemblyFormat = [{
    `weights` `(` $weight `:` type($weight) `)` (`bias` `(` $bias^ `:` type($bias) `)`)?
    `ins` `(` $offsets `,` $x `:` type($offsets) `,` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_MoEGateOp : MLLM_KernelOp<"moe_gate", ["getRowsOf", "getDivisionOf"]> {
  let summary = "silu(gate) * up at each place";
  let description = [{
    With `swiglu_limit`, the result is min(gate, limit) * sigmoid(1.702
    min(gate, limit)) * (up + 1) instead, with up clamped to [-limit, limit].
    With `gelu`, it is gelu(gate) * up, in the tanh form.
    With `rounded`, the result is stored as by `round_rows`. Divided by columns.

    Fails verification when:
    - c1: a buffer has fewer columns than the kernel needs, or is not padded to
      whole tiles;
    - c2: the limit is not positive and finite;
    - c3: both `swiglu_limit` and `gelu` are given.

    Example:
    ```mlir
    mllm.kernel.moe_gate ins(%gate, %up : memref<1024x64xf32>, memref<1024x64xf32>)
        outs(%y : memref<1024x64xf32>) {columns = 64, top_k = 2}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "[places, columns]", [MemRead]>:$gate,
    Arg<MLLM_F32Rows, "[places, columns]", [MemRead]>:$up,
    Arg<MLLM_F32Rows, "[places, columns], or words of two elements", [MemWrite]>:$out,
    Arg<MLLM_Size, "elements of a row">:$columns,
    Arg<MLLM_Size, "experts selected per token">:$top_k,
    Arg<UnitAttr, "the result is rounded to words of bf16">:$rounded,
    Arg<OptionalAttr<F64Attr>, "limit of the clamped SwiGLU">:$swiglu_limit,
    Arg<UnitAttr, "the function of the gate is the tanh form of GELU, not silu">:$gelu);
  let assemblyFormat = [{
    `ins` `(` $gate `,` $up `:` type($gate) `,` type($up) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_MoECombineOp : MLLM_KernelOp<"moe_combine", ["getRowsOf"]> {
  let summary = "Sums the results of each token's experts";
  let description = [{
    The sum of weight * x over a token's pairs in the order of places. Divided
    by rows.

    Fails verification when:
    - c1: a buffer has fewer columns than the kernel needs, or an f32 buffer is
      not padded to whole tiles.

    Example:
    ```mlir
    mllm.kernel.moe_combine
        ins(%places, %weights, %x : memref<1x1024xi32>, memref<512x16xf32>, memref<1024x64xf32>)
        outs(%y : memref<512x64xf32>) {columns = 64, top_k = 2}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_I32Rows, "the place of each pair, one row", [MemRead]>:$places,
    Arg<MLLM_F32Rows, "[tokens, top_k]", [MemRead]>:$weights,
    Arg<MLLM_F32Rows, "[places, columns]", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "[tokens, columns]", [MemWrite]>:$out,
    Arg<MLLM_Size, "elements of a row">:$columns,
    Arg<MLLM_Size, "experts selected per token">:$top_k);
  let assemblyFormat = [{
    `ins` `(` $places `,` $weights `,` $x `:` type($places) `,` type($weights) `,` type($x) `)`
    `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

#endif // LLMIR_DIALECT_MLLM_KERNELS_EXPERTKERNELS

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Mixture-of-experts ops and sampling.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_MOE_OPS_TD
#define LLM_MOE_OPS_TD

include "mlir/Dialect/LLM/IR/LLMTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LLM_QuantizedStack : DialectType<LLM_Dialect,
    CPred<"::llvm::isa<::mlir::llm::QuantizedTensorType>($_self) && "
          "::llvm::cast<::mlir::llm::QuantizedTensorType>($_self).getRank() == 3">,
    "quantized tensor of rank 3", "::mlir::llm::QuantizedTensorType">;
/// One matrix of weights per expert, or per head.
def LLM_ExpertWeights : AnyTypeOf<[LLM_FloatTensorOfRank<[3]>, LLM_QuantizedStack],
                                  "one matrix of weights per expert">;

def LLM_HeadLinearOp : LLM_PositionalOp<"head_linear", [Pure]> {
  let summary = "Linear projection of each head by its own matrix";
  let description = [{
    `result[t, h, n] = Σ_k x[t, h, k] · weight[h, n, k]`: `llm.linear` for each
    head. Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434) maps
    queries to the latent space, and latents to values, in this way.

    Fails verification when
    - c1: H or K of `weight` differs from that of `x`;
    - c2: the result is not `[T, H, N]` with the element type of `x`;
    - c3: quantized weights have no `format` and therefore no scales.

    Example:
    ```mlir
    %y = llm.head_linear %x, %w : (tensor<?x4x64xf32>, tensor<4x32x64xbf16>) -> tensor<?x4x32xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[3]>, "Inputs [T, H, K]">:$x,
    Arg<LLM_ExpertWeights, "Weights [H, N, K]">:$weight);
  let results = (outs Res<LLM_FloatTensorOfRank<[3]>, "Outputs [T, H, N]">:$result);
  let hasVerifier = 1;
}

def LLM_MoERouteOp : LLM_PositionalOp<"moe_route", [Pure, InferTypeOpAdaptor]> {
  let summary = "Select the top-k experts of each token and their weights";
  let description = [{
    For each token, the `top_k` experts with the greatest logits in descending
    order; ties are broken by the lower index, and NaN ranks last. The weight of
    expert e, computed in f32, is
    ```
    softmax:  exp(logits[t, e]) / Σ_all exp(logits[t, ·])
    sigmoid:  1 / (1 + exp(-logits[t, e]))
    ```
    and, with `normalize`, is divided by the sum of the weights of the token's
    selected experts. An exponential of the sigmoid that overflows f32 is
    infinite.

    Fails verification when
    - c1: `top_k` is not between 1 and E;
    - c2: `score` is neither softmax nor sigmoid.

    Example:
    ```mlir
    %e, %w = llm.moe_route %logits {normalize = true, score = "softmax", top_k = 2}
       : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[2]>, "Router logits [T, E]">:$logits,
    Arg<LLM_IntAttr, "Number of experts per token">:$top_k,
    Arg<DefaultValuedAttr<StrAttr, "\"softmax\"">, "Score function: softmax or sigmoid">:$score,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "Whether to normalize the weights of a token to sum to 1">:$normalize);
  let results = (outs
    Res<TensorRankOf<[I32], [2]>, "Selected experts, greatest logit first [T, top_k]">:$experts,
    Res<LLM_FloatTensorOfRank<[2]>, "Their weights, with the element type of logits [T, top_k]">:$weights);
}

def LLM_MoEFFNOp : LLM_PositionalOp<"moe_ffn", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Weighted sum of the gated feed-forward layers of each token's experts";
  let description = [{
    `result[t] = Σ_e weights[t, e] · down_e(silu(gate_e(x[t])) · up_e(x[t]))`
    over the token's experts e in ascending order, in f32. `gate_e` is
    `llm.linear` with the matrix `gate[e]`; as there, the other operand of a
    bf16 matrix is rounded to bf16. `biases` of the three products have one
    column per expert. With `swiglu_limit` L, the inner value of the products g
    and u is `g' · σ(1.702 g') · (u' + 1)`, where g' = min(g, L) and u' is u
    clamped to [-L, L]. With `gelu`, the tanh form of GELU is in the place of
    silu.

    Fails verification when
    - c1: `experts` and `weights` differ in shape, or their T differs from that
      of `x`;
    - c2: `gate` and `up` differ in shape, or their K differs from that of `x`;
    - c3: `down` is not `[E, K, F]` for a `gate` of `[E, F, K]`;
    - c4: quantized weights have no `format` and therefore no scales;
    - c5: there are `biases`, but not three, [E, F, 1], [E, F, 1] and [E, K, 1];
    - c6: `swiglu_limit` is not positive and finite;
    - c7: both `swiglu_limit` and `gelu` are given.

    Example:
    ```mlir
    %y = llm.moe_ffn %x, %e, %w, %gate, %up, %down
       : (tensor<?x64xf32>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x172x64xbf16>,
          tensor<8x172x64xbf16>, tensor<8x64x172xbf16>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[2]>, "Tokens [T, K]">:$x,
    Arg<TensorRankOf<[I32], [2]>, "Experts of each token, each less than E [T, k]">:$experts,
    Arg<LLM_FloatTensorOfRank<[2]>, "Their weights [T, k]">:$weights,
    Arg<LLM_ExpertWeights, "Gate projections [E, F, K]">:$gate,
    Arg<LLM_ExpertWeights, "Up projections [E, F, K]">:$up,
    Arg<LLM_ExpertWeights, "Down projections [E, K, F]">:$down,
    Arg<Variadic<LLM_FloatTensorOfRank<[3]>>, "None, or those of gate, up and down projections [E, F or K, 1]">:$biases,
    Arg<OptionalAttr<LLM_ScaleAttr>, "Limit L of the clamped SwiGLU; silu(g) · u if absent">:$swiglu_limit,
    Arg<UnitAttr, "The function of the gate is the tanh form of GELU, not silu">:$gelu);
  let results = (outs Res<LLM_FloatTensorOfRank<[2]>, "Outputs, same type as x [T, K]">:$result);
  let hasVerifier = 1;
}

def LLM_SampleOp : LLM_PositionalOp<"sample", [Pure, InferTypeOpAdaptor]> {
  let summary = "Sample the next token from each row of logits";
  let description = [{
    Equivalent to the runtime's sampler with the seed `seed + r` for row r:
    divide the logits by `temperature`; keep the `top_k` greatest, of these the
    smallest set whose probabilities sum to at least `top_p`, and of these the
    tokens with at least `min_p` times the maximum probability; draw one of
    them. Equal logits are ordered by ascending id, and NaN ranks last. With a
    `temperature` of 0, the token with the greatest logit is chosen. The result
    is deterministic.

    Fails verification when
    - c1: `temperature` is not between 0 and 1000000;
    - c2: `top_k` is negative;
    - c3: `top_p` is not between 0 and 1;
    - c4: `min_p` is not between 0 and 1;
    - c5: the vocabulary has static size 0.

    Example:
    ```mlir
    %id = llm.sample %logits {min_p = 0.0, seed = 7, temperature = 0.8, top_k = 40, top_p = 0.95}
       : (tensor<?x256xf32>) -> tensor<?xi32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[2]>, "Logits [R, V]">:$logits,
    Arg<DefaultValuedAttr<F64Attr, "0.0">, "Divisor of the logits; 0: greedy choice">:$temperature,
    Arg<DefaultValuedAttr<LLM_IntAttr, "0">, "Number of most probable tokens to keep; 0: all">:$top_k,
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "Cumulative probability to keep">:$top_p,
    Arg<DefaultValuedAttr<F64Attr, "0.0">, "Minimum probability relative to the most probable token">:$min_p,
    Arg<DefaultValuedAttr<LLM_IntAttr, "0">, "Seed of the random generator of row 0">:$seed);
  let results = (outs Res<LLM_IndexVector, "Token ids [R]">:$ids);
  let hasVerifier = 1;
}

#endif // LLM_MOE_OPS_TD

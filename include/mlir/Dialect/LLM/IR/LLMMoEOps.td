//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixtures of experts, and the choice of the next token.
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
/// One matrix of weights per expert.
def LLM_ExpertWeights : AnyTypeOf<[LLM_FloatTensorOfRank<[3]>, LLM_QuantizedStack],
                                  "one matrix of weights per expert">;

def LLM_MoERouteOp : LLM_PositionalOp<"moe_route", [Pure, InferTypeOpAdaptor]> {
  let summary = "The best experts of each token and their weights";
  let description = [{
    For each token the `top_k` experts of the greatest logits, best first; of
    equal ones the lower number is better, and NaN is worse than everything. The
    weight of expert e is, in f32,
    ```
    softmax:  exp(logits[t, e]) / Σ_all exp(logits[t, ·])
    sigmoid:  1 / (1 + exp(-logits[t, e]))
    ```
    and with `normalize` is divided by the sum of the token's chosen weights. An
    exponential of the sigmoid that f32 does not hold counts as infinite.

    Fails verification when
    - c1: `top_k` is not from 1 to E;
    - c2: `score` is neither softmax nor sigmoid.

    Example:
    ```mlir
    %e, %w = llm.moe_route %logits {normalize = true, score = "softmax", top_k = 2}
       : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[2]>, "One number per token and expert [T, E]">:$logits,
    Arg<LLM_IntAttr, "Experts of a token">:$top_k,
    Arg<DefaultValuedAttr<StrAttr, "\"softmax\"">, "softmax or sigmoid">:$score,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "Whether a token's weights sum to 1">:$normalize);
  let results = (outs
    Res<TensorRankOf<[I32], [2]>, "Chosen experts, best first [T, top_k]">:$experts,
    Res<LLM_FloatTensorOfRank<[2]>, "Their weights, of the logits' element type [T, top_k]">:$weights);
}

def LLM_MoEFFNOp : LLM_PositionalOp<"moe_ffn", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "The gated feed-forward layers of each token's experts, weighted and summed";
  let description = [{
    `result[t] = Σ_e weights[t, e] · down_e(silu(gate_e(x[t])) · up_e(x[t]))`
    over the token's experts e, in ascending order of their numbers, in f32.
    `gate_e` is the product with the matrix `gate[e]`, as by `llm.linear`: what
    matrices of bf16 multiply is rounded to bf16.

    Fails verification when
    - c1: `experts` and `weights` differ in shape, or have other tokens than `x`;
    - c2: `gate` and `up` differ in shape, or their K is not that of `x`;
    - c3: `down` is not `[E, K, F]` where `gate` is `[E, F, K]`;
    - c4: quantized weights have no `format`: nothing says their scales.

    Example:
    ```mlir
    %y = llm.moe_ffn %x, %e, %w, %gate, %up, %down
       : (tensor<?x64xf32>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x172x64xbf16>,
          tensor<8x172x64xbf16>, tensor<8x64x172xbf16>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[2]>, "Tokens [T, K]">:$x,
    Arg<TensorRankOf<[I32], [2]>, "Experts of each token, each below E [T, k]">:$experts,
    Arg<LLM_FloatTensorOfRank<[2]>, "Their weights [T, k]">:$weights,
    Arg<LLM_ExpertWeights, "Gate projections [E, F, K]">:$gate,
    Arg<LLM_ExpertWeights, "Up projections [E, F, K]">:$up,
    Arg<LLM_ExpertWeights, "Down projections [E, K, F]">:$down);
  let results = (outs Res<LLM_FloatTensorOfRank<[2]>, "Of x's type [T, K]">:$result);
  let hasVerifier = 1;
}

def LLM_SampleOp : LLM_PositionalOp<"sample", [Pure, InferTypeOpAdaptor]> {
  let summary = "The next token of each row of logits";
  let description = [{
    What the runtime's sampler chooses for row r with the seed `seed + r`: the
    logits are divided by `temperature`; the best `top_k`, of them the fewest
    that reach the probability `top_p`, of them those with at least `min_p`
    times the best one's probability are kept; one is drawn. Of equal logits the
    lower id is better, and NaN is worse than everything. Without a
    `temperature` the best token is chosen. Equal operands and attributes give
    equal tokens.

    Fails verification when
    - c1: `temperature` is not from 0 to 1000000;
    - c2: `top_k` is negative (0 means all);
    - c3: `top_p` is not from 0 to 1;
    - c4: `min_p` is not from 0 to 1;
    - c5: the vocabulary is known to be empty.

    Example:
    ```mlir
    %id = llm.sample %logits {min_p = 0.0, seed = 7, temperature = 0.8, top_k = 40, top_p = 0.95}
       : (tensor<?x256xf32>) -> tensor<?xi32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[2]>, "Logits [R, V]">:$logits,
    Arg<DefaultValuedAttr<F64Attr, "0.0">, "Divides the logits; 0 means the best token">:$temperature,
    Arg<DefaultValuedAttr<LLM_IntAttr, "0">, "Best tokens that are kept; 0 means all">:$top_k,
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "Probability that the kept tokens reach">:$top_p,
    Arg<DefaultValuedAttr<F64Attr, "0.0">, "Least share of the best token's probability">:$min_p,
    Arg<DefaultValuedAttr<LLM_IntAttr, "0">, "Seed of the first row's generator">:$seed);
  let results = (outs Res<LLM_IndexVector, "Token ids [R]">:$ids);
  let hasVerifier = 1;
}

#endif // LLM_MOE_OPS_TD

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of layers that keep a state of a sequence in place of keys and values.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMSTATEOPS
#define LLMIR_DIALECT_MLLM_MLLMSTATEOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

// Rows of the tokens of one sequence.
def MLLM_StateRows : RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[2]>]>;
// Heads of the tokens of one sequence.
def MLLM_StateHeads : RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[3]>]>;

// An op that reads and updates what a layer keeps of the sequence.
class MLLM_StateOp<string mnemonic, string bound>
    : MLLM_LinalgOp<mnemonic, bound, [MemoryEffects<[MemRead, MemWrite]>]>;

def MLLM_CausalConvOp : MLLM_StateOp<"causal_conv", "1e-10"> {
  let summary = "Causal convolution of each channel over the tokens of a sequence";
  let description = [{
    `result[t][c] = sum over j < K of weight[j][c] * x[t - K + 1 + j][c]`, where
    the tokens before those of `x` are the last ones that the layer has
    processed in earlier steps, and zeros before the first one. The layer keeps
    the last K - 1 rows.

    Fails verification when
    - c1: rows of `x` and `weight` have different sizes;
    - c2: `weight` has no rows, or more than 64;
    - c3: `layer` is negative;
    - c4: `x` and `weight` differ in element type or device;
    - c5: the result type differs from that of `x`.

    Example:

    ```mlir
    %y = mllm.linalg.causal_conv %x, %w {layer = 2 : i64} : (tensor<?x64xf32>, tensor<3x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_StateRows, "inputs [tokens, channels]">:$x,
    Arg<MLLM_StateRows, "factors [K, channels], that of the token itself last">:$weight,
    Arg<I64Attr, "0-based index among the layers that keep a state">:$layer
  );
  let results = (outs Res<MLLM_StateRows, "sums, shaped as `x`">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = [{
    $x `,` $weight attr-dict `:` functional-type(operands, results)
  }];
}

def MLLM_LinearAttentionOp : MLLM_StateOp<"linear_attention", "1e-10"> {
  let summary = "Attention as a recurrence over a matrix per head";
  let description = [{
    The layer keeps a matrix S [D, V] for each of H value heads, zeros before
    the first token. For each token in order and each value head h, with the
    key head g = h / (H / G), or h mod G with `interleaved`:

    ```
    S      = decay[t][h] * S
    delta  = v[t][h]                                         without `beta`
           = beta[t][h] * (v[t][h] - transpose(S) k[t][g])   with it
    S      = S + k[t][g] transpose(delta)
    result[t][h] = transpose(S) q[t][g]
    ```

    With `beta`, this is the gated delta rule (arXiv:2412.06464); without it,
    the recurrence of Mamba-2 (arXiv:2405.21060), where `k` and `q` are its B
    and C.

    Fails verification when
    - c1: `q` and `k` differ in shape;
    - c2: the operands differ in the number of tokens;
    - c3: H is not a multiple of G;
    - c4: `decay` or `beta` does not have H columns;
    - c5: `layer` is negative;
    - c6: the operands differ in element type or device;
    - c7: the result type differs from that of `v`.

    Examples:

    ```mlir
    %y = mllm.linalg.linear_attention %q, %k, %v, %g, %b {layer = 0 : i64}
        : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x4x16xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x16xf32>
    %z = mllm.linalg.linear_attention %c, %b1, %x, %a {layer = 1 : i64}
        : (tensor<?x1x16xf32>, tensor<?x1x16xf32>, tensor<?x8x32xf32>, tensor<?x8xf32>) -> tensor<?x8x32xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_StateHeads, "queries [tokens, G, D]">:$q,
    Arg<MLLM_StateHeads, "keys [tokens, G, D]">:$k,
    Arg<MLLM_StateHeads, "values [tokens, H, V]">:$v,
    Arg<MLLM_StateRows, "factors of the matrices [tokens, H]">:$decay,
    Arg<Optional<MLLM_StateRows>, "factors of the delta rule [tokens, H]">:$beta,
    Arg<I64Attr, "0-based index among the layers that keep a state">:$layer,
    Arg<UnitAttr, "value head h has key head h mod G">:$interleaved
  );
  let results = (outs Res<MLLM_StateHeads, "results of queries, shaped as `v`">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $decay (`,` $beta^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // LLMIR_DIALECT_MLLM_MLLMSTATEOPS

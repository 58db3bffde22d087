//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixtures of experts.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMEXPERTOPS
#define LLMIR_DIALECT_MLLM_MLLMEXPERTOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

def MLLM_ExpertsOp : MLLM_InferredParamOp<"experts", "1e-10"> {
  let summary = "Weighted sum of the gated MLPs that are chosen for each token";
  let description = [{
    `result[t…] = sum over i of weights[t…][i] * down[e] (silu(gate[e] x[t…]) *
    up[e] x[t…])` with `e = chosen[t…][i]`, in ascending order of e. As in
    `mllm.linalg.linear`, what a bf16 matrix is multiplied by is rounded to
    bf16. Only the chosen experts are computed.

    With biases, each product has that of its expert, of one column:
    `gate[e] x[t…] + gate_bias[e]`. With `swiglu_limit`, the MLP is gpt-oss's:
    for a product g of the gate and u of the up projection, it is
    `min(g, limit) * sigmoid(1.702 min(g, limit)) * (clamp(u) + 1)` with u
    clamped to [-limit, limit]. With `gelu`, the tanh form of GELU is in the
    place of silu.

    Fails verification when
    - c1: `gate`, `up` or `down` does not name an `mllm.tensor.register` of the
      module;
    - c2: the gate and up projections are not [experts, inner size, last
      dimension of `x`] with equal numbers of experts and inner sizes;
    - c3: the down projections are not [experts, last dimension of `x`, inner
      size];
    - c4: `chosen` and `weights` differ in shape, or, without their last
      dimension, differ from `x` without its last dimension;
    - c5: `x` and `weights` differ in element type, or an operand is on another
      device;
    - c6: the result type differs from that of `x`;
    - c7: some, but not all of `gate_bias`, `up_bias` and `down_bias` are given,
      or one does not name an `mllm.tensor.register` [experts, rows of the
      matrix, 1];
    - c8: `swiglu_limit` is not a finite positive number;
    - c9: both `swiglu_limit` and `gelu` are given.

    Example:

    ```mlir
    %y = mllm.linalg.experts %x chosen %e weights %w, @mlp.gate, @mlp.up, @mlp.down
        : (tensor<?x64xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "activations [rows…, hidden]">:$x,
    Arg<MLLM_IndexTensor, "the experts of each row, each less than their number [rows…, k]">:$chosen,
    Arg<MLLM_FloatTensor, "their weights [rows…, k]">:$weights,
    Arg<FlatSymbolRefAttr, "gate projections [experts, inner, hidden]">:$gate,
    Arg<FlatSymbolRefAttr, "up projections [experts, inner, hidden]">:$up,
    Arg<FlatSymbolRefAttr, "down projections [experts, hidden, inner]">:$down,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "biases of the gate projections [experts, inner, 1]; none if absent">:$gate_bias,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "biases of the up projections [experts, inner, 1]; none if absent">:$up_bias,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "biases of the down projections [experts, hidden, 1]; none if absent">:$down_bias,
    Arg<OptionalAttr<F64Attr>, "limit of the clamped SwiGLU; silu(gate) * up if absent">:$swiglu_limit,
    Arg<UnitAttr, "the function of the gate is the tanh form of GELU, not silu">:$gelu
  );
  let results = (outs Res<MLLM_FloatTensor, "the sums, shaped as `x`">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let hasVerifier = 1;
  let assemblyFormat = [{
    $x `chosen` $chosen `weights` $weights `,` $gate `,` $up `,` $down attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // LLMIR_DIALECT_MLLM_MLLMEXPERTOPS

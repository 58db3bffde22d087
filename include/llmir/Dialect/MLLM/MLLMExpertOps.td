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
    - c6: the result type differs from that of `x`.

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
    Arg<FlatSymbolRefAttr, "down projections [experts, hidden, inner]">:$down
  );
  let results = (outs Res<MLLM_FloatTensor, "the sums, shaped as `x`">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = [{
    $x `chosen` $chosen `weights` $weights `,` $gate `,` $up `,` $down attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // LLMIR_DIALECT_MLLM_MLLMEXPERTOPS

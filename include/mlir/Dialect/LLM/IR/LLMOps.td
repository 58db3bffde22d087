//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of the `llm` dialect. In shapes: T tokens of a step, S sequences, B
// sequences of a batch of equal lengths, H heads, D elements per head, K inputs
// and N outputs of a projection.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_OPS_TD
#define LLM_OPS_TD

include "mlir/Dialect/LLM/IR/LLMCacheOps.td"
include "mlir/Dialect/LLM/IR/LLMInterfaces.td"
include "mlir/Dialect/LLM/IR/LLMTypes.td"
include "mlir/Dialect/LLM/IR/LLMCollectiveOps.td"
include "mlir/Dialect/LLM/IR/LLMFusedOps.td"
include "mlir/Dialect/LLM/IR/LLMMoEOps.td"
include "mlir/Dialect/LLM/IR/LLMQuantOps.td"
include "mlir/Dialect/LLM/IR/LLMStateOps.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

//===----------------------------------------------------------------------===//
// Weights, embedding, projections
//===----------------------------------------------------------------------===//

def LLM_WeightOp : LLM_Op<"weight", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Reference a model parameter by symbol";
  let description = [{
    The value of the parameter that the symbol `name` declares. The declaration
    states the source of the parameter; if it has a `type` attribute, that is
    the type of the value.

    Fails verification when
    - c1: no such symbol is in scope;
    - c2: the type of the declaration differs from that of the result.

    Example:
    ```mlir
    %w = llm.weight @model.norm.weight : tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<FlatSymbolRefAttr, "Symbol of the parameter's declaration">:$name);
  let results = (outs Res<LLM_Weight, "The parameter">:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

def LLM_EmbeddingOp : LLM_Op<"embedding", [Pure]> {
  let summary = "Embedding lookup";
  let description = [{
    `result[t] = table[ids[t]]`, dequantized if the table is quantized. The
    caller guarantees that ids are less than V; the runtime checks them before a
    step.

    Fails verification when
    - c1: the result is not `[T, K]` for `ids` `[T]` and `table` `[V, K]`;
    - c2: a quantized table has no `format` and therefore no scales.

    Example:
    ```mlir
    %x = llm.embedding %ids, %table
       : tensor<?xi32>, tensor<256x64xbf16> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_IndexVector, "Token ids [T]">:$ids,
    Arg<LLM_WeightMatrix, "Embedding table, one row per vocabulary entry [V, K]">:$table);
  let results = (outs Res<LLM_FloatTensorOfRank<[2]>, "Selected rows [T, K]">:$result);
  let assemblyFormat = [{
    $ids `,` $table attr-dict `:` type($ids) `,` type($table) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$ids, "::mlir::Value":$table)>
  ];
  let hasVerifier = 1;
}

def LLM_LinearOp : LLM_InferredOp<"linear"> {
  let summary = "Linear projection with optional bias";
  let description = [{
    `result[…, n] = Σ_k x[…, k] · weight[n, k] + bias[n]`, accumulated in f32
    over ascending k. The result has the element type of `x`. If the weights are
    bf16, `x` is rounded to bf16 first.

    Fails verification when
    - c1: the last dimension of `x` differs from K of the weight;
    - c2: `bias` does not have N elements;
    - c3: a quantized weight has no `format` and therefore no scales
      (`quantized_matmul` takes scales as an operand).

    Example:
    ```mlir
    %y = llm.linear %x, %w bias %b
       : tensor<?x64xf32>, tensor<172x64xbf16>, tensor<172xf32> -> tensor<?x172xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Inputs […, K]">:$x,
    Arg<LLM_WeightMatrix, "Weights [N, K]">:$weight,
    Arg<Optional<LLM_FloatVector>, "Bias [N]">:$bias);
  let results = (outs Res<LLM_FloatTensor, "Outputs […, N]">:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^)? attr-dict `:` type($x) `,` type($weight)
    (`,` type($bias)^)? `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Norms, positions, element-wise ops
//===----------------------------------------------------------------------===//

def LLM_LayerNormOp : LLM_Op<"layer_norm", [
    Pure, AttrSizedOperandSegments, AllTypesMatch<["x", "result"]>]> {
  let summary = "Layer normalization";
  let description = [{
    With the mean m and the variance v = mean((x - m)²) of a row, `result[…, k]
    = (x[…, k] - m) / sqrt(v + eps) · weight[k] + bias[k]`. Rows are along the
    last dimension. `weight` defaults to ones and `bias` to zeros.

    Fails verification when
    - c1: `weight` does not have as many elements as a row;
    - c2: `bias` does not have as many elements as a row;
    - c3: `bias` is given without `weight`;
    - c4: `eps` is negative or not finite.

    Example:
    ```mlir
    %y = llm.layer_norm %x, %w, %b {eps = 1.0e-5 : f64}
       : tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Rows […, K]">:$x,
    Arg<Optional<LLM_FloatVector>, "Scale of each column [K]">:$weight,
    Arg<Optional<LLM_FloatVector>, "Bias of each column [K]">:$bias,
    Arg<DefaultValuedAttr<F64Attr, "1.0e-5">, "Added to the variance">:$eps);
  let results = (outs Res<LLM_FloatTensor, "Normalized rows, same type as x">:$result);
  let assemblyFormat = [{
    $x (`,` $weight^)? (`,` $bias^)? attr-dict `:` type($x) (`,` type($weight)^)?
    (`,` type($bias)^)?
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_RMSNormOp : LLM_Op<"rms_norm", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "RMS normalization";
  let description = [{
    `result[…, k] = x[…, k] / sqrt(mean_k(x[…, k]²) + eps) · weight[k]`. Rows
    are along the last dimension: a token, or a head of a token. `weight`
    defaults to ones.

    Fails verification when
    - c1: `weight` does not have as many elements as a row;
    - c2: `eps` is negative or not finite.

    Example:
    ```mlir
    %y = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Rows […, K]">:$x,
    Arg<Optional<LLM_FloatVector>, "Scale of each column [K]">:$weight,
    Arg<DefaultValuedAttr<F64Attr, "1.0e-6">, "Added to the mean of the squares">:$eps);
  let results = (outs Res<LLM_FloatTensor, "Normalized rows, same type as x">:$result);
  let assemblyFormat = "$x (`,` $weight^)? attr-dict `:` type($x) (`,` type($weight)^)?";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_SoftmaxOp : LLM_ElementwiseOp<"softmax"> {
  let summary = "Softmax over the last dimension";
  let description = [{
    `result[…, k] = exp(x[…, k] - m) / Σ_j exp(x[…, j] - m)` where m is the
    maximum of the row. Rows are along the last dimension. A row in which every
    element is -∞ yields zeros, like attention to no key.

    Example: `%y = llm.softmax %x : tensor<?x172xf32>`
  }];
  let arguments = (ins Arg<LLM_FloatTensor, "Rows […, K]">:$x);
  let results = (outs Res<LLM_FloatTensor, "Same type as x">:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def LLM_RopeOp : LLM_Op<"rope", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Rotary position embedding of each head";
  let description = [{
    With R the number of `frequencies` and, for token t and j < R, `angle =
    positions[t] · frequencies[j]`, `c = scaling · cos(angle)`, `s = scaling ·
    sin(angle)`:
    ```
    result[t, h, j]     = x[t, h, j] · c     - x[t, h, j + R] · s
    result[t, h, j + R] = x[t, h, j + R] · c + x[t, h, j] · s
    ```
    With `interleaved`, a pair consists of the adjacent elements 2·j and 2·j + 1
    instead of j and j + R. Elements from 2·R on are copied. Scaling rules for
    long contexts are folded into `frequencies` and `scaling`.

    Fails verification when
    - c1: `positions` does not have T elements;
    - c2: there are no frequencies, or more than D / 2;
    - c3: a frequency or `scaling` is not finite.

    Example:
    ```mlir
    %y = llm.rope %x, %positions {frequencies = array<f64: 1.0, 0.1>}
       : tensor<?x4x4xf32>, tensor<?xi32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[3]>, "Queries or keys [T, H, D]">:$x,
    Arg<LLM_IndexVector, "0-based position of each token in its sequence [T]">:$positions,
    Arg<DenseF64ArrayAttr, "Angle per position of each rotated pair, in radians">:$frequencies,
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "Factor of cosines and sines">:$scaling,
    Arg<UnitAttr, "Whether pairs are adjacent elements">:$interleaved);
  let results = (outs Res<LLM_FloatTensorOfRank<[3]>, "Rotated heads, same type as x">:$result);
  let assemblyFormat = "$x `,` $positions attr-dict `:` type($x) `,` type($positions)";
  let hasVerifier = 1;
}

def LLM_SiluOp : LLM_ElementwiseOp<"silu"> {
  let summary = "Element-wise SiLU";
  let description = [{
    `result = x / (1 + exp(-x))`. An exponential that overflows f32 is infinite:
    below -88.72 the result is -0, and for x = -∞ it is NaN.

    Example: `%y = llm.silu %x : tensor<?x172xf32>`
  }];
  let arguments = (ins Arg<LLM_FloatTensor, "Any shape">:$x);
  let results = (outs Res<LLM_FloatTensor, "Same type as x">:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def LLM_GeluOp : LLM_ElementwiseOp<"gelu"> {
  let summary = "Element-wise GELU, exact or approximated";
  let description = [{
    ```
    none:   result = x/2 · (1 + erf(x / √2))
    tanh:   result = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))
    quick:  result = x / (1 + exp(-1.702 · x))
    ```
    `tanh` is computed as x / (1 + exp(-2 · a)), where a is the argument of
    tanh. There and in `quick`, an exponential that overflows f32 is infinite,
    as in `silu`.

    Fails verification when
    - c1: `approximate` is not one of none, tanh, quick.

    Example: `%y = llm.gelu %x {approximate = "tanh"} : tensor<?x172xf32>`
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Any shape">:$x,
    Arg<DefaultValuedAttr<StrAttr, "\"none\"">, "Approximation: none, tanh or quick">:$approximate);
  let results = (outs Res<LLM_FloatTensor, "Same type as x">:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def LLM_SwiGLUOp : LLM_ElementwiseOp<"swiglu"> {
  let summary = "Element-wise silu(gate) · up";
  let description = [{
    `result = round(silu(gate)) · up`, where `round` rounds to the element type:
    the op is bit-identical to `mul(silu(gate), up)`.

    Example: `%y = llm.swiglu %gate, %up : tensor<?x172xf32>`
  }];
  let arguments = (ins Arg<LLM_FloatTensor, "Any shape">:$gate,
                       Arg<LLM_FloatTensor, "Same type as gate">:$up);
  let results = (outs Res<LLM_FloatTensor, "Same type as gate">:$result);
  let assemblyFormat = "$gate `,` $up attr-dict `:` type($gate)";
}

def LLM_AddOp : LLM_ElementwiseOp<"add", [Commutative]> {
  let summary = "Element-wise sum";
  let description = [{
    `result = lhs + rhs`, as in the residual connections of a decoder. There is
    no broadcasting. The sign of a sum of zeros is unspecified.

    Example: `%y = llm.add %x, %r : tensor<?x64xf32>`
  }];
  let arguments = (ins Arg<LLM_FloatTensor, "Any shape">:$lhs,
                       Arg<LLM_FloatTensor, "Same type as lhs">:$rhs);
  let results = (outs Res<LLM_FloatTensor, "Same type as lhs">:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
  let hasFolder = 1;
}

def LLM_MulOp : LLM_ElementwiseOp<"mul", [Commutative]> {
  let summary = "Element-wise product";
  let description = [{
    `result = lhs · rhs`, as in the gate of a gated feed-forward layer. There is
    no broadcasting.

    Example: `%y = llm.mul %gate, %up : tensor<?x172xf32>`
  }];
  let arguments = (ins Arg<LLM_FloatTensor, "Any shape">:$lhs,
                       Arg<LLM_FloatTensor, "Same type as lhs">:$rhs);
  let results = (outs Res<LLM_FloatTensor, "Same type as lhs">:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def LLM_MeanRowsOp : LLM_InferredOp<"mean_rows"> {
  let summary = "Mean of the rows of each sequence";
  let description = [{
    ```
    result[s, …] = Σ_t x[t, …] / (offsets[s + 1] - offsets[s]),   offsets[s] ≤ t < offsets[s + 1]
    ```
    or zeros for a sequence without tokens. Pools the tokens of a text to its
    embedding.

    Fails verification when
    - c1: the rank of `x` is less than 2;
    - c2: `offsets` has no element.

    Example:
    ```mlir
    %mean = llm.mean_rows %x, %query_offsets : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Rows [T, …]">:$x,
    Arg<LLM_IndexVector, "Offsets [S + 1] of the sequences in the rows, ascending and at most T">:$offsets);
  let results = (outs Res<LLM_FloatTensor, "Mean rows [S, …]">:$result);
  let assemblyFormat = [{
    $x `,` $offsets attr-dict `:` type($x) `,` type($offsets) `->` type($result)
  }];
  let hasVerifier = 1;
}

def LLM_SelectRowsOp : LLM_InferredOp<"select_rows"> {
  let summary = "Gather rows";
  let description = [{
    `result[r, …] = x[rows[r], …]`. Selects the tokens of a step whose logits
    are needed. Canonicalization moves the op above row-wise ops (norms,
    projections, softmax, element-wise ops) whose result has no other use, so
    that fewer rows are computed.

    Fails verification when
    - c1: the rank of `x` is less than 2.

    Example:
    ```mlir
    %last = llm.select_rows %x, %rows : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Rows [T, …]">:$x,
    Arg<LLM_IndexVector, "Indices of the selected rows [R], each less than T">:$rows);
  let results = (outs Res<LLM_FloatTensor, "Selected rows [R, …]">:$result);
  let assemblyFormat = [{
    $x `,` $rows attr-dict `:` type($x) `,` type($rows) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // LLM_OPS_TD

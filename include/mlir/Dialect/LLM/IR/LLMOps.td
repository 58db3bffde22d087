//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of the `llm` dialect. In shapes: T tokens of a step, S sequences,
// B sequences of a batch of equal lengths, H heads, D numbers in a head, K and N
// inputs and outputs of a projection.
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
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

//===----------------------------------------------------------------------===//
// Weights, embedding, projections
//===----------------------------------------------------------------------===//

def LLM_WeightOp : LLM_Op<"weight", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A parameter of the model, by name";
  let description = [{
    The value of the parameter that the symbol `name` declares. The declaration
    says where the parameter comes from; where it has a `type` attribute, that
    is the type of the value.

    Fails verification when
    - c1: no such symbol is in scope;
    - c2: the declaration's type is another one.

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
  let summary = "Rows of a table, chosen by token ids";
  let description = [{
    `result[t] = table[ids[t]]`, decoded where the table is quantized. An id
    outside of the table is the caller's error; the runtime checks ids before
    a step.

    Fails verification when
    - c1: the result is not `[T, K]` for `ids` `[T]` and `table` `[V, K]`;
    - c2: a quantized table has no `format`: nothing says its scales.

    Example:
    ```mlir
    %x = llm.embedding %ids, %table
       : tensor<?xi32>, tensor<256x64xbf16> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_IndexVector, "Token ids [T]">:$ids,
    Arg<LLM_WeightMatrix, "One row per token of the vocabulary [V, K]">:$table);
  let results = (outs Res<LLM_FloatTensorOfRank<[2]>, "The chosen rows [T, K]">:$result);
  let assemblyFormat = [{
    $ids `,` $table attr-dict `:` type($ids) `,` type($table) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$ids, "::mlir::Value":$table)>
  ];
  let hasVerifier = 1;
}

def LLM_LinearOp : LLM_InferredOp<"linear"> {
  let summary = "A projection: the product with a matrix of weights, plus a bias";
  let description = [{
    `result[…, n] = Σ_k x[…, k] · weight[n, k] + bias[n]`, in f32 over ascending
    k. The result has `x`'s element type. Beside weights of bf16, `x` is rounded
    to bf16 first.

    Fails verification when
    - c1: the last size of `x` is not the weight's K;
    - c2: `bias` does not have N entries;
    - c3: a quantized weight has no `format`: nothing says its scales
      (`quantized_matmul` is told them).

    Example:
    ```mlir
    %y = llm.linear %x, %w bias %b
       : tensor<?x64xf32>, tensor<172x64xbf16>, tensor<172xf32> -> tensor<?x172xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Inputs […, K]">:$x,
    Arg<LLM_WeightMatrix, "Weights [N, K]">:$weight,
    Arg<Optional<LLM_FloatVector>, "Added to each row [N]">:$bias);
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
  let summary = "Each row less its mean, divided by its deviation, times a weight, plus a bias";
  let description = [{
    With the mean m and the variance v = mean((x - m)²) of a row,
    `result[…, k] = (x[…, k] - m) / sqrt(v + eps) · weight[k] + bias[k]`. A row
    is the last dimension. No weight is a weight of ones, no bias one of zeros.

    Fails verification when
    - c1: `weight` does not have as many entries as a row;
    - c2: `bias` does not have as many entries as a row;
    - c3: there is a `bias`, but no `weight`;
    - c4: `eps` is negative or not finite.

    Example:
    ```mlir
    %y = llm.layer_norm %x, %w, %b {eps = 1.0e-5 : f64}
       : tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Rows […, K]">:$x,
    Arg<Optional<LLM_FloatVector>, "Factor of each column [K]">:$weight,
    Arg<Optional<LLM_FloatVector>, "Added to each column [K]">:$bias,
    Arg<DefaultValuedAttr<F64Attr, "1.0e-5">, "Added to the variance">:$eps);
  let results = (outs Res<LLM_FloatTensor, "Normalised rows, of x's type">:$result);
  let assemblyFormat = [{
    $x (`,` $weight^)? (`,` $bias^)? attr-dict `:` type($x) (`,` type($weight)^)?
    (`,` type($bias)^)?
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_RMSNormOp : LLM_Op<"rms_norm", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Each row divided by its root mean square, times a weight";
  let description = [{
    `result[…, k] = x[…, k] / sqrt(mean_k(x[…, k]²) + eps) · weight[k]`. A row
    is the last dimension: a token, or a head of a token. No weight is a weight
    of ones.

    Fails verification when
    - c1: `weight` does not have as many entries as a row;
    - c2: `eps` is negative or not finite.

    Example:
    ```mlir
    %y = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Rows […, K]">:$x,
    Arg<Optional<LLM_FloatVector>, "Factor of each column [K]">:$weight,
    Arg<DefaultValuedAttr<F64Attr, "1.0e-6">, "Added to the mean of the squares">:$eps);
  let results = (outs Res<LLM_FloatTensor, "Normalised rows, of x's type">:$result);
  let assemblyFormat = "$x (`,` $weight^)? attr-dict `:` type($x) (`,` type($weight)^)?";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LLM_SoftmaxOp : LLM_ElementwiseOp<"softmax"> {
  let summary = "Each row as a distribution: exponentials divided by their sum";
  let description = [{
    `result[…, k] = exp(x[…, k] - m) / Σ_j exp(x[…, j] - m)` with m the greatest
    number of the row. A row is the last dimension. A row of nothing but -∞
    gives 0, as attention to nothing does.

    Example: `%y = llm.softmax %x : tensor<?x172xf32>`
  }];
  let arguments = (ins Arg<LLM_FloatTensor, "Rows […, K]">:$x);
  let results = (outs Res<LLM_FloatTensor, "Of x's type">:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def LLM_RopeOp : LLM_Op<"rope", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Rotary position embedding of each head";
  let description = [{
    With R = the number of `frequencies` and, for token t and j < R,
    `angle = positions[t] · frequencies[j]`, `c = scaling · cos(angle)`,
    `s = scaling · sin(angle)`:
    ```
    result[t, h, j]     = x[t, h, j] · c     - x[t, h, j + R] · s
    result[t, h, j + R] = x[t, h, j + R] · c + x[t, h, j] · s
    ```
    With `interleaved` the numbers of a pair are neighbours: 2·j and 2·j + 1 in
    place of j and j + R. Entries from 2·R on are copied. Scaling rules for long contexts are folded
    into `frequencies` and `scaling`.

    Fails verification when
    - c1: `positions` does not have T entries;
    - c2: there is no frequency, or more than half of a head;
    - c3: a frequency or `scaling` is not finite.

    Example:
    ```mlir
    %y = llm.rope %x, %positions {frequencies = array<f64: 1.0, 0.1>}
       : tensor<?x4x4xf32>, tensor<?xi32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[3]>, "Queries or keys [T, H, D]">:$x,
    Arg<LLM_IndexVector, "Position of each token in its sequence, from 0 [T]">:$positions,
    Arg<DenseF64ArrayAttr, "Radians per position of each rotated pair">:$frequencies,
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "Factor of all cosines and sines">:$scaling,
    Arg<UnitAttr, "Whether the numbers of a pair are neighbours">:$interleaved);
  let results = (outs Res<LLM_FloatTensorOfRank<[3]>, "Rotated heads, of x's type">:$result);
  let assemblyFormat = "$x `,` $positions attr-dict `:` type($x) `,` type($positions)";
  let hasVerifier = 1;
}

def LLM_SiluOp : LLM_ElementwiseOp<"silu"> {
  let summary = "x · sigmoid(x), element by element";
  let description = [{
    `result = x / (1 + exp(-x))`. An exponential that f32 does not hold counts as
    infinite: below -88.72 the result is -0, and of minus infinity it is NaN.

    Example: `%y = llm.silu %x : tensor<?x172xf32>`
  }];
  let arguments = (ins Arg<LLM_FloatTensor, "Any shape">:$x);
  let results = (outs Res<LLM_FloatTensor, "Of x's type">:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def LLM_GeluOp : LLM_ElementwiseOp<"gelu"> {
  let summary = "x · Φ(x), element by element, or an approximation of it";
  let description = [{
    ```
    none:   result = x/2 · (1 + erf(x / √2))
    tanh:   result = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))
    quick:  result = x / (1 + exp(-1.702 · x))
    ```
    `tanh` is x / (1 + exp(-2 · a)) of the argument a of its tanh. There and in
    `quick` an exponential that f32 does not hold counts as infinite, as in
    `silu`.

    Fails verification when
    - c1: `approximate` is not one of none, tanh, quick.

    Example: `%y = llm.gelu %x {approximate = "tanh"} : tensor<?x172xf32>`
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Any shape">:$x,
    Arg<DefaultValuedAttr<StrAttr, "\"none\"">, "none, tanh or quick">:$approximate);
  let results = (outs Res<LLM_FloatTensor, "Of x's type">:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def LLM_SwiGLUOp : LLM_ElementwiseOp<"swiglu"> {
  let summary = "silu(gate) · up, element by element";
  let description = [{
    `result = round(silu(gate)) · up`, where `round` is to the element type: the
    op is `mul(silu(gate), up)`, bit for bit.

    Example: `%y = llm.swiglu %gate, %up : tensor<?x172xf32>`
  }];
  let arguments = (ins Arg<LLM_FloatTensor, "Any shape">:$gate,
                       Arg<LLM_FloatTensor, "Of gate's type">:$up);
  let results = (outs Res<LLM_FloatTensor, "Of gate's type">:$result);
  let assemblyFormat = "$gate `,` $up attr-dict `:` type($gate)";
}

def LLM_AddOp : LLM_ElementwiseOp<"add", [Commutative]> {
  let summary = "The sum, element by element";
  let description = [{
    `result = lhs + rhs`; the residual connections of a decoder. Nothing is
    broadcast. Whether a sum of zeros is 0 or -0 is not specified.

    Example: `%y = llm.add %x, %r : tensor<?x64xf32>`
  }];
  let arguments = (ins Arg<LLM_FloatTensor, "Any shape">:$lhs,
                       Arg<LLM_FloatTensor, "Of lhs's type">:$rhs);
  let results = (outs Res<LLM_FloatTensor, "Of lhs's type">:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
  let hasFolder = 1;
}

def LLM_MulOp : LLM_ElementwiseOp<"mul", [Commutative]> {
  let summary = "The product, element by element";
  let description = [{
    `result = lhs · rhs`; the gate of a gated feed-forward layer. Nothing is
    broadcast.

    Example: `%y = llm.mul %gate, %up : tensor<?x172xf32>`
  }];
  let arguments = (ins Arg<LLM_FloatTensor, "Any shape">:$lhs,
                       Arg<LLM_FloatTensor, "Of lhs's type">:$rhs);
  let results = (outs Res<LLM_FloatTensor, "Of lhs's type">:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def LLM_SelectRowsOp : LLM_InferredOp<"select_rows"> {
  let summary = "The listed rows, in the listed order";
  let description = [{
    `result[r, …] = x[rows[r], …]`. Logits are wanted for few tokens of a step;
    this op chooses them before the ops that make logits. Canonicalization moves
    it above ops that treat each row alone (norms, projections, softmax, the
    element-wise ops), where their result has no other use, so that fewer rows
    are computed.

    Fails verification when
    - c1: `x` has rank below 2.

    Example:
    ```mlir
    %last = llm.select_rows %x, %rows : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Rows [T, …]">:$x,
    Arg<LLM_IndexVector, "Numbers of the wanted rows [R], each below T">:$rows);
  let results = (outs Res<LLM_FloatTensor, "Wanted rows [R, …]">:$result);
  let assemblyFormat = [{
    $x `,` $rows attr-dict `:` type($x) `,` type($rows) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // LLM_OPS_TD

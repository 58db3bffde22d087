//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linalg level: the layers of a model.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMLINALGOPS
#define LLMIR_DIALECT_MLLM_MLLMLINALGOPS

include "llmir/Dialect/MLLM/MLLMBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A layer with parameters: they are named by symbol and verified against the
// shapes of operands and results.
class MLLM_ParameterOp<string mnemonic, list<Trait> traits = []>
    : MLLM_Op<"linalg." # mnemonic, traits # [
        Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

//===----------------------------------------------------------------------===//
// Layers with parameters
//===----------------------------------------------------------------------===//

def MLLM_EmbeddingOp : MLLM_ParameterOp<"embedding"> {
  let summary = "Rows of a table, chosen by token id";
  let description = [{
    `result[t] = table[ids[t]]`, for each token t; ids are less than the number
    of rows.

    Fails verification when
    - c1: `weight` does not name an `mllm.tensor.register` of the module;
    - c2: the table is not [vocabulary, columns of the result];
    - c3: operand and result differ in their number of tokens.

    Example:

    ```mlir
    %x = mllm.linalg.embedding %ids, @model.embed_tokens.weight : tensor<?xi64> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_TokenIds, "token ids [tokens]">:$ids,
    Arg<FlatSymbolRefAttr, "the table [vocabulary, columns]">:$weight
  );
  let results = (outs Res<MLLM_Rows, "the tokens' rows [tokens, columns]">:$result);
  let assemblyFormat = [{
    $ids `,` $weight attr-dict `:` type($ids) `->` type($result)
  }];
  let hasVerifier = 1;
}

def MLLM_LinearOp : MLLM_ParameterOp<"linear"> {
  let summary = "Product with a weight matrix, and an optional bias";
  let description = [{
    `result[t][n] = sum over k of x[t][k] * weight[n][k], + bias[n]`.

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight is not [columns of the result, columns of `x`];
    - c3: the bias is not [columns of the result];
    - c4: operand and result differ in their number of tokens.

    Example:

    ```mlir
    %q = mllm.linalg.linear %x, @q_proj.weight bias @q_proj.bias : tensor<?x64xf32> -> tensor<?x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Rows, "activations [tokens, in]">:$x,
    Arg<FlatSymbolRefAttr, "the matrix [out, in]">:$weight,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "the bias [out]; none when absent">:$bias
  );
  let results = (outs Res<MLLM_Rows, "activations [tokens, out]">:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^)? attr-dict `:` type($x) `->` type($result)
  }];
  let hasVerifier = 1;
}

def MLLM_RMSNormOp : MLLM_ParameterOp<"rms_norm", [AllTypesMatch<["x", "result"]>]> {
  let summary = "Division by the root mean square of the last dimension";
  let description = [{
    `result = x / sqrt(mean(x^2) + eps) * weight`, the mean taken over the last
    dimension: the columns of a token, or each head by itself.

    Fails verification when
    - c1: `weight` does not name an `mllm.tensor.register` of the module;
    - c2: the weight is not [last size of `x`];
    - c3: `eps` is not a finite positive number.

    Example:

    ```mlir
    %y = mllm.linalg.rms_norm %x, @model.norm.weight {eps = 1.0e-5 : f64} : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_RowsOrHeads, "activations [tokens, columns] or [tokens, heads, head size]">:$x,
    Arg<FlatSymbolRefAttr, "the scale of each column">:$weight,
    Arg<F64Attr, "what is added to the mean square">:$eps
  );
  let results = (outs Res<MLLM_RowsOrHeads, "activations, shaped as `x`">:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` type($x)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def MLLM_RoPEOp : MLLM_Op<"linalg.rope", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Rotary position embedding, halves of a head rotated together";
  let description = [{
    With n frequencies, the first 2n values of each head are rotated and the
    rest pass through. For a token at position p of its sequence and i < n,
    with `a = p * frequencies[i]`:
    `result[i]     = scaling * (x[i] * cos(a) - x[i + n] * sin(a))`,
    `result[i + n] = scaling * (x[i + n] * cos(a) + x[i] * sin(a))`.
    Scaling rules that change frequencies are folded into them.

    Fails verification when
    - c1: there is no frequency, or twice their number exceeds the head size;
    - c2: a frequency is not finite;
    - c3: `scaling` is not a finite positive number.

    Example:

    ```mlir
    %r = mllm.linalg.rope %q {frequencies = array<f64: 1.0, 0.01>, scaling = 1.0 : f64} : tensor<?x4x4xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Heads, "queries or keys [tokens, heads, head size]">:$x,
    Arg<DenseF64ArrayAttr, "radians per position, one for each rotated pair">:$frequencies,
    Arg<F64Attr, "factor of cosine and sine; 1 for most models">:$scaling
  );
  let results = (outs Res<MLLM_Heads, "the rotated heads, shaped as `x`">:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def MLLM_KVCacheOp : MLLM_Op<"linalg.kv_cache", [
    MemoryEffects<[MemRead, MemWrite]>, AllElementTypesMatch<["k", "v", "keys", "values"]>]> {
  let summary = "Adds new keys and values to a layer's cache and gives all of them";
  let description = [{
    `k` and `v` follow what the layer's cache holds for the sequence and stay in
    it; `keys` and `values` are all of them, oldest first.

    Fails verification when
    - c1: `k` and `v` differ in their number of tokens or of heads;
    - c2: `keys` differs from `k`, or `values` from `v`, in heads or head size;
    - c3: `keys` and `values` differ in their number of tokens;
    - c4: `layer` is negative.

    Example:

    ```mlir
    %keys, %values = mllm.linalg.kv_cache %k, %v {layer = 3 : i64}
        : (tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>)
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Heads, "new keys [tokens, heads, head size], rotated">:$k,
    Arg<MLLM_Heads, "new values [tokens, heads, head size]">:$v,
    Arg<I64Attr, "index of the layer whose cache it is, from 0">:$layer
  );
  let results = (outs
    Res<MLLM_Heads, "all keys [past and new tokens, heads, head size]">:$keys,
    Res<MLLM_Heads, "all values [past and new tokens, heads, head size]">:$values
  );
  let assemblyFormat = [{
    $k `,` $v attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def MLLM_FlashAttention2Op : MLLM_Op<"linalg.flash_attention2", [Pure]> {
  let summary = "Attention of the new tokens over all keys and values";
  let description = [{
    For head h of the H query heads, served by key head `g = h / (H / G)` of G:
    `result[t][h] = sum over s of softmax(scale * q[t][h] . k[s][g]) * v[s][g]`,
    the softmax taken over s. The queries belong to the last tokens among the
    keys; when `causal`, a token sees itself and those before it.

    Fails verification when
    - c1: the heads of `q` are not a multiple of those of `k`;
    - c2: `q` and `k` differ in head size;
    - c3: `k` and `v` differ in their number of tokens or of heads;
    - c4: the result is not [tokens of `q`, heads of `q`, head size of `v`];
    - c5: `scale` is not a finite positive number.

    Example:

    ```mlir
    %y = mllm.linalg.flash_attention2 %q, %keys, %values {causal = true, scale = 0.25 : f64}
        : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Heads, "queries [tokens, heads, head size], rotated">:$q,
    Arg<MLLM_Heads, "all keys [past and new tokens, key heads, head size]">:$k,
    Arg<MLLM_Heads, "all values [past and new tokens, key heads, value size]">:$v,
    Arg<F64Attr, "factor of the scores, usually head size ^ -0.5">:$scale,
    Arg<BoolAttr, "whether a token sees only itself and those before it">:$causal
  );
  let results = (outs
    Res<MLLM_Heads, "mixed values [tokens, heads, value size]">:$result
  );
  let assemblyFormat = [{
    $q `,` $k `,` $v attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Element-wise ops and views
//===----------------------------------------------------------------------===//

class MLLM_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : MLLM_Op<"linalg." # mnemonic, traits # [
        Pure, Elementwise, SameOperandsAndResultType]> {
  let results = (outs Res<MLLM_Activation, "activations, shaped as the operands">:$result);
}

class MLLM_BinaryOp<string mnemonic>
    : MLLM_ElementwiseOp<mnemonic, [Commutative]> {
  let arguments = (ins
    Arg<MLLM_Activation, "activations of any rank">:$lhs,
    Arg<MLLM_Activation, "activations, shaped as `lhs`">:$rhs
  );
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def MLLM_SiLUOp : MLLM_ElementwiseOp<"silu"> {
  let summary = "Sigmoid-weighted linear unit";
  let description = [{
    `result = x / (1 + exp(-x))`, for each value.

    Fails verification when ODS' own constraints do: operand and result differ
    in type.

    Example:

    ```mlir
    %y = mllm.linalg.silu %x : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Arg<MLLM_Activation, "activations of any rank">:$x);
  let assemblyFormat = "$x attr-dict `:` type($result)";
}

def MLLM_AddOp : MLLM_BinaryOp<"add"> {
  let summary = "Sum of two tensors";
  let description = [{
    `result = lhs + rhs`, for each value.

    Fails verification when ODS' own constraints do: operands and result differ
    in type.

    Example:

    ```mlir
    %y = mllm.linalg.add %x, %residual : tensor<?x64xf32>
    ```
  }];
}

def MLLM_MulOp : MLLM_BinaryOp<"mul"> {
  let summary = "Product of two tensors, value by value";
  let description = [{
    `result = lhs * rhs`, for each value.

    Fails verification when ODS' own constraints do: operands and result differ
    in type.

    Example:

    ```mlir
    %y = mllm.linalg.mul %gate, %up : tensor<?x64xf32>
    ```
  }];
}

def MLLM_ViewOp : MLLM_Op<"linalg.view", [Pure]> {
  let summary = "The same values in another shape";
  let description = [{
    Values keep their row-major order; only the sizes after the first change. It
    splits columns into heads and merges them again.

    Fails verification when
    - c1: operand and result differ in their number of tokens;
    - c2: operand and result differ in their number of values per token.

    Example:

    ```mlir
    %heads = mllm.linalg.view %x : tensor<?x64xf32> -> tensor<?x4x16xf32>
    ```
  }];
  let arguments = (ins Arg<MLLM_Activation, "activations of any rank">:$x);
  let results = (outs Res<MLLM_Activation, "the same values, in its shape">:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMLINALGOPS

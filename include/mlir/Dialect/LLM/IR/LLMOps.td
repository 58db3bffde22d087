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

include "mlir/Dialect/LLM/IR/LLMTypes.td"
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
    - c1: the result is not `[T, K]` for `ids` `[T]` and `table` `[V, K]`.

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
    k. The result has `x`'s element type.

    Fails verification when
    - c1: the last size of `x` is not the weight's K;
    - c2: `bias` does not have N entries.

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
}

//===----------------------------------------------------------------------===//
// Norms, positions, element-wise ops
//===----------------------------------------------------------------------===//

def LLM_RMSNormOp : LLM_Op<"rms_norm", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Each row divided by its root mean square, times a weight";
  let description = [{
    `result[…, k] = x[…, k] / sqrt(mean_k(x[…, k]²) + eps) · weight[k]`. A row
    is the last dimension: a token, or a head of a token.

    Fails verification when
    - c1: `weight` does not have as many entries as a row;
    - c2: `eps` is negative or not finite.

    Example:
    ```mlir
    %y = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[2, 3]>, "Rows [T, K] or [T, H, K]">:$x,
    Arg<LLM_FloatVector, "Factor of each column [K]">:$weight,
    Arg<F64Attr, "Added to the mean of the squares">:$eps);
  let results = (outs Res<LLM_FloatTensorOfRank<[2, 3]>, "Normalised rows, of x's type">:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` type($x) `,` type($weight)";
  let hasVerifier = 1;
}

def LLM_RopeOp : LLM_Op<"rope", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Rotary position embedding on halves of each head";
  let description = [{
    With R = the number of `frequencies` and, for token t and j < R,
    `angle = positions[t] · frequencies[j]`, `c = scaling · cos(angle)`,
    `s = scaling · sin(angle)`:
    ```
    result[t, h, j]     = x[t, h, j] · c     - x[t, h, j + R] · s
    result[t, h, j + R] = x[t, h, j + R] · c + x[t, h, j] · s
    ```
    Entries from 2·R on are copied. Scaling rules for long contexts are folded
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
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "Factor of all cosines and sines">:$scaling);
  let results = (outs Res<LLM_FloatTensorOfRank<[3]>, "Rotated heads, of x's type">:$result);
  let assemblyFormat = "$x `,` $positions attr-dict `:` type($x) `,` type($positions)";
  let hasVerifier = 1;
}

def LLM_SiluOp : LLM_ElementwiseOp<"silu"> {
  let summary = "x · sigmoid(x), element by element";
  let description = [{
    `result = x / (1 + exp(-x))`.

    Example: `%y = llm.silu %x : tensor<?x172xf32>`
  }];
  let arguments = (ins Arg<LLM_FloatTensor, "Any shape">:$x);
  let results = (outs Res<LLM_FloatTensor, "Of x's type">:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def LLM_AddOp : LLM_ElementwiseOp<"add", [Commutative]> {
  let summary = "The sum, element by element";
  let description = [{
    `result = lhs + rhs`; the residual connections of a decoder. Nothing is
    broadcast.

    Example: `%y = llm.add %x, %r : tensor<?x64xf32>`
  }];
  let arguments = (ins Arg<LLM_FloatTensor, "Any shape">:$lhs,
                       Arg<LLM_FloatTensor, "Of lhs's type">:$rhs);
  let results = (outs Res<LLM_FloatTensor, "Of lhs's type">:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
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
}

def LLM_SelectRowsOp : LLM_InferredOp<"select_rows"> {
  let summary = "The listed rows, in the listed order";
  let description = [{
    `result[r, …] = x[rows[r], …]`. Logits are wanted for few tokens of a step;
    this op chooses them before the ops that make logits. Canonicalization moves
    it above ops that treat each row alone (rms_norm, linear, silu, add, mul),
    where their result has no other use, so that fewer rows are computed.

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

//===----------------------------------------------------------------------===//
// The paged cache
//===----------------------------------------------------------------------===//

def LLM_AppendKVOp : LLM_Op<"append_kv", [Pure, AttrSizedOperandSegments,
    AllTypesMatch<["cache", "updatedCache"]>]> {
  let summary = "Append keys and values to a paged KV cache";
  let description = [{
    The cache with the keys and values of new tokens in it. The operand `cache`
    is used up: after bufferization the write is in place.

    Ragged form (`slots`): `keys` and `values` are `[T, H, D]`; the host has
    reserved the blocks, and token t goes to slot `slotMapping[t]`, which is
    `block · blockSize + offset`. Numbers are rounded to the cache's element
    type; operands are of that type or f32.

    Batched form (`seqIds`): `keys` and `values` are `[B, tokens, H, D]`, or
    `[B, H, D]` for one token each; sequence `seqIds[b]` grows by its tokens,
    blocks are reserved as needed, and `blockIndices` receives the block of each
    token.

    The parentheses around the list of types are optional in what is parsed.

    Fails verification when
    - c1: not exactly one of `seqIds` and `slotMapping` is given, or
      `blockIndices` is not there exactly with `seqIds`;
    - c2: the rank of `keys` is not one of the form's;
    - c3: `keys` and `values` differ in type;
    - c4: the element type is not the cache's (nor, in the ragged form, f32);
    - c5: H or D is not the cache's;
    - c6: `slotMapping` does not have T entries, `seqIds` not B;
    - c7: `blockIndices` is neither `[B]`, `[B, 1]` nor `[B, tokens]`;
    - c8: `block_size` or `max_seq_len` is not the cache's;
    - c9: the ragged form has no `layer` and the cache has several layers.

    Example:
    ```mlir
    %c2 = llm.append_kv %c1, %k, %v slots(%slots) layer(%l)
        : (!cache, tensor<?x2x64xf32>, tensor<?x2x64xf32>, tensor<?xi32>) -> !cache
    %c3, %blocks = llm.append_kv %c1, %k, %v, %seq_ids {block_size = 16 : i32}
        : (!cache, tensor<2x1x2x64xf16>, tensor<2x1x2x64xf16>, tensor<2xi32>)
          -> (!cache, tensor<2x1xi32>)
    ```
  }];
  let arguments = (ins
    Arg<LLM_PagedKVCacheType, "The cache before">:$cache,
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Keys [T, H, D] or [B, tokens, H, D]">:$keys,
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Values, of the type of the keys">:$values,
    Arg<Optional<LLM_IndexVector>, "Batched form: ids of the sequences [B]">:$seqIds,
    Arg<Optional<LLM_IndexVector>, "Ragged form: where each token goes [T]">:$slotMapping,
    Arg<Optional<Index>, "Layer of the cache; absent means layer 0">:$layer,
    Arg<OptionalAttr<LLM_CountAttr>, "Tokens in a block, as in the type">:$block_size,
    Arg<OptionalAttr<LLM_CountAttr>, "Longest sequence, as in the type">:$max_seq_len);
  let results = (outs
    Res<LLM_PagedKVCacheType, "The cache after">:$updatedCache,
    Res<Optional<LLM_IndexTable>, "Batched form: block of each token">:$blockIndices);
  let assemblyFormat = [{
    $cache `,` $keys `,` $values (`,` $seqIds^)?
    (`slots` `(` $slotMapping^ `)`)? (`layer` `(` $layer^ `)`)? attr-dict `:`
    custom<AppendKVTypes>(ref($seqIds), ref($slotMapping), type($cache), type($keys),
      type($values), type($seqIds), type($slotMapping), type($updatedCache),
      type($blockIndices))
  }];
  let builders = [
    // The ragged form.
    OpBuilder<(ins "::mlir::Value":$cache, "::mlir::Value":$keys, "::mlir::Value":$values,
                   "::mlir::Value":$slotMapping, "::mlir::Value":$layer)>
  ];
  let extraClassDeclaration = [{
    /// True for the ragged form.
    bool isRagged() { return static_cast<bool>(getSlotMapping()); }
  }];
  let hasVerifier = 1;
}

def LLM_PagedAttentionOp : LLM_Op<"paged_attention", [Pure, AttrSizedOperandSegments,
    AllTypesMatch<["query", "output"]>]> {
  let summary = "Attention of queries to the keys and values in a paged cache";
  let description = [{
    `output[q, h] = Σ_p softmax_p(scale · query[q, h] · key[p, g]) · value[p, g]`
    with g = h / (query heads / cache heads) and p over the first `seqLens[s]`
    tokens of the query's sequence s. `causal` limits p: the last query of a
    sequence sees all of them, each earlier one sees one less. Entry i of row s
    of `blockIndices` is the block of tokens `i · blockSize` to
    `(i + 1) · blockSize - 1` of sequence s.

    Ragged form (`offsets`): `query` is `[T, H, D]`, `queryOffsets` `[S + 1]`
    says which rows belong to which sequence. Batched form: `query` is
    `[B, tokens, H, D]`, or `[B, H, D]` for one token each.

    `scale` absent or 0 means 1 / sqrt(D). The parentheses around the list of
    types are optional in what is parsed.

    Fails verification when
    - c1: the rank of `query` is not one of the form's;
    - c2: the query's heads are no multiple of the cache's;
    - c3: D is not the cache's;
    - c4: the sequences counted by `blockIndices`, `seqLens` and `query` (or
      `queryOffsets`) differ;
    - c5: `scale` is negative or not finite;
    - c6: `num_heads` or `head_dim` is not the query's;
    - c7: the ragged form has block indices of rank 1;
    - c8: the ragged form has no `layer` and the cache has several layers.

    Example:
    ```mlir
    %o = llm.paged_attention %q, %c2, %tables, %lens offsets(%offs) layer(%l) {scale = 0.125 : f64}
       : (tensor<?x8x64xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>)
         -> tensor<?x8x64xf32>
    %p = llm.paged_attention %q, %c2, %blocks, %lens {num_heads = 16 : i32}
       : (tensor<2x1x16x64xf16>, !cache, tensor<2x128xi32>, tensor<2xi32>)
         -> tensor<2x1x16x64xf16>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensorOfRank<[3, 4]>, "Queries [T, H, D] or [B, tokens, H, D]">:$query,
    Arg<LLM_PagedKVCacheType, "Keys and values, the new tokens' among them">:$cache,
    Arg<LLM_IndexTable, "Blocks of each sequence, one entry per block [S, blocks]">:$blockIndices,
    Arg<LLM_IndexVector, "Tokens of each sequence, the new ones included [S]">:$seqLens,
    Arg<Optional<LLM_IndexVector>, "Ragged form: first row of each sequence [S + 1]">:$queryOffsets,
    Arg<Optional<Index>, "Layer of the cache; absent means layer 0">:$layer,
    Arg<OptionalAttr<LLM_CountAttr>, "Heads of the query, as in its type">:$num_heads,
    Arg<OptionalAttr<LLM_CountAttr>, "Numbers in a head, as in the query's type">:$head_dim,
    Arg<OptionalAttr<LLM_ScaleAttr>, "Factor of the scores; absent or 0 means 1 / sqrt(D)">:$scale,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "Whether a token sees only tokens up to itself">:$causal);
  let results = (outs
    Res<LLM_FloatTensorOfRank<[3, 4]>, "One row per query, of the query's type">:$output);
  let assemblyFormat = [{
    $query `,` $cache `,` $blockIndices `,` $seqLens
    (`offsets` `(` $queryOffsets^ `)`)? (`layer` `(` $layer^ `)`)? attr-dict `:`
    custom<PagedAttentionTypes>(ref($queryOffsets), type($query), type($cache),
      type($blockIndices), type($seqLens), type($queryOffsets), type($output))
  }];
  let builders = [
    // The ragged form.
    OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$cache,
                   "::mlir::Value":$blockIndices, "::mlir::Value":$seqLens,
                   "::mlir::Value":$queryOffsets, "::mlir::Value":$layer,
                   "::mlir::FloatAttr":$scale, "bool":$causal)>
  ];
  let extraClassDeclaration = [{
    /// True for the ragged form.
    bool isRagged() { return static_cast<bool>(getQueryOffsets()); }
    /// The factor of the scores, with the default filled in.
    double getScaleOrDefault();
  }];
  let hasVerifier = 1;
}

#endif // LLM_OPS_TD

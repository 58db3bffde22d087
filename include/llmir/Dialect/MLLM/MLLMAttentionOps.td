//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions, caches and attention.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMATTENTIONOPS
#define LLMIR_DIALECT_MLLM_MLLMATTENTIONOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

// One sequence [tokens, heads, head size], or several [sequences, tokens, heads,
// head size]; with the layout "bhsd" heads come before tokens.
def MLLM_HeadsTensor : RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[3, 4]>]>;
// Rows of a pool [rows, heads, head size], which many sequences share.
def MLLM_PoolTensor : RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[3]>]>;
def MLLM_IndexList : RankedTensorOf<[I32, I64], [HasAnyRankOfPred<[1]>]>;
// A score for each head that is no token's.
def MLLM_SinkTensor : RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[1]>]>;
// Cosines or sines: [tokens, pairs], or [sequences, tokens, pairs].
def MLLM_TableTensor : RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[2, 3]>]>;

def MLLM_LayoutAttr : MLLM_WordAttr<["bshd", "bhsd"]>;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

def MLLM_PositionsOp : MLLM_LinalgOp<"positions", "0"> {
  let summary = "The position of each token in its sequence";
  let description = [{
    `result[t…, i] = past + i` for token i of each sequence, past being the number
    of tokens that the model has seen of the sequence in earlier steps.

    Fails verification when
    - c1: `ids` has rank 0;
    - c2: the result's type is not i64 with the sizes of `ids`.

    Example:

    ```mlir
    %p = mllm.linalg.positions %ids : tensor<1x?xi64>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_IndexTensor, "the tokens, of which only their number counts">:$ids
  );
  let results = (outs Res<MLLM_IndexTensor, "positions from 0, shaped as `ids`">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops() { return 0; }
  }];
  let assemblyFormat = "$ids attr-dict `:` custom<UnaryTypes>(type($ids), type($result))";
}

def MLLM_RoPEOp : MLLM_LinalgOp<"rope", "1e-10"> {
  let summary = "Rotary position embedding, halves of a head rotated together";
  let description = [{
    With n pairs, the first 2n values of each head are rotated and the rest pass
    through. For i < n and an angle a:
    `result[i]     = scaling * (x[i] * cos(a) - x[i + n] * sin(a))`,
    `result[i + n] = scaling * (x[i + n] * cos(a) + x[i] * sin(a))`.
    With `frequencies` the angle is `p * frequencies[i]` for a token at position p
    of its sequence (see `mllm.linalg.positions`); without, the cosine and sine of
    token and pair are read from tables. Scaling rules that
    change frequencies are folded into them.

    Fails verification when
    - c1: there is no frequency, or twice their number (or the pairs of the
      tables) exceeds the head size;
    - c2: a frequency is not finite;
    - c3: `scaling` is not a finite positive number;
    - c4: it has neither frequencies nor tables, or both;
    - c5: the tables differ, or do not have the tokens (and sequences) of `x`;
    - c6: the result's type is not `x`'s.

    Examples:

    ```mlir
    %r = mllm.linalg.rope %q {frequencies = array<f64: 1.0, 0.01>, scaling = 1.0 : f64} : tensor<?x4x4xf32>
    %s = mllm.linalg.rope %h by %sin, %cos {layout = "bhsd", scaling = 1.0 : f64}
        : tensor<1x4x?x4xf32> by tensor<?x2xf32>, tensor<?x2xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_HeadsTensor, "queries or keys [tokens, heads, head size]">:$x,
    Arg<Variadic<MLLM_TableTensor>, "sines and cosines, each [tokens, pairs] or [sequences, tokens, pairs]; none or both">:$tables,
    Arg<OptionalAttr<DenseF64ArrayAttr>, "radians per position, one for each rotated pair">:$frequencies,
    Arg<F64Attr, "factor of cosine and sine; 1 for most models">:$scaling,
    Arg<DefaultValuedStrAttr<MLLM_LayoutAttr, "bshd">, "whether tokens (`\"bshd\"`) or heads (`\"bhsd\"`) come first">:$layout
  );
  let results = (outs Res<MLLM_HeadsTensor, "the rotated heads, shaped as `x`">:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$x,
      "::mlir::DenseF64ArrayAttr":$frequencies, "::mlir::FloatAttr":$scaling), [{
    build($_builder, $_state, type, x, /*tables=*/::mlir::ValueRange(),
          frequencies, scaling, $_builder.getStringAttr("bshd"));
  }]>];
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
    /// The dimension that counts tokens.
    int64_t getTokenDim();
    /// Rotated pairs of a head; nullopt where a table does not say it.
    std::optional<int64_t> getNumPairs();
  }];
  let assemblyFormat = [{
    $x (`by` $tables^)? attr-dict `:` custom<UnaryTypes>(type($x), type($result))
    (`by` type($tables)^)?
  }];
  let hasVerifier = 1;
}

def MLLM_MultimodalRoPEOp : MLLM_LinalgOp<"multimodal_rope", "1e-10"> {
  let summary = "Rotary embedding by positions in several planes";
  let description = [{
    `mllm.linalg.rope` by tables that have a plane for each kind of position (time,
    height and width in Qwen2-VL). The pairs fall into sections one after another;
    those of section i read plane `i mod planes`.

    Fails verification when
    - c1: the sections are negative, or do not sum up to the pairs of the tables;
    - c2: twice the pairs exceeds the head size;
    - c3: the tables differ, or do not have the tokens of `x`;
    - c4: the result's type is not `x`'s.

    Example:

    ```mlir
    %r = mllm.linalg.multimodal_rope %q by %sin, %cos {mrope_section = array<i64: 16, 24, 24>}
        : tensor<?x12x128xf32> by tensor<3x?x64xf32>, tensor<3x?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_HeadsTensor, "queries or keys [tokens, heads, head size]">:$x,
    Arg<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[3]>]>, "sines [planes, tokens, pairs]">:$sin,
    Arg<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[3]>]>, "cosines, shaped as `sin`">:$cos,
    Arg<DenseI64ArrayAttr, "pairs of each section">:$mrope_section,
    Arg<DefaultValuedStrAttr<MLLM_LayoutAttr, "bshd">, "whether tokens (`\"bshd\"`) or heads (`\"bhsd\"`) come first">:$layout
  );
  let results = (outs Res<MLLM_HeadsTensor, "the rotated heads, shaped as `x`">:$result);
  let assemblyFormat = [{
    $x `by` $sin `,` $cos attr-dict `:` custom<UnaryTypes>(type($x), type($result))
    `by` type($sin) `,` type($cos)
  }];
}

def MLLM_VisionRoPEOp : MLLM_LinalgOp<"vision_rope", "1e-10"> {
  let summary = "Rotary embedding by a patch's place in its picture";
  let description = [{
    `mllm.linalg.rope` with half as many pairs as a head has values: by tables, or,
    with `grid = [frames, rows, columns]`, by the angles
    `row * theta^(-4i/D)` for the first half of the pairs and
    `column * theta^(-4i/D)` for the other, i counting in its half and D being the
    head size. Patches are listed block by block of `spatial_merge_size` squared
    (Qwen2-VL).

    Fails verification when
    - c1: it has neither a grid nor tables, or both;
    - c2: the grid is not three numbers above 0, or its rows and columns are not
      multiples of `spatial_merge_size`;
    - c3: the patches of the grid are not the tokens of `x`;
    - c4: the head size is not a multiple of 4, where there is a grid;
    - c5: `theta` is not a finite positive number;
    - c6: the tables differ, have more pairs than half a head, or do not have the
      tokens of `x`;
    - c7: the result's type is not `x`'s.

    Example:

    ```mlir
    %r = mllm.linalg.vision_rope %q {grid = array<i64: 1, 4, 6>} : tensor<24x2x8xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_HeadsTensor, "queries or keys [patches, heads, head size]">:$x,
    Arg<Variadic<MLLM_TableTensor>, "sines and cosines, each [patches, pairs]; none or both">:$tables,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "frames, rows and columns of patches">:$grid,
    Arg<DefaultValuedAttr<I64Attr, "2">, "side of a block of patches that are listed together">:$spatial_merge_size,
    Arg<DefaultValuedAttr<F64Attr, "1.0e4">, "base of the frequencies">:$theta
  );
  let results = (outs Res<MLLM_HeadsTensor, "the rotated heads, shaped as `x`">:$result);
  let assemblyFormat = [{
    $x (`by` $tables^)? attr-dict `:` custom<UnaryTypes>(type($x), type($result))
    (`by` type($tables)^)?
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The cache and the mask
//===----------------------------------------------------------------------===//

def MLLM_KVCacheOp : MLLM_LinalgOpBase<"kv_cache", "0", [
    MemoryEffects<[MemRead, MemWrite]>, AllElementTypesMatch<["k", "v", "keys", "values"]>]> {
  let summary = "Adds new keys and values to a layer's cache and gives all of them";
  let description = [{
    `k` and `v` follow what the layer's cache holds for the sequence and stay in
    it; `keys` and `values` are all of them, oldest first. With `q_head` each head
    is given `q_head / heads` times in a row, so that there is one for each query
    head.

    Fails verification when
    - c1: `k` and `v` differ in their number of sequences, tokens or heads;
    - c2: `keys` differs from `k`, or `values` from `v`, in sequences or head size;
    - c3: `keys` and `values` differ in their number of tokens;
    - c4: `layer` is negative;
    - c5: `q_head` is not a multiple of the heads of `k`;
    - c6: `keys` or `values` does not have as many heads as `k`, or `q_head`;
    - c7: operands and results differ in rank or device.

    Examples:

    ```mlir
    %keys, %values = mllm.linalg.kv_cache %k, %v {layer = 3 : i64}
        : (tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>)
    %all_k, %all_v = mllm.linalg.kv_cache %k1, %v1 {layer = 3 : i64, layout = "bhsd", q_head = 12 : i64}
        : (tensor<1x2x?x128xf32>, tensor<1x2x?x128xf32>) -> (tensor<1x12x?x128xf32>, tensor<1x12x?x128xf32>)
    ```
  }];
  let arguments = (ins
    Arg<MLLM_HeadsTensor, "new keys [tokens, heads, head size], rotated">:$k,
    Arg<MLLM_HeadsTensor, "new values [tokens, heads, head size]">:$v,
    Arg<I64Attr, "index of the layer whose cache it is, from 0">:$layer,
    Arg<OptionalAttr<I64Attr>, "heads of the results; as many as `k` has when absent">:$q_head,
    Arg<DefaultValuedStrAttr<MLLM_LayoutAttr, "bshd">, "whether tokens (`\"bshd\"`) or heads (`\"bhsd\"`) come first">:$layout
  );
  let results = (outs
    Res<MLLM_HeadsTensor, "all keys [past and new tokens, heads, head size]">:$keys,
    Res<MLLM_HeadsTensor, "all values [past and new tokens, heads, head size]">:$values
  );
  let builders = [OpBuilder<(ins "::mlir::Type":$keys, "::mlir::Type":$values,
      "::mlir::Value":$k, "::mlir::Value":$v, "::mlir::IntegerAttr":$layer), [{
    build($_builder, $_state, keys, values, k, v, layer, ::mlir::IntegerAttr(),
          $_builder.getStringAttr("bshd"));
  }]>];
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops() { return 0; }
    /// The dimensions that count tokens and heads.
    int64_t getTokenDim();
    int64_t getHeadDim();
  }];
  let assemblyFormat = [{
    $k `,` $v attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def MLLM_CausalMaskOp : MLLM_LinalgOp<"causal_mask", "0"> {
  let summary = "Hides the keys after a query among its scores";
  let description = [{
    Scores […, S, D] of the last S among D positions: row r keeps column c where
    `c <= D - S + r`, and with a window only where `c > D - S + r - window`; all
    others become -1e10. A row that keeps nothing is all -1e10, so that a softmax
    after it is uniform; `mllm.linalg.flash_attention2` gives zeros for such a
    row. With D >= S there is none. Masking twice is masking once: it folds.

    Fails verification when
    - c1: `x` has less than two dimensions;
    - c2: `window` is negative;
    - c3: the result's type is not `x`'s.

    Example:

    ```mlir
    %m = mllm.linalg.causal_mask %scores : tensor<1x12x?x?xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "scores […, queries, keys]">:$x,
    Arg<DefaultValuedAttr<I64Attr, "0">, "keys that a query sees, itself included; 0 = all before it">:$window
  );
  let results = (outs Res<MLLM_FloatTensor, "scores, shaped as `x`">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops() { return 0; }
  }];
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def MLLM_FlashAttention2Op : MLLM_LinalgOp<"flash_attention2", "1e-10"> {
  let summary = "Attention of the new tokens over all keys and values";
  let description = [{
    For head h of the H query heads, served by key head `g = h / (H / G)` of G:
    `result[t][h] = sum over s of softmax(scale * q[t][h] . k[s][g]) * v[s][g]`,
    the softmax taken over s. The queries belong to the last tokens among the
    keys; when `causal`, a token sees itself and those before it. A token that
    sees nothing gives zeros.

    Fails verification when
    - c1: the heads of `q` are not a multiple of those of `k`;
    - c2: `q` and `k` differ in head size;
    - c3: `k` and `v` differ in their number of tokens or of heads;
    - c4: the result is not [tokens of `q`, heads of `q`, head size of `v`];
    - c5: `scale` is not a finite positive number;
    - c6: operands differ in rank, element type, device or number of sequences.

    Example:

    ```mlir
    %y = mllm.linalg.flash_attention2 %q, %keys, %values {causal = true, scale = 0.25 : f64}
        : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_HeadsTensor, "queries [tokens, heads, head size], rotated">:$q,
    Arg<MLLM_HeadsTensor, "all keys [past and new tokens, key heads, head size]">:$k,
    Arg<MLLM_HeadsTensor, "all values [past and new tokens, key heads, value size]">:$v,
    Arg<F64Attr, "factor of the scores, usually head size ^ -0.5">:$scale,
    Arg<BoolAttr, "whether a token sees only itself and those before it">:$causal
  );
  let results = (outs
    Res<MLLM_HeadsTensor, "mixed values [tokens, heads, value size]">:$result
  );
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = [{
    $q `,` $k `,` $v attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def MLLM_FlashAttention2SwaSinkOp : MLLM_LinalgOp<"flash_attention2_swa_sink", "1e-10"> {
  let summary = "Attention over the last keys, with a score that is no key's";
  let description = [{
    Causal `mllm.linalg.flash_attention2` in which a token sees itself and the
    `sliding_window - 1` tokens before it. A sink `s_aux[h]` is a score of head h
    whose exponential stands in the softmax's denominator alone.

    Fails verification when
    - c1: the heads of `q` are not a multiple of those of `k`;
    - c2: `q` and `k` differ in head size;
    - c3: `k` and `v` differ in their number of tokens or of heads;
    - c4: the result is not [tokens of `q`, heads of `q`, head size of `v`];
    - c5: `scale` is not a finite positive number;
    - c6: operands differ in rank, element type, device or number of sequences;
    - c7: `sliding_window` is less than 1;
    - c8: `s_aux` is not [heads of `q`].

    Example:

    ```mlir
    %y = mllm.linalg.flash_attention2_swa_sink %q, %keys, %values sinks %s
        {scale = 0.25 : f64, sliding_window = 128 : i64}
        : (tensor<1x?x4x16xf32>, tensor<1x?x2x16xf32>, tensor<1x?x2x16xf32>, tensor<4xf32>) -> tensor<1x?x4x16xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_HeadsTensor, "queries [tokens, heads, head size]">:$q,
    Arg<MLLM_HeadsTensor, "all keys [tokens, key heads, head size]">:$k,
    Arg<MLLM_HeadsTensor, "all values [tokens, key heads, value size]">:$v,
    Arg<Optional<MLLM_SinkTensor>, "sinks [heads of `q`]; none when absent">:$s_aux,
    Arg<F64Attr, "factor of the scores">:$scale,
    Arg<I64Attr, "tokens that a token sees, itself included">:$sliding_window
  );
  let results = (outs
    Res<MLLM_HeadsTensor, "mixed values [tokens, heads, value size]">:$result
  );
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = [{
    $q `,` $k `,` $v (`sinks` $s_aux^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

// Attention over rows of a pool.
class MLLM_RadixAttnOp<string mnemonic, dag attributes> : MLLM_LinalgOp<mnemonic, "1e-10"> {
  dag poolArguments = (ins
    Arg<MLLM_HeadsTensor, "queries [tokens, heads, head size] or [1, tokens, heads, head size]">:$q,
    Arg<MLLM_PoolTensor, "pool of keys [rows, key heads, head size]">:$k_pool,
    Arg<MLLM_PoolTensor, "pool of values [rows, key heads, value size]">:$v_pool,
    Arg<MLLM_IndexList, "row of the pool for each key, oldest first">:$k,
    Arg<MLLM_IndexList, "row of the pool for each value, oldest first">:$v);
  let arguments = !con(poolArguments, attributes);
  let results = (outs
    Res<MLLM_HeadsTensor, "mixed values [tokens, heads, value size]">:$result
  );
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let hasVerifier = 1;
}

def MLLM_RadixAttnSwaSinkOp : MLLM_RadixAttnOp<"radix_attn_swa_sink", (ins
    Arg<Optional<MLLM_SinkTensor>, "sinks [heads of `q`]; none when absent">:$s_aux,
    Arg<F64Attr, "factor of the scores">:$scale,
    Arg<I64Attr, "tokens that a token sees, itself included">:$sliding_window,
    Arg<MLLM_WordAttr<["prefill", "decode", "append"]>,
        "which tokens are new: all (`\"prefill\"`), one (`\"decode\"`) or the last ones (`\"append\"`)">:$pattern)> {
  let summary = "Attention over rows of a pool, within a window and with sinks";
  let description = [{
    `mllm.linalg.flash_attention2_swa_sink` whose key j is row `k[j]` of `k_pool`,
    and whose value j is row `v[j]` of `v_pool`. The runtime of mllm passes
    addresses; an address has no meaning for a value of this IR, so rows of a pool
    stand for them. Rows are checked when the op is computed.

    Fails verification when
    - c1: the heads of `q` are not a multiple of those of `k_pool`;
    - c2: `q` and `k_pool` differ in head size;
    - c3: the pools differ in heads, or `k` and `v` in length;
    - c4: the result is not [tokens of `q`, heads of `q`, head size of `v_pool`];
    - c5: `scale` is not a finite positive number;
    - c6: operands differ in element type or device, or `q` has several sequences;
    - c7: `sliding_window` is less than 1;
    - c8: `s_aux` is not [heads of `q`];
    - c9: the number of tokens of `q` is not what `pattern` says.

    Example:

    ```mlir
    %y = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi]
        {pattern = "append", scale = 0.25 : f64, sliding_window = 128 : i64}
        : (tensor<?x4x16xf32>, tensor<512x2x16xf32>, tensor<512x2x16xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
    ```
  }];
  let assemblyFormat = [{
    $q `,` $k_pool `[` $k `]` `,` $v_pool `[` $v `]` (`sinks` $s_aux^)? attr-dict `:` functional-type(operands, results)
  }];
}

def MLLM_RadixAttnRelaxOp : MLLM_RadixAttnOp<"radix_attn_relax", (ins
    Arg<F64Attr, "factor of the scores">:$scale)> {
  let summary = "Attention over rows of a pool, keys and values of different sizes";
  let description = [{
    Causal `mllm.linalg.flash_attention2` whose key j is row `k[j]` of `k_pool`,
    and whose value j is row `v[j]` of `v_pool` (see
    `mllm.linalg.radix_attn_swa_sink`).

    Fails verification when
    - c1: the heads of `q` are not a multiple of those of `k_pool`;
    - c2: `q` and `k_pool` differ in head size;
    - c3: the pools differ in heads, or `k` and `v` in length;
    - c4: the result is not [tokens of `q`, heads of `q`, head size of `v_pool`];
    - c5: `scale` is not a finite positive number;
    - c6: operands differ in element type or device, or `q` has several sequences.

    Example:

    ```mlir
    %y = mllm.linalg.radix_attn_relax %q, %kp[%ki], %vp[%vi] {scale = 0.25 : f64}
        : (tensor<?x4x16xf32>, tensor<512x2x16xf32>, tensor<512x2x8xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x8xf32>
    ```
  }];
  let assemblyFormat = [{
    $q `,` $k_pool `[` $k `]` `,` $v_pool `[` $v `]` attr-dict `:` functional-type(operands, results)
  }];
}

def MLLM_PagedAttnOp : MLLM_LinalgOpBase<"paged_attn", "1e-10", [Pure]> {
  let summary = "Attention over tokens of a cache that an index lists";
  let description = [{
    Causal `mllm.linalg.flash_attention2` in which key j is token `index[j]` of `k`,
    and value j token `index[j]` of `v`. With a second result the weights of the
    softmax [sequences, heads, queries, keys] are given too.

    Fails verification when
    - c1: the heads of `q` are not a multiple of those of `k`;
    - c2: `q` and `k` differ in head size;
    - c3: `k` and `v` differ in their number of tokens or of heads;
    - c4: the result is not [sequences, tokens of `q`, heads of `q`, head size of
      `v`], or the weights are not [sequences, heads of `q`, tokens of `q`, length
      of `index`];
    - c5: `scale` is not a finite positive number;
    - c6: operands differ in rank, element type, device or number of sequences.

    Example:

    ```mlir
    %y, %w = mllm.linalg.paged_attn %q, %k, %v, %index {scale = 0.25 : f64}
        : (tensor<1x?x4x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<?xi32>) -> (tensor<1x?x4x16xf32>, tensor<1x4x?x?xf32>)
    ```
  }];
  let arguments = (ins
    Arg<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[4]>]>, "queries [sequences, tokens, heads, head size]">:$q,
    Arg<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[4]>]>, "the cache's keys [sequences, tokens, key heads, head size]">:$k,
    Arg<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[4]>]>, "the cache's values [sequences, tokens, key heads, value size]">:$v,
    Arg<MLLM_IndexList, "tokens of the cache, oldest first">:$index,
    Arg<F64Attr, "factor of the scores">:$scale
  );
  let results = (outs
    Res<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[4]>]>, "mixed values [sequences, tokens, heads, value size]">:$result,
    Res<Optional<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[4]>]>>, "the softmax's weights, where they are asked for">:$weights
  );
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $index attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMATTENTIONOPS

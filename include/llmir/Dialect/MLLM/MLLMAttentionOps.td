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

// One sequence [tokens, heads, head size], or several [sequences, tokens,
// heads, head size]; with the layout "bhsd" heads come before tokens.
def MLLM_HeadsTensor : RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[3, 4]>]>;
// Rows of a pool [rows, heads, head size] shared by sequences.
def MLLM_PoolTensor : RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[3]>]>;
def MLLM_IndexList : RankedTensorOf<[I32, I64], [HasAnyRankOfPred<[1]>]>;
// Attention sinks: one score per head without a token.
def MLLM_SinkTensor : RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[1]>]>;
// Cosines or sines: [tokens, pairs], or [sequences, tokens, pairs].
def MLLM_TableTensor : RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[2, 3]>]>;

def MLLM_LayoutAttr : MLLM_WordAttr<["bshd", "bhsd"]>;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

def MLLM_PositionsOp : MLLM_LinalgOp<"positions", "0"> {
  let summary = "Position of each token in its sequence";
  let description = [{
    `result[t…, i] = past + i` for token i of each sequence, where `past` is the
    number of tokens of the sequence that the model processed in earlier steps.

    Fails verification when
    - c1: `ids` has rank 0;
    - c2: the result is not an i64 tensor with the shape of `ids`.

    Example:

    ```mlir
    %p = mllm.linalg.positions %ids : tensor<1x?xi64>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_IndexTensor, "token ids, of which only the shape is used">:$ids
  );
  let results = (outs Res<MLLM_IndexTensor, "0-based positions, shaped as `ids`">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops() { return 0; }
  }];
  let assemblyFormat = "$ids attr-dict `:` custom<UnaryTypes>(type($ids), type($result))";
}

def MLLM_RoPEOp : MLLM_LinalgOp<"rope", "1e-10"> {
  let summary = "Rotary position embedding, pairing the halves of a head";
  let description = [{
    With n pairs, the first 2n elements of each head are rotated and the rest
    are copied. For i < n and an angle a:
    `result[i]     = scaling * (x[i] * cos(a) - x[i + n] * sin(a))`,
    `result[i + n] = scaling * (x[i + n] * cos(a) + x[i] * sin(a))`. With
    `frequencies`, the angle is `p * frequencies[i]` for a token at position p
    of its sequence (see `mllm.linalg.positions`); otherwise, cosine and sine
    per token and pair are read from tables. Frequency scaling rules are folded
    into the frequencies.

    Fails verification when
    - c1: there are no frequencies, or twice the number of frequencies (or of
      table columns) exceeds the head size;
    - c2: a frequency is not finite;
    - c3: `scaling` is not a finite positive number;
    - c4: not exactly one of frequencies and tables is given;
    - c5: the tables differ in shape, or in tokens (or sequences) from `x`;
    - c6: the result type differs from that of `x`.

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
    Arg<OptionalAttr<DenseF64ArrayAttr>, "angle per position of each rotated pair, in radians">:$frequencies,
    Arg<F64Attr, "factor of cosines and sines, usually 1">:$scaling,
    Arg<DefaultValuedStrAttr<MLLM_LayoutAttr, "bshd">, "dimension order: tokens before heads (`\"bshd\"`) or after (`\"bhsd\"`)">:$layout
  );
  let results = (outs Res<MLLM_HeadsTensor, "rotated heads, shaped as `x`">:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$x,
      "::mlir::DenseF64ArrayAttr":$frequencies, "::mlir::FloatAttr":$scaling), [{
    build($_builder, $_state, type, x, /*tables=*/::mlir::ValueRange(),
          frequencies, scaling, $_builder.getStringAttr("bshd"));
  }]>];
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
    /// The token dimension.
    int64_t getTokenDim();
    /// The number of rotated pairs per head; nullopt if dynamic in a table.
    std::optional<int64_t> getNumPairs();
  }];
  let assemblyFormat = [{
    $x (`by` $tables^)? attr-dict `:` custom<UnaryTypes>(type($x), type($result))
    (`by` type($tables)^)?
  }];
  let hasVerifier = 1;
}

def MLLM_MultimodalRoPEOp : MLLM_LinalgOp<"multimodal_rope", "1e-10"> {
  let summary = "Rotary position embedding with several position planes";
  let description = [{
    `mllm.linalg.rope` with tables that have one plane per kind of position
    (time, height and width in Qwen2-VL). The pairs are divided into consecutive
    sections; those of section i use plane `i mod planes`.

    Fails verification when
    - c1: a section is negative, or the sections do not sum to the number of
      pairs of the tables;
    - c2: twice the pairs exceeds the head size;
    - c3: the tables differ in shape, or in tokens from `x`;
    - c4: the result type differs from that of `x`.

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
    Arg<DenseI64ArrayAttr, "number of pairs of each section">:$mrope_section,
    Arg<DefaultValuedStrAttr<MLLM_LayoutAttr, "bshd">, "dimension order: tokens before heads (`\"bshd\"`) or after (`\"bhsd\"`)">:$layout
  );
  let results = (outs Res<MLLM_HeadsTensor, "rotated heads, shaped as `x`">:$result);
  let assemblyFormat = [{
    $x `by` $sin `,` $cos attr-dict `:` custom<UnaryTypes>(type($x), type($result))
    `by` type($sin) `,` type($cos)
  }];
}

def MLLM_VisionRoPEOp : MLLM_LinalgOp<"vision_rope", "1e-10"> {
  let summary = "Rotary position embedding by the 2-D position of an image patch";
  let description = [{
    `mllm.linalg.rope` with D/2 pairs for head size D: from tables, or, with
    `grid = [frames, rows, columns]`, with the angles `row * theta^(-4i/D)` for
    the first half of the pairs and `column * theta^(-4i/D)` for the second,
    where i is the index within the half. Patches are ordered in blocks of
    `spatial_merge_size` squared (Qwen2-VL).

    Fails verification when
    - c1: not exactly one of grid and tables is given;
    - c2: the grid does not have three positive elements, or its rows or columns
      are not a multiple of `spatial_merge_size`;
    - c3: the number of patches of the grid is not the number of tokens of `x`;
    - c4: a grid is given and the head size is not a multiple of 4;
    - c5: `theta` is not a finite positive number;
    - c6: the tables differ in shape, have more than D/2 pairs, or differ in
      tokens from `x`;
    - c7: the result type differs from that of `x`.

    Example:

    ```mlir
    %r = mllm.linalg.vision_rope %q {grid = array<i64: 1, 4, 6>} : tensor<24x2x8xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_HeadsTensor, "queries or keys [patches, heads, head size]">:$x,
    Arg<Variadic<MLLM_TableTensor>, "sines and cosines, each [patches, pairs]; none or both">:$tables,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "frames, rows and columns of patches">:$grid,
    Arg<DefaultValuedAttr<I64Attr, "2">, "side length of a block of patches">:$spatial_merge_size,
    Arg<DefaultValuedAttr<F64Attr, "1.0e4">, "base of the frequencies">:$theta
  );
  let results = (outs Res<MLLM_HeadsTensor, "rotated heads, shaped as `x`">:$result);
  let assemblyFormat = [{
    $x (`by` $tables^)? attr-dict `:` custom<UnaryTypes>(type($x), type($result))
    (`by` type($tables)^)?
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Cache and mask
//===----------------------------------------------------------------------===//

def MLLM_KVCacheOp : MLLM_LinalgOpBase<"kv_cache", "0", [
    MemoryEffects<[MemRead, MemWrite]>, AllElementTypesMatch<["k", "v", "keys", "values"]>]> {
  let summary = "Append keys and values to the cache of a layer and return all of them";
  let description = [{
    `k` and `v` are appended to the layer's cache of the sequence; `keys` and
    `values` are the whole contents, oldest first. With `q_head`, each KV head
    is repeated `q_head / heads` times, so that there is one per query head.
    Without tokens in `k` and `v`, the op only reads what another one has
    appended: layers can share a cache.

    Fails verification when
    - c1: `k` and `v` differ in the number of sequences, tokens or heads;
    - c2: `keys` differs from `k`, or `values` from `v`, in sequences or head
      size;
    - c3: `keys` and `values` differ in the number of tokens;
    - c4: `layer` is negative;
    - c5: `q_head` is not a multiple of the number of heads of `k`;
    - c6: the number of heads of `keys` or `values` is neither `q_head` nor,
      without it, that of `k`;
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
    Arg<I64Attr, "0-based index of the layer">:$layer,
    Arg<OptionalAttr<I64Attr>, "number of heads of the results; that of `k` if absent">:$q_head,
    Arg<DefaultValuedStrAttr<MLLM_LayoutAttr, "bshd">, "dimension order: tokens before heads (`\"bshd\"`) or after (`\"bhsd\"`)">:$layout
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
    /// The token and head dimensions.
    int64_t getTokenDim();
    int64_t getHeadDim();
  }];
  let assemblyFormat = [{
    $k `,` $v attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def MLLM_CausalMaskOp : MLLM_LinalgOp<"causal_mask", "0"> {
  let summary = "Apply a causal mask to attention scores";
  let description = [{
    For scores […, S, D] of the last S of D positions, row r keeps column c if
    `c <= D - S + r` and, with a window, `c > D - S + r - window`; all other
    elements become -1e10. A row that keeps no column is all -1e10, so that its
    softmax is uniform, whereas `mllm.linalg.flash_attention2` yields zeros;
    there is no such row if D >= S. The op is idempotent and folds accordingly.

    Fails verification when
    - c1: the rank of `x` is less than 2;
    - c2: `window` is negative;
    - c3: the result type differs from that of `x`.

    Example:

    ```mlir
    %m = mllm.linalg.causal_mask %scores : tensor<1x12x?x?xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "scores […, queries, keys]">:$x,
    Arg<DefaultValuedAttr<I64Attr, "0">, "number of keys, including its own, that a query attends to; 0: unlimited">:$window
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
  let summary = "Attention of new tokens over all keys and values";
  let description = [{
    For query head h of H, with KV head `g = h / (H / G)` of G: `result[t][h] =
    sum over s of softmax(scale * q[t][h] . k[s][g]) * v[s][g]`, with the
    softmax over s. The queries are the last tokens among the keys; if `causal`,
    a token attends only to itself and earlier tokens. A token without visible
    keys yields zeros. With `soft_cap` c, a scaled score s is replaced by
    `c * tanh(s / c)`.

    Fails verification when
    - c1: the number of heads of `q` is not a multiple of that of `k`;
    - c2: `q` and `k` differ in head size;
    - c3: `k` and `v` differ in the number of tokens or heads;
    - c4: the result is not [tokens of `q`, heads of `q`, head size of `v`];
    - c5: `scale` is not a finite positive number;
    - c6: operands differ in rank, element type, device or number of sequences;
    - c7: `soft_cap` is not a finite positive number.

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
    Arg<BoolAttr, "whether a token attends only to itself and earlier tokens">:$causal,
    Arg<OptionalAttr<F64Attr>, "limit of the scores; none if absent">:$soft_cap
  );
  let results = (outs
    Res<MLLM_HeadsTensor, "attention output [tokens, heads, value size]">:$result
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
  let summary = "Sliding-window attention with attention sinks";
  let description = [{
    `mllm.linalg.flash_attention2` in which a token attends to itself and the
    `sliding_window - 1` tokens before it, and to as many after it unless
    `causal`; to all of them if the window is 0. With `chunked`, windows are
    chunks that begin at multiples of their size: tokens do not attend to those
    of other chunks (Llama 4). A sink `s_aux[h]` is a score of head h whose
    exponential is added to the denominator of the softmax only; `soft_cap` does
    not apply to it.

    Fails verification when
    - c1: the number of heads of `q` is not a multiple of that of `k`;
    - c2: `q` and `k` differ in head size;
    - c3: `k` and `v` differ in the number of tokens or heads;
    - c4: the result is not [tokens of `q`, heads of `q`, head size of `v`];
    - c5: `scale` is not a finite positive number;
    - c6: operands differ in rank, element type, device or number of sequences;
    - c7: `sliding_window` is negative, or 0 with `chunked`;
    - c8: `s_aux` is not [heads of `q`];
    - c9: `soft_cap` is not a finite positive number.

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
    Arg<Optional<MLLM_SinkTensor>, "sinks [heads of `q`]; none if absent">:$s_aux,
    Arg<F64Attr, "factor of the scores">:$scale,
    Arg<I64Attr, "number of tokens, including itself, that a token attends to in a direction; 0: all">:$sliding_window,
    Arg<OptionalAttr<F64Attr>, "limit of the scores; none if absent">:$soft_cap,
    Arg<UnitAttr, "windows begin at multiples of their size">:$chunked,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "whether a token attends only to itself and earlier tokens">:$causal
  );
  let results = (outs
    Res<MLLM_HeadsTensor, "attention output [tokens, heads, value size]">:$result
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
    Arg<MLLM_IndexList, "pool row of each key, oldest first">:$k,
    Arg<MLLM_IndexList, "pool row of each value, oldest first">:$v);
  let arguments = !con(poolArguments, attributes);
  let results = (outs
    Res<MLLM_HeadsTensor, "attention output [tokens, heads, value size]">:$result
  );
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let hasVerifier = 1;
}

def MLLM_RadixAttnSwaSinkOp : MLLM_RadixAttnOp<"radix_attn_swa_sink", (ins
    Arg<Optional<MLLM_SinkTensor>, "sinks [heads of `q`]; none if absent">:$s_aux,
    Arg<F64Attr, "factor of the scores">:$scale,
    Arg<I64Attr, "number of tokens, including itself, that a token attends to">:$sliding_window,
    Arg<MLLM_WordAttr<["prefill", "decode", "append"]>,
        "new tokens: all (`\"prefill\"`), one (`\"decode\"`) or the last ones (`\"append\"`)">:$pattern)> {
  let summary = "Sliding-window attention over pool rows, with attention sinks";
  let description = [{
    `mllm.linalg.flash_attention2_swa_sink` in which key j is row `k[j]` of
    `k_pool` and value j is row `v[j]` of `v_pool`. The mllm runtime passes
    addresses, which this IR represents as rows of a pool. Row indices are
    checked at run time.

    Fails verification when
    - c1: the number of heads of `q` is not a multiple of that of `k_pool`;
    - c2: `q` and `k_pool` differ in head size;
    - c3: the pools differ in the number of heads, or `k` and `v` in length;
    - c4: the result is not [tokens of `q`, heads of `q`, head size of
      `v_pool`];
    - c5: `scale` is not a finite positive number;
    - c6: operands differ in element type or device, or `q` has several
      sequences;
    - c7: `sliding_window` is less than 1;
    - c8: `s_aux` is not [heads of `q`];
    - c9: `pattern` does not allow the number of tokens of `q`.

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
  let summary = "Attention over pool rows, with different key and value sizes";
  let description = [{
    Causal `mllm.linalg.flash_attention2` in which key j is row `k[j]` of
    `k_pool` and value j is row `v[j]` of `v_pool` (see
    `mllm.linalg.radix_attn_swa_sink`).

    Fails verification when
    - c1: the number of heads of `q` is not a multiple of that of `k_pool`;
    - c2: `q` and `k_pool` differ in head size;
    - c3: the pools differ in the number of heads, or `k` and `v` in length;
    - c4: the result is not [tokens of `q`, heads of `q`, head size of
      `v_pool`];
    - c5: `scale` is not a finite positive number;
    - c6: operands differ in element type or device, or `q` has several
      sequences.

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
  let summary = "Attention over indexed tokens of a cache";
  let description = [{
    Causal `mllm.linalg.flash_attention2` in which key j is token `index[j]` of
    `k`, and value j is token `index[j]` of `v`. The optional second result is
    the softmax weights [sequences, heads, queries, keys].

    Fails verification when
    - c1: the number of heads of `q` is not a multiple of that of `k`;
    - c2: `q` and `k` differ in head size;
    - c3: `k` and `v` differ in the number of tokens or heads;
    - c4: the result is not [sequences, tokens of `q`, heads of `q`, head size
      of `v`], or the weights are not [sequences, heads of `q`, tokens of `q`,
      length of `index`];
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
    Arg<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[4]>]>, "cached keys [sequences, tokens, key heads, head size]">:$k,
    Arg<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[4]>]>, "cached values [sequences, tokens, key heads, value size]">:$v,
    Arg<MLLM_IndexList, "cache token indices, oldest first">:$index,
    Arg<F64Attr, "factor of the scores">:$scale
  );
  let results = (outs
    Res<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[4]>]>, "attention output [sequences, tokens, heads, value size]">:$result,
    Res<Optional<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[4]>]>>, "softmax weights, optional">:$weights
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

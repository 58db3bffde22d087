//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that process rows independently: embeddings, norms, activations,
// rotations, and the conversion of rows for matmuls.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_ROWKERNELS
#define LLMIR_DIALECT_MLLM_KERNELS_ROWKERNELS

include "llmir/Dialect/MLLM/Kernels/KernelBase.td"

def MLLMKernel_RopeAnglesOp : MLLM_KernelOp<"rope_angles"> {
  let summary = "Cosines and sines of the step's positions";
  let description = [{
    For each token, cos(position * frequency) and sin(position * frequency) of
    each frequency, times `scaling`; computed in f64 and stored as f32. Divided
    by rows.

    Fails verification when:
    - c1: a buffer has fewer columns than there are frequencies, or is not
      padded to whole tiles.

    Example:
    ```mlir
    mllm.kernel.rope_angles outs(%cos, %sin : memref<512x16xf32>, memref<512x16xf32>)
        {frequencies = array<f64: 1.0, 0.1>}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "cosines, [tokens, frequencies]", [MemWrite]>:$cosines,
    Arg<MLLM_F32Rows, "sines, [tokens, frequencies]", [MemWrite]>:$sines,
    Arg<DenseF64ArrayAttr, "angle per position of each pair of elements">:$frequencies,
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "factor on both cosines and sines">:$scaling);
  let assemblyFormat = [{
    `outs` `(` $cosines `,` $sines `:` type($cosines) `,` type($sines) `)` attr-dict
  }];
}

def MLLMKernel_EmbeddingOp : MLLM_KernelOp<"embedding", ["getWeightNeeds"]> {
  let summary = "Looks up rows of a table by token ids or by positions";
  let description = [{
    Row i of the result is row id[i] of the table, converted to f32. The ids are
    those of the step's tokens or, with `by_position`, their positions. Divided
    by rows.

    Fails verification when:
    - c1: the format is unknown, or its rows cannot be looked up (integers with
      zero points, or rows that are not whole blocks);
    - c2: the table is smaller than the packed matrix;
    - c3: a buffer has fewer columns than `columns`, or is not padded to whole
      tiles.

    Example:
    ```mlir
    mllm.kernel.embedding weights(%table : memref<65536xi8>) outs(%x : memref<512x64xf32>)
        {format = "bf16", rows = 512, columns = 64}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_PackedWeight, "the table, packed (tiles16)", [MemRead]>:$table,
    Arg<MLLM_F32Rows, "[tokens, columns]", [MemWrite]>:$out,
    Arg<StrAttr, "storage format of the table">:$format,
    Arg<MLLM_Size, "rows of the table: the vocabulary, or the context length">:$rows,
    Arg<MLLM_Size, "elements of a row: the hidden size">:$columns,
    Arg<UnitAttr, "rows are selected by the tokens' positions instead of their ids">:$by_position);
  let assemblyFormat = [{
    `weights` `(` $table `:` type($table) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_TokenIdsOp : MLLM_KernelOp<"token_ids"> {
  let summary = "The ids or positions of the step's tokens as integers";
  let description = [{
    Element 0 of row i of the result is the id of token i or, with
    `by_position`, its position. Divided by rows.

    Fails verification when:
    - c1: the result has no column.

    Example: `mllm.kernel.token_ids outs(%y : memref<512x16xi32>) {by_position}`
  }];
  let arguments = (ins
    Arg<MLLM_I32Rows, "[tokens, 1]", [MemWrite]>:$out,
    Arg<UnitAttr, "positions, not ids">:$by_position);
  let assemblyFormat = [{
    `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_UnpackWeightOp : MLLM_KernelOp<"unpack_weight", ["getRowsOf", "getWeightNeeds"]> {
  let summary = "A weight as rows of f32";
  let description = [{
    Row i of the result is row i of the weight, converted to f32. Kernels that
    compute element by element read weights in this form; those of matrix
    products read them as they are packed. Without `format` the weight is a
    vector, which becomes one row. Divided by elements.

    Fails verification when:
    - c1: the format is unknown, or its rows cannot be looked up (integers with
      zero points, or rows that are not whole blocks), or a vector has several
      rows;
    - c2: the weight has fewer bytes than the packed matrix or vector;
    - c3: the result has fewer rows or columns than the weight, or is not in
      whole tiles.

    Example:
    ```mlir
    mllm.kernel.unpack_weight weights(%w : memref<64xf32>) outs(%y : memref<1x64xf32>)
        {rows = 1, columns = 64}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_PackedWeight, "the weight, packed (tiles16 or vector)", [MemRead]>:$weight,
    Arg<MLLM_F32Rows, "[rows, columns]", [MemWrite]>:$out,
    Arg<OptionalAttr<StrAttr>, "storage format of a matrix; absent for a vector">:$format,
    Arg<MLLM_Size, "rows of the weight; 1 for a vector">:$rows,
    Arg<MLLM_Size, "elements of a row">:$columns);
  let assemblyFormat = [{
    `weights` `(` $weight `:` type($weight) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_MeanRowsOp : MLLM_KernelOp<"mean_rows", ["getRowsOf"]> {
  let summary = "Means of the rows of each sequence";
  let description = [{
    Row i of the result is the mean of the rows of `x` from the i-th query
    offset of the step up to the next one, added in this order; zeros if there
    are none. The step has as many logits rows as sequences. Divided by rows of
    the result.

    Fails verification when:
    - c1: a buffer has fewer columns than `columns`, or is not padded to whole
      tiles.

    Example:
    ```mlir
    mllm.kernel.mean_rows ins(%x : memref<512x64xf32>) outs(%y : memref<64x64xf32>) {columns = 64}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "[tokens, columns]", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "[logits rows, columns]", [MemWrite]>:$out,
    Arg<MLLM_Size, "elements of a row">:$columns);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_SelectRowsOp : MLLM_KernelOp<"select_rows", ["getRowsOf"]> {
  let summary = "Copies the rows whose logits are requested";
  let description = [{
    Row i of the result is the row of `x` at the i-th logits row index of the
    step. Divided by rows of the result.

    Fails verification when:
    - c1: a buffer has fewer columns than `columns`, or is not padded to whole
      tiles.

    Example:
    ```mlir
    mllm.kernel.select_rows ins(%x : memref<512x64xf32>) outs(%y : memref<64x64xf32>) {columns = 64}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "[tokens, columns]", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "[logits rows, columns]", [MemWrite]>:$out,
    Arg<MLLM_Size, "elements of a row">:$columns);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_RmsNormOp : MLLM_LocalKernelOp<"rms_norm", ["getWeightNeeds"]> {
  let summary = "RMS normalization of groups of elements";
  let description = [{
    y = x / sqrt(mean(x^2) + eps) [* weight] over groups of `columns`
    adjacent elements; several groups are the heads of a row. Divided by rows;
    with several groups by columns, in whole heads.

    Fails verification when:
    - c1: a buffer has fewer columns than the groups need, or is not padded to
      whole tiles;
    - c2: the weight has fewer elements than a group.

    Example:
    ```mlir
    mllm.kernel.rms_norm weights(%w : memref<64xf32>) ins(%x : memref<512x64xf32>)
        outs(%y : memref<512x64xf32>) {columns = 64, eps = 1.0e-5}
    ```
  }];
  let arguments = (ins
    Arg<Optional<MLLM_PackedVector>, "scale of each element of a group", [MemRead]>:$weight,
    Arg<MLLM_F32Rows, "[rows, groups * columns]", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "[rows, groups * columns]; may be x", [MemWrite]>:$out,
    Arg<MLLM_Size, "elements of a group">:$columns,
    Arg<DefaultValuedAttr<MLLM_Size, "1">, "groups in a row">:$groups,
    Arg<F64Attr, "added to the mean of squares">:$eps,
    Arg<MLLM_OverAttr, "the rows that the kernel processes">:$over);
  let assemblyFormat = [{
    (`over` $over^)? (`weights` `(` $weight^ `:` type($weight) `)`)?
    `ins` `(` $x `:` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_LayerNormOp : MLLM_LocalKernelOp<"layer_norm", ["getWeightNeeds"],
    [AttrSizedOperandSegments]> {
  let summary = "Layer normalization of groups of elements";
  let description = [{
    y = (x - mean(x)) / sqrt(variance(x) + eps) [* weight] [+ bias] over groups
    of `columns` adjacent elements. Divided by rows.

    Fails verification when:
    - c1: a buffer has fewer columns than the groups need, or is not padded to
      whole tiles;
    - c2: the weight or the bias has fewer elements than a group.

    Example:
    ```mlir
    mllm.kernel.layer_norm weights(%w : memref<64xf32>) bias(%b : memref<64xf32>)
        ins(%x : memref<512x64xf32>) outs(%y : memref<512x64xf32>) {columns = 64, eps = 1.0e-5}
    ```
  }];
  let arguments = (ins
    Arg<Optional<MLLM_PackedVector>, "scale of each element of a group", [MemRead]>:$weight,
    Arg<Optional<MLLM_PackedVector>, "bias of each element of a group", [MemRead]>:$bias,
    Arg<MLLM_F32Rows, "[rows, groups * columns]", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "[rows, groups * columns]; may be x", [MemWrite]>:$out,
    Arg<MLLM_Size, "elements of a group">:$columns,
    Arg<DefaultValuedAttr<MLLM_Size, "1">, "groups in a row">:$groups,
    Arg<F64Attr, "added to the variance">:$eps,
    Arg<MLLM_OverAttr, "the rows that the kernel processes">:$over);
  let assemblyFormat = [{
    (`over` $over^)? (`weights` `(` $weight^ `:` type($weight) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    `ins` `(` $x `:` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_SoftmaxOp : MLLM_LocalKernelOp<"softmax"> {
  let summary = "Softmax of groups of elements";
  let description = [{
    y = exp(x - max(x)) / sum(exp(x - max(x))) over groups of `columns`
    adjacent elements. Divided by rows.

    Fails verification when:
    - c1: a buffer has fewer columns than the groups need, or is not padded to
      whole tiles.

    Example:
    ```mlir
    mllm.kernel.softmax ins(%x : memref<512x64xf32>) outs(%y : memref<512x64xf32>) {columns = 64}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "[rows, groups * columns]", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "[rows, groups * columns]; may be x", [MemWrite]>:$out,
    Arg<MLLM_Size, "elements of a group">:$columns,
    Arg<DefaultValuedAttr<MLLM_Size, "1">, "groups in a row">:$groups,
    Arg<MLLM_OverAttr, "the rows that the kernel processes">:$over);
  let assemblyFormat = [{
    (`over` $over^)? `ins` `(` $x `:` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_QuantizeRowsOp : MLLM_LocalKernelOp<"quantize_rows", ["getRowsOf"]> {
  let summary = "Quantizes f32 rows to int8 with a scale per group";
  let description = [{
    For every `group` adjacent elements (the last group may be shorter): scale =
    max|x| / 127 and q = roundeven(x / scale), or 0 if the scale is 0, all in
    f32. Rows are written as a `QuantizedRowLayout` of `segment` (which divides
    the group, or holds a whole row) and `padded`, as required by `linear`.
    `choices` is the number of rows per token: the places of a mixture of
    experts. With `parts`, a row consists of as many parts of `columns` elements,
    heads, each of which is written as a row. Divided by rows.

    Fails verification when:
    - c1: the segments do not divide the groups, or do not fit into `padded`
      bytes of whole words;
    - c2: a buffer has fewer columns than the kernel needs, or is not padded to
      whole tiles.

    Example:
    ```mlir
    mllm.kernel.quantize_rows ins(%x : memref<512x64xf32>) outs(%q : memref<512x32xf32>)
        {columns = 64, group = 32, segment = 32, padded = 32}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "[rows, parts * columns]", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "[rows, parts * words of a quantized row]", [MemWrite]>:$out,
    Arg<MLLM_Size, "elements of a part of a row">:$columns,
    Arg<MLLM_Size, "adjacent elements that share a scale">:$group,
    Arg<MLLM_Size, "elements whose products are accumulated as integers">:$segment,
    Arg<MLLM_Size, "bytes of a segment, padded">:$padded,
    Arg<DefaultValuedAttr<MLLM_Size, "1">, "rows per row of the row space">:$choices,
    Arg<DefaultValuedAttr<MLLM_Size, "1">, "parts of a row">:$parts,
    Arg<MLLM_OverAttr, "the rows that the kernel processes">:$over);
  let assemblyFormat = [{
    (`over` $over^)? `ins` `(` $x `:` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_RoundRowsOp : MLLM_LocalKernelOp<"round_rows"> {
  let summary = "Rounds f32 rows to bf16";
  let description = [{
    Rounds each element to nearest even. The result has 4-byte words of two
    adjacent elements, the first one in the low half, padded with zeros; as
    required by `linear` for bf16 weights. Divided by rows.

    Fails verification when:
    - c1: a buffer has fewer columns than the kernel needs, or is not padded to
      whole tiles.

    Example:
    ```mlir
    mllm.kernel.round_rows ins(%x : memref<512x64xf32>) outs(%y : memref<512x32xf32>) {columns = 64}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "[rows, columns]", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "[rows, words of two elements]", [MemWrite]>:$out,
    Arg<MLLM_Size, "elements of a row">:$columns,
    Arg<MLLM_OverAttr, "the rows that the kernel processes">:$over);
  let assemblyFormat = [{
    (`over` $over^)? `ins` `(` $x `:` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    /// Number of words of a rounded row.
    static int64_t words(int64_t columns) { return (columns + 1) / 2; }
  }];
}

def MLLMKernel_ElementwiseOp : MLLM_KernelOp<"elementwise", ["getDivisionOf"],
    [IsolatedFromAbove]> {
  let summary = "Applies a scalar region to each element";
  let description = [{
    The region takes the element of each input and yields that of the result.
    Divided by columns, in units of `grain` tiles.

    Fails verification when:
    - c1: a buffer has fewer columns than `columns`, or is not padded to whole
      tiles;
    - c2: the region does not take one f32 per input, does not end in a
      `mllm.program.yield` of f32, or contains an op that is not a speculatable
      scalar computation.

    Example:
    ```mlir
    mllm.kernel.elementwise ins(%a, %b : memref<512x64xf32>, memref<512x64xf32>)
        outs(%y : memref<512x64xf32>) {columns = 64} apply {
    ^bb0(%x0: f32, %x1: f32):
      %sum = arith.addf %x0, %x1 : f32
      mllm.program.yield %sum : f32
    }
    ```
  }];
  let arguments = (ins
    Arg<Variadic<MLLM_F32Rows>, "[rows, columns] each", [MemRead]>:$inputs,
    Arg<MLLM_F32Rows, "[rows, columns]; may be an input", [MemWrite]>:$out,
    Arg<MLLM_Size, "elements of a row">:$columns,
    Arg<DefaultValuedAttr<MLLM_Size, "1">, "unit of the work division, in column tiles">:$grain,
    Arg<MLLM_OverAttr, "the rows that the kernel processes">:$over);
  let regions = (region SizedRegion<1>:$body);
  // The region is checked after its ops are verified.
  let hasRegionVerifier = 1;
  let assemblyFormat = [{
    (`over` $over^)? (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $out `:` type($out) `)` attr-dict `apply` $body
  }];
}

def MLLMKernel_RopeOp : MLLM_LocalKernelOp<"rope"> {
  let summary = "Rotates pairs of elements of each head";
  let description = [{
    The first `rotary_dim` elements of each head, in pairs (i, i + rotary_dim /
    2) or, `interleaved`, (2i, 2i + 1), are rotated by the angle of their pair.
    Other elements are copied. Divided by columns, in whole heads.

    Fails verification when:
    - c1: `rotary_dim` is odd or greater than `head_dim`;
    - c2: a buffer has fewer columns than the kernel needs, or is not padded to
      whole tiles.

    Example:
    ```mlir
    mllm.kernel.rope ins(%cos, %sin, %x : memref<512x16xf32>, memref<512x16xf32>, memref<512x64xf32>)
        outs(%y : memref<512x64xf32>) {heads = 4, head_dim = 16, rotary_dim = 16}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "cosines, [tokens, rotary_dim / 2]", [MemRead]>:$cosines,
    Arg<MLLM_F32Rows, "sines, [tokens, rotary_dim / 2]", [MemRead]>:$sines,
    Arg<MLLM_F32Rows, "[tokens, heads * head_dim]", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "[tokens, heads * head_dim]; may be x", [MemWrite]>:$out,
    Arg<MLLM_Size, "heads in a row">:$heads,
    Arg<MLLM_Size, "elements of a head">:$head_dim,
    Arg<MLLM_Size, "elements of a head that are rotated">:$rotary_dim,
    Arg<UnitAttr, "pairs are adjacent elements instead of elements of two halves">:$interleaved);
  let assemblyFormat = [{
    `ins` `(` $cosines `,` $sines `,` $x `:` type($cosines) `,` type($sines) `,` type($x) `)`
    `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

#endif // LLMIR_DIALECT_MLLM_KERNELS_ROWKERNELS

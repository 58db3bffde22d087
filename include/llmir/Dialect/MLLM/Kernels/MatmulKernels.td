//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrix multiplication kernels.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_MATMULKERNELS
#define LLMIR_DIALECT_MLLM_KERNELS_MATMULKERNELS

include "llmir/Dialect/MLLM/Kernels/KernelBase.td"

def MLLMKernel_LinearOp : MLLM_KernelOp<"linear",
    ["getWeightNeeds", "getDivisionOf"],
    [AttrSizedOperandSegments, IsolatedFromAbove]> {
  let summary = "Multiplies rows by a packed matrix";
  let description = [{
    y = x W^T [+ bias]. The region, if any, is applied to each element: it takes
    the element of the product and of each further input, and yields the element
    of the result. Each element is one chain of f32 additions over ascending K.

    The storage of the rows of `x` depends on the format: words of bf16
    (`round_rows`) for bf16 weights, f32 for other plain formats; for integers
    f32 or, with `segment`, int8 with scales (`quantize_rows`). Divided by
    columns of the result, in units of `grain` tiles.

    Fails verification when:
    - c1: the format is unknown or a GGUF block format, whose packed form has a
      different name;
    - c2: there are segments, but the weights are not integers of at most 8
      bits, or the segments do not divide their groups into whole lines, or an
      i32 cannot hold the sum of a segment;
    - c3: a weight has fewer bytes than the kernel reads;
    - c4: a buffer has fewer columns than the kernel needs, or is not padded to
      whole tiles;
    - c5: the region does not take one f32 for the product and for each further
      input, does not end with an `mllm.program.yield` of f32, or contains an op
      that is not a speculatable scalar computation; or there are further inputs
      without a region.

    Example:
    ```mlir
    mllm.kernel.linear weights(%w : memref<22528xi8>) ins(%x : memref<512x32xf32>)
        outs(%y : memref<512x176xf32>) {format = "bf16", rows = 172, columns = 64}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_PackedWeight, "the matrix [rows, columns], packed (tiles16)", [MemRead]>:$weight,
    Arg<Optional<MLLM_PackedVector>, "added to each row of the product", [MemRead]>:$bias,
    Arg<MLLM_F32Rows, "[tokens or logits rows, columns], stored as the format requires", [MemRead]>:$x,
    Arg<Variadic<MLLM_F32Rows>, "further inputs of the region, [.., rows] each", [MemRead]>:$inputs,
    Arg<MLLM_F32Rows, "[tokens or logits rows, rows]", [MemWrite]>:$out,
    Arg<StrAttr, "storage format of the packed weights">:$format,
    Arg<MLLM_Size, "rows of the matrix (N)">:$rows,
    Arg<MLLM_Size, "columns of the matrix (K)">:$columns,
    Arg<OptionalAttr<MLLM_Size>, "elements of x whose products are accumulated as integers">:$segment,
    Arg<DefaultValuedAttr<MLLM_Size, "1">, "unit of the work division, in column tiles of the result">:$grain,
    Arg<MLLM_OverAttr, "the rows that the kernel processes">:$over);
  let regions = (region MaxSizedRegion<1>:$body);
  // The region is checked after its ops are verified.
  let hasRegionVerifier = 1;
  let assemblyFormat = [{
    (`over` $over^)? `weights` `(` $weight `:` type($weight) `)` (`bias` `(` $bias^ `:` type($bias) `)`)?
    `ins` `(` $x `:` type($x) `)` (`with` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $out `:` type($out) `)` attr-dict (`apply` $body^)?
  }];
}

def MLLMKernel_HeadLinearOp : MLLM_KernelOp<"head_linear",
    ["getWeightNeeds", "getDivisionOf"]> {
  let summary = "Multiplies the heads of rows by packed matrices";
  let description = [{
    y_h = x_h W_h^T for each head h. The heads of a row of `out` follow each
    other, and so do those of `x`, where each head is stored as a row of `linear`
    with the same format and segment. Divided by columns of the result.

    Fails verification when:
    - c1: the format is unknown or a GGUF block format, whose packed form has a
      different name;
    - c2: there are segments, but the weights are not integers of at most 8
      bits, or the segments do not divide their groups into whole lines, or an
      i32 cannot hold the sum of a segment;
    - c3: the rows or columns of a matrix are not a multiple of 16;
    - c4: the weight has fewer bytes than the kernel reads, or its size
      overflows;
    - c5: a buffer has fewer columns than the kernel needs, or is not padded to
      whole tiles.

    Example:
    ```mlir
    mllm.kernel.head_linear weights(%w : memref<16384xi8>) ins(%x : memref<512x128xf32>)
        outs(%y : memref<512x64xf32>) {format = "bf16", heads = 4, rows = 16, columns = 64}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_PackedWeight, "the matrices [heads, rows, columns], packed (tiles16), in sequence", [MemRead]>:$weight,
    Arg<MLLM_F32Rows, "[tokens, heads * columns], stored as the format requires", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "[tokens, heads * rows]", [MemWrite]>:$out,
    Arg<StrAttr, "storage format of the packed weights">:$format,
    Arg<MLLM_Size, "number of heads">:$heads,
    Arg<MLLM_Size, "rows of a matrix (N)">:$rows,
    Arg<MLLM_Size, "columns of a matrix (K)">:$columns,
    Arg<OptionalAttr<MLLM_Size>, "elements of x whose products are accumulated as integers">:$segment,
    Arg<MLLM_OverAttr, "the rows that the kernel processes">:$over);
  let assemblyFormat = [{
    (`over` $over^)? `weights` `(` $weight `:` type($weight) `)` `ins` `(` $x `:` type($x) `)`
    `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_PackIntegersOp : MLLM_KernelOp<"pack_integers"> {
  let summary = "Packs a computed matrix of integers as a weight";
  let description = [{
    Packs integers that the program holds as f32 elements (as `quantize` writes
    them): a matrix [rows, columns] whose element (n, k) is element
    n * row_stride + k * column_stride of a tensor in rows of `tensor_columns`,
    with the scale (and zero point) of row n and group g at
    n / scale_rows * scale_row_stride + g * scale_group_stride of a grid in rows
    of `grid_columns`. The result has 16 words per row, in the layout of the
    weights of `linear`. Divided by elements.

    Fails verification when:
    - c1: the format is unknown, has scales other than f32, minima, or lines of
      high bits;
    - c2: there are zero points although the format has none, or vice versa;
    - c3: an element or a scale is outside of its buffer, or a buffer is not
      padded to whole tiles.

    Example:
    ```mlir
    mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>)
        outs(%w : memref<128x16xf32>)
        {format = "int4:g32:f32", rows = 64, columns = 64, tensor_columns = 64, row_stride = 64,
         column_stride = 1, grid_columns = 2, scale_row_stride = 2, scale_group_stride = 1}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "the integers, as f32 elements", [MemRead]>:$q,
    Arg<MLLM_F32Rows, "the scales", [MemRead]>:$scales,
    Arg<Optional<MLLM_F32Rows>, "the zero points", [MemRead]>:$zero_points,
    Arg<MLLM_F32Rows, "the packed bytes, 16 words per row", [MemWrite]>:$out,
    Arg<StrAttr, "packed format, a name of IntegerFormat">:$format,
    Arg<MLLM_Size, "rows of the matrix">:$rows,
    Arg<MLLM_Size, "columns of the matrix">:$columns,
    Arg<MLLM_Size, "elements in a row of the tensor's buffer, without padding">:$tensor_columns,
    Arg<I64Attr, "stride of the rows of the matrix, in elements">:$row_stride,
    Arg<I64Attr, "stride of the columns of the matrix, in elements">:$column_stride,
    Arg<MLLM_Size, "elements in a row of the grid's buffer, without padding">:$grid_columns,
    Arg<I64Attr, "stride of the rows of scales">:$scale_row_stride,
    Arg<I64Attr, "stride of the groups of a row">:$scale_group_stride,
    Arg<DefaultValuedAttr<MLLM_Size, "1">, "number of rows of the matrix that share scales">:$scale_rows);
  let assemblyFormat = [{
    `ins` `(` $q `,` $scales `:` type($q) `,` type($scales) `)`
    (`zero_points` `(` $zero_points^ `:` type($zero_points) `)`)?
    `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

#endif // LLMIR_DIALECT_MLLM_KERNELS_MATMULKERNELS

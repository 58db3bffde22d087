//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels over loop nests: copies, general loops, gathers,
// scatters and sorts. Affine maps select the (row, column) of a buffer's
// element at a point of the nest.
//
// The sizes of a nest are constants, and its work is divided by elements. With
// `over`, the first loop runs over the rows of the step instead: as many as the
// step has, at most the size of the loop. Point i of that loop then writes row i
// of the result, and work is divided by rows.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_NESTKERNELS
#define LLMIR_DIALECT_MLLM_KERNELS_NESTKERNELS

include "llmir/Dialect/MLLM/Kernels/KernelBase.td"

def MLLMKernel_CopyBoxOp : MLLM_KernelOp<"copy_box", ["getRowsOf", "getDivisionOf"]> {
  let summary = "Copies a box of elements from one tensor to another";
  let description = [{
    Both buffers are addressed as flat sequences of elements in rows of
    `from_columns` and `to_columns`, without padding. Copies element from +
    sum(i_d * from_strides_d) to element to + sum(i_d * to_strides_d) for each
    index i of the box. A reshape is a box of one dimension; slices,
    concatenations and transpositions are boxes of several. Divided by
    elements; by rows with `over`.

    Fails verification when:
    - c1: the box does not have 1 to 8 dimensions with a stride each, or has
      more than 2^40 elements;
    - c2: an element is outside of its buffer;
    - c3: the element types differ, a buffer has fewer columns than the kernel
      needs, or an f32 buffer is not padded to whole tiles;
    - c4: the box is over rows of the step, and its first dimension does not go
      from row to row of both buffers.

    Example:
    ```mlir
    mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>)
        {sizes = array<i64: 32>, from_columns = 8, from_strides = array<i64: 1>,
         to_columns = 4, to_strides = array<i64: 1>}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_AnyRows, "the source", [MemRead]>:$x,
    Arg<MLLM_AnyRows, "the destination", [MemWrite]>:$out,
    Arg<MLLM_Sizes, "sizes of the box">:$sizes,
    Arg<MLLM_Size, "elements in a row of x, without padding">:$from_columns,
    Arg<DefaultValuedAttr<I64Attr, "0">, "first element in x">:$from,
    Arg<DenseI64ArrayAttr, "strides in x, in elements">:$from_strides,
    Arg<MLLM_Size, "elements in a row of the result, without padding">:$to_columns,
    Arg<DefaultValuedAttr<I64Attr, "0">, "first element in the result">:$to,
    Arg<DenseI64ArrayAttr, "strides in the result, in elements">:$to_strides,
    Arg<MLLM_NestRowsAttr, "the rows of the step that the first loop runs over; absent if its size is fixed">:$over);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_LoopsOp : MLLM_KernelOp<"loops", ["getRowsOf", "getDivisionOf"], [IsolatedFromAbove]> {
  let summary = "Executes a scalar region at each point of a loop nest";
  let description = [{
    Loop d iterates from 0 to sizes[d]. The first `parallel` loops are parallel;
    the others are reductions, in ascending order, with the last loop innermost.
    `maps` holds for each buffer the (row, column) of a point's element; those
    of the initial value and the result depend on parallel loops only. The
    region takes the index of each loop and the element of each input, followed,
    if there are reductions, by the accumulator, which is initialized with the
    element of the last input; it yields the element of the result. Integers are
    divided by constants other than 0 and -1, or unsigned by a value that is at
    least 1. Rows of the result are zero after `columns`. Divided by
    elements; by rows with `over`.

    Fails verification when:
    - c1: there are more than 16 loops or 2^40 points, or more parallel loops than
      loops;
    - c2: the number of maps is not that of the buffers, or a map contains other
      expressions than sums, multiples, quotients and remainders of non-negative
      values, or exceeds its buffer;
    - c3: the map of the result or of the initial value depends on a reduction
      loop;
    - c4: the region does not take the indices and elements and yield an element
      of the result, or contains an op that is not a speculatable scalar
      computation;
    - c5: `columns` is not the width of the result without padding, or an f32
      buffer is not padded to whole tiles;
    - c6: the nest is over rows of the step, and its first loop does not write row
      i of the result at point i, or is a reduction.

    Example:
    ```mlir
    mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%y : memref<4x16xf32>)
        {sizes = array<i64: 4, 8>, parallel = 2, columns = 8,
         maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
    ^bb0(%i: index, %j: index, %a: f32):
      %twice = arith.addf %a, %a : f32
      mllm.program.yield %twice : f32
    }
    ```
  }];
  let arguments = (ins
    Arg<Variadic<MLLM_AnyRows>, "inputs, then the initial value if there are reductions", [MemRead]>:$inputs,
    Arg<MLLM_AnyRows, "the result", [MemWrite]>:$out,
    Arg<MLLM_Sizes, "sizes of the loops">:$sizes,
    Arg<I64Attr, "number of leading parallel loops">:$parallel,
    Arg<AffineMapArrayAttr, "row and column of a point's element, per buffer">:$maps,
    Arg<MLLM_Size, "elements in a row of the result, without padding">:$columns,
    Arg<MLLM_NestRowsAttr, "the rows of the step that the first loop runs over; absent if its size is fixed">:$over);
  let regions = (region SizedRegion<1>:$body);
  // The region is checked after its ops are verified.
  let hasRegionVerifier = 1;
  let assemblyFormat = [{
    (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $out `:` type($out) `)` attr-dict `apply` $body
  }];
}

def MLLMKernel_GatherOp : MLLM_KernelOp<"gather", ["getRowsOf", "getDivisionOf"]> {
  let summary = "Gathers elements at indices from a buffer";
  let description = [{
    out[p] = x[p, i[p]] over the points p of a loop nest, where i is an index in
    [0, bound): negative indices count from the end, and those out of range are
    clamped. `maps` holds the (row, column) of the index and the result as
    functions of the loops, and that of x as a function of the loops and of the
    index, which is its symbol. Divided by
    elements; by rows with `over`.

    Fails verification when:
    - c1: the index is not i32 or i64, the types of the buffers differ, or there
      is not one map for each of the three, of which only that of x has a
      symbol;
    - c2: there are more than 16 loops or 2^40 points, or a map contains other
      expressions than sums, multiples, quotients and remainders of non-negative
      values, or exceeds its buffer;
    - c3: `columns` is not the width of the result without padding, or an f32
      buffer is not padded to whole tiles;
    - c4: the nest is over rows of the step, and its first loop does not write row
      i of the result at point i.

    Example:
    ```mlir
    mllm.kernel.gather ins(%i, %x : memref<1x16xi32>, memref<8x16xf32>) outs(%y : memref<4x16xf32>)
        {sizes = array<i64: 4, 16>, bound = 8, columns = 16,
         maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1)[s0] -> (s0, d1)>,
                 affine_map<(d0, d1) -> (d0, d1)>]}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_IndexRows, "the indices", [MemRead]>:$indices,
    Arg<MLLM_AnyRows, "the source", [MemRead]>:$x,
    Arg<MLLM_AnyRows, "the result", [MemWrite]>:$out,
    Arg<MLLM_Sizes, "sizes of the loops">:$sizes,
    Arg<MLLM_Size, "number of indices">:$bound,
    Arg<AffineMapArrayAttr, "row and column of a point's element, per buffer">:$maps,
    Arg<MLLM_Size, "elements in a row of the result, without padding">:$columns,
    Arg<MLLM_NestRowsAttr, "the rows of the step that the first loop runs over; absent if its size is fixed">:$over);
  let assemblyFormat = [{
    `ins` `(` $indices `,` $x `:` type($indices) `,` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_ScatterOp : MLLM_KernelOp<"scatter", ["getRowsOf", "getDivisionOf"]> {
  let summary = "Scatters elements to indices from a buffer";
  let description = [{
    out[p, i[p]] = x[p] at the points p in ascending order, with the last loop
    innermost: if several points write an element, the last one determines its
    value. Indices are as in `gather`, but depend on the first `indexed` loops
    only, and points with indices out of range are skipped. Other elements keep
    their values. Divided by
    elements; by rows with `over`.

    Fails verification when:
    - c1: the index is not i32 or i64, the types of the buffers differ, or there
      is not one map for each of the three, of which only that of the result has
      a symbol;
    - c2: there are more than 16 loops or 2^40 points, or a map contains other
      expressions than sums, multiples, quotients and remainders of non-negative
      values, or exceeds its buffer;
    - c3: the map of the index depends on other loops than the first `indexed`;
    - c4: an f32 buffer is not padded to whole tiles;
    - c5: the nest is over rows of the step, and its first loop does not write to
      row i of the result at point i.

    Example:
    ```mlir
    mllm.kernel.scatter ins(%i, %x : memref<1x16xi32>, memref<4x16xf32>) outs(%y : memref<8x16xf32>)
        {sizes = array<i64: 4, 16>, indexed = 1, bound = 8,
         maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1) -> (d0, d1)>,
                 affine_map<(d0, d1)[s0] -> (s0, d1)>]}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_IndexRows, "the indices", [MemRead]>:$indices,
    Arg<MLLM_AnyRows, "the source", [MemRead]>:$x,
    Arg<MLLM_AnyRows, "the destination; other elements keep their values", [MemRead, MemWrite]>:$out,
    Arg<MLLM_Sizes, "sizes of the loops">:$sizes,
    Arg<I64Attr, "number of leading loops on which the index depends">:$indexed,
    Arg<MLLM_Size, "number of indices">:$bound,
    Arg<AffineMapArrayAttr, "row and column of a point's element, per buffer">:$maps,
    Arg<MLLM_NestRowsAttr, "the rows of the step that the first loop runs over; absent if its size is fixed">:$over);
  let assemblyFormat = [{
    `ins` `(` $indices `,` $x `:` type($indices) `,` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_SortOp : MLLM_KernelOp<"sort", ["getRowsOf", "getDivisionOf"]> {
  let summary = "Sorts rows; the first elements in order and their indices";
  let description = [{
    The first `count` elements of each row in ascending or descending order, and
    their indices in the row. The sort is stable; NaN is greater than all other
    values. Divided by
    elements; by rows with `over`.

    Fails verification when:
    - c1: `count` is greater than `columns`;
    - c2: the types of the elements and the values differ;
    - c3: a buffer has fewer rows or columns than the kernel needs, or an f32
      buffer is not padded to whole tiles.

    Example:
    ```mlir
    mllm.kernel.sort ins(%x : memref<4x32xf32>) outs(%v, %i : memref<4x16xf32>, memref<4x16xi32>)
        scratch(%a, %b : memref<4x32xi32>, memref<4x32xi32>) {rows = 4, columns = 32, count = 8, descending}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_AnyRows, "[rows, columns]", [MemRead]>:$x,
    Arg<MLLM_AnyRows, "the elements in order, [rows, count]", [MemWrite]>:$values,
    Arg<MLLM_I32Rows, "their indices, [rows, count]", [MemWrite]>:$indices,
    Arg<MLLM_I32Rows, "scratch memory, [rows, columns]", [MemWrite]>:$scratch0,
    Arg<MLLM_I32Rows, "scratch memory, [rows, columns]", [MemWrite]>:$scratch1,
    Arg<MLLM_Size, "number of rows">:$rows,
    Arg<MLLM_Size, "elements of a row">:$columns,
    Arg<MLLM_Size, "elements of a sorted row">:$count,
    Arg<UnitAttr, "greatest first">:$descending,
    Arg<MLLM_NestRowsAttr, "the rows of the step that are sorted, at most `rows`; absent if their number is fixed">:$over);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $values `,` $indices `:` type($values) `,` type($indices) `)`
    `scratch` `(` $scratch0 `,` $scratch1 `:` type($scratch0) `,` type($scratch1) `)` attr-dict
  }];
}

#endif // LLMIR_DIALECT_MLLM_KERNELS_NESTKERNELS

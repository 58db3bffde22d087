//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels over loop nests of fixed size: copies, general loops, gathers,
// scatters and sorts. Their maps give the (row, column) of a buffer's element
// at a point of the nest.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_NESTKERNELS
#define LLMIR_DIALECT_MLLM_KERNELS_NESTKERNELS

include "llmir/Dialect/MLLM/Kernels/KernelBase.td"

def MLLMKernel_CopyBoxOp : MLLM_KernelOp<"copy_box"> {
  let summary = "Copies a box of elements from one tensor to another";
  let description = [{
    Both buffers are seen as flat sequences of elements in rows of
    `from_columns` and `to_columns`, without padding. Element i of the box goes
    from from + sum(i_d * from_strides_d) to to + sum(i_d * to_strides_d). So a
    reshape is a box of one dimension; a slice, a concatenation and a
    transposition are boxes of several. Divided by elements.

    Fails verification when:
    - c1: the box does not have 1 to 8 dimensions with strides each, or has more
      than 2^40 elements;
    - c2: an element lies outside its buffer;
    - c3: the buffers hold different types, a buffer has fewer columns than the
      kernel needs, or a buffer of f32 is not in whole tiles.

    Example:
    ```mlir
    mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>)
        {sizes = array<i64: 32>, from_columns = 8, from_strides = array<i64: 1>,
         to_columns = 4, to_strides = array<i64: 1>}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_AnyRows, "the buffer that is read", [MemRead]>:$x,
    Arg<MLLM_AnyRows, "the buffer that is written", [MemWrite]>:$out,
    Arg<MLLM_Sizes, "sizes of the box">:$sizes,
    Arg<MLLM_Size, "elements in a row of x, without padding">:$from_columns,
    Arg<DefaultValuedAttr<I64Attr, "0">, "first element in x">:$from,
    Arg<DenseI64ArrayAttr, "elements of x from one point to the next, per dimension">:$from_strides,
    Arg<MLLM_Size, "elements in a row of the result, without padding">:$to_columns,
    Arg<DefaultValuedAttr<I64Attr, "0">, "first element in the result">:$to,
    Arg<DenseI64ArrayAttr, "elements of the result from one point to the next, per dimension">:$to_strides);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_LoopsOp : MLLM_KernelOp<"loops", [], [IsolatedFromAbove]> {
  let summary = "A scalar region at each point of a loop nest";
  let description = [{
    Loop d runs from 0 to sizes[d]. The first `parallel` loops write an element
    each; the others reduce, in ascending order, the last loop fastest. `maps`
    gives for each buffer the (row, column) of a point's element; those of the
    initial value and the result depend on parallel loops only. The region takes
    the index of each loop and the element of each input, then, where loops
    reduce, what has been reduced so far, which begins with the element of the
    last input; it yields the element of the result. Integers are divided by
    constants other than 0 and -1, or unsigned by a value that is at least 1.
    Rows of the result are zero after `columns`. Divided by elements.

    Fails verification when:
    - c1: there are more than 16 loops or 2^40 points, or more parallel loops than
      loops;
    - c2: there is not one map per buffer, or a map is not made of sums,
      multiples, quotients and remainders of non-negative values, or leaves its
      buffer;
    - c3: the map of the result or of the initial value depends on a loop that
      reduces;
    - c4: the region does not take the indices and elements and yield an element
      of the result, or holds an op that is not a scalar computation that always
      has a result;
    - c5: `columns` is not the width of the result without its padding, or a
      buffer of f32 is not in whole tiles.

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
    Arg<Variadic<MLLM_AnyRows>, "inputs, then the initial value where loops reduce", [MemRead]>:$inputs,
    Arg<MLLM_AnyRows, "the result", [MemWrite]>:$out,
    Arg<MLLM_Sizes, "sizes of the loops">:$sizes,
    Arg<I64Attr, "how many of the first loops write an element each">:$parallel,
    Arg<AffineMapArrayAttr, "row and column of a point's element, per buffer">:$maps,
    Arg<MLLM_Size, "elements in a row of the result, without padding">:$columns);
  let regions = (region SizedRegion<1>:$body);
  // What the ops of the region are is known once they are verified.
  let hasRegionVerifier = 1;
  let assemblyFormat = [{
    (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $out `:` type($out) `)` attr-dict `apply` $body
  }];
}

def MLLMKernel_GatherOp : MLLM_KernelOp<"gather"> {
  let summary = "Elements at indices that a buffer holds";
  let description = [{
    out[p] = x[p, i[p]] over the points p of a loop nest, where i is an index
    from 0 to `bound`: a negative index counts from the end, and one outside
    selects the element at that end. `maps` gives the (row, column) of the index
    and the result as functions of the loops, and that of x as one of the loops
    and, its symbol, the index. Divided by elements.

    Fails verification when:
    - c1: there is not an index of i32 or i64 and two buffers of one type, with a
      map each, of which only that of x has a symbol;
    - c2: there are more than 16 loops or 2^40 points, or a map is not made of
      sums, multiples, quotients and remainders of non-negative values, or leaves
      its buffer;
    - c3: `columns` is not the width of the result without its padding, or a
      buffer of f32 is not in whole tiles.

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
    Arg<MLLM_AnyRows, "what is gathered from", [MemRead]>:$x,
    Arg<MLLM_AnyRows, "the result", [MemWrite]>:$out,
    Arg<MLLM_Sizes, "sizes of the loops">:$sizes,
    Arg<MLLM_Size, "number of indices">:$bound,
    Arg<AffineMapArrayAttr, "row and column of a point's element, per buffer">:$maps,
    Arg<MLLM_Size, "elements in a row of the result, without padding">:$columns);
  let assemblyFormat = [{
    `ins` `(` $indices `,` $x `:` type($indices) `,` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_ScatterOp : MLLM_KernelOp<"scatter"> {
  let summary = "Writes elements at indices that a buffer holds";
  let description = [{
    out[p, i[p]] = x[p] at the points p in ascending order, the last loop
    fastest: of several writers of an element the last one counts. The index is
    that of `gather`, depends on the first `indexed` loops only, and writes
    nothing where it lies outside. Elements that no point names keep their
    values. Divided by elements.

    Fails verification when:
    - c1: there is not an index of i32 or i64 and two buffers of one type, with a
      map each, of which only that of the result has a symbol;
    - c2: there are more than 16 loops or 2^40 points, or a map is not made of
      sums, multiples, quotients and remainders of non-negative values, or leaves
      its buffer;
    - c3: the map of the index depends on other loops than the first `indexed`;
    - c4: a buffer of f32 is not in whole tiles.

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
    Arg<MLLM_AnyRows, "what is written", [MemRead]>:$x,
    Arg<MLLM_AnyRows, "the result, which keeps its other elements", [MemRead, MemWrite]>:$out,
    Arg<MLLM_Sizes, "sizes of the loops">:$sizes,
    Arg<I64Attr, "how many of the first loops the index depends on">:$indexed,
    Arg<MLLM_Size, "number of indices">:$bound,
    Arg<AffineMapArrayAttr, "row and column of a point's element, per buffer">:$maps);
  let assemblyFormat = [{
    `ins` `(` $indices `,` $x `:` type($indices) `,` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_SortOp : MLLM_KernelOp<"sort"> {
  let summary = "The first elements of each row in order, and their indices";
  let description = [{
    The first `count` elements of each row in ascending or descending order, and
    where in the row they are; equal ones in the order of the row, NaN as greater
    than all others. Divided by elements.

    Fails verification when:
    - c1: `count` is greater than `columns`;
    - c2: the elements and the values are of different types;
    - c3: a buffer has fewer rows or columns than the kernel needs, or a buffer of
      f32 is not in whole tiles.

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
    Arg<MLLM_Size, "rows that are sorted">:$rows,
    Arg<MLLM_Size, "elements of a row">:$columns,
    Arg<MLLM_Size, "elements of a sorted row">:$count,
    Arg<UnitAttr, "greatest first">:$descending);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $values `,` $indices `:` type($values) `,` type($indices) `)`
    `scratch` `(` $scratch0 `,` $scratch1 `:` type($scratch0) `,` type($scratch1) `)` attr-dict
  }];
}

#endif // LLMIR_DIALECT_MLLM_KERNELS_NESTKERNELS

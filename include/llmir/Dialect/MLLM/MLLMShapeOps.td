//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that move values: views, permutations, joins and cuts.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMSHAPEOPS
#define LLMIR_DIALECT_MLLM_MLLMSHAPEOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

def MLLM_ViewOp : MLLM_LinalgOpBase<"view", "0", [Pure]> {
  let summary = "The same values in another shape";
  let description = [{
    Values keep their row-major order. The dynamic sizes of the result are those
    of the operand, in order; the static ones are cut anew. It splits columns
    into heads and merges them again.

    Fails verification when
    - c1: operand and result differ in their dynamic sizes;
    - c2: operand and result differ in the product of their static sizes;
    - c3: operand and result differ in element type or device.

    Example:

    ```mlir
    %heads = mllm.linalg.view %x : tensor<1x?x64xf32> -> tensor<1x?x4x16xf32>
    ```
  }];
  let arguments = (ins Arg<MLLM_Tensor, "values of any shape">:$x);
  let results = (outs Res<MLLM_Tensor, "the same values, in its shape">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops() { return 0; }
  }];
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def MLLM_TransposeOp : MLLM_MoveOp<"transpose"> {
  let summary = "Two dimensions exchanged";
  let description = [{
    `result[…, j, …, i, …] = x[…, i, …, j, …]`, i counting along `dim0` and j along
    `dim1`.

    Fails verification when
    - c1: `dim0` or `dim1` is not a dimension of `x`;
    - c2: the result's type is not `x`'s with the two sizes exchanged.

    Example:

    ```mlir
    %q = mllm.linalg.transpose %x {dim0 = 1 : i64, dim1 = 2 : i64}
        : tensor<1x?x12x128xf32> -> tensor<1x12x?x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "values of any shape but rank 0">:$x,
    Arg<I64Attr, "one dimension; negative ones count from the end">:$dim0,
    Arg<I64Attr, "the other">:$dim1
  );
  let results = (outs Res<MLLM_Tensor, "the values in their new places">:$result);
  let hasFolder = 1;
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
}

// f(x) = x: what happens to the memory is what the op is for.
class MLLM_SameValuesOp<string mnemonic> : MLLM_MoveOp<mnemonic> {
  let arguments = (ins Arg<MLLM_Tensor, "values of any shape">:$x);
  let results = (outs Res<MLLM_Tensor, "the same values">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  code rules = [{

    Fails verification when
    - c1: the result's type is not the operand's.

    Example:

    ```mlir
    %y = mllm.linalg.}] # mnemonic # [{ %x : tensor<1x?x64xf32>
    ```
  }];
  let extraClassDefinition = [{
    ::llmir::Expected<::llmir::mllm::ResultTypes> $cppClass::inferResults(Adaptor op) {
      return ::llmir::mllm::sameAs(op.getX());
    }
  }];
  let hasFolder = 1;
}

def MLLM_ContiguousOp : MLLM_SameValuesOp<"contiguous"> {
  let summary = "The same values in row-major order of memory";
  let description = [{
    `result = x`. Every value of the dialect lies in row-major order, so that
    canonicalization removes the op.}] # rules;
}

def MLLM_CloneOp : MLLM_SameValuesOp<"clone"> {
  let summary = "The same values in memory of their own";
  let description = [{
    `result = x`. Values of the dialect do not change, so that canonicalization
    removes the op.}] # rules;
}

def MLLM_CopyOp : MLLM_MoveOp<"copy"> {
  let summary = "The values of one tensor in the memory of another";
  let description = [{
    `result = src`, lying where `dst` lies: planned memory is an
    `mllm.tensor.alloc` as `dst`. The values of `dst` are not read.

    Fails verification when
    - c1: `dst` and `src` differ in element type or lie on different devices;
    - c2: their shapes differ;
    - c3: the result's type is not that of `dst` and `src`.

    Example:

    ```mlir
    %y = mllm.linalg.copy %memory, %x : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "where the result lies">:$dst,
    Arg<MLLM_Tensor, "the values">:$src
  );
  let results = (outs Res<MLLM_Tensor, "the values of `src`">:$result);
  let assemblyFormat = "$dst `,` $src attr-dict `:` functional-type(operands, results)";
}

def MLLM_X2XOp : MLLM_MoveOp<"x2x"> {
  let summary = "The same values on another device";
  let description = [{
    `result = x`, lying on `device`.

    Fails verification when
    - c1: the result's type is not the operand's on `device`.

    Example:

    ```mlir
    %y = mllm.linalg.x2x %x to <kQNN> : tensor<4x64xf32> -> tensor<4x64xf32, #mllm.tensor<kQNN>>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "values of any shape, on any device">:$x,
    Arg<MLLM_DeviceAttr, "where the result lies">:$device
  );
  let results = (outs Res<MLLM_Tensor, "the same values there">:$result);
  let assemblyFormat = "$x `to` $device attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
}

def MLLM_CastTypeOp : MLLM_MoveOp<"cast_type"> {
  let summary = "The numbers as those of another element type";
  let description = [{
    Between floats a number is rounded to nearest, ties to even. A float becomes
    an integer by dropping its fraction; beyond the integer's range it is the
    nearest number of the range, and NaN is 0. An integer becomes a shorter one
    by dropping high bits. As i1 every number but 0 is true; true is 1.

    Fails verification when
    - c1: `dtype` is not the type of a number of the dialect;
    - c2: the result's type is not the operand's with elements of `dtype`.

    Example:

    ```mlir
    %y = mllm.linalg.cast_type %x to f16 : tensor<1x?x64xf32> -> tensor<1x?x64xf16>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "values of any shape">:$x,
    Arg<TypeAttr, "element type of the result">:$dtype
  );
  let results = (outs Res<MLLM_Tensor, "the numbers in their new type">:$result);
  let assemblyFormat = "$x `to` $dtype attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
}

def MLLM_PermuteOp : MLLM_MoveOp<"permute"> {
  let summary = "All dimensions in another order";
  let description = [{
    Dimension i of the result is dimension `axes[i]` of `x`.

    Fails verification when
    - c1: `axes` does not name each dimension of `x` once;
    - c2: the result's type is not `x`'s with its sizes in that order.

    Example:

    ```mlir
    %y = mllm.linalg.permute %x {axes = array<i64: 0, 2, 1>} : tensor<1x?x64xf32> -> tensor<1x64x?xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "values of any shape">:$x,
    Arg<DenseI64ArrayAttr, "a dimension of `x` for each one of the result; negative ones count from the end">:$axes
  );
  let results = (outs Res<MLLM_Tensor, "the values in their new places">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
}

def MLLM_ReshapeOp : MLLM_MoveOp<"reshape"> {
  let summary = "The same values in a shape that is given as numbers";
  let description = [{
    Values keep their row-major order. One size of `shape` may be -1: it is what
    the number of values leaves. A result with several dynamic sizes needs
    `mllm.linalg.view`; a reshape that a view can say is made one by
    canonicalization.

    Fails verification when
    - c1: an entry of `shape` is less than -1, or -1 stands twice or beside a 0;
    - c2: `shape` does not hold the number of values of `x`;
    - c3: the result's type is not `x`'s with that shape.

    Example:

    ```mlir
    %y = mllm.linalg.reshape %x {shape = array<i64: 1, -1, 12, 128>} : tensor<1x?x1536xf32> -> tensor<1x?x12x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "values of any shape">:$x,
    Arg<DenseI64ArrayAttr, "sizes of the result, one of which may be -1">:$shape
  );
  let results = (outs Res<MLLM_Tensor, "the same values, in its shape">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def MLLM_SplitOp : MLLM_MoveOp<"split"> {
  let summary = "A tensor cut into parts along a dimension";
  let description = [{
    One entry n of `sections`: parts of n slices each, as many as there are, n
    dividing the dimension; the dimension is static then. Several entries: the
    sizes of the parts, which sum up to the dimension.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: there is no section, or a negative one, or a single one of 0;
    - c3: a single section does not divide the dimension, or the dimension is
      dynamic, or there would be more than 65536 parts;
    - c4: several sections do not sum up to the dimension;
    - c5: the results are not the parts.

    Example:

    ```mlir
    %q, %kv = mllm.linalg.split %x {dim = -1 : i64, sections = array<i64: 64, 32>}
        : (tensor<1x?x96xf32>) -> (tensor<1x?x64xf32>, tensor<1x?x32xf32>)
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "values of any shape but rank 0">:$x,
    Arg<I64Attr, "dimension that is cut; negative ones count from the end">:$dim,
    Arg<DenseI64ArrayAttr, "size of all parts, or of each">:$sections
  );
  let results = (outs Res<Variadic<MLLM_Tensor>, "the parts, in order">:$parts);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def MLLM_ConcatOp : MLLM_MoveOp<"concat"> {
  let summary = "Tensors one after another along a dimension";
  let description = [{
    Fails verification when
    - c1: there is no operand, or `dim` is not a dimension of the operands;
    - c2: operands differ in rank, or in a size other than that of `dim`;
    - c3: operands differ in element type or lie on different devices;
    - c4: the result's type is not the operands' with the sum of their sizes in
      `dim`.

    Example:

    ```mlir
    %y = mllm.linalg.concat %a, %b {dim = 1 : i64}
        : (tensor<1x?x64xf32>, tensor<1x4x64xf32>) -> tensor<1x?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Variadic<MLLM_Tensor>, "one tensor or more, of any rank but 0">:$parts,
    Arg<I64Attr, "dimension along which they stand; negative ones count from the end">:$dim
  );
  let results = (outs Res<MLLM_Tensor, "all of them">:$result);
  let assemblyFormat = "$parts attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def MLLM_StackOp : MLLM_MoveOp<"stack"> {
  let summary = "Tensors of one shape along a new dimension";
  let description = [{
    `result[a…, i, b…] = parts[i][a…, b…]`, i standing in dimension `dim` of the
    result.

    Fails verification when
    - c1: there is no operand, or `dim` is not a dimension of the result;
    - c2: operands differ in shape;
    - c3: operands differ in element type or lie on different devices;
    - c4: the result's type is not the operands' with their number in `dim`.

    Example:

    ```mlir
    %y = mllm.linalg.stack %a, %b {dim = 0 : i64} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<2x?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Variadic<MLLM_Tensor>, "one tensor or more, of one shape">:$parts,
    Arg<I64Attr, "the new dimension; negative ones count from the result's end">:$dim
  );
  let results = (outs Res<MLLM_Tensor, "all of them">:$result);
  let assemblyFormat = "$parts attr-dict `:` functional-type(operands, results)";
}

def MLLM_RepeatOp : MLLM_MoveOp<"repeat"> {
  let summary = "Each slice of a dimension several times in a row";
  let description = [{
    `result[…, i, …] = x[…, i / times, …]`, i counting along `dim` and divided
    without a rest: a, a, b, b for 2 times a, b. It gives each key head to the
    query heads that share it.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: `times` is less than 1;
    - c3: the result's type is not `x`'s with `times` its size in `dim`.

    Example:

    ```mlir
    %y = mllm.linalg.repeat %k {dim = 1 : i64, times = 6 : i64} : tensor<1x2x?x128xf32> -> tensor<1x12x?x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "values of any shape but rank 0">:$x,
    Arg<I64Attr, "dimension that grows; negative ones count from the end">:$dim,
    Arg<I64Attr, "how often each slice stands in the result">:$times
  );
  let results = (outs Res<MLLM_Tensor, "the repeated slices">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
}

def MLLM_SliceOp : MLLM_MoveOp<"slice"> {
  let summary = "A range of each dimension";
  let description = [{
    A range `start:end:step` is start, start + step, … below end; `start` is 0,
    `end` the size and `step` 1 where they are not written. A negative start or
    end counts from the size, and both are then brought into [0, size]. In the
    generic form an absent end is the least i64.

    Fails verification when
    - c1: there is not one range for each dimension of `x`;
    - c2: a step is less than 1;
    - c3: the result's type is not `x`'s with the sizes of the ranges.

    Example:

    ```mlir
    %last = mllm.linalg.slice %x[:, -1:, 0:64:2] : tensor<1x?x64xf32> -> tensor<1x?x32xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "values of any shape">:$x,
    Arg<DenseI64ArrayAttr, "first index of each dimension">:$starts,
    Arg<DenseI64ArrayAttr, "index that each dimension stays below">:$ends,
    Arg<DenseI64ArrayAttr, "distance of the indices of each dimension">:$steps
  );
  let results = (outs Res<MLLM_Tensor, "the values in the ranges">:$result);
  let assemblyFormat = [{
    $x `` custom<Ranges>($starts, $ends, $steps) attr-dict `:`
    custom<UnaryTypes>(type($x), type($result))
  }];
  let hasFolder = 1;
}

def MLLM_PadOp : MLLM_MoveOp<"pad"> {
  let summary = "Values around a tensor";
  let description = [{
    `low[d]` values before and `high[d]` after dimension d. Around 0 1 2, by `mode`:
    - `constant`: `value`;
    - `reflect`: 2 1 | 0 1 2 | 1 0, less of them than the size;
    - `replicate`: 0 0 | 0 1 2 | 2 2, of a size that is not 0;
    - `circular`: 1 2 | 0 1 2 | 0 1, not more of them than the size.

    Fails verification when
    - c1: `low` or `high` has not one entry for each dimension of `x`, or a
      negative one;
    - c2: a static size of `x` is too small for its entries in this mode;
    - c3: `value` is there and the mode is not `constant`;
    - c4: `value` is not a whole number beside integers;
    - c5: the result's type is not `x`'s with the sums of sizes.

    Example:

    ```mlir
    %y = mllm.linalg.pad constant %x {high = array<i64: 0, 2>, low = array<i64: 0, 1>, value = 0.0 : f64}
        : tensor<4x?xf32> -> tensor<4x?xf32>
    %z = mllm.linalg.pad reflect %w {high = array<i64: 1>, low = array<i64: 1>} : tensor<5xf32> -> tensor<7xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_PadModeEnumAttr, "constant, reflect, replicate or circular">:$mode,
    Arg<MLLM_Tensor, "values of any shape">:$x,
    Arg<DenseI64ArrayAttr, "values before each dimension">:$low,
    Arg<DenseI64ArrayAttr, "values after each dimension">:$high,
    Arg<OptionalAttr<F64Attr>, "what `constant` puts there; 0 when absent">:$value
  );
  let results = (outs Res<MLLM_Tensor, "the values and what surrounds them">:$result);
  let assemblyFormat = "$mode $x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMSHAPEOPS

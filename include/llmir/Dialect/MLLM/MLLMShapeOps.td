//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data movement ops: views, permutations, concatenations and splits.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMSHAPEOPS
#define LLMIR_DIALECT_MLLM_MLLMSHAPEOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

def MLLM_ViewOp : MLLM_LinalgOpBase<"view", "0", [Pure]> {
  let summary = "Reshape to the result type";
  let description = [{
    Elements keep their row-major order. The dynamic sizes of the result are
    those of the operand, in order; the static sizes may be split and merged.
    Used to split columns into heads and to merge them.

    Fails verification when
    - c1: operand and result differ in their dynamic sizes;
    - c2: operand and result differ in the product of their static sizes;
    - c3: operand and result differ in element type or device.

    Example:

    ```mlir
    %heads = mllm.linalg.view %x : tensor<1x?x64xf32> -> tensor<1x?x4x16xf32>
    ```
  }];
  let arguments = (ins Arg<MLLM_Tensor, "input of any shape">:$x);
  let results = (outs Res<MLLM_Tensor, "reshaped input">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops() { return 0; }
  }];
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def MLLM_TransposeOp : MLLM_MoveOp<"transpose"> {
  let summary = "Exchange two dimensions";
  let description = [{
    `result[…, j, …, i, …] = x[…, i, …, j, …]`, where i is the index in `dim0`
    and j that in `dim1`.

    Fails verification when
    - c1: `dim0` or `dim1` is not a dimension of `x`;
    - c2: the result type is not that of `x` with the two sizes exchanged.

    Example:

    ```mlir
    %q = mllm.linalg.transpose %x {dim0 = 1 : i64, dim1 = 2 : i64}
        : tensor<1x?x12x128xf32> -> tensor<1x12x?x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "input of rank 1 or more">:$x,
    Arg<I64Attr, "first dimension; counted from the end if negative">:$dim0,
    Arg<I64Attr, "second dimension; counted from the end if negative">:$dim1
  );
  let results = (outs Res<MLLM_Tensor, "permuted input">:$result);
  let hasFolder = 1;
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
}

// Identity on values; the op describes memory.
class MLLM_SameValuesOp<string mnemonic> : MLLM_MoveOp<mnemonic> {
  let arguments = (ins Arg<MLLM_Tensor, "input of any shape">:$x);
  let results = (outs Res<MLLM_Tensor, "the input">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  code rules = [{

    Fails verification when
    - c1: the result type differs from the operand type.

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
  let summary = "Make a tensor contiguous in memory";
  let description = [{
    `result = x`. All tensors of the dialect are contiguous, so canonicalization
    removes the op.}] # rules;
}

def MLLM_CloneOp : MLLM_SameValuesOp<"clone"> {
  let summary = "Copy a tensor to new memory";
  let description = [{
    `result = x`. Tensors of the dialect are immutable, so canonicalization
    removes the op.}] # rules;
}

def MLLM_CopyOp : MLLM_MoveOp<"copy"> {
  let summary = "Copy a tensor into the memory of another";
  let description = [{
    `result = src`, stored in the memory of `dst`, which is an
    `mllm.tensor.alloc` for planned memory. The elements of `dst` are not read.

    Fails verification when
    - c1: `dst` and `src` differ in element type or device;
    - c2: their shapes differ;
    - c3: the result type differs from that of `dst` and `src`.

    Example:

    ```mlir
    %y = mllm.linalg.copy %memory, %x : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "tensor whose memory holds the result">:$dst,
    Arg<MLLM_Tensor, "source">:$src
  );
  let results = (outs Res<MLLM_Tensor, "elements of `src`">:$result);
  let assemblyFormat = "$dst `,` $src attr-dict `:` functional-type(operands, results)";
}

def MLLM_X2XOp : MLLM_MoveOp<"x2x"> {
  let summary = "Transfer a tensor to a device";
  let description = [{
    `result = x`, on `device`.

    Fails verification when
    - c1: the result type is not the operand type on `device`.

    Example:

    ```mlir
    %y = mllm.linalg.x2x %x to <kQNN> : tensor<4x64xf32> -> tensor<4x64xf32, #mllm.tensor<kQNN>>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "input of any shape, on any device">:$x,
    Arg<MLLM_DeviceAttr, "target device">:$device
  );
  let results = (outs Res<MLLM_Tensor, "input on the target device">:$result);
  let assemblyFormat = "$x `to` $device attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
}

def MLLM_CastTypeOp : MLLM_MoveOp<"cast_type"> {
  let summary = "Convert the element type";
  let description = [{
    Float to float rounds to nearest, ties to even. Float to integer truncates
    toward zero and saturates; NaN becomes 0. Integer narrowing drops the high
    bits. For i1, every value except 0 becomes true, and true becomes 1.

    Fails verification when
    - c1: `dtype` is not an element type of the dialect;
    - c2: the result type is not the operand type with element type `dtype`.

    Example:

    ```mlir
    %y = mllm.linalg.cast_type %x to f16 : tensor<1x?x64xf32> -> tensor<1x?x64xf16>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "input of any shape">:$x,
    Arg<TypeAttr, "element type of the result">:$dtype
  );
  let results = (outs Res<MLLM_Tensor, "converted elements">:$result);
  let assemblyFormat = "$x `to` $dtype attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
}

def MLLM_PermuteOp : MLLM_MoveOp<"permute"> {
  let summary = "Permute dimensions";
  let description = [{
    Dimension i of the result is dimension `axes[i]` of `x`.

    Fails verification when
    - c1: `axes` is not a permutation of the dimensions of `x`;
    - c2: the result type is not that of `x` with permuted sizes.

    Example:

    ```mlir
    %y = mllm.linalg.permute %x {axes = array<i64: 0, 2, 1>} : tensor<1x?x64xf32> -> tensor<1x64x?xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "input of any shape">:$x,
    Arg<DenseI64ArrayAttr, "for each dimension of the result, the dimension of `x`; counted from the end if negative">:$axes
  );
  let results = (outs Res<MLLM_Tensor, "permuted input">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
}

def MLLM_ReshapeOp : MLLM_MoveOp<"reshape"> {
  let summary = "Reshape to a shape given by an attribute";
  let description = [{
    Elements keep their row-major order. One size of `shape` may be -1, which is
    inferred from the number of elements. A result with several dynamic sizes
    requires `mllm.linalg.view`; canonicalization replaces a reshape by a view
    if possible.

    Fails verification when
    - c1: an element of `shape` is less than -1, or -1 appears twice or together
      with a 0;
    - c2: `shape` does not have the number of elements of `x`;
    - c3: the result type is not that of `x` with that shape.

    Example:

    ```mlir
    %y = mllm.linalg.reshape %x {shape = array<i64: 1, -1, 12, 128>} : tensor<1x?x1536xf32> -> tensor<1x?x12x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "input of any shape">:$x,
    Arg<DenseI64ArrayAttr, "shape of the result; one size may be -1">:$shape
  );
  let results = (outs Res<MLLM_Tensor, "reshaped input">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def MLLM_SplitOp : MLLM_MoveOp<"split"> {
  let summary = "Split a tensor along a dimension";
  let description = [{
    A single element n of `sections` splits the dimension, which must be static,
    into parts of size n, which must divide it. Several elements are the sizes
    of the parts, which must sum to the size of the dimension.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: there is no section, a negative one, or a single section of 0;
    - c3: a single section does not divide the dimension, or the dimension is
      dynamic, or there would be more than 65536 parts;
    - c4: several sections do not sum to the size of the dimension;
    - c5: the result types are not those of the parts.

    Example:

    ```mlir
    %q, %kv = mllm.linalg.split %x {dim = -1 : i64, sections = array<i64: 64, 32>}
        : (tensor<1x?x96xf32>) -> (tensor<1x?x64xf32>, tensor<1x?x32xf32>)
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "input of rank 1 or more">:$x,
    Arg<I64Attr, "dimension to split; counted from the end if negative">:$dim,
    Arg<DenseI64ArrayAttr, "common size of all parts, or size of each part">:$sections
  );
  let results = (outs Res<Variadic<MLLM_Tensor>, "parts, in order">:$parts);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def MLLM_ConcatOp : MLLM_MoveOp<"concat"> {
  let summary = "Concatenate tensors along a dimension";
  let description = [{
    Fails verification when
    - c1: there is no operand, or `dim` is not a dimension of the operands;
    - c2: operands differ in rank, or in a size other than that of `dim`;
    - c3: operands differ in element type or device;
    - c4: the result type is not that of the operands with the sum of their
      sizes in `dim`.

    Example:

    ```mlir
    %y = mllm.linalg.concat %a, %b {dim = 1 : i64}
        : (tensor<1x?x64xf32>, tensor<1x4x64xf32>) -> tensor<1x?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Variadic<MLLM_Tensor>, "one or more tensors of rank 1 or more">:$parts,
    Arg<I64Attr, "concatenated dimension; counted from the end if negative">:$dim
  );
  let results = (outs Res<MLLM_Tensor, "concatenated tensor">:$result);
  let assemblyFormat = "$parts attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def MLLM_StackOp : MLLM_MoveOp<"stack"> {
  let summary = "Stack tensors along a new dimension";
  let description = [{
    `result[a…, i, b…] = parts[i][a…, b…]`, where i is the index in dimension
    `dim` of the result.

    Fails verification when
    - c1: there is no operand, or `dim` is not a dimension of the result;
    - c2: operands differ in shape;
    - c3: operands differ in element type or device;
    - c4: the result type is not that of the operands with their number as size
      of `dim`.

    Example:

    ```mlir
    %y = mllm.linalg.stack %a, %b {dim = 0 : i64} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<2x?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Variadic<MLLM_Tensor>, "one or more tensors of the same shape">:$parts,
    Arg<I64Attr, "new dimension of the result; counted from the end if negative">:$dim
  );
  let results = (outs Res<MLLM_Tensor, "stacked tensor">:$result);
  let assemblyFormat = "$parts attr-dict `:` functional-type(operands, results)";
}

def MLLM_RepeatOp : MLLM_MoveOp<"repeat"> {
  let summary = "Repeat each slice of a dimension";
  let description = [{
    `result[…, i, …] = x[…, i / times, …]`, where i is the index in `dim` and
    the division rounds down: a, b repeated twice is a, a, b, b. Used to repeat
    each KV head for the query heads that share it.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: `times` is less than 1;
    - c3: the result type is not that of `x` with size `dim` multiplied by
      `times`.

    Example:

    ```mlir
    %y = mllm.linalg.repeat %k {dim = 1 : i64, times = 6 : i64} : tensor<1x2x?x128xf32> -> tensor<1x12x?x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "input of rank 1 or more">:$x,
    Arg<I64Attr, "repeated dimension; counted from the end if negative">:$dim,
    Arg<I64Attr, "number of repetitions of each slice">:$times
  );
  let results = (outs Res<MLLM_Tensor, "repeated slices">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
}

def MLLM_SliceOp : MLLM_MoveOp<"slice"> {
  let summary = "Slice each dimension";
  let description = [{
    A range `start:end:step` selects start, start + step, … less than end;
    defaults are 0 for `start`, the size for `end` and 1 for `step`. A negative
    start or end is relative to the size; both are then clamped to [0, size]. In
    the generic form, an absent end is the minimum i64.

    Fails verification when
    - c1: the number of ranges is not the rank of `x`;
    - c2: a step is less than 1;
    - c3: the result type is not that of `x` with the sizes of the ranges.

    Example:

    ```mlir
    %last = mllm.linalg.slice %x[:, -1:, 0:64:2] : tensor<1x?x64xf32> -> tensor<1x?x32xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "input of any shape">:$x,
    Arg<DenseI64ArrayAttr, "start index of each dimension">:$starts,
    Arg<DenseI64ArrayAttr, "exclusive end index of each dimension">:$ends,
    Arg<DenseI64ArrayAttr, "step of each dimension">:$steps
  );
  let results = (outs Res<MLLM_Tensor, "selected elements">:$result);
  let assemblyFormat = [{
    $x `` custom<Ranges>($starts, $ends, $steps) attr-dict `:`
    custom<UnaryTypes>(type($x), type($result))
  }];
  let hasFolder = 1;
}

def MLLM_PadOp : MLLM_MoveOp<"pad"> {
  let summary = "Pad a tensor";
  let description = [{
    Adds `low[d]` elements before and `high[d]` elements after those of
    dimension d. For the elements 0 1 2, the modes yield:
    - `constant`: `value`;
    - `reflect`: 2 1 | 0 1 2 | 1 0; fewer elements than the size;
    - `replicate`: 0 0 | 0 1 2 | 2 2; the size must not be 0;
    - `circular`: 1 2 | 0 1 2 | 0 1; at most as many elements as the size.

    Fails verification when
    - c1: `low` or `high` does not have one element per dimension of `x`, or has
      a negative one;
    - c2: a static size of `x` is too small for the padding in this mode;
    - c3: `value` is given and the mode is not `constant`;
    - c4: `value` is not an integer for integer elements;
    - c5: the result type is not that of `x` with the padded sizes.

    Example:

    ```mlir
    %y = mllm.linalg.pad constant %x {high = array<i64: 0, 2>, low = array<i64: 0, 1>, value = 0.0 : f64}
        : tensor<4x?xf32> -> tensor<4x?xf32>
    %z = mllm.linalg.pad reflect %w {high = array<i64: 1>, low = array<i64: 1>} : tensor<5xf32> -> tensor<7xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_PadModeEnumAttr, "padding mode: constant, reflect, replicate or circular">:$mode,
    Arg<MLLM_Tensor, "input of any shape">:$x,
    Arg<DenseI64ArrayAttr, "number of elements before each dimension">:$low,
    Arg<DenseI64ArrayAttr, "number of elements after each dimension">:$high,
    Arg<OptionalAttr<F64Attr>, "value of mode `constant`; 0 if absent">:$value
  );
  let results = (outs Res<MLLM_Tensor, "padded tensor">:$result);
  let assemblyFormat = "$mode $x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMSHAPEOPS

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gathers, scatters, sorts and reductions.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMINDEXOPS
#define LLMIR_DIALECT_MLLM_MLLMINDEXOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

def MLLM_GatherOp : MLLM_MoveOp<"gather"> {
  let summary = "Gather slices by index";
  let description = [{
    `result[a…, i…, b…] = table[a…, indices[i…], b…]`, where the index applies
    to dimension `dim` of the table. Indices are 0-based and less than the size
    of that dimension.

    Fails verification when
    - c1: `dim` is not a dimension of the table;
    - c2: table and indices are on different devices;
    - c3: the result type is not the table type with `dim` replaced by the shape
      of `indices`.

    Example:

    ```mlir
    %rows = mllm.linalg.gather %table, %ids {dim = 0 : i64}
        : (tensor<100x64xf32>, tensor<2x?xi32>) -> tensor<2x?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "table of rank 1 or more">:$table,
    Arg<MLLM_IndexTensor, "indices into `dim`, of any shape">:$indices,
    Arg<I64Attr, "dimension of the table; counted from the end if negative">:$dim
  );
  let results = (outs Res<MLLM_Tensor, "gathered slices">:$result);
  let assemblyFormat = "$table `,` $indices attr-dict `:` functional-type(operands, results)";
}

def MLLM_ScatterOp : MLLM_MoveOp<"scatter"> {
  let summary = "Scatter values by index";
  let description = [{
    The result is `x` with
    `result[a…, indices[a…, i, b…], b…] = source[a…, i, b…]`, where the index
    applies to dimension `dim`. Indices are 0-based and less than the size of
    `dim`. If several elements have the same destination, the last one in
    row-major order is written.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: `indices` and `source` differ in shape, or in rank from `x`, or are
      larger than `x` in a dimension other than `dim`;
    - c3: `x` and `source` differ in element type, or operands are on different
      devices;
    - c4: the result type differs from that of `x`.

    Example:

    ```mlir
    %y = mllm.linalg.scatter %x, %i, %s {dim = 1 : i64}
        : (tensor<2x8xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "destination of rank 1 or more">:$x,
    Arg<MLLM_IndexTensor, "indices into `dim`">:$indices,
    Arg<MLLM_Tensor, "one value per index">:$source,
    Arg<I64Attr, "scattered dimension; counted from the end if negative">:$dim
  );
  let results = (outs Res<MLLM_Tensor, "updated `x`">:$result);
  let assemblyFormat = [{
    $x `,` $indices `,` $source attr-dict `:` functional-type(operands, results)
  }];
}

def MLLM_MaskedScatterOp : MLLM_MoveOp<"masked_scatter"> {
  let summary = "Scatter consecutive values to where a mask is true";
  let description = [{
    The elements of `x` where `mask` is true, in row-major order, are replaced
    by consecutive elements of `source`, which must have enough elements. Used
    to insert image embeddings among token embeddings.

    Fails verification when
    - c1: the mask cannot be broadcast to the shape of `x`;
    - c2: `x` and `source` differ in element type, or operands are on different
      devices;
    - c3: the result type differs from that of `x`.

    Example:

    ```mlir
    %y = mllm.linalg.masked_scatter %x, %m, %s
        : (tensor<?x64xf32>, tensor<?x1xi1>, tensor<9x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "destination">:$x,
    Arg<MLLM_BoolTensor, "mask, broadcastable to the shape of `x`">:$mask,
    Arg<MLLM_Tensor, "new values, of any shape">:$source
  );
  let results = (outs Res<MLLM_Tensor, "updated `x`">:$result);
  let assemblyFormat = [{
    $x `,` $mask `,` $source attr-dict `:` functional-type(operands, results)
  }];
}

def MLLM_IndexOp : MLLM_MoveOp<"index"> {
  let summary = "Index each dimension by a range or an index tensor";
  let description = [{
    Each dimension of `x` has a range, as in `mllm.linalg.slice`, or a tensor of
    0-based indices less than its size. The index tensors are broadcast;
    corresponding elements form an index tuple. Their shape replaces the indexed
    dimensions if these are adjacent, and comes before all other dimensions
    otherwise.

    Fails verification when
    - c1: the number of ranges and tensors is not the rank of `x`;
    - c2: a step is less than 1;
    - c3: `dims` are not ascending dimensions of `x`, one per tensor;
    - c4: the tensors cannot be broadcast, or operands are on different devices;
    - c5: the result type is not that of the selected elements.

    Example:

    ```mlir
    %y = mllm.linalg.index %x[:, %i, 0:4] : tensor<2x8x6xf32>, (tensor<3xi32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "input of any shape">:$x,
    Arg<Variadic<MLLM_IndexTensor>, "index tensors of broadcastable shapes">:$indices,
    Arg<DenseI64ArrayAttr, "dimension of each index tensor, ascending">:$dims,
    Arg<DenseI64ArrayAttr, "start index of each dimension; 0 for index tensors">:$starts,
    Arg<DenseI64ArrayAttr, "exclusive end index of each dimension; the minimum i64 for none">:$ends,
    Arg<DenseI64ArrayAttr, "step of each dimension; 1 for index tensors">:$steps
  );
  let results = (outs Res<MLLM_Tensor, "selected elements">:$result);
  let assemblyFormat = [{
    $x custom<Indexers>($indices, $dims, $starts, $ends, $steps) attr-dict `:`
    type($x) `,` functional-type($indices, results)
  }];
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

def MLLM_TopKOp : MLLM_LinalgOp<"top_k", "0"> {
  let summary = "Greatest or least elements of a dimension and their indices";
  let description = [{
    The `k` greatest (or least) elements along `dim`, in descending (or
    ascending) order, and their indices. Equal elements are ordered by index;
    NaN is greater than all other values. With `sorted = false`, the order is
    the same, but users do not depend on it.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: `k` is less than 0 or greater than the size of `dim`;
    - c3: the results are not tensors of the element type of `x` and of i32 with
      the shape of `x` and size `k` in `dim`.

    Example:

    ```mlir
    %v, %i = mllm.linalg.top_k %x {k = 4 : i64} : tensor<?x100xf32> -> tensor<?x4xf32>, tensor<?x4xi32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_NumberTensor, "input of rank 1 or more">:$x,
    Arg<I64Attr, "number of elements">:$k,
    Arg<DefaultValuedAttr<I64Attr, "-1">, "dimension; counted from the end if negative">:$dim,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "whether to select the greatest elements instead of the least">:$largest,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "whether users depend on the order">:$sorted
  );
  let results = (outs
    Res<MLLM_NumberTensor, "selected elements">:$values,
    Res<MLLM_IndexTensor, "their indices in `dim`, i32">:$indices
  );
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type(results)";
}

def MLLM_ArgsortOp : MLLM_LinalgOp<"argsort", "0"> {
  let summary = "Indices that sort a dimension";
  let description = [{
    `result[…, i, …]` is the index in `dim` of element i of `x` in ascending or
    descending order. Equal elements are ordered by ascending index in both
    cases; NaN is greater than all other values.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: the result is not an i32 tensor with the shape of `x`.

    Example:

    ```mlir
    %i = mllm.linalg.argsort %x {descending = true} : tensor<?x100xf32> -> tensor<?x100xi32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_NumberTensor, "input of rank 1 or more">:$x,
    Arg<DefaultValuedAttr<I64Attr, "-1">, "sorted dimension; counted from the end if negative">:$dim,
    Arg<DefaultValuedAttr<BoolAttr, "false">, "whether to sort in descending order">:$descending
  );
  let results = (outs Res<MLLM_IndexTensor, "indices in `dim`, i32">:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

class MLLM_ReduceOp<string mnemonic, string bound, string meaning, Type type = MLLM_NumberTensor>
    : MLLM_LinalgOp<mnemonic, bound> {
  let description = meaning # [{

    Without `dim`, reduces all dimensions. Reduced dimensions are dropped, or
    kept with size 1 if `keep_dim` is set.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: the result type is not that of `x` with the remaining dimensions.

    Example:

    ```mlir
    %y = mllm.linalg.}] # mnemonic # [{ %x {dim = -1 : i64, keep_dim} : tensor<?x64xf32> -> tensor<?x1xf32>
    ```
  }];
  let arguments = (ins
    Arg<type, "input of any shape">:$x,
    Arg<OptionalAttr<I64Attr>, "reduced dimension, counted from the end if negative; all if absent">:$dim,
    Arg<UnitAttr, "whether to keep reduced dimensions with size 1">:$keep_dim
  );
  let results = (outs Res<type, "reduced elements">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let commonDeclaration = !strconcat(
      "static double getErrorBound() { return ", bound, "; }",
      "std::optional<int64_t> getFlops() { return ::llmir::mllm::numValuesOf(getX().getType()); }",
      MLLM_InferDeclaration);
  let extraClassDefinition = [{
    ::llmir::Expected<::llmir::mllm::ResultTypes> $cppClass::inferResults(Adaptor op) {
      return ::llmir::mllm::detail::reductionOf(op.getX(), op.getDim(), op.getKeepDim());
    }
  }];
}

def MLLM_ReduceMaxOp : MLLM_ReduceOp<"reduce_max", "0", [{
    The maximum along `dim`; NaN if any element is NaN. The maximum of no
    elements is the least value of the type (-∞ for floats).}], MLLM_Tensor> {
  let summary = "Maximum over a dimension";
}

def MLLM_ReduceMinOp : MLLM_ReduceOp<"reduce_min", "0", [{
    The minimum along `dim`; NaN if any element is NaN. The minimum of no
    elements is the greatest value of the type (∞ for floats).}], MLLM_Tensor> {
  let summary = "Minimum over a dimension";
}

def MLLM_ReduceSumOp : MLLM_ReduceOp<"reduce_sum", "1e-10", [{
    The sum of the elements along `dim`; integers wrap around. The sum of no
    elements is 0.}]> {
  let summary = "Sum over a dimension";
}

def MLLM_MeanOp : MLLM_ReduceOp<"mean", "1e-10", [{
    The mean of the elements along `dim`. The mean of no elements is NaN.}], MLLM_FloatTensor> {
  let summary = "Mean over a dimension";
}

#endif // LLMIR_DIALECT_MLLM_MLLMINDEXOPS

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops whose values choose: gathers, comparisons, sorts, reductions.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMINDEXOPS
#define LLMIR_DIALECT_MLLM_MLLMINDEXOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

def MLLM_GatherOp : MLLM_MoveOp<"gather"> {
  let summary = "Slices of a table, chosen by index";
  let description = [{
    `result[a…, i…, b…] = table[a…, indices[i…], b…]`, the index standing in
    dimension `dim` of the table. Indices are from 0 and less than its size.

    Fails verification when
    - c1: `dim` is not a dimension of the table;
    - c2: table and indices lie on different devices;
    - c3: the result's type is not the table's with the shape of `indices` in the
      place of `dim`.

    Example:

    ```mlir
    %rows = mllm.linalg.gather %table, %ids {dim = 0 : i64}
        : (tensor<100x64xf32>, tensor<2x?xi32>) -> tensor<2x?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "what is chosen from, any rank but 0">:$table,
    Arg<MLLM_IndexTensor, "indices along `dim`, any shape">:$indices,
    Arg<I64Attr, "dimension of the table; negative ones count from the end">:$dim
  );
  let results = (outs Res<MLLM_Tensor, "the chosen slices">:$result);
  let assemblyFormat = "$table `,` $indices attr-dict `:` functional-type(operands, results)";
}

def MLLM_ScatterOp : MLLM_MoveOp<"scatter"> {
  let summary = "Values written to places that indices choose";
  let description = [{
    The result is `x` but for `result[a…, indices[a…, i, b…], b…] =
    source[a…, i, b…]`, the index standing in dimension `dim`. Indices are from 0
    and less than the size of `dim`. Of several values for one place the last in
    row-major order stays.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: `indices` and `source` differ in shape, or in rank from `x`, or are
      larger than `x` in a dimension other than `dim`;
    - c3: `x` and `source` differ in element type, or operands lie on different
      devices;
    - c4: the result's type is not that of `x`.

    Example:

    ```mlir
    %y = mllm.linalg.scatter %x, %i, %s {dim = 1 : i64}
        : (tensor<2x8xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "what is written to, any rank but 0">:$x,
    Arg<MLLM_IndexTensor, "places along `dim`">:$indices,
    Arg<MLLM_Tensor, "a value for each index">:$source,
    Arg<I64Attr, "dimension of the indices; negative ones count from the end">:$dim
  );
  let results = (outs Res<MLLM_Tensor, "`x` with the new values">:$result);
  let assemblyFormat = [{
    $x `,` $indices `,` $source attr-dict `:` functional-type(operands, results)
  }];
}

def MLLM_MaskedScatterOp : MLLM_MoveOp<"masked_scatter"> {
  let summary = "Values put one after another where a mask is true";
  let description = [{
    The values of `x` where `mask` is true, in row-major order, are replaced by
    those of `source`, from its first one on; `source` has enough of them. It puts
    the rows of pictures between those of words.

    Fails verification when
    - c1: the mask does not broadcast to the shape of `x`;
    - c2: `x` and `source` differ in element type, or operands lie on different
      devices;
    - c3: the result's type is not that of `x`.

    Example:

    ```mlir
    %y = mllm.linalg.masked_scatter %x, %m, %s
        : (tensor<?x64xf32>, tensor<?x1xi1>, tensor<9x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "what is written to">:$x,
    Arg<MLLM_BoolTensor, "chooses places, of a shape that broadcasts to that of `x`">:$mask,
    Arg<MLLM_Tensor, "the new values, of any shape">:$source
  );
  let results = (outs Res<MLLM_Tensor, "`x` with the new values">:$result);
  let assemblyFormat = [{
    $x `,` $mask `,` $source attr-dict `:` functional-type(operands, results)
  }];
}

def MLLM_IndexOp : MLLM_MoveOp<"index"> {
  let summary = "Ranges and index tensors, one for each dimension";
  let description = [{
    Each dimension of `x` has a range, as in `mllm.linalg.slice`, or a tensor of
    indices from 0 and less than its size. The tensors broadcast and choose
    together: value by value, each gives the index of its dimension. Their shape
    stands in the place of their first dimension where these dimensions are
    neighbours, else before all others.

    Fails verification when
    - c1: there is not one range or tensor for each dimension of `x`;
    - c2: a step is less than 1;
    - c3: `dims` are not ascending dimensions of `x`, one for each tensor;
    - c4: the tensors do not broadcast, or operands lie on different devices;
    - c5: the result's type is not that of the chosen values.

    Example:

    ```mlir
    %y = mllm.linalg.index %x[:, %i, 0:4] : tensor<2x8x6xf32>, (tensor<3xi32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "values of any shape">:$x,
    Arg<Variadic<MLLM_IndexTensor>, "indices, of shapes that broadcast">:$indices,
    Arg<DenseI64ArrayAttr, "the dimension of each tensor of indices, ascending">:$dims,
    Arg<DenseI64ArrayAttr, "first index of each dimension; 0 beside a tensor">:$starts,
    Arg<DenseI64ArrayAttr, "index that each dimension stays below; the least i64 for none">:$ends,
    Arg<DenseI64ArrayAttr, "distance of the indices of each dimension; 1 beside a tensor">:$steps
  );
  let results = (outs Res<MLLM_Tensor, "the chosen values">:$result);
  let assemblyFormat = [{
    $x custom<Indexers>($indices, $dims, $starts, $ends, $steps) attr-dict `:`
    type($x) `,` functional-type($indices, results)
  }];
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

def MLLM_TopKOp : MLLM_LinalgOp<"top_k", "0"> {
  let summary = "The greatest values of a dimension, and where they stand";
  let description = [{
    The `k` greatest values along `dim`, or the least ones, from the most extreme
    one on, and their indices. Of equal values the one with the lower index comes
    first; NaN counts as greater than all numbers. `sorted` may be false: the
    order is the same then, but no one relies on it.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: `k` is less than 0 or greater than the size of `dim`;
    - c3: the results' types are not `x`'s and that of i32, with `k` in `dim`.

    Example:

    ```mlir
    %v, %i = mllm.linalg.top_k %x {k = 4 : i64} : tensor<?x100xf32> -> tensor<?x4xf32>, tensor<?x4xi32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_NumberTensor, "values of any shape but rank 0">:$x,
    Arg<I64Attr, "how many values">:$k,
    Arg<DefaultValuedAttr<I64Attr, "-1">, "dimension of the values; the last unless said, negative ones count from the end">:$dim,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "whether the greatest are meant, or the least; true unless said">:$largest,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "whether the order matters; true unless said">:$sorted
  );
  let results = (outs
    Res<MLLM_NumberTensor, "the values">:$values,
    Res<MLLM_IndexTensor, "their indices along `dim`, i32">:$indices
  );
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type(results)";
}

def MLLM_ArgsortOp : MLLM_LinalgOp<"argsort", "0"> {
  let summary = "The indices that sort a dimension";
  let description = [{
    `result[…, i, …]` is the index along `dim` of the i-th value of `x` in
    ascending or descending order. Of equal values the one with the lower index
    comes first in both; NaN counts as greater than all numbers.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: the result's type is not `x`'s with elements of i32.

    Example:

    ```mlir
    %i = mllm.linalg.argsort %x {descending = true} : tensor<?x100xf32> -> tensor<?x100xi32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_NumberTensor, "values of any shape but rank 0">:$x,
    Arg<DefaultValuedAttr<I64Attr, "-1">, "dimension that is sorted; the last unless said, negative ones count from the end">:$dim,
    Arg<DefaultValuedAttr<BoolAttr, "false">, "whether the greatest comes first; false unless said">:$descending
  );
  let results = (outs Res<MLLM_IndexTensor, "indices along `dim`, i32">:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

class MLLM_ReduceOp<string mnemonic, string bound, string meaning, Type type = MLLM_NumberTensor>
    : MLLM_LinalgOp<mnemonic, bound> {
  let description = meaning # [{

    Without `dim`, of all values. The reduced dimensions go, or stay with size 1
    where `keep_dim`.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: the result's type is not `x`'s with the sizes that stay.

    Example:

    ```mlir
    %y = mllm.linalg.}] # mnemonic # [{ %x {dim = -1 : i64, keep_dim} : tensor<?x64xf32> -> tensor<?x1xf32>
    ```
  }];
  let arguments = (ins
    Arg<type, "values of any shape">:$x,
    Arg<OptionalAttr<I64Attr>, "dimension that is reduced, negative ones count from the end; all when absent">:$dim,
    Arg<UnitAttr, "whether a reduced dimension stays with size 1">:$keep_dim
  );
  let results = (outs Res<type, "the reduced values">:$result);
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
    The greatest value along `dim`; NaN where one is NaN. Of no values it is the
    least number of the type, for floats minus infinity.}], MLLM_Tensor> {
  let summary = "Greatest value of a dimension";
}

def MLLM_ReduceMinOp : MLLM_ReduceOp<"reduce_min", "0", [{
    The least value along `dim`; NaN where one is NaN. Of no values it is the
    greatest number of the type, for floats infinity.}], MLLM_Tensor> {
  let summary = "Least value of a dimension";
}

def MLLM_ReduceSumOp : MLLM_ReduceOp<"reduce_sum", "1e-10", [{
    The sum of the values along `dim`; integers wrap around. Of no values it
    is 0.}]> {
  let summary = "Sum of a dimension";
}

def MLLM_MeanOp : MLLM_ReduceOp<"mean", "1e-10", [{
    The sum of the values along `dim`, divided by their number. Of no values it
    is NaN.}], MLLM_FloatTensor> {
  let summary = "Mean of a dimension";
}

#endif // LLMIR_DIALECT_MLLM_MLLMINDEXOPS

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers: projections, norms, activations over rows.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMNNOPS
#define LLMIR_DIALECT_MLLM_MLLMNNOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

def MLLM_EmbeddingOp : MLLM_ParamOp<"embedding", "0"> {
  let summary = "Rows of a table, chosen by token id";
  let description = [{
    `result[t] = table[ids[t]]`, for each token t; ids are less than the number
    of rows.

    Fails verification when
    - c1: `weight` does not name an `mllm.tensor.register` of the module;
    - c2: the table is not [vocabulary, columns of the result];
    - c3: operand and result differ in their number of tokens.

    Example:

    ```mlir
    %x = mllm.linalg.embedding %ids, @model.embed_tokens.weight : tensor<?xi64> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_TokenIds, "token ids [tokens]">:$ids,
    Arg<FlatSymbolRefAttr, "the table [vocabulary, columns]">:$weight
  );
  let results = (outs Res<MLLM_Rows, "the tokens' rows [tokens, columns]">:$result);
  let assemblyFormat = [{
    $ids `,` $weight attr-dict `:` type($ids) `->` type($result)
  }];
  let hasVerifier = 1;
}

def MLLM_LinearOp : MLLM_ParamOp<"linear", "1e-10"> {
  let summary = "Product with a weight matrix, and an optional bias";
  let description = [{
    `result[t][n] = sum over k of x[t][k] * weight[n][k], + bias[n]`.

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight is not [columns of the result, columns of `x`];
    - c3: the bias is not [columns of the result];
    - c4: operand and result differ in their number of tokens.

    Example:

    ```mlir
    %q = mllm.linalg.linear %x, @q_proj.weight bias @q_proj.bias : tensor<?x64xf32> -> tensor<?x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Rows, "activations [tokens, in]">:$x,
    Arg<FlatSymbolRefAttr, "the matrix [out, in]">:$weight,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "the bias [out]; none when absent">:$bias
  );
  let results = (outs Res<MLLM_Rows, "activations [tokens, out]">:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^)? attr-dict `:` type($x) `->` type($result)
  }];
  let hasVerifier = 1;
}

def MLLM_RMSNormOp : MLLM_ParamOp<"rms_norm", "1e-10", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Division by the root mean square of the last dimension";
  let description = [{
    `result = x / sqrt(mean(x^2) + eps) * weight`, the mean taken over the last
    dimension: the columns of a token, or each head by itself.

    Fails verification when
    - c1: `weight` does not name an `mllm.tensor.register` of the module;
    - c2: the weight is not [last size of `x`];
    - c3: `eps` is not a finite positive number.

    Example:

    ```mlir
    %y = mllm.linalg.rms_norm %x, @model.norm.weight {eps = 1.0e-5 : f64} : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_RowsOrHeads, "activations [tokens, columns] or [tokens, heads, head size]">:$x,
    Arg<FlatSymbolRefAttr, "the scale of each column">:$weight,
    Arg<F64Attr, "what is added to the mean square">:$eps
  );
  let results = (outs Res<MLLM_RowsOrHeads, "activations, shaped as `x`">:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def MLLM_SoftmaxOp : MLLM_LinalgOp<"softmax", "1e-10"> {
  let summary = "Exponentials of an axis, divided by their sum";
  let description = [{
    `result = exp(x - max) / sum over the axis of exp(x - max)`, the maximum taken
    along the axis. A slice of minus infinity only gives zeros.

    Fails verification when
    - c1: `axis` is not a dimension of `x`;
    - c2: the result's type is not `x`'s.

    Example:

    ```mlir
    %p = mllm.linalg.softmax %scores {axis = -1 : i64} : tensor<1x12x?x?xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "scores of any shape but rank 0">:$x,
    Arg<I64Attr, "dimension of the sums; negative ones count from the end">:$axis
  );
  let results = (outs Res<MLLM_FloatTensor, "shares of 1, shaped as `x`">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
}

#endif // LLMIR_DIALECT_MLLM_MLLMNNOPS

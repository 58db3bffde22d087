//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers: products, embeddings, norms, activations, and what a model says of
// its layers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMNNOPS
#define LLMIR_DIALECT_MLLM_MLLMNNOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

//===----------------------------------------------------------------------===//
// Products and tables
//===----------------------------------------------------------------------===//

def MLLM_MatMulOp : MLLM_LinalgOp<"matmul", "1e-10"> {
  let summary = "Product of two tensors of matrices";
  let description = [{
    `result[…, m, n] = sum over k of lhs[…, m, k] * rhs[…, k, n]`. With
    `transpose_a` the left matrices are stored [K, M], with `transpose_b` the
    right ones [N, K]. The dimensions before the last two broadcast. Which
    kernel computes it is the compiler's choice and not said here.
    Canonicalization takes a transposition of the last two dimensions into the
    product.

    Fails verification when
    - c1: an operand has less than two dimensions;
    - c2: the operands differ in K;
    - c3: the dimensions before the last two do not broadcast;
    - c4: the operands differ in element type or device;
    - c5: the result's type is not that of the product.

    Example:

    ```mlir
    %scores = mllm.linalg.matmul %q, %keys {transpose_b}
        : (tensor<1x12x?x128xf32>, tensor<1x12x?x128xf32>) -> tensor<1x12x?x?xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "left matrices […, M, K]">:$lhs,
    Arg<MLLM_FloatTensor, "right matrices […, K, N]">:$rhs,
    Arg<UnitAttr, "the left matrices are […, K, M]">:$transpose_a,
    Arg<UnitAttr, "the right matrices are […, N, K]">:$transpose_b
  );
  let results = (outs Res<MLLM_FloatTensor, "products […, M, N]">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<BinaryTypes>(type($lhs), type($rhs), type($result))";
  let hasCanonicalizeMethod = 1;
}

def MLLM_EmbeddingOp : MLLM_ParamOp<"embedding", "0"> {
  let summary = "Rows of a table, chosen by token id";
  let description = [{
    `result[t…] = table[ids[t…]]`, for each token t of each sequence; ids are less
    than the number of rows.

    Fails verification when
    - c1: `weight` does not name an `mllm.tensor.register` of the module;
    - c2: the table is not [vocabulary, columns of the result];
    - c3: the result is not [sizes of `ids`…, columns].

    Examples:

    ```mlir
    %x = mllm.linalg.embedding %ids, @model.embed_tokens.weight : tensor<?xi64> -> tensor<?x64xf32>
    %y = mllm.linalg.embedding %batch, @model.embed_tokens.weight : tensor<2x?xi64> -> tensor<2x?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_IndexTensor, "token ids, [tokens] or [sequences, tokens]">:$ids,
    Arg<FlatSymbolRefAttr, "the table [vocabulary, columns]">:$weight
  );
  let results = (outs Res<MLLM_FloatTensor, "the tokens' rows [sizes of `ids`…, columns]">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops() { return 0; }
  }];
  let assemblyFormat = [{
    $ids `,` $weight attr-dict `:` type($ids) `->` type($result)
  }];
  let hasVerifier = 1;
}

def MLLM_LinearOp : MLLM_ParamOp<"linear", "1e-10"> {
  let summary = "Product with a weight matrix, and an optional bias";
  let description = [{
    `result[t…][n] = sum over k of x[t…][k] * weight[n][k], + bias[n]`. Beside a
    weight of bf16, x is rounded to bf16. The result may split n into several
    dimensions, row-major: heads and their sizes. Canonicalization makes a split
    result one dimension and an `mllm.linalg.view`.

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight is not [product of the sizes into which n is split, last
      size of `x`];
    - c3: the bias is not [that product];
    - c4: the result does not have the sizes of `x` before the last, and after
      them one or more numbers;
    - c5: operand and result differ in element type or device.

    Examples:

    ```mlir
    %q = mllm.linalg.linear %x, @q_proj.weight bias @q_proj.bias : tensor<?x64xf32> -> tensor<?x128xf32>
    %h = mllm.linalg.linear %y, @q_proj.weight : tensor<1x?x64xf32> -> tensor<1x?x8x16xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "activations […, in]">:$x,
    Arg<FlatSymbolRefAttr, "the matrix [out, in]">:$weight,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "the bias [out]; none when absent">:$bias
  );
  let results = (outs Res<MLLM_FloatTensor, "activations […, out], out in one or more dimensions">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
    /// The product of the sizes into which the outputs are split; nullopt
    /// where one is dynamic or the product overflows.
    std::optional<int64_t> getNumOutputs();
    /// Whether the outputs are split into more than one dimension.
    bool isSplit() { return getType().getRank() > getX().getType().getRank(); }
  }];
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^)? attr-dict `:` type($x) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def MLLM_ParamOp : MLLM_ParamOp<"param", "0"> {
  let summary = "A parameter of the model as a value";
  let description = [{
    `result = weight`, decoded where it is stored in blocks.

    Fails verification when
    - c1: `weight` does not name an `mllm.tensor.register` of the module;
    - c2: the parameter's shape is not that of the result.

    Example:

    ```mlir
    %token = mllm.linalg.param @visual.class_embedding : tensor<1x1x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<FlatSymbolRefAttr, "the parameter">:$weight
  );
  let results = (outs Res<MLLM_Tensor, "its values">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops() { return 0; }
  }];
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

def MLLM_RMSNormOp : MLLM_InferredParamOp<"rms_norm", "1e-10"> {
  let summary = "Division by the root mean square of the last dimension";
  let description = [{
    `result = x / sqrt(mean(x^2) + eps) * weight`, the mean taken over the last
    dimension: the columns of a token, or each head by itself. With `unit_offset`
    the factor is `weight + 1` (Gemma).

    Fails verification when
    - c1: `weight` does not name an `mllm.tensor.register` of the module;
    - c2: the weight is not [last size of `x`];
    - c3: `eps` is not a finite positive number;
    - c4: `x` has rank 0;
    - c5: the result's type is not `x`'s.

    Example:

    ```mlir
    %y = mllm.linalg.rms_norm %x, @model.norm.weight {eps = 1.0e-5 : f64} : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "activations […, columns]">:$x,
    Arg<FlatSymbolRefAttr, "the scale of each column">:$weight,
    Arg<F64Attr, "what is added to the mean square">:$eps,
    Arg<UnitAttr, "1 is added to each scale">:$unit_offset
  );
  let results = (outs Res<MLLM_FloatTensor, "activations, shaped as `x`">:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$x,
      "::mlir::FlatSymbolRefAttr":$weight, "::mlir::FloatAttr":$eps), [{
    build($_builder, $_state, type, x, weight, eps, ::mlir::UnitAttr());
  }]>];
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = "$x `,` $weight attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasVerifier = 1;
}

def MLLM_LayerNormOp : MLLM_InferredParamOp<"layer_norm", "1e-10"> {
  let summary = "Mean 0 and variance 1 over the last dimensions";
  let description = [{
    `result = (x - mean(x)) / sqrt(variance(x) + eps) * weight + bias`, mean and
    variance (that of all the numbers, not of a sample) taken over the last
    dimensions together, whose sizes are `normalized_shape`.

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight or the bias is not shaped as `normalized_shape`;
    - c3: `eps` is not a finite positive number;
    - c4: `normalized_shape` is empty or is not the last sizes of `x`;
    - c5: the result's type is not `x`'s.

    Example:

    ```mlir
    %y = mllm.linalg.layer_norm %x weight @ln_1.weight bias @ln_1.bias
        {normalized_shape = array<i64: 64>, eps = 1.0e-5 : f64} : tensor<1x?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "activations">:$x,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "factors; 1 when absent">:$weight,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "what is added; 0 when absent">:$bias,
    Arg<DenseI64ArrayAttr, "sizes of the dimensions that are normalized together">:$normalized_shape,
    Arg<F64Attr, "what is added to the variance">:$eps
  );
  let results = (outs Res<MLLM_FloatTensor, "activations, shaped as `x`">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = [{
    $x (`weight` $weight^)? (`bias` $bias^)? attr-dict `:` custom<UnaryTypes>(type($x), type($result))
  }];
  let hasVerifier = 1;
}

def MLLM_LayerNorm2DOp : MLLM_InferredParamOp<"layer_norm_2d", "1e-10"> {
  let summary = "Mean 0 and variance 1 over the channels at each place of a picture";
  let description = [{
    `result[b, c, h, w] = (x[b, c, h, w] - mean) / sqrt(variance + eps) * weight[c]
    + bias[c]`, mean and variance taken over c (LayerNorm2d of Segment Anything).

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight or the bias is not [channels of `x`];
    - c3: `eps` is not a finite positive number;
    - c4: `x` does not have rank 4;
    - c5: the result's type is not `x`'s.

    Example:

    ```mlir
    %y = mllm.linalg.layer_norm_2d %x, @neck.norm.weight, @neck.norm.bias {eps = 1.0e-6 : f64} : tensor<1x16x8x8xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "pictures [pictures, channels, height, width]">:$x,
    Arg<FlatSymbolRefAttr, "the factor of each channel">:$weight,
    Arg<FlatSymbolRefAttr, "what is added to each channel">:$bias,
    Arg<F64Attr, "what is added to the variance">:$eps
  );
  let results = (outs Res<MLLM_FloatTensor, "pictures, shaped as `x`">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = "$x `,` $weight `,` $bias attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
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
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

def MLLM_GELUOp : MLLM_UnaryElementwise<"gelu", "1e-10"> {
  let summary = "Gaussian error linear unit";
  let description = [{
    For each value, with `approximate`
    `"tanh"`: `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`,
    `"none"`: `x / 2 * (1 + erf(x / sqrt(2)))`.

    Fails verification when
    - c1: the result's type is not the operand's.

    Example:

    ```mlir
    %y = mllm.linalg.gelu %x {approximate = "none"} : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "values of any shape">:$x,
    Arg<DefaultValuedStrAttr<MLLM_WordAttr<["none", "tanh"]>, "tanh">,
        "how the error function is computed: `\"none\"` (as it is) or `\"tanh\"`">:$approximate
  );
}

def MLLM_QuickGELUOp : MLLM_UnaryElementwise<"quick_gelu", "1e-10"> {
  let summary = "GELU by a sigmoid";
  let description = [{
    `result = x / (1 + exp(-1.702 * x))`, for each value, as `llm.gelu` has it.

    Fails verification when
    - c1: the result's type is not the operand's.

    Example:

    ```mlir
    %y = mllm.linalg.quick_gelu %x : tensor<?x64xf32>
    ```
  }];
}

def MLLM_ReLUOp : MLLM_UnaryElementwise<"relu", "0"> {
  let summary = "Rectified linear unit";
  let description = [{
    `result = max(x, 0)`, for each value; NaN stays NaN. Idempotent: a relu of a
    relu folds.

    Fails verification when
    - c1: the result's type is not the operand's.

    Example:

    ```mlir
    %y = mllm.linalg.relu %x : tensor<?x64xf32>
    ```
  }];
  let hasFolder = 1;
}

def MLLM_SigmoidOp : MLLM_UnaryElementwise<"sigmoid", "1e-10"> {
  let summary = "Logistic function";
  let description = [{
    `result = 1 / (1 + exp(-x))`, for each value. An exponential that f32 does not
    hold counts as infinite: below -88.72 the result is 0.

    Fails verification when
    - c1: the result's type is not the operand's.

    Example:

    ```mlir
    %y = mllm.linalg.sigmoid %x : tensor<?x64xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// What a model says of its layers, and layers of the user's own
//===----------------------------------------------------------------------===//

def MLLM_RegisterLayerOp : MLLM_Op<"linalg.register", [Symbol]> {
  let summary = "Says that a layer of a kind stands at a path of the model";
  let description = [{
    Computes nothing: a list of the model's layers, by which recipes find them.

    Fails verification when
    - c1: `op_type` is not an op of this level, without `mllm.linalg.`.

    Example:

    ```mlir
    mllm.linalg.register @model.layers.0.mlp.up_proj {op_type = "linear"}
    ```
  }];
  let arguments = (ins
    Arg<SymbolNameAttr, "the layer's path">:$sym_name,
    Arg<StrAttr, "the kind of op that the layer is">:$op_type
  );
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
}

def MLLM_CustomizedOp : MLLM_LinalgOpBase<"customized", "0", []> {
  let summary = "An op of the user's own";
  let description = [{
    The function that the user has registered under `id`
    (`llmir::registerCustomOp`) computes results from operands. It may have
    effects. Compiled code does not know it.

    Fails verification when
    - c1: `id` is less than 4096.

    Example:

    ```mlir
    %y = mllm.linalg.customized "my_filter" id 4097(%x) {taps = 3 : i64} : (tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Variadic<MLLM_Tensor>, "what the function takes">:$inputs,
    Arg<StrAttr, "what people call it">:$name,
    Arg<I64Attr, "under which the function is registered, 4096 or more">:$id
  );
  let results = (outs Res<Variadic<MLLM_Tensor>, "what the function gives">:$results);
  let assemblyFormat = [{
    $name `id` $id `(` $inputs `)` attr-dict `:` functional-type($inputs, results)
  }];
  let hasVerifier = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMNNOPS

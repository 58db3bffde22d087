//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers: products, embeddings, norms, activations, and layer annotations.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMNNOPS
#define LLMIR_DIALECT_MLLM_MLLMNNOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

//===----------------------------------------------------------------------===//
// Products and embeddings
//===----------------------------------------------------------------------===//

def MLLM_MatMulOp : MLLM_LinalgOp<"matmul", "1e-10"> {
  let summary = "Batched matrix product";
  let description = [{
    `result[…, m, n] = sum over k of lhs[…, m, k] * rhs[…, k, n]`. With
    `transpose_a`, the left matrices are [K, M]; with `transpose_b`, the right
    matrices are [N, K]. Leading dimensions are broadcast. The compiler chooses
    the kernel. Canonicalization folds a transposition of the last two
    dimensions into the product.

    Fails verification when
    - c1: the rank of an operand is less than 2;
    - c2: the operands differ in K;
    - c3: the leading dimensions cannot be broadcast;
    - c4: the operands differ in element type or device;
    - c5: the result type is not that of the product.

    Example:

    ```mlir
    %scores = mllm.linalg.matmul %q, %keys {transpose_b}
        : (tensor<1x12x?x128xf32>, tensor<1x12x?x128xf32>) -> tensor<1x12x?x?xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "left matrices […, M, K]">:$lhs,
    Arg<MLLM_FloatTensor, "right matrices […, K, N]">:$rhs,
    Arg<UnitAttr, "whether the left matrices are […, K, M]">:$transpose_a,
    Arg<UnitAttr, "whether the right matrices are […, N, K]">:$transpose_b
  );
  let results = (outs Res<MLLM_FloatTensor, "products […, M, N]">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<BinaryTypes>(type($lhs), type($rhs), type($result))";
  let hasCanonicalizeMethod = 1;
}

def MLLM_EmbeddingOp : MLLM_ParamOp<"embedding", "0"> {
  let summary = "Embedding lookup";
  let description = [{
    `result[t…] = table[ids[t…]]` for each token t of each sequence; ids must be
    less than the number of rows.

    Fails verification when
    - c1: `weight` does not name an `mllm.tensor.register` of the module;
    - c2: the table is not [vocabulary, last dimension of the result];
    - c3: the result is not [sizes of `ids`…, columns].

    Examples:

    ```mlir
    %x = mllm.linalg.embedding %ids, @model.embed_tokens.weight : tensor<?xi64> -> tensor<?x64xf32>
    %y = mllm.linalg.embedding %batch, @model.embed_tokens.weight : tensor<2x?xi64> -> tensor<2x?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_IndexTensor, "token ids, [tokens] or [sequences, tokens]">:$ids,
    Arg<FlatSymbolRefAttr, "embedding table [vocabulary, columns]">:$weight
  );
  let results = (outs Res<MLLM_FloatTensor, "selected rows [sizes of `ids`…, columns]">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops() { return 0; }
  }];
  let assemblyFormat = [{
    $ids `,` $weight attr-dict `:` type($ids) `->` type($result)
  }];
  let hasVerifier = 1;
}

def MLLM_LinearOp : MLLM_ParamOp<"linear", "1e-10"> {
  let summary = "Linear projection with optional bias";
  let description = [{
    `result[t…][n] = sum over k of x[t…][k] * weight[n][k], + bias[n]`. If the
    weight is bf16, x is rounded to bf16. The result may split n into several
    dimensions in row-major order, such as heads and head size. Canonicalization
    turns a split result into a single dimension and an `mllm.linalg.view`.

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight is not [product of the dimensions that n is split into,
      last dimension of `x`];
    - c3: the bias is not [that product];
    - c4: the shape of the result is not that of `x` without the last dimension,
      followed by one or more static sizes;
    - c5: operand and result differ in element type or device.

    Examples:

    ```mlir
    %q = mllm.linalg.linear %x, @q_proj.weight bias @q_proj.bias : tensor<?x64xf32> -> tensor<?x128xf32>
    %h = mllm.linalg.linear %y, @q_proj.weight : tensor<1x?x64xf32> -> tensor<1x?x8x16xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "activations […, in]">:$x,
    Arg<FlatSymbolRefAttr, "weight matrix [out, in]">:$weight,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "bias [out]; none if absent">:$bias
  );
  let results = (outs Res<MLLM_FloatTensor, "activations […, out], where out may be split into several dimensions">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
    /// The number of outputs (the product of their dimensions); nullopt if one
    /// is dynamic or the product overflows.
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

def MLLM_HeadLinearOp : MLLM_ParamOp<"head_linear", "1e-10"> {
  let summary = "Linear projection of each head by its own matrix";
  let description = [{
    `result[t…][h][n] = sum over k of x[t…][h][k] * weight[h][n][k]`. As in
    `mllm.linalg.linear`, x is rounded to bf16 if the weight is bf16.

    Fails verification when
    - c1: `weight` does not name an `mllm.tensor.register` of the module;
    - c2: the weight is not [heads, last dimension of the result, last dimension
      of `x`];
    - c3: the shape of the result is not that of `x` with another static last
      size, or `x` has no static number of heads before its last dimension;
    - c4: operand and result differ in element type or device.

    Example:

    ```mlir
    %y = mllm.linalg.head_linear %x, @kv_b_proj.v.weight : tensor<?x16x512xf32> -> tensor<?x16x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "activations […, heads, in]">:$x,
    Arg<FlatSymbolRefAttr, "a matrix for each head [heads, out, in]">:$weight
  );
  let results = (outs Res<MLLM_FloatTensor, "activations […, heads, out]">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = [{
    $x `,` $weight attr-dict `:` type($x) `->` type($result)
  }];
  let hasVerifier = 1;
}

def MLLM_ParamOp : MLLM_ParamOp<"param", "0"> {
  let summary = "Model parameter as a value";
  let description = [{
    `result = weight`, dequantized if it is stored in a block format.

    Fails verification when
    - c1: `weight` does not name an `mllm.tensor.register` of the module;
    - c2: the shape of the parameter differs from that of the result.

    Example:

    ```mlir
    %token = mllm.linalg.param @visual.class_embedding : tensor<1x1x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<FlatSymbolRefAttr, "parameter">:$weight
  );
  let results = (outs Res<MLLM_Tensor, "its elements">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops() { return 0; }
  }];
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

def MLLM_RMSNormOp : MLLM_InferredParamOp<"rms_norm", "1e-10"> {
  let summary = "RMS normalization over the last dimension";
  let description = [{
    `result = x / sqrt(mean(x^2) + eps) * weight`, with the mean over the last
    dimension: the columns of a token, or a head. With `unit_offset`, the scale
    is `weight + 1` (Gemma).

    Fails verification when
    - c1: `weight` does not name an `mllm.tensor.register` of the module;
    - c2: the weight is not [last dimension of `x`];
    - c3: `eps` is not a finite positive number;
    - c4: `x` has rank 0;
    - c5: the result type differs from that of `x`.

    Example:

    ```mlir
    %y = mllm.linalg.rms_norm %x, @model.norm.weight {eps = 1.0e-5 : f64} : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "activations […, columns]">:$x,
    Arg<FlatSymbolRefAttr, "scale of each column">:$weight,
    Arg<F64Attr, "added to the mean square">:$eps,
    Arg<UnitAttr, "whether to add 1 to each scale">:$unit_offset
  );
  let results = (outs Res<MLLM_FloatTensor, "normalized activations, shaped as `x`">:$result);
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
  let summary = "Layer normalization over the last dimensions";
  let description = [{
    `result = (x - mean(x)) / sqrt(variance(x) + eps) * weight + bias`, with the
    mean and the (population) variance over the last dimensions, whose sizes are
    `normalized_shape`.

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the shape of the weight or the bias is not `normalized_shape`;
    - c3: `eps` is not a finite positive number;
    - c4: `normalized_shape` is empty or differs from the last dimensions of
      `x`;
    - c5: the result type differs from that of `x`.

    Example:

    ```mlir
    %y = mllm.linalg.layer_norm %x weight @ln_1.weight bias @ln_1.bias
        {normalized_shape = array<i64: 64>, eps = 1.0e-5 : f64} : tensor<1x?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "activations">:$x,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "scale; 1 if absent">:$weight,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "bias; 0 if absent">:$bias,
    Arg<DenseI64ArrayAttr, "sizes of the normalized dimensions">:$normalized_shape,
    Arg<F64Attr, "added to the variance">:$eps
  );
  let results = (outs Res<MLLM_FloatTensor, "normalized activations, shaped as `x`">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = [{
    $x (`weight` $weight^)? (`bias` $bias^)? attr-dict `:` custom<UnaryTypes>(type($x), type($result))
  }];
  let hasVerifier = 1;
}

def MLLM_LayerNorm2DOp : MLLM_InferredParamOp<"layer_norm_2d", "1e-10"> {
  let summary = "Layer normalization over the channels of images";
  let description = [{
    `result[b, c, h, w] = (x[b, c, h, w] - mean) / sqrt(variance + eps) *
    weight[c] + bias[c]`, with mean and variance over c (LayerNorm2d of Segment
    Anything).

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight or the bias is not [channels of `x`];
    - c3: `eps` is not a finite positive number;
    - c4: `x` does not have rank 4;
    - c5: the result type differs from that of `x`.

    Example:

    ```mlir
    %y = mllm.linalg.layer_norm_2d %x, @neck.norm.weight, @neck.norm.bias {eps = 1.0e-6 : f64} : tensor<1x16x8x8xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "images [batch, channels, height, width]">:$x,
    Arg<FlatSymbolRefAttr, "scale of each channel">:$weight,
    Arg<FlatSymbolRefAttr, "bias of each channel">:$bias,
    Arg<F64Attr, "added to the variance">:$eps
  );
  let results = (outs Res<MLLM_FloatTensor, "normalized images, shaped as `x`">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = "$x `,` $weight `,` $bias attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasVerifier = 1;
}

def MLLM_SoftmaxOp : MLLM_LinalgOp<"softmax", "1e-10"> {
  let summary = "Softmax along an axis";
  let description = [{
    `result = exp(x - max) / sum over the axis of exp(x - max)`, with the
    maximum along the axis. A slice in which every element is -∞ yields zeros.

    Fails verification when
    - c1: `axis` is not a dimension of `x`;
    - c2: the result type differs from that of `x`.

    Example:

    ```mlir
    %p = mllm.linalg.softmax %scores {axis = -1 : i64} : tensor<1x12x?x?xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "scores of rank 1 or more">:$x,
    Arg<I64Attr, "softmax dimension; counted from the end if negative">:$axis
  );
  let results = (outs Res<MLLM_FloatTensor, "probabilities, shaped as `x`">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

def MLLM_GELUOp : MLLM_UnaryElementwise<"gelu", "1e-10"> {
  let summary = "Element-wise GELU";
  let description = [{
    Element-wise, with `approximate` `"tanh"`:
    `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`, `"none"`:
    `x / 2 * (1 + erf(x / sqrt(2)))`.

    Fails verification when
    - c1: the result type differs from the operand type.

    Example:

    ```mlir
    %y = mllm.linalg.gelu %x {approximate = "none"} : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "input of any shape">:$x,
    Arg<DefaultValuedStrAttr<MLLM_WordAttr<["none", "tanh"]>, "tanh">,
        "approximation of the error function: `\"none\"` or `\"tanh\"`">:$approximate
  );
}

def MLLM_QuickGELUOp : MLLM_UnaryElementwise<"quick_gelu", "1e-10"> {
  let summary = "Element-wise sigmoid approximation of GELU";
  let description = [{
    `result = x / (1 + exp(-1.702 * x))`, element-wise, computed like
    `llm.gelu`.

    Fails verification when
    - c1: the result type differs from the operand type.

    Example:

    ```mlir
    %y = mllm.linalg.quick_gelu %x : tensor<?x64xf32>
    ```
  }];
}

def MLLM_ReLUOp : MLLM_UnaryElementwise<"relu", "0"> {
  let summary = "Element-wise ReLU";
  let description = [{
    `result = max(x, 0)`, element-wise; NaN is preserved. The op is idempotent
    and folds accordingly.

    Fails verification when
    - c1: the result type differs from the operand type.

    Example:

    ```mlir
    %y = mllm.linalg.relu %x : tensor<?x64xf32>
    ```
  }];
  let hasFolder = 1;
}

def MLLM_SigmoidOp : MLLM_UnaryElementwise<"sigmoid", "1e-10"> {
  let summary = "Element-wise logistic function";
  let description = [{
    `result = 1 / (1 + exp(-x))`, element-wise. An exponential that overflows
    f32 is infinite: below -88.72 the result is 0.

    Fails verification when
    - c1: the result type differs from the operand type.

    Example:

    ```mlir
    %y = mllm.linalg.sigmoid %x : tensor<?x64xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Layer annotations and custom ops
//===----------------------------------------------------------------------===//

def MLLM_RegisterLayerOp : MLLM_Op<"linalg.register", [Symbol]> {
  let summary = "Register the kind of the layer at a path of the model";
  let description = [{
    Annotation without computation: recipes use the list of registered layers to
    find layers by path.

    Fails verification when
    - c1: `op_type` is not the name of an op of this level without
      `mllm.linalg.`.

    Example:

    ```mlir
    mllm.linalg.register @model.layers.0.mlp.up_proj {op_type = "linear"}
    ```
  }];
  let arguments = (ins
    Arg<SymbolNameAttr, "path of the layer">:$sym_name,
    Arg<StrAttr, "op of the layer">:$op_type
  );
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
}

def MLLM_CustomizedOp : MLLM_LinalgOpBase<"customized", "0", []> {
  let summary = "Custom op";
  let description = [{
    Calls the function that the user registered under `id`
    (`llmir::registerCustomOp`). The function may have side effects. Compiled
    code does not support it.

    Fails verification when
    - c1: `id` is less than 4096.

    Example:

    ```mlir
    %y = mllm.linalg.customized "my_filter" id 4097(%x) {taps = 3 : i64} : (tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Variadic<MLLM_Tensor>, "operands of the function">:$inputs,
    Arg<StrAttr, "name of the op">:$name,
    Arg<I64Attr, "id of the registered function, at least 4096">:$id
  );
  let results = (outs Res<Variadic<MLLM_Tensor>, "results of the function">:$results);
  let assemblyFormat = [{
    $name `id` $id `(` $inputs `)` attr-dict `:` functional-type($inputs, results)
  }];
  let hasVerifier = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMNNOPS

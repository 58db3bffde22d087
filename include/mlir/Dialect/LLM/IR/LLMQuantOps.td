//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Quantization, dequantization and products with quantized matrices.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_QUANT_OPS_TD
#define LLM_QUANT_OPS_TD

include "mlir/Dialect/LLM/IR/LLMTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LLM_Scales : RankedTensorOf<[F16, BF16, F32]>;
def LLM_ZeroPoints : RankedTensorOf<[I<4>, I8, I16, I32]>;

def LLM_QuantParamsOp : LLM_PositionalOp<"quant_params", [Pure, InferTypeOpAdaptor]> {
  let summary = "Compute the scales and zero points that cover the range of a tensor";
  let description = [{
    For each set of elements that shares a scale (the whole tensor, an index of
    `axis`, or `group_size` consecutive elements of the grouped dimension), with
    b = `bits`, in f32:
    ```
    symmetric:   scale = max|x| / (2^(b-1) - 1)
    asymmetric:  scale = (max - min) / (2^b - 1), with min ≤ 0 ≤ max
                 zero_point = clamp(-2^(b-1) - roundeven(min / scale))
    ```
    `min` and `max` include 0, so that 0 is represented exactly, and ignore NaN.
    `clamp` is that of `quantize` and clamps to the signed b-bit integers. A set
    of zeros has scale 0 and zero point 0; `quantize` then yields the zero
    point.

    The results have the shape that `quantize` requires for the type with these
    parameters: `[1]`; `[shape[axis]]`; or the shape of `x` with the grouped
    dimension divided by `group_size`. The grouped dimension is the last one, or
    the first if `axis` is the last one.

    Fails verification when
    - c1: `bits` is not 4, 8 or 16;
    - c2: `axis` is neither -1 nor a dimension of `x`;
    - c3: `group_size` is neither -1 nor a positive divisor of the grouped
      dimension (a value not less than that dimension means no groups);
    - c4: a dimension of `x` is dynamic or 0.

    Example:
    ```mlir
    %s = llm.quant_params %w {axis = 0, bits = 8, group_size = -1, symmetric = true}
       : (tensor<172x64xf32>) -> tensor<172xf32>
    %s4, %z4 = llm.quant_params %w {axis = -1, bits = 4, group_size = 32, symmetric = false}
       : (tensor<172x64xf32>) -> (tensor<172x2xf32>, tensor<172x2xi8>)
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Tensor to be quantized, of static shape">:$x,
    Arg<DefaultValuedAttr<LLM_IntAttr, "8">, "Bits per stored element: 4, 8 or 16">:$bits,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "Whether quantization is symmetric (no zero points)">:$symmetric,
    Arg<DefaultValuedAttr<LLM_IntAttr, "-1">, "Dimension with one scale per index, or -1">:$axis,
    Arg<DefaultValuedAttr<LLM_IntAttr, "-1">, "Number of consecutive elements that share a scale, or -1">:$group_size);
  let results = (outs
    Res<LLM_Scales, "Scales (f32)">:$scales,
    Res<Optional<LLM_ZeroPoints>, "Zero points if asymmetric: i8, or i16 for 16 bits">:$zeroPoints);
  let extraClassDeclaration = [{
    /// The type of a tensor quantized with these parameters.
    QuantizedTensorType getQuantizedType();
  }];
}

def LLM_QuantizeOp : LLM_PositionalOp<"quantize", [Pure]> {
  let summary = "Quantize a tensor with given scales";
  let description = [{
    With the scale s and the zero point z (0 if symmetric) of an element x, in
    f32:
    ```
    result = clamp(roundeven(x / s) + z, low, 2^(bits-1) - 1)
    low    = -(2^(bits-1) - 1) where symmetric, else -2^(bits-1)
    ```
    `clamp(NaN, low, high)` is `low`. An element whose scale is 0 becomes z.
    `quant_params` computes the scales of a weight; the result type determines
    which elements share a scale. The attributes repeat parameters of that type
    and may be omitted.

    Fails verification when
    - c1: the result's type has a `format`, whose scales are stored inside its
      blocks;
    - c2: `scales` does not have the shape of the type's scales: `[1]` or `[]`;
      `[shape[quantAxis]]`; or the tensor's shape with the grouped dimension
      divided by `groupSize`;
    - c3: `zeroPoints` is given for a symmetric type, or absent for an
      asymmetric one;
    - c4: `zeroPoints` does not have the shape of `scales`;
    - c5: the shapes of `x` and the result differ;
    - c6: `bits`, `symmetric`, `axis` or `group_size` differs from that of the
      result type.

    Example:
    ```mlir
    %q = llm.quantize %w, %scales {bits = 8}
       : (tensor<172x64xf32>, tensor<172xf32>)
         -> !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Tensor to be quantized">:$x,
    Arg<LLM_Scales, "One scale, one per index of the axis, or one per group">:$scales,
    Arg<Optional<LLM_ZeroPoints>, "Zero points if asymmetric, of the shape of scales">:$zeroPoints,
    Arg<OptionalAttr<LLM_IntAttr>, "Bits per stored element, as in the type">:$bits,
    Arg<OptionalAttr<BoolAttr>, "Whether quantization is symmetric, as in the type">:$symmetric,
    Arg<OptionalAttr<LLM_IntAttr>, "Dimension with one scale per index, as in the type">:$axis,
    Arg<OptionalAttr<LLM_IntAttr>, "Number of consecutive elements that share a scale, as in the type">:$group_size);
  let results = (outs Res<LLM_QuantizedTensorType, "Quantized tensor">:$result);
  let hasVerifier = 1;
}

def LLM_DequantizeOp : LLM_PositionalOp<"dequantize", [Pure]> {
  let summary = "Dequantize a tensor with given scales";
  let description = [{
    `result = scale · (x - zero_point)`, in f32, rounded to the element type of
    the result. Not an exact inverse of `quantize`, which rounds.

    Fails verification when
    - c1: the type of `x` has a `format`, whose scales are stored inside its
      blocks;
    - c2: `scales` does not have the shape of the type's scales (see
      `quantize`);
    - c3: `zeroPoints` is given for a symmetric type, or absent for an
      asymmetric one;
    - c4: `zeroPoints` does not have the shape of `scales`;
    - c5: the shapes of `x` and the result differ.

    Example:
    ```mlir
    %w = llm.dequantize %q, %scales
       : (!llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>)
         -> tensor<172x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_QuantizedTensorType, "Quantized tensor">:$x,
    Arg<LLM_Scales, "One scale, one per index of the axis, or one per group">:$scales,
    Arg<Optional<LLM_ZeroPoints>, "Zero points if asymmetric, of the shape of scales">:$zeroPoints);
  let results = (outs Res<LLM_FloatTensor, "Dequantized tensor">:$result);
  let hasVerifier = 1;
}

def LLM_QuantizedMatmulOp : LLM_Op<"quantized_matmul", [
    Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "Product with a quantized matrix";
  let description = [{
    `result[…, n] = Σ_k x[…, k] · w[k, n] + bias[n]` with `w = scale · (rhs -
    zero_point)`, accumulated in f32 over ascending k. The matrix is never
    dequantized as a whole. `rhs` is `[K, N]`, or `[N, K]` with `transpose_rhs`,
    as weights are stored. The result has the element type of `x`.

    With `activation_bits` = 8, each row of `x` is quantized as well, in groups
    of `activation_group` consecutive elements (32 if absent; the last group may
    be shorter). With `a = max|x|` over the group, in f32:
    ```
    s = a / 127,  q = roundeven(x / s)  (0 where a = 0),  x̂ = s · q
    ```
    and x̂ replaces x in the product.

    Fails verification when
    - c1: the type of `rhs` has a `format`, whose scales are stored inside its
      blocks (`llm.linear` takes such a matrix);
    - c2: `scales` does not have the shape of the type's scales (see
      `quantize`);
    - c3: `zeroPoints` is given for a symmetric type, or absent for an
      asymmetric one;
    - c4: `zeroPoints` does not have the shape of `scales`;
    - c5: the last dimension of `x` is not K;
    - c6: `bias` does not have N elements;
    - c7: `activation_bits` is not 8;
    - c8: `activation_group` is not positive, or is given without
      `activation_bits`;
    - c9: `bits` or `group_size` differs from that of the type.

    Example:
    ```mlir
    %y = llm.quantized_matmul %x, %q, %scales bias(%b) {transpose_rhs}
       : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>,
          tensor<172xf32>, tensor<172xf32>) -> tensor<?x172xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Inputs […, K]">:$x,
    Arg<LLM_QuantizedMatrix, "Weights [K, N], or [N, K] with transpose_rhs">:$rhs,
    Arg<LLM_Scales, "One scale, one per index of the axis, or one per group">:$scales,
    Arg<Optional<LLM_ZeroPoints>, "Zero points if asymmetric, of the shape of scales">:$zeroPoints,
    Arg<Optional<LLM_FloatVector>, "Bias [N]">:$bias,
    Arg<UnitAttr, "Whether rhs is [N, K]">:$transpose_rhs,
    Arg<OptionalAttr<LLM_IntAttr>, "Bits of the quantized x: 8; x is not quantized if absent">:$activation_bits,
    Arg<OptionalAttr<LLM_IntAttr>, "Number of consecutive elements of a row of x that share a scale; 32 if absent">:$activation_group,
    Arg<OptionalAttr<LLM_IntAttr>, "Bits per stored element, as in the type">:$bits,
    Arg<OptionalAttr<LLM_IntAttr>, "Number of consecutive elements that share a scale, as in the type">:$group_size);
  let results = (outs Res<LLM_FloatTensor, "Outputs […, N]">:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$rhs, "::mlir::Value":$scales,
                   "::mlir::Value":$zeroPoints, "::mlir::Value":$bias,
                   "bool":$transposeRhs, CArg<"int64_t", "0">:$activationBits)>
  ];
  let extraClassDeclaration = [{
    int64_t getNumInputs() { return getRhs().getType().getShape()[getTransposeRhs() ? 1 : 0]; }
    int64_t getNumOutputs() { return getRhs().getType().getShape()[getTransposeRhs() ? 0 : 1]; }
    /// The value of activation_group, or its default.
    int64_t getActivationGroupOrDefault() { return getActivationGroup().value_or(32); }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // LLM_QUANT_OPS_TD

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantized tensors: making them, reading them, multiplying by them.
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
  let summary = "The scales, and zero points, that quantize a tensor with least loss of range";
  let description = [{
    For each set of numbers that shares a scale (the whole tensor, an index of
    `axis`, or `group_size` neighbours in the grouped dimension), with b =
    `bits`, all in f32:
    ```
    symmetric:   scale = max|x| / (2^(b-1) - 1)
    asymmetric:  scale = (max - min) / (2^b - 1), with min ≤ 0 ≤ max
                 zero_point = clamp(-2^(b-1) - roundeven(min / scale))
    ```
    `min` and `max` are those of the numbers and 0, so that 0 is represented
    exactly; what is not a number (NaN) does not count. `clamp` is that of
    `quantize`, to the integers of b bits. A set of nothing but zeros has the scale 0 and the zero point 0;
    `quantize` then gives the zero point.

    The results have the shape that `quantize` needs for the type with these
    parameters: `[1]`; `[shape[axis]]`; or the shape of `x` with the grouped
    dimension divided by `group_size`. The grouped dimension is the last one, or
    the first where `axis` is the last one.

    Fails verification when
    - c1: `bits` is not 4, 8 or 16;
    - c2: `axis` is neither -1 nor a dimension of `x`;
    - c3: `group_size` is neither -1 nor a positive divisor of the grouped
      dimension (a group at least as long as that dimension is none);
    - c4: a size of `x` is not known, or is 0.

    Example:
    ```mlir
    %s = llm.quant_params %w {axis = 0, bits = 8, group_size = -1, symmetric = true}
       : (tensor<172x64xf32>) -> tensor<172xf32>
    %s4, %z4 = llm.quant_params %w {axis = -1, bits = 4, group_size = 32, symmetric = false}
       : (tensor<172x64xf32>) -> (tensor<172x2xf32>, tensor<172x2xi8>)
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "The numbers to be quantized, of known shape">:$x,
    Arg<DefaultValuedAttr<LLM_IntAttr, "8">, "Bits of a stored number: 4, 8 or 16">:$bits,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "Whether zero is stored as zero">:$symmetric,
    Arg<DefaultValuedAttr<LLM_IntAttr, "-1">, "Dimension whose indices have scales of their own, or -1">:$axis,
    Arg<DefaultValuedAttr<LLM_IntAttr, "-1">, "Neighbours that share a scale, or -1">:$group_size);
  let results = (outs
    Res<LLM_Scales, "Scales, f32">:$scales,
    Res<Optional<LLM_ZeroPoints>, "Zero points of an asymmetric tensor: i8, or i16 for 16 bits">:$zeroPoints);
  let extraClassDeclaration = [{
    /// The type of a tensor that is quantized with these parameters.
    QuantizedTensorType getQuantizedType();
  }];
}

def LLM_QuantizeOp : LLM_PositionalOp<"quantize", [Pure]> {
  let summary = "Numbers in few bits: divided by their scale and rounded";
  let description = [{
    With the scale s and the zero point z (0 where symmetric) of a number x, in
    f32:
    ```
    result = clamp(roundeven(x / s) + z, low, 2^(bits-1) - 1)
    low    = -(2^(bits-1) - 1) where symmetric, else -2^(bits-1)
    ```
    `clamp(v, low, high)` is v within the range and beyond it the nearer end; a v
    that is not a number (NaN) becomes `low`. A number whose scale is 0 becomes
    z, whatever it is. The scales are given (`quant_params`
    makes those of a weight); which number has which scale is in the result's
    type. The attributes repeat it and may be left out.

    Fails verification when
    - c1: the result's type has a `format`, whose scales lie beside the numbers;
    - c2: `scales` has not the type's shape of scales: `[1]` or `[]`;
      `[shape[quantAxis]]`; or the group grid, the tensor's shape with the
      grouped dimension divided by `groupSize`;
    - c3: `zeroPoints` are not given exactly where the type is asymmetric;
    - c4: `zeroPoints` has not the shape of `scales`;
    - c5: the shape of `x` is not the result's;
    - c6: `bits`, `symmetric`, `axis` or `group_size` is not the type's.

    Example:
    ```mlir
    %q = llm.quantize %w, %scales {bits = 8}
       : (tensor<172x64xf32>, tensor<172xf32>)
         -> !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "The numbers">:$x,
    Arg<LLM_Scales, "One scale, one per index of the axis, or one per group">:$scales,
    Arg<Optional<LLM_ZeroPoints>, "What stands for 0, where asymmetric; of the shape of the scales">:$zeroPoints,
    Arg<OptionalAttr<LLM_IntAttr>, "Bits of a stored number, as in the type">:$bits,
    Arg<OptionalAttr<BoolAttr>, "Whether zero is stored as zero, as in the type">:$symmetric,
    Arg<OptionalAttr<LLM_IntAttr>, "Dimension whose indices have scales of their own, as in the type">:$axis,
    Arg<OptionalAttr<LLM_IntAttr>, "Neighbours that share a scale, as in the type">:$group_size);
  let results = (outs Res<LLM_QuantizedTensorType, "The numbers in few bits">:$result);
  let hasVerifier = 1;
}

def LLM_DequantizeOp : LLM_PositionalOp<"dequantize", [Pure]> {
  let summary = "The numbers that a quantized tensor stands for";
  let description = [{
    `result = scale · (x - zero_point)`, in f32, rounded to the result's element
    type. It is not the inverse of `quantize`, which rounds.

    Fails verification when
    - c1: the type of `x` has a `format`, whose scales lie beside the numbers;
    - c2: `scales` has not the type's shape of scales (see `quantize`);
    - c3: `zeroPoints` are not given exactly where the type is asymmetric;
    - c4: `zeroPoints` has not the shape of `scales`;
    - c5: the shape of the result is not that of `x`.

    Example:
    ```mlir
    %w = llm.dequantize %q, %scales
       : (!llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>)
         -> tensor<172x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_QuantizedTensorType, "The numbers in few bits">:$x,
    Arg<LLM_Scales, "One scale, one per index of the axis, or one per group">:$scales,
    Arg<Optional<LLM_ZeroPoints>, "What stands for 0, where asymmetric; of the shape of the scales">:$zeroPoints);
  let results = (outs Res<LLM_FloatTensor, "The numbers">:$result);
  let hasVerifier = 1;
}

def LLM_QuantizedMatmulOp : LLM_Op<"quantized_matmul", [
    Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "The product with a quantized matrix, which is never dequantized as a whole";
  let description = [{
    `result[…, n] = Σ_k x[…, k] · w[k, n] + bias[n]` with
    `w = scale · (rhs - zero_point)`, in f32 over ascending k. `rhs` is
    `[K, N]`, or with `transpose_rhs` `[N, K]`, as weights are stored. The
    result has the element type of `x`.

    With `activation_bits` = 8 each row of `x` is quantized as well, in groups
    of `activation_group` neighbours (32 where absent; the last group may be
    shorter). With `a = max|x|` of the group, in f32:
    ```
    s = a / 127,  q = roundeven(x / s)  (0 where a = 0),  x̂ = s · q
    ```
    and x̂ is what is multiplied.

    Fails verification when
    - c1: the type of `rhs` has a `format`, whose scales lie beside the numbers
      (`llm.linear` takes such a matrix);
    - c2: `scales` has not the type's shape of scales (see `quantize`);
    - c3: `zeroPoints` are not given exactly where the type is asymmetric;
    - c4: `zeroPoints` has not the shape of `scales`;
    - c5: the last size of `x` is not K;
    - c6: `bias` does not have N entries;
    - c7: `activation_bits` is not 8;
    - c8: `activation_group` is not positive, or there are no `activation_bits`;
    - c9: `bits` or `group_size` is not the type's.

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
    Arg<Optional<LLM_ZeroPoints>, "What stands for 0, where asymmetric; of the shape of the scales">:$zeroPoints,
    Arg<Optional<LLM_FloatVector>, "Added to each row [N]">:$bias,
    Arg<UnitAttr, "Whether rhs is [N, K]">:$transpose_rhs,
    Arg<OptionalAttr<LLM_IntAttr>, "Bits in which x is quantized: 8; absent means not at all">:$activation_bits,
    Arg<OptionalAttr<LLM_IntAttr>, "Neighbours of a row of x that share a scale; absent means 32">:$activation_group,
    Arg<OptionalAttr<LLM_IntAttr>, "Bits of a stored number, as in the type">:$bits,
    Arg<OptionalAttr<LLM_IntAttr>, "Neighbours that share a scale, as in the type">:$group_size);
  let results = (outs Res<LLM_FloatTensor, "Outputs […, N]">:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$rhs, "::mlir::Value":$scales,
                   "::mlir::Value":$zeroPoints, "::mlir::Value":$bias,
                   "bool":$transposeRhs, CArg<"int64_t", "0">:$activationBits)>
  ];
  let extraClassDeclaration = [{
    int64_t getNumInputs() { return getRhs().getType().getShape()[getTransposeRhs() ? 1 : 0]; }
    int64_t getNumOutputs() { return getRhs().getType().getShape()[getTransposeRhs() ? 0 : 1]; }
    /// Neighbours of a row of x that share a scale, with the default filled in.
    int64_t getActivationGroupOrDefault() { return getActivationGroup().value_or(32); }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // LLM_QUANT_OPS_TD

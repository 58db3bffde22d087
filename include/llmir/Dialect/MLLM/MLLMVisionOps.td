//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions and resampling.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMVISIONOPS
#define LLMIR_DIALECT_MLLM_MLLMVISIONOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

// A convolution over `rank` dimensions; `sizes` names them.
class MLLM_ConvOp<string mnemonic, int rank, string sizes> : MLLM_ParamOp<mnemonic, "1e-10"> {
  int numSpatial = rank;
  let arguments = (ins
    Arg<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[!add(rank, 2)]>]>, "[batch, channels, " # sizes # "]">:$x,
    Arg<FlatSymbolRefAttr, "the kernels [outputs, channels / groups, " # sizes # " of a kernel]">:$weight,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "the bias [outputs]; none when absent">:$bias,
    Arg<DenseI64ArrayAttr, "sizes of a kernel, one for each of " # sizes>:$kernel_size,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "steps from one place to the next; 1 when absent">:$stride,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "zeros put before and after each dimension; 0 when absent">:$padding,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "distance of a kernel's neighbours; 1 when absent">:$dilation,
    Arg<DefaultValuedAttr<I64Attr, "1">, "groups into which channels and outputs fall">:$groups
  );
  let results = (outs Res<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[!add(rank, 2)]>]>, "[batch, outputs, " # sizes # " of the result]">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
    /// The kernel with strides, padding and dilation, defaults filled in.
    ::llmir::shapes::Window getWindow();
  }];
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^)? attr-dict `:` type($x) `->` type($result)
  }];
  let hasVerifier = 1;
}

def MLLM_Conv1DOp : MLLM_ConvOp<"conv1d", 1, "length"> {
  let summary = "Convolution along a signal";
  let description = [{
    `result[b, o, i] = sum over c and j of x[b, g * C / groups + c, i * stride +
    j * dilation - padding] * weight[o, c, j], + bias[o]`, g being the group of o
    and x zero outside its sizes. A result has
    `(size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1` places,
    rounded down.

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight is not [outputs, channels / groups, kernel_size…], or the
      bias not [outputs];
    - c3: `kernel_size`, `stride`, `padding` or `dilation` does not have one
      number for each spatial dimension;
    - c4: one of these numbers is less than 1 (padding: 0) or above 2^31, or the
      kernel is longer than the padded dimension;
    - c5: `groups` is less than 1 or does not divide channels and outputs;
    - c6: channels or outputs are dynamic;
    - c7: the result's type is not that of the convolution.

    Example:

    ```mlir
    %y = mllm.linalg.conv1d %x, @conv1.weight bias @conv1.bias
        {kernel_size = array<i64: 3>, padding = array<i64: 1>} : tensor<1x80x?xf32> -> tensor<1x384x?xf32>
    ```
  }];
}

def MLLM_Conv2DOp : MLLM_ConvOp<"conv2d", 2, "height and width"> {
  let summary = "Convolution over pictures";
  let description = [{
    As `mllm.linalg.conv1d`, over two dimensions.

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight is not [outputs, channels / groups, kernel_size…], or the
      bias not [outputs];
    - c3: `kernel_size`, `stride`, `padding` or `dilation` does not have one
      number for each spatial dimension;
    - c4: one of these numbers is less than 1 (padding: 0) or above 2^31, or the
      kernel is longer than the padded dimension;
    - c5: `groups` is less than 1 or does not divide channels and outputs;
    - c6: channels or outputs are dynamic;
    - c7: the result's type is not that of the convolution.

    Example:

    ```mlir
    %y = mllm.linalg.conv2d %x, @patch_embed.weight
        {kernel_size = array<i64: 4, 4>, stride = array<i64: 4, 4>} : tensor<1x3x32x32xf32> -> tensor<1x16x8x8xf32>
    ```
  }];
}

def MLLM_Conv3DOp : MLLM_ConvOp<"conv3d", 3, "time, height and width"> {
  let summary = "Convolution over pictures that follow each other";
  let description = [{
    As `mllm.linalg.conv1d`, over three dimensions.

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight is not [outputs, channels / groups, kernel_size…], or the
      bias not [outputs];
    - c3: `kernel_size`, `stride`, `padding` or `dilation` does not have one
      number for each spatial dimension;
    - c4: one of these numbers is less than 1 (padding: 0) or above 2^31, or the
      kernel is longer than the padded dimension;
    - c5: `groups` is less than 1 or does not divide channels and outputs;
    - c6: channels or outputs are dynamic;
    - c7: the result's type is not that of the convolution.

    Example:

    ```mlir
    %y = mllm.linalg.conv3d %x, @patch_embed.weight
        {kernel_size = array<i64: 2, 4, 4>, stride = array<i64: 2, 4, 4>} : tensor<1x3x2x32x32xf32> -> tensor<1x16x1x8x8xf32>
    ```
  }];
}

def MLLM_InterpolateOp : MLLM_LinalgOp<"interpolate", "1e-10"> {
  let summary = "Pictures resampled to other sizes";
  let description = [{
    The spatial sizes of x [batch, channels, …] become `size`, or
    `floor(size of x * scale_factor)`. The step s of the source is the quotient of
    the sizes, or `1 / scale_factor`. Along each dimension
    - `nearest` takes the number at `floor(i * s)`;
    - `linear` (one dimension), `bilinear` (two) and `trilinear` (three) weigh the
      two numbers about `(i + 0.5) * s - 0.5`, and `bicubic` (two) four, by Keys'
      kernel with a = -0.75; beyond an edge the number at the edge counts;
    - `align_corners` puts the first and the last numbers of both grids on each
      other: `s = (size of x - 1) / (size - 1)`, about `i * s`;
    - `antialias` widens the kernel to the step when the result is smaller
      (bicubic with a = -0.5).

    These are PyTorch's definitions. Pictures of the size that they have fold.

    Fails verification when
    - c1: it has neither `size` nor `scale_factor`, or both;
    - c2: there is not one number for each spatial dimension, or `x` has none;
    - c3: a size is negative or above 2^31, or a factor is not a finite positive
      number;
    - c4: the mode is not one for the number of spatial dimensions;
    - c5: `align_corners` stands beside `nearest` or `antialias`, or `antialias`
      beside a mode other than `bilinear` and `bicubic`;
    - c6: a dimension of no number is to become one of several;
    - c7: the result's type is not `x`'s with the new sizes.

    Example:

    ```mlir
    %y = mllm.linalg.interpolate %x {mode = "bilinear", size = array<i64: 16, 16>} : tensor<1x8x4x4xf32> -> tensor<1x8x16x16xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "[batch, channels, spatial sizes…]">:$x,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "spatial sizes of the result">:$size,
    Arg<OptionalAttr<DenseF64ArrayAttr>, "factors of the spatial sizes">:$scale_factor,
    Arg<DefaultValuedStrAttr<MLLM_WordAttr<["nearest", "linear", "bilinear", "bicubic", "trilinear"]>, "nearest">,
        "how numbers between those of `x` are made">:$mode,
    Arg<UnitAttr, "corners lie on corners">:$align_corners,
    Arg<UnitAttr, "kernels are as wide as the step">:$antialias
  );
  let results = (outs Res<MLLM_FloatTensor, "[batch, channels, new spatial sizes…]">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMVISIONOPS

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

// A convolution over `rank` dimensions, which `sizes` describes.
class MLLM_ConvOp<string mnemonic, int rank, string sizes> : MLLM_ParamOp<mnemonic, "1e-10"> {
  int numSpatial = rank;
  let arguments = (ins
    Arg<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[!add(rank, 2)]>]>, "input [batch, channels, " # sizes # "]">:$x,
    Arg<FlatSymbolRefAttr, "kernels [outputs, channels / groups, " # sizes # " of a kernel]">:$weight,
    Arg<OptionalAttr<FlatSymbolRefAttr>, "bias [outputs]; none if absent">:$bias,
    Arg<DenseI64ArrayAttr, "kernel size in each of " # sizes>:$kernel_size,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "stride of each dimension; 1 if absent">:$stride,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "number of zeros before and after each dimension; 0 if absent">:$padding,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "dilation of each dimension; 1 if absent">:$dilation,
    Arg<DefaultValuedAttr<I64Attr, "1">, "number of groups of channels and outputs">:$groups
  );
  let results = (outs Res<RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[!add(rank, 2)]>]>, "output [batch, outputs, " # sizes # " of the result]">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
    /// The kernel size, stride, padding and dilation, including defaults.
    ::llmir::shapes::Window getWindow();
  }];
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^)? attr-dict `:` type($x) `->` type($result)
  }];
  let hasVerifier = 1;
}

def MLLM_Conv1DOp : MLLM_ConvOp<"conv1d", 1, "length"> {
  let summary = "1-D convolution";
  let description = [{
    `result[b, o, i] = sum over c and j of x[b, g * C / groups + c, i * stride +
    j * dilation - padding] * weight[o, c, j], + bias[o]`, where g is the group
    of o, and x is zero out of bounds. Output sizes are
    `(size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1`, rounded
    down.

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight is not [outputs, channels / groups, kernel_size…], or the
      bias is not [outputs];
    - c3: `kernel_size`, `stride`, `padding` or `dilation` does not have one
      element per spatial dimension;
    - c4: one of these elements is less than 1 (padding: 0) or greater than
      2^31, or the kernel is larger than the padded dimension;
    - c5: `groups` is less than 1 or does not divide the numbers of channels and
      outputs;
    - c6: channels or outputs are dynamic;
    - c7: the result type is not that of the convolution.

    Example:

    ```mlir
    %y = mllm.linalg.conv1d %x, @conv1.weight bias @conv1.bias
        {kernel_size = array<i64: 3>, padding = array<i64: 1>} : tensor<1x80x?xf32> -> tensor<1x384x?xf32>
    ```
  }];
}

def MLLM_Conv2DOp : MLLM_ConvOp<"conv2d", 2, "height and width"> {
  let summary = "2-D convolution";
  let description = [{
    Like `mllm.linalg.conv1d`, over two dimensions.

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight is not [outputs, channels / groups, kernel_size…], or the
      bias is not [outputs];
    - c3: `kernel_size`, `stride`, `padding` or `dilation` does not have one
      element per spatial dimension;
    - c4: one of these elements is less than 1 (padding: 0) or greater than
      2^31, or the kernel is larger than the padded dimension;
    - c5: `groups` is less than 1 or does not divide the numbers of channels and
      outputs;
    - c6: channels or outputs are dynamic;
    - c7: the result type is not that of the convolution.

    Example:

    ```mlir
    %y = mllm.linalg.conv2d %x, @patch_embed.weight
        {kernel_size = array<i64: 4, 4>, stride = array<i64: 4, 4>} : tensor<1x3x32x32xf32> -> tensor<1x16x8x8xf32>
    ```
  }];
}

def MLLM_Conv3DOp : MLLM_ConvOp<"conv3d", 3, "time, height and width"> {
  let summary = "3-D convolution";
  let description = [{
    Like `mllm.linalg.conv1d`, over three dimensions.

    Fails verification when
    - c1: `weight` or `bias` does not name an `mllm.tensor.register` of the
      module;
    - c2: the weight is not [outputs, channels / groups, kernel_size…], or the
      bias is not [outputs];
    - c3: `kernel_size`, `stride`, `padding` or `dilation` does not have one
      element per spatial dimension;
    - c4: one of these elements is less than 1 (padding: 0) or greater than
      2^31, or the kernel is larger than the padded dimension;
    - c5: `groups` is less than 1 or does not divide the numbers of channels and
      outputs;
    - c6: channels or outputs are dynamic;
    - c7: the result type is not that of the convolution.

    Example:

    ```mlir
    %y = mllm.linalg.conv3d %x, @patch_embed.weight
        {kernel_size = array<i64: 2, 4, 4>, stride = array<i64: 2, 4, 4>} : tensor<1x3x2x32x32xf32> -> tensor<1x16x1x8x8xf32>
    ```
  }];
}

def MLLM_InterpolateOp : MLLM_LinalgOp<"interpolate", "1e-10"> {
  let summary = "Resample spatial dimensions";
  let description = [{
    Resizes the spatial dimensions of x [batch, channels, …] to `size`, or to
    `floor(size of x * scale_factor)`. The source step s is the quotient of the
    sizes, or `1 / scale_factor`. In each dimension:
    - `nearest` selects the element at `floor(i * s)`;
    - `linear` (one dimension), `bilinear` (two) and `trilinear` (three)
      interpolate between the two elements around `(i + 0.5) * s - 0.5`, and
      `bicubic` (two) between four, with Keys' kernel and a = -0.75;
      out-of-bounds elements replicate the edge;
    - `align_corners` aligns the first and last elements of both grids:
      `s = (size of x - 1) / (size - 1)`, around `i * s`;
    - `antialias` widens the kernel to the step if the result is smaller
      (bicubic with a = -0.5).

    These are PyTorch's definitions. An interpolation to the same size folds.

    Fails verification when
    - c1: not exactly one of `size` and `scale_factor` is given;
    - c2: there is not one element per spatial dimension, or `x` has no spatial
      dimensions;
    - c3: a size is negative or greater than 2^31, or a factor is not a finite
      positive number;
    - c4: the mode does not support the number of spatial dimensions;
    - c5: `align_corners` is combined with `nearest` or `antialias`, or
      `antialias` with a mode other than `bilinear` and `bicubic`;
    - c6: a dimension of size 0 is resized to a nonzero size;
    - c7: the result type is not that of `x` with the new sizes.

    Example:

    ```mlir
    %y = mllm.linalg.interpolate %x {mode = "bilinear", size = array<i64: 16, 16>} : tensor<1x8x4x4xf32> -> tensor<1x8x16x16xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "input [batch, channels, spatial sizes…]">:$x,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "spatial sizes of the result">:$size,
    Arg<OptionalAttr<DenseF64ArrayAttr>, "scale factors of the spatial sizes">:$scale_factor,
    Arg<DefaultValuedStrAttr<MLLM_WordAttr<["nearest", "linear", "bilinear", "bicubic", "trilinear"]>, "nearest">,
        "interpolation mode">:$mode,
    Arg<UnitAttr, "whether to align the corner elements">:$align_corners,
    Arg<UnitAttr, "whether to widen the kernel to the step when downsampling">:$antialias
  );
  let results = (outs Res<MLLM_FloatTensor, "output [batch, channels, new spatial sizes…]">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasFolder = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMVISIONOPS

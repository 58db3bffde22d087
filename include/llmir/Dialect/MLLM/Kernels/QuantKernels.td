//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that quantize tensors of fixed size at run time.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_QUANTKERNELS
#define LLMIR_DIALECT_MLLM_KERNELS_QUANTKERNELS

include "llmir/Dialect/MLLM/Kernels/KernelBase.td"

/// The grid of the scales of a tensor: cells are boxes of `cell` elements in
/// row-major order (cells at the end of a dimension may be smaller).
defvar MLLM_QuantGridAttributes = (ins
    Arg<MLLM_Sizes, "sizes of the tensor">:$shape,
    Arg<MLLM_Sizes, "sizes of a cell, whose elements share a scale">:$cell,
    Arg<MLLM_Size, "elements in a row of the tensor's buffer, without padding">:$columns,
    Arg<MLLM_Size, "cells in a row of the grid's buffer, without padding">:$grid_columns);

class MLLM_QuantKernelOp<string mnemonic> : MLLM_KernelOp<mnemonic> {
  let extraClassDeclaration = [{
    ::llmir::mllm::kernel::QuantGrid getGrid() {
      return {getShape(), getCell(), static_cast<int64_t>(getColumns()),
              static_cast<int64_t>(getGridColumns())};
    }
  }];
}

def MLLMKernel_QuantizeOp : MLLM_QuantKernelOp<"quantize"> {
  let summary = "Quantizes a tensor";
  let description = [{
    q = clamp(roundeven(x / scale) + zero point), the integers as f32 elements.
    Without zero points the range is symmetric. Divided by elements.

    Fails verification when:
    - c1: the integers do not have 4, 8 or 16 bits;
    - c2: the shape and the cell have different ranks, or there are more than 2^28
      elements;
    - c3: the elements or the cells are not whole rows of their buffers, or an
      f32 buffer is not padded to whole tiles.

    Example:
    ```mlir
    mllm.kernel.quantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%q : memref<64x64xf32>)
        {bits = 8, shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
    ```
  }];
  let arguments = !con((ins
    Arg<MLLM_F32Rows, "the tensor", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "a scale per cell", [MemRead]>:$scales,
    Arg<Optional<MLLM_ZeroPointRows>, "a zero point per cell, as f32 or i32", [MemRead]>:$zero_points,
    Arg<MLLM_F32Rows, "the integers, as f32 elements", [MemWrite]>:$out,
    Arg<I64Attr, "bits of the integers: 4, 8 or 16">:$bits), MLLM_QuantGridAttributes);
  let assemblyFormat = [{
    `ins` `(` $x `,` $scales `:` type($x) `,` type($scales) `)`
    (`zero_points` `(` $zero_points^ `:` type($zero_points) `)`)?
    `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_DequantizeOp : MLLM_QuantKernelOp<"dequantize"> {
  let summary = "Dequantizes a tensor";
  let description = [{
    x = scale * (q - zero point). Divided by elements.

    Fails verification when:
    - c1: the shape and the cell have different ranks, or there are more than 2^28
      elements;
    - c2: the elements or the cells are not whole rows of their buffers, or an
      f32 buffer is not padded to whole tiles.

    Example:
    ```mlir
    mllm.kernel.dequantize ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%x : memref<64x64xf32>)
        {shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
    ```
  }];
  let arguments = !con((ins
    Arg<MLLM_F32Rows, "the integers, as f32 elements", [MemRead]>:$q,
    Arg<MLLM_F32Rows, "a scale per cell", [MemRead]>:$scales,
    Arg<Optional<MLLM_ZeroPointRows>, "a zero point per cell, as f32 or i32", [MemRead]>:$zero_points,
    Arg<MLLM_F32Rows, "the values", [MemWrite]>:$out), MLLM_QuantGridAttributes);
  let assemblyFormat = [{
    `ins` `(` $q `,` $scales `:` type($q) `,` type($scales) `)`
    (`zero_points` `(` $zero_points^ `:` type($zero_points) `)`)?
    `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_QuantParamsOp : MLLM_QuantKernelOp<"quant_params"> {
  let summary = "Computes scales and zero points from the range of each cell";
  let description = [{
    Computes for every cell the scale, and the zero point if there is a buffer
    for zero points, such that its elements use the whole range of the integers.
    Divided by elements.

    Fails verification when:
    - c1: the integers do not have 4, 8 or 16 bits;
    - c2: the shape and the cell have different ranks, or there are more than 2^28
      elements;
    - c3: the elements or the cells are not whole rows of their buffers, or an
      f32 buffer is not padded to whole tiles.

    Example:
    ```mlir
    mllm.kernel.quant_params ins(%x : memref<64x64xf32>) outs(%s : memref<64x16xf32>)
        {bits = 8, shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
    ```
  }];
  let arguments = !con((ins
    Arg<MLLM_F32Rows, "the tensor", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "a scale per cell", [MemWrite]>:$scales,
    Arg<Optional<MLLM_F32Rows>, "a zero point per cell", [MemWrite]>:$zero_points,
    Arg<I64Attr, "bits of the integers: 4, 8 or 16">:$bits), MLLM_QuantGridAttributes);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $scales `:` type($scales) `)`
    (`zero_points` `(` $zero_points^ `:` type($zero_points) `)`)? attr-dict
  }];
}

#endif // LLMIR_DIALECT_MLLM_KERNELS_QUANTKERNELS

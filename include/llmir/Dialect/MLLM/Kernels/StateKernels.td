//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of layers that keep a state of each sequence. Tokens of a sequence are
// processed in order, so that results do not depend on how they are divided into
// steps.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_STATEKERNELS
#define LLMIR_DIALECT_MLLM_KERNELS_STATEKERNELS

include "llmir/Dialect/MLLM/Kernels/KernelBase.td"

class MLLM_StateKernelOp<string mnemonic, list<string> overrides = []>
    : MLLM_KernelOp<mnemonic, overrides # ["getDivisionOf", "getStatePart"],
        [MemoryEffects<[MemRead<MLLM_StatePoolResource>, MemWrite<MLLM_StatePoolResource>]>]>;

def MLLMKernel_CausalConvOp : MLLM_StateKernelOp<"causal_conv", ["getRowsOf"]> {
  let summary = "Causal convolution of each channel over the tokens of a sequence";
  let description = [{
    out[t][c] = sum over j < taps of weight[j][c] * x[t - taps + 1 + j][c] for
    each sequence; the rows before those of the step are the layer's state, and
    the last taps - 1 rows become it. Divided by columns.

    Fails verification when:
    - c1: a buffer has fewer columns than there are channels, or is not padded
      to whole tiles, or `weight` has fewer rows than `taps`;
    - c2: there are more than 64 taps;
    - c3: `state_offset` is not a multiple of 16 from 0 to 2^31.

    Example:
    ```mlir
    mllm.kernel.causal_conv ins(%x, %w : memref<512x64xf32>, memref<3x64xf32>) outs(%y : memref<512x64xf32>)
        {channels = 64, taps = 3, state_offset = 0}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "[tokens, channels]", [MemRead]>:$x,
    Arg<MLLM_F32Rows, "factors [taps, channels], that of the token itself last", [MemRead]>:$weight,
    Arg<MLLM_F32Rows, "[tokens, channels]; may be x", [MemWrite]>:$out,
    Arg<MLLM_Size, "elements of a row">:$channels,
    Arg<MLLM_Size, "factors of a channel">:$taps,
    Arg<I64Attr, "start of the kept rows in the layer's record, in floats">:$state_offset);
  let assemblyFormat = [{
    `ins` `(` $x `,` $weight `:` type($x) `,` type($weight) `)`
    `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_LinearAttentionOp : MLLM_StateKernelOp<"linear_attention"> {
  let summary = "Attention as a recurrence over a matrix per head";
  let description = [{
    The recurrence of `mllm.linalg.linear_attention` over the tokens of each
    sequence, whose matrices are the layer's state. Divided by columns, in whole
    value heads.

    Fails verification when:
    - c1: the key heads do not divide the value heads;
    - c2: a buffer has fewer columns than the kernel needs, or is not padded to
      whole tiles;
    - c3: `state_offset` is not a multiple of 16 from 0 to 2^31.

    Example:
    ```mlir
    mllm.kernel.linear_attention ins(%q, %k, %v, %g : memref<512x32xf32>, memref<512x32xf32>, memref<512x64xf32>, memref<512x16xf32>)
        beta(%b : memref<512x16xf32>) outs(%y : memref<512x64xf32>)
        {heads = 4, key_heads = 2, key_dim = 16, value_dim = 16, state_offset = 256}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "queries [tokens, key_heads * key_dim]", [MemRead]>:$q,
    Arg<MLLM_F32Rows, "keys [tokens, key_heads * key_dim]", [MemRead]>:$k,
    Arg<MLLM_F32Rows, "values [tokens, heads * value_dim]", [MemRead]>:$v,
    Arg<MLLM_F32Rows, "factors of the matrices [tokens, heads]", [MemRead]>:$decay,
    Arg<Optional<MLLM_F32Rows>, "factors of the delta rule [tokens, heads]", [MemRead]>:$beta,
    Arg<MLLM_F32Rows, "[tokens, heads * value_dim]", [MemWrite]>:$out,
    Arg<MLLM_Size, "value heads">:$heads,
    Arg<MLLM_Size, "key heads">:$key_heads,
    Arg<MLLM_Size, "elements of a key">:$key_dim,
    Arg<MLLM_Size, "elements of a value">:$value_dim,
    Arg<UnitAttr, "value head h has key head h mod key_heads">:$interleaved,
    Arg<I64Attr, "start of the matrices in the layer's record, in floats">:$state_offset);
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `,` $decay `:` type($q) `,` type($k) `,` type($v) `,` type($decay) `)`
    (`beta` `(` $beta^ `:` type($beta) `)`)? `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

#endif // LLMIR_DIALECT_MLLM_KERNELS_STATEKERNELS

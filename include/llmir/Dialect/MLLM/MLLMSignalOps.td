//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of audio: short-time Fourier transforms. Complex numbers are a last
// dimension of size 2.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMSIGNALOPS
#define LLMIR_DIALECT_MLLM_MLLMSIGNALOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

def MLLM_PadModeAttr : MLLM_WordAttr<["constant", "reflect", "replicate", "circular"]>;
def MLLM_WindowTensor : RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[1]>]>;

def MLLM_STFTOp : MLLM_LinalgOp<"stft", "1e-10"> {
  let summary = "Fourier transforms of the frames of a signal";
  let description = [{
    `result[…, f, t] = sum over n < N of x[…, t * hop + n] * w[n] * exp(-2 pi i f n
    / N)`, N being `n_fft` and w the window in the middle of N zeros. With `center`
    N / 2 samples are added at both ends first, as `pad_mode` says (zeros for
    `"constant"`), so that frame t stands about sample `t * hop`. `normalized`
    divides by the root of N. A `hop_length` of 0 is N / 4, rounded down but at
    least 1.

    Fails verification when
    - c1: `n_fft` is less than 1 or above 2^31, or `hop_length` is negative or
      above 2^31;
    - c2: the window is longer than `n_fft`;
    - c3: `x` has rank 0;
    - c4: the signal with what is added is shorter than a frame;
    - c5: operands differ in element type or device;
    - c6: the result is not […, frequencies, frames, 2].

    Example:

    ```mlir
    %s = mllm.linalg.stft %x, %window {n_fft = 400 : i64, hop_length = 160 : i64}
        : (tensor<1x?xf32>, tensor<400xf32>) -> tensor<1x201x?x2xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "signals […, samples]">:$x,
    Arg<MLLM_WindowTensor, "factors of a frame's samples, at most `n_fft`">:$window,
    Arg<I64Attr, "samples of a frame">:$n_fft,
    Arg<DefaultValuedAttr<I64Attr, "0">, "samples from one frame to the next; 0 = a quarter of `n_fft`">:$hop_length,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "frequencies up to N / 2 only, of which the others are conjugates">:$onesided,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "whether frame t stands about sample t * hop">:$center,
    Arg<DefaultValuedStrAttr<MLLM_PadModeAttr, "reflect">, "what is added at the ends where `center`">:$pad_mode,
    Arg<UnitAttr, "the sums are divided by the root of `n_fft`">:$normalized
  );
  let results = (outs Res<MLLM_FloatTensor, "[…, frequencies, frames, 2]">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = "$x `,` $window attr-dict `:` functional-type(operands, results)";
}

def MLLM_ISTFTOp : MLLM_LinalgOp<"istft", "1e-10"> {
  let summary = "The signal whose frames have these Fourier transforms";
  let description = [{
    The inverse transforms of the frames (with `onesided` the missing frequencies
    are conjugates) times the window, added where they stand and divided by the
    sum of the window's squares there, where that is above 1e-11. `center` drops
    the N / 2 samples before the first frame's middle; `length` cuts the signal or
    lengthens it by zeros.

    Fails verification when
    - c1: `n_fft` is less than 1 or above 2^31, or `hop_length` is negative or
      above 2^31;
    - c2: the window is longer than `n_fft`;
    - c3: `x` is not […, frequencies, frames, 2] with N / 2 + 1 frequencies, or N
      where not `onesided`;
    - c4: `length` is negative or above 2^31;
    - c5: operands differ in element type or device;
    - c6: the result is not […, samples].

    Example:

    ```mlir
    %y = mllm.linalg.istft %s, %window {n_fft = 400 : i64, hop_length = 160 : i64, length = 16000 : i64}
        : (tensor<1x201x101x2xf32>, tensor<400xf32>) -> tensor<1x16000xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "transforms […, frequencies, frames, 2]">:$x,
    Arg<MLLM_WindowTensor, "factors of a frame's samples, at most `n_fft`">:$window,
    Arg<I64Attr, "samples of a frame">:$n_fft,
    Arg<DefaultValuedAttr<I64Attr, "0">, "samples from one frame to the next; 0 = a quarter of `n_fft`">:$hop_length,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "whether only frequencies up to N / 2 are given">:$onesided,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "whether frame t stands about sample t * hop">:$center,
    Arg<UnitAttr, "the forward sums were divided by the root of `n_fft`">:$normalized,
    Arg<OptionalAttr<I64Attr>, "samples of the result; what the frames give when absent">:$length
  );
  let results = (outs Res<MLLM_FloatTensor, "signals […, samples]">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = "$x `,` $window attr-dict `:` functional-type(operands, results)";
}

#endif // LLMIR_DIALECT_MLLM_MLLMSIGNALOPS

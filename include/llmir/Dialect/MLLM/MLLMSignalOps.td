//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Audio ops: short-time Fourier transforms. Complex numbers are represented by
// a last dimension of size 2.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMSIGNALOPS
#define LLMIR_DIALECT_MLLM_MLLMSIGNALOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

def MLLM_PadModeAttr : MLLM_WordAttr<["constant", "reflect", "replicate", "circular"]>;
def MLLM_WindowTensor : RankedTensorOf<MLLM_FloatTypes, [HasAnyRankOfPred<[1]>]>;

def MLLM_STFTOp : MLLM_LinalgOp<"stft", "1e-10"> {
  let summary = "Short-time Fourier transform";
  let description = [{
    `result[…, f, t] = sum over n < N of x[…, t * hop + n] * w[n] * exp(-2 pi i
    f n /
    N)`, where N is `n_fft` and w the window, centered and zero-padded to N samples. With `center`,
    the signal is first padded by N / 2 samples at both ends according to
    `pad_mode` (with zeros for `"constant"`), so that frame t is centered at
    sample `t * hop`. `normalized` divides by the square root of N. A
    `hop_length` of 0 means N / 4, rounded down, but at least 1.

    Fails verification when
    - c1: `n_fft` is less than 1 or greater than 2^31, or `hop_length` is
      negative or greater than 2^31;
    - c2: the window is longer than `n_fft`;
    - c3: `x` has rank 0;
    - c4: the padded signal is shorter than a frame;
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
    Arg<MLLM_WindowTensor, "window function of at most `n_fft` samples">:$window,
    Arg<I64Attr, "number of samples per frame">:$n_fft,
    Arg<DefaultValuedAttr<I64Attr, "0">, "number of samples between frames; 0: a quarter of `n_fft`">:$hop_length,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "whether to compute only the frequencies up to N / 2; the others are conjugates">:$onesided,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "whether frame t is centered at sample t * hop">:$center,
    Arg<DefaultValuedStrAttr<MLLM_PadModeAttr, "reflect">, "padding mode if `center`">:$pad_mode,
    Arg<UnitAttr, "whether to divide by the square root of `n_fft`">:$normalized
  );
  let results = (outs Res<MLLM_FloatTensor, "spectrogram […, frequencies, frames, 2]">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = "$x `,` $window attr-dict `:` functional-type(operands, results)";
}

def MLLM_ISTFTOp : MLLM_LinalgOp<"istft", "1e-10"> {
  let summary = "Inverse short-time Fourier transform";
  let description = [{
    Overlap-adds the inverse transforms of the frames (with `onesided`, the
    missing frequencies are conjugates) times the window, and divides by the
    overlap-added squares of the window where these exceed 1e-11. `center` drops
    the N / 2 samples before the center of the first frame; `length` truncates
    the signal or pads it with zeros.

    Fails verification when
    - c1: `n_fft` is less than 1 or greater than 2^31, or `hop_length` is
      negative or greater than 2^31;
    - c2: the window is longer than `n_fft`;
    - c3: `x` is not […, frequencies, frames, 2] with N / 2 + 1 frequencies, or
      N if not `onesided`;
    - c4: `length` is negative or greater than 2^31;
    - c5: operands differ in element type or device;
    - c6: the result is not […, samples].

    Example:

    ```mlir
    %y = mllm.linalg.istft %s, %window {n_fft = 400 : i64, hop_length = 160 : i64, length = 16000 : i64}
        : (tensor<1x201x101x2xf32>, tensor<400xf32>) -> tensor<1x16000xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FloatTensor, "spectrogram […, frequencies, frames, 2]">:$x,
    Arg<MLLM_WindowTensor, "window function of at most `n_fft` samples">:$window,
    Arg<I64Attr, "number of samples per frame">:$n_fft,
    Arg<DefaultValuedAttr<I64Attr, "0">, "number of samples between frames; 0: a quarter of `n_fft`">:$hop_length,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "whether `x` has only the frequencies up to N / 2">:$onesided,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "whether frame t is centered at sample t * hop">:$center,
    Arg<UnitAttr, "whether the forward transform divided by the square root of `n_fft`">:$normalized,
    Arg<OptionalAttr<I64Attr>, "number of samples of the result; determined by the frames if absent">:$length
  );
  let results = (outs Res<MLLM_FloatTensor, "signals […, samples]">:$result);
  let extraClassDeclaration = commonDeclaration # [{
    std::optional<int64_t> getFlops();
  }];
  let assemblyFormat = "$x `,` $window attr-dict `:` functional-type(operands, results)";
}

#endif // LLMIR_DIALECT_MLLM_MLLMSIGNALOPS

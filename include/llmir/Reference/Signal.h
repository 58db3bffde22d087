//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ops on signals mean: the short-time Fourier transform and its inverse.
// Complex numbers are a last dimension of size 2, real and imaginary part.
//
// L samples, N samples in a frame, W in a window, F frequencies, T frames.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_SIGNAL_H
#define LLMIR_REFERENCE_SIGNAL_H

#include "llmir/Reference/Shape.h"

namespace llmir::reference {

struct STFTParams {
  int64_t frame = 0;       ///< N, 1 or more.
  int64_t hop = 0;         ///< Samples from one frame to the next, 1 or more.
  bool onesided = true;    ///< F = N / 2 + 1 frequencies, otherwise N.
  bool center = true;      ///< Frame t stands about sample t · hop.
  bool normalized = false; ///< The forward sum is divided by √N.
  PadMode padMode = PadMode::Reflect; ///< Of the N / 2 samples added at each
                                      ///< end where `center`.

  int64_t frequencies() const { return onesided ? frame / 2 + 1 : frame; }
};

/// Frames of a signal of `length` samples: 1 + floor((L − N) / hop) with the
/// samples that `center` adds; none where that is shorter than a frame.
int64_t numFrames(int64_t length, const STFTParams &params);
/// Samples of T frames: N + hop · (T − 1), less what `center` added; none
/// without a frame.
int64_t numSamples(int64_t frames, const STFTParams &params);

/// x […, L] and a window [W], W ≤ N, give […, F, T, 2]:
///   result[…, f, t] = Σ_n x[…, t · hop + n] · w[n] · exp(−2πi · f · n / N)
/// w being the window in the middle of N zeros. Fails where the signal is
/// shorter than a frame, or cannot be padded.
Expected<Tensor> stft(const Tensor &x, const Tensor &window,
                      const STFTParams &params);

/// x […, F, T, 2] and a window [W] give […, L]: the frames' inverse transforms
/// (real parts; with onesided frequencies the others are their conjugates)
/// times w, added where they stand, and divided by the sum of w² there where
/// that is above 1e-11. `length` cuts the result or lengthens it by zeros;
/// −1 = numSamples. Fails where F is another number.
Expected<Tensor> istft(const Tensor &x, const Tensor &window,
                       const STFTParams &params, int64_t length);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_SIGNAL_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference short-time Fourier transform and its inverse. Complex numbers are
// represented by a last dimension of size 2, real and imaginary part.
//
// L samples, N samples per frame, W per window, F frequencies, T frames.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_SIGNAL_H
#define LLMIR_REFERENCE_SIGNAL_H

#include "llmir/Reference/Shape.h"

namespace llmir::reference {

struct STFTParams {
  int64_t frame = 0;       ///< N, 1 or more.
  int64_t hop = 0;         ///< Samples between frames, 1 or more.
  bool onesided = true;    ///< F = N / 2 + 1 frequencies, otherwise N.
  bool center = true;      ///< Frame t is centered at sample t · hop.
  bool normalized = false; ///< The forward transform divides by √N.
  PadMode padMode = PadMode::Reflect; ///< Of the N / 2 samples added at each
                                      ///< end if `center`.

  int64_t frequencies() const { return onesided ? frame / 2 + 1 : frame; }
};

/// Number of frames of a signal of `length` samples: 1 + floor((L − N) / hop),
/// where L includes the padding of `center`; 0 if the signal is shorter than a
/// frame.
int64_t numFrames(int64_t length, const STFTParams &params);
/// Number of samples of T frames: N + hop · (T − 1), minus the padding of
/// `center`; 0 without frames.
int64_t numSamples(int64_t frames, const STFTParams &params);

/// Maps x […, L] with a window [W], W ≤ N, to […, F, T, 2]:
///   result[…, f, t] = Σ_n x[…, t · hop + n] · w[n] · exp(−2πi · f · n / N)
/// where w is the window, centered and zero-padded to N samples. Fails if the
/// signal is shorter than a frame, or cannot be padded.
Expected<Tensor> stft(const Tensor &x, const Tensor &window,
                      const STFTParams &params);

/// Maps x […, F, T, 2] with a window [W] to […, L]: the frames' inverse
/// transforms (real parts; with onesided frequencies the others are their
/// conjugates) times w are overlap-added and divided by the overlap-added w²
/// where that exceeds 1e-11. `length` truncates the result or pads it with
/// zeros; −1: numSamples(). Fails if F does not match.
Expected<Tensor> istft(const Tensor &x, const Tensor &window,
                       const STFTParams &params, int64_t length);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_SIGNAL_H

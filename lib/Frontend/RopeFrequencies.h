//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frequencies of rotary position embedding, computed in double precision.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_ROPEFREQUENCIES_H
#define LLMIR_LIB_FRONTEND_ROPEFREQUENCIES_H

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Support/Span.h"

#include <vector>

namespace llmir {

/// Angle per position of each rotated pair in radians, [rotaryDim / 2]:
/// theta^(-2i/d), scaled according to `config` and divided by `divisors`
/// (empty, or one per pair). The divisors of llama3 scaling are rounded to f32,
/// as GGUF stores them, so that both containers yield the same rotation.
std::vector<double> ropeFrequencies(const ModelConfig &config,
                                    Span<const double> divisors);

/// The same for a checkpoint, with the divisors of its tensor
/// rope_freqs.weight, if any. Fails if that tensor does not have the shape
/// [rotaryDim / 2], or has an element that is not positive.
Expected<std::vector<double>> ropeFrequencies(const Checkpoint &checkpoint);

/// The GGUF tensor of divisors.
constexpr const char *ropeDivisorsTensor = "rope_freqs.weight";

} // namespace llmir

#endif // LLMIR_LIB_FRONTEND_ROPEFREQUENCIES_H

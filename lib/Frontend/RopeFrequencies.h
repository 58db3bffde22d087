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
/// (empty, or one per pair). Where rows are stored for adjacent pairs, of which
/// only some are rotated, there is one per pair of a head, 0 for the others.
/// The divisors of llama3 scaling are rounded to f32, as GGUF stores them, so
/// that both containers yield the same rotation.
std::vector<double> ropeFrequencies(const ModelConfig &config,
                                    Span<const double> divisors);

/// The same for a checkpoint, with the divisors of its tensor
/// rope_freqs.weight, if any, or those of longrope scaling for a context of so
/// many tokens (0: that of the config). Fails if such a tensor does not have
/// the shape [rotaryDim / 2], or has an element that is not positive.
Expected<std::vector<double>> ropeFrequencies(const Checkpoint &checkpoint,
                                              int64_t context = 0);

/// Those of layers with local rotation: localRopeTheta^(-2i/d).
std::vector<double> localRopeFrequencies(const ModelConfig &config);

/// The divisors of llama3 scaling, one per rotated pair.
std::vector<float> llama3Divisors(const ModelConfig &config);
/// The divisors of proportional scaling, one per pair.
std::vector<float> proportionalDivisors(const ModelConfig &config);

/// The GGUF tensor of divisors, and those of longrope scaling.
constexpr const char *ropeDivisorsTensor = "rope_freqs.weight";
constexpr const char *shortFactorsTensor = "rope_factors_short.weight";
constexpr const char *longFactorsTensor = "rope_factors_long.weight";

} // namespace llmir

#endif // LLMIR_LIB_FRONTEND_ROPEFREQUENCIES_H

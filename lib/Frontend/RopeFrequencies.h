//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The angles of rotary position embedding, computed in double precision.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_ROPEFREQUENCIES_H
#define LLMIR_LIB_FRONTEND_ROPEFREQUENCIES_H

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Support/Span.h"

#include <vector>

namespace llmir {

/// Radians per position of each rotated pair, [rotaryDim / 2]: theta^(-2i/d),
/// scaled as `config` says and divided by `divisors` (empty, or one for each
/// pair). The divisors of llama3 scaling are rounded to f32, as GGUF stores
/// them, so that a model means the same rotation in both containers.
std::vector<double> ropeFrequencies(const ModelConfig &config,
                                    Span<const double> divisors);

/// The same for a checkpoint, with the divisors that its tensor
/// rope_freqs.weight holds where there is one. Fails when that tensor has
/// another shape than [rotaryDim / 2], or a value that is not positive.
Expected<std::vector<double>> ropeFrequencies(const Checkpoint &checkpoint);

/// The GGUF tensor of divisors.
constexpr const char *ropeDivisorsTensor = "rope_freqs.weight";

} // namespace llmir

#endif // LLMIR_LIB_FRONTEND_ROPEFREQUENCIES_H

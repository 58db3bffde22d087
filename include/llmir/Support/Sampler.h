//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the next token from a row of logits.
//
// Order: temperature, top-k, top-p, min-p, then one draw. A token's rank is its
// logit, ties go to the lowest id, a NaN ranks below everything. The generator
// is SplitMix64, so a seed gives the same tokens on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_SAMPLER_H
#define LLMIR_SUPPORT_SAMPLER_H

#include "llmir/Support/GenerationDefaults.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <vector>

namespace llmir {

struct SamplingParams {
  double temperature = 0.0; ///< 0 = greedy: the rest is ignored.
  int64_t topK = 0;         ///< Keep the best k; 0 = all.
  double topP = 1.0; ///< Keep the fewest best tokens that reach this mass.
  double minP = 0.0; ///< Drop below this share of the best one's probability.
  uint64_t seed = 0;

  /// What the model's generation_config.json says; greedy where it says
  /// nothing.
  static SamplingParams fromDefaults(const GenerationDefaults &defaults);
};

/// InvalidArgument with the name and the limits of a value out of range.
Status validateSamplingParams(const SamplingParams &params);

/// Whether a logit is a NaN: the weights hold one, or overflow.
bool hasNaN(Span<const float> logits);

class Sampler {
public:
  explicit Sampler(const SamplingParams &params);

  /// The chosen id in [0, logits.size()). `logits` is not empty. Where all are
  /// NaN or minus infinity, id 0.
  int32_t sample(Span<const float> logits);

  /// The id of the greatest logit, the lowest among equals; NaN never wins.
  static int32_t argmax(Span<const float> logits);

private:
  struct Candidate {
    float logit;
    int32_t id;
    double weight; ///< Its probability over the best one's.
    /// Best first: a total order, so that every machine has the same.
    bool operator<(const Candidate &other) const {
      return logit != other.logit ? logit > other.logit : id < other.id;
    }
  };
  double uniform(); ///< [0, 1)
  double totalWeight() const;
  void keepTopK();
  void cutTail();

  SamplingParams params;
  uint64_t randomState;
  std::vector<Candidate> candidates; ///< Kept for its memory.
};

} // namespace llmir

#endif // LLMIR_SUPPORT_SAMPLER_H

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
// Order: temperature, top-k, top-p, min-p, typical-p, then one random draw.
// Tokens are ranked by logit, ties go to the lowest id, and NaN ranks last. The
// random number generator is SplitMix64: a seed gives the same tokens on all
// machines.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_SAMPLER_H
#define LLMIR_SUPPORT_SAMPLER_H

#include "llmir/Support/GenerationDefaults.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace llmir {

/// Names and meanings are those of vLLM; typical-p is that of transformers.
struct SamplingParams {
  /// 0 = greedy: top-k, top-p, min-p, typical-p and the seed are ignored.
  double temperature = 0.0;
  int64_t topK = 0;  ///< Keep the best k; 0 = all.
  double topP = 1.0; ///< Keep the smallest set of best tokens with this mass.
  double minP = 0.0; ///< Drop below this fraction of the best probability.
  /// Keep the smallest set with this mass of the tokens whose information
  /// content is closest to the entropy (Meister et al., "Locally Typical
  /// Sampling"); 1 = all.
  double typicalP = 1.0;
  uint64_t seed = 0;
  /// Logits of tokens that were in the prompt or were generated are divided by
  /// this if they are positive, otherwise multiplied. 1 = none.
  double repetitionPenalty = 1.0;
  /// Subtracted from the logits of tokens that were generated: once, and once
  /// for each time.
  double presencePenalty = 0.0;
  double frequencyPenalty = 0.0;
  /// Added to the logits of these tokens, before penalties.
  std::vector<std::pair<int32_t, float>> logitBias;

  bool hasPenalties() const {
    return repetitionPenalty != 1 || presencePenalty != 0 ||
           frequencyPenalty != 0;
  }

  /// The parameters of the model's generation_config.json; greedy if it has
  /// none.
  static SamplingParams fromDefaults(const GenerationDefaults &defaults);
};

/// InvalidArgument, naming the value and its limits, if a value is out of
/// range.
Status validateSamplingParams(const SamplingParams &params);

/// What one pass over the logits of a row finds.
struct LogitsScan {
  /// The id of the maximum logit, the lowest among equals; NaN never wins. 0 if
  /// all logits are NaN or minus infinity.
  int32_t best = 0;
  /// Whether a logit is NaN, because a weight is NaN or an operation
  /// overflowed.
  bool hasNaN = false;
};
LogitsScan scanLogits(Span<const float> logits);

/// Which tokens may be chosen. Ids that are out of range are ignored.
struct TokenLimits {
  Span<const int32_t> forbidden;
  /// Token i may be chosen if bit i % 64 of word i / 64 is set; empty = all.
  Span<const uint64_t> allowed;
};

class Sampler {
public:
  explicit Sampler(const SamplingParams &params);

  /// Tells which tokens precede the first sampled one, for the repetition
  /// penalty.
  void setPrompt(Span<const int32_t> prompt);

  /// The chosen id in [0, logits.size()), which later penalties count. `logits`
  /// must not be empty. Ids in the logit bias that are out of range are
  /// ignored. Id 0 if all logits are NaN or minus infinity, or if the limits
  /// leave no token. `best` is that of scanLogits(logits).
  int32_t sample(Span<const float> logits, int32_t best,
                 const TokenLimits &limits = {});
  /// The same; scans the logits first.
  int32_t sample(Span<const float> logits, const TokenLimits &limits = {}) {
    return sample(logits, scanLogits(logits).best, limits);
  }

private:
  struct Candidate {
    float logit;
    int32_t id;
    double weight = 0; ///< Its probability relative to the best candidate's.
    /// Best first: a total order, so that the result is deterministic.
    bool operator<(const Candidate &other) const {
      return logit != other.logit ? logit > other.logit : id < other.id;
    }
  };
  int32_t choose(Span<const float> logits, int32_t best);
  void adjust(Span<const float> logits, const TokenLimits &limits);
  double uniform(); ///< [0, 1)
  double logWeight(const Candidate &candidate, float greatest) const;
  double totalWeight() const;
  float inverseTemperature() const;
  double computeMasses(Span<const float> logits, float greatest);
  int32_t chooseAmongAll(Span<const float> logits, int32_t best);
  void collectFrom(Span<const float> logits, double greatest, double weight);
  void cutTail(double total, double least);
  double computeDistances(float greatest, double total);
  double distanceOfMass(double mass, double farthest);
  void keepTypical(float greatest);

  SamplingParams params;
  uint64_t randomState;
  std::vector<Candidate> candidates; ///< Kept to reuse the allocation.
  std::vector<float> adjusted;       ///< The same.
  std::vector<double> masses;        ///< The same.
  std::vector<double> distances;     ///< The same, of `candidates`.
  /// How often tokens of the prompt and generated ones were generated, if there
  /// are penalties.
  std::unordered_map<int32_t, int64_t> generated;
};

} // namespace llmir

#endif // LLMIR_SUPPORT_SAMPLER_H

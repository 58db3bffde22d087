//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Sampler.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace llmir {

SamplingParams
SamplingParams::fromDefaults(const GenerationDefaults &defaults) {
  SamplingParams params;
  if (!defaults.doSample)
    return params;
  params.temperature = defaults.temperature;
  params.topK = defaults.topK;
  params.topP = defaults.topP;
  params.minP = defaults.minP;
  return params;
}

static Status outOfRange(const char *name, double value, const char *limits) {
  std::ostringstream cause;
  cause << "sampling: " << name << " is " << value;
  return Status(StatusCode::InvalidArgument, cause.str(), limits);
}

Status validateSamplingParams(const SamplingParams &params) {
  if (!(params.temperature >= 0 && params.temperature <= 1e6))
    return outOfRange("temperature", params.temperature,
                      "give a number from 0 (greedy) to 1000000");
  if (params.topK < 0)
    return outOfRange("top-k", static_cast<double>(params.topK),
                      "give 0 (all) or a positive number");
  if (!(params.topP >= 0 && params.topP <= 1))
    return outOfRange("top-p", params.topP, "give a number from 0 to 1");
  if (!(params.minP >= 0 && params.minP <= 1))
    return outOfRange("min-p", params.minP, "give a number from 0 to 1");
  if (!(params.repetitionPenalty > 0 && params.repetitionPenalty <= 1e6))
    return outOfRange("repetition penalty", params.repetitionPenalty,
                      "give a positive number, 1 for none");
  if (!(params.presencePenalty >= -2 && params.presencePenalty <= 2))
    return outOfRange("presence penalty", params.presencePenalty,
                      "give a number from -2 to 2");
  if (!(params.frequencyPenalty >= -2 && params.frequencyPenalty <= 2))
    return outOfRange("frequency penalty", params.frequencyPenalty,
                      "give a number from -2 to 2");
  for (const auto &[token, bias] : params.logitBias)
    if (!(bias >= -100 && bias <= 100))
      return outOfRange("logit bias", static_cast<double>(bias),
                        "give numbers from -100 to 100");
  return Status::ok();
}

bool hasNaN(Span<const float> logits) {
  bool any = false; // No early exit, so that the loop vectorizes.
  for (float logit : logits)
    any |= logit != logit;
  return any;
}

Sampler::Sampler(const SamplingParams &params)
    : params(params), randomState(params.seed) {}

/// SplitMix64; the upper 53 bits make a double in [0, 1).
double Sampler::uniform() {
  randomState += 0x9e3779b97f4a7c15u;
  uint64_t z = randomState;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

int32_t Sampler::argmax(Span<const float> logits) {
  constexpr size_t lanes = 16; // So that the loop vectorizes.
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  float most[lanes];
  std::fill_n(most, lanes, lowest);
  const size_t whole = logits.size() / lanes * lanes;
  for (size_t i = 0; i < whole; i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane) {
      const float logit = logits[i + lane];
      most[lane] = logit > most[lane] ? logit : most[lane]; // Skips NaN.
    }
  float greatest = *std::max_element(most, most + lanes);
  for (size_t i = whole; i < logits.size(); ++i)
    greatest = logits[i] > greatest ? logits[i] : greatest;
  const float *found = std::find(logits.begin(), logits.end(), greatest);
  // Only NaN and minus infinity: the first id.
  return found == logits.end() || greatest == lowest
             ? 0
             : static_cast<int32_t>(found - logits.begin());
}

double Sampler::totalWeight() const {
  double total = 0;
  for (const Candidate &candidate : candidates)
    total += candidate.weight;
  return total;
}

/// The weights of all tokens of this many ids are added at once.
static constexpr size_t blockOfIds = 1024;

/// exp(x) for x <= 0, with a relative error below 3e-7; for NaN and below -87,
/// practically zero. A loop over it is vectorized.
static float expOfNegative(float x) {
  x = x > -87.0f ? x : -87.0f;
  // exp(x) = 2^n * exp(r), |r| <= ln(2) / 2; adding 1.5 * 2^23 rounds.
  const float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float power = 1.98756915e-4f; // Coefficients of Cephes' expf.
  for (float term : {1.39819995e-3f, 8.33345190e-3f, 4.16657959e-2f,
                     1.66666655e-1f, 5.00000012e-1f})
    power = power * r + term;
  power = power * r * r + r + 1.0f;
  const auto bits = static_cast<uint32_t>(static_cast<int32_t>(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return power * scale;
}

/// Weights of the tokens relative to the best one, added in lanes.
static double massOf(Span<const float> logits, float greatest,
                     float inverseTemperature) {
  constexpr size_t lanes = 16;
  const size_t whole = logits.size() / lanes * lanes;
  float sums[lanes] = {};
  auto weight = [&](float logit) {
    return expOfNegative((logit - greatest) * inverseTemperature);
  };
  for (size_t i = 0; i < whole; i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane)
      sums[lane] += weight(logits[i + lane]);
  double total = 0;
  for (float sum : sums)
    total += sum;
  for (size_t i = whole; i < logits.size(); ++i)
    total += weight(logits[i]);
  return total;
}

/// The weight of all tokens; fills `masses` with that of each block of ids.
double Sampler::computeMasses(Span<const float> logits, float greatest) {
  masses.clear();
  double total = 0;
  for (size_t i = 0; i < logits.size(); i += blockOfIds) {
    const size_t count = std::min(blockOfIds, logits.size() - i);
    masses.push_back(
        massOf(logits.subspan(i, count), greatest, inverseTemperature()));
    total += masses.back();
  }
  return total;
}

float Sampler::inverseTemperature() const {
  return static_cast<float>(std::min(1 / params.temperature, 1e30));
}

/// A token by its weight among all, without a list of candidates.
int32_t Sampler::chooseAmongAll(Span<const float> logits, int32_t best) {
  const float greatest = logits[static_cast<size_t>(best)];
  double point = uniform() * computeMasses(logits, greatest);
  size_t block = 0;
  while (block + 1 < masses.size() && point >= masses[block])
    point -= masses[block++];
  const size_t first = block * blockOfIds;
  const size_t end = std::min(first + blockOfIds, logits.size());
  for (size_t i = first; i < end; ++i) {
    point -= expOfNegative((logits[i] - greatest) * inverseTemperature());
    if (point < 0)
      return static_cast<int32_t>(i);
  }
  return best; // Rounding may leave a remainder.
}

/// Collects the k best, in any order. The worst are dropped whenever many have
/// been collected; from then on, only better ones are. Of equals, the lower id
/// is better, so that a later one need not be collected.
void Sampler::collectBest(Span<const float> logits, size_t k) {
  const size_t most = 2 * k + blockOfIds;
  float least = -std::numeric_limits<float>::infinity();
  auto dropWorst = [&] {
    const auto last = candidates.begin() + static_cast<ptrdiff_t>(k - 1);
    std::nth_element(candidates.begin(), last, candidates.end());
    least = last->logit;
    candidates.resize(k);
  };
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > least)) // NaN is no candidate.
      continue;
    candidates.push_back({logits[i], static_cast<int32_t>(i), 0});
    if (candidates.size() == most)
      dropWorst();
  }
  if (candidates.size() > k)
    dropWorst();
}

/// Collects the tokens whose weight is at least `weight`, and perhaps others
/// with a little less.
void Sampler::collectFrom(Span<const float> logits, double greatest,
                          double weight) {
  const double exact = greatest + params.temperature * std::log(weight);
  const auto least = static_cast<float>(exact - 1e-5 * std::fabs(exact) - 1e-5);
  for (size_t i = 0; i < logits.size(); ++i)
    if (logits[i] >= least &&
        logits[i] > -std::numeric_limits<float>::infinity())
      candidates.push_back({logits[i], static_cast<int32_t>(i), 0});
}

/// Top-p and min-p; keeps at least the best candidate. Top-p is a fraction of
/// `total`, from before min-p removes candidates.
void Sampler::cutTail(double total, double least) {
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate &candidate) {
                                    return candidate.weight < least;
                                  }),
                   candidates.end());
  if (params.topK == 0 && params.topP == 1)
    return; // Leaves the candidates in order of ids.
  // Usually, a few candidates have most of the mass: the others are not sorted.
  double sum = 0;
  size_t sorted = 0;
  while (sorted < candidates.size()) {
    const size_t end =
        std::min(candidates.size(), std::max<size_t>(128, 4 * sorted));
    std::partial_sort(candidates.begin() + static_cast<ptrdiff_t>(sorted),
                      candidates.begin() + static_cast<ptrdiff_t>(end),
                      candidates.end());
    for (; sorted < end; ++sorted) {
      sum += candidates[sorted].weight;
      if (params.topP < 1 && sum >= params.topP * total) {
        candidates.resize(sorted + 1);
        return;
      }
    }
  }
}

void Sampler::setPrompt(Span<const int32_t> prompt) {
  if (params.repetitionPenalty != 1)
    for (int32_t token : prompt)
      history[token].isInPrompt = true;
}

/// Writes logits with bias and penalties to `adjusted`.
void Sampler::adjust(Span<const float> logits, Span<const int32_t> forbidden) {
  adjusted.assign(logits.begin(), logits.end());
  auto isToken = [&](int32_t token) {
    return token >= 0 && static_cast<size_t>(token) < adjusted.size();
  };
  for (const auto &[token, bias] : params.logitBias)
    if (isToken(token))
      adjusted[static_cast<size_t>(token)] += bias;
  for (const auto &[token, past] : history) {
    if (!isToken(token))
      continue;
    double logit = adjusted[static_cast<size_t>(token)];
    logit = logit > 0 ? logit / params.repetitionPenalty
                      : logit * params.repetitionPenalty;
    if (past.generated > 0)
      logit -= params.presencePenalty +
               params.frequencyPenalty * static_cast<double>(past.generated);
    adjusted[static_cast<size_t>(token)] = static_cast<float>(logit);
  }
  for (int32_t token : forbidden)
    if (isToken(token))
      adjusted[static_cast<size_t>(token)] =
          -std::numeric_limits<float>::infinity();
}

int32_t Sampler::sample(Span<const float> logits,
                        Span<const int32_t> forbidden) {
  const bool isAdjusted = params.changesLogits() || !forbidden.empty();
  if (isAdjusted)
    adjust(logits, forbidden);
  const int32_t token =
      choose(isAdjusted ? Span<const float>(adjusted) : logits);
  if (params.changesLogits())
    ++history[token].generated;
  return token;
}

int32_t Sampler::choose(Span<const float> logits) {
  const int32_t best = argmax(logits);
  const float greatest = logits[static_cast<size_t>(best)];
  if (params.temperature <= 0 || !std::isfinite(greatest))
    return best; // Probabilities are undefined for infinity and NaN.
  const auto k = static_cast<size_t>(params.topK);
  const bool keepsBest = k > 0 && k < logits.size();
  if (!keepsBest && params.topP == 1 && params.minP == 0)
    return chooseAmongAll(logits, best);

  candidates.clear();
  // Tokens below (1 - top-p) / count of the total weigh less than 1 - top-p
  // together, so top-p drops them all: only the others have to be sorted.
  double total = 0, least = 0;
  auto setLimits = [&](size_t count) {
    least = std::max(params.minP,
                     (1 - params.topP) * total / static_cast<double>(count));
  };
  if (keepsBest) {
    collectBest(logits, k);
  } else {
    total = params.topP < 1 ? computeMasses(logits, greatest) : 0;
    setLimits(logits.size());
    collectFrom(logits, greatest, least);
  }
  for (Candidate &candidate : candidates)
    candidate.weight = std::exp(
        (static_cast<double>(candidate.logit) - static_cast<double>(greatest)) /
        params.temperature);
  if (keepsBest) {
    total = totalWeight();
    setLimits(candidates.size());
  }
  cutTail(total, least);
  double point = uniform() * totalWeight();
  for (const Candidate &candidate : candidates) {
    point -= candidate.weight;
    if (point < 0)
      return candidate.id;
  }
  return candidates.back().id; // Rounding may leave a remainder.
}

} // namespace llmir

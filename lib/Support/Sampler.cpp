//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Sampler.h"
#include "BestTokens.h"
#include "SoftmaxMass.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace llmir {

SamplingParams
SamplingParams::fromDefaults(const GenerationDefaults &defaults) {
  SamplingParams params;
  params.repetitionPenalty = defaults.repetitionPenalty;
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
  if (!(params.typicalP > 0 && params.typicalP <= 1))
    return outOfRange("typical-p", params.typicalP,
                      "give a number above 0, up to 1 for all tokens");
  if (!(params.repetitionPenalty >= 1e-6 && params.repetitionPenalty <= 1e6))
    return outOfRange("repetition penalty", params.repetitionPenalty,
                      "give a number from 0.000001 to 1000000, 1 for none");
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

double Sampler::logWeight(const Candidate &candidate, float greatest) const {
  return (static_cast<double>(candidate.logit) -
          static_cast<double>(greatest)) /
         params.temperature;
}

double Sampler::totalWeight() const {
  double total = 0;
  for (const Candidate &candidate : candidates)
    total += candidate.weight;
  return total;
}

/// The weight of all tokens; fills `masses` with that of each block of ids.
double Sampler::computeMasses(Span<const float> logits, float greatest) {
  masses.clear();
  double total = 0;
  for (size_t i = 0; i < logits.size(); i += idsPerMass) {
    const size_t count = std::min(idsPerMass, logits.size() - i);
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
  const size_t first = block * idsPerMass;
  const size_t end = std::min(first + idsPerMass, logits.size());
  for (size_t i = first; i < end; ++i) {
    point -= expOfNegative((logits[i] - greatest) * inverseTemperature());
    if (point < 0)
      return static_cast<int32_t>(i);
  }
  return best; // Rounding may leave a remainder.
}

/// Collects the tokens whose weight is at least `weight`, and perhaps others
/// with a little less.
void Sampler::collectFrom(Span<const float> logits, double greatest,
                          double weight) {
  const double exact = greatest + params.temperature * std::log(weight);
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  const auto least = static_cast<float>(exact - 1e-5 * std::fabs(exact) - 1e-5);
  const float below = std::nextafter(least, lowest);
  forEachGreater(logits, below, [&](float logit, int32_t id) {
    candidates.push_back({logit, id});
  });
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

/// Fills `distances` with how far the information content of each candidate,
/// -log(probability), is from its mean, the entropy. Returns the greatest.
double Sampler::computeDistances(float greatest, double total) {
  distances.clear();
  double sum = 0;
  for (const Candidate &candidate : candidates) {
    distances.push_back(logWeight(candidate, greatest));
    sum += candidate.weight * distances.back();
  }
  // The logarithm of the total is part of both, and cancels.
  const double mean = sum / total;
  double farthest = 0;
  for (double &distance : distances) {
    distance = std::fabs(mean - distance);
    farthest = std::max(farthest, distance);
  }
  return farthest;
}

/// The distance up to which the closest candidates have this mass. Those around
/// it are found by a histogram: only they have to be sorted.
double Sampler::distanceOfMass(double mass, double farthest) {
  constexpr size_t buckets = 1024;
  double masses[buckets] = {};
  const double scale = buckets / farthest;
  auto bucketOf = [&](size_t i) {
    return static_cast<size_t>(std::min(distances[i] * scale, buckets - 1.0));
  };
  for (size_t i = 0; i < candidates.size(); ++i)
    masses[bucketOf(i)] += candidates[i].weight;
  size_t bucket = 0;
  while (bucket + 1 < buckets && masses[bucket] < mass)
    mass -= masses[bucket++];
  std::vector<std::pair<double, double>> around; // Of distances, with weights.
  for (size_t i = 0; i < candidates.size(); ++i)
    if (bucketOf(i) == bucket)
      around.push_back({distances[i], candidates[i].weight});
  std::sort(around.begin(), around.end());
  for (const auto &[distance, weight] : around)
    if ((mass -= weight) <= 0)
      return distance;
  // Rounding may leave a remainder.
  return around.empty() ? farthest : around.back().first;
}

/// Locally typical sampling: keeps the smallest set of candidates with a mass
/// of typical-p whose information content is closest to the entropy. Of
/// candidates at the same distance, all are kept.
void Sampler::keepTypical(float greatest) {
  // Their logarithms may be infinite, and they are never drawn.
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                  [](const Candidate &candidate) {
                                    return candidate.weight == 0;
                                  }),
                   candidates.end());
  const double total = totalWeight();
  const double farthest = computeDistances(greatest, total);
  if (farthest < 1e-100) // All are equally likely.
    return;
  const double last = distanceOfMass(params.typicalP * total, farthest);
  size_t kept = 0;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (distances[i] <= last)
      candidates[kept++] = candidates[i];
  candidates.resize(kept);
}

void Sampler::setPrompt(Span<const int32_t> prompt) {
  if (params.repetitionPenalty != 1)
    for (int32_t token : prompt)
      generated.try_emplace(token, 0);
}

/// Writes logits with bias and penalties to `adjusted`; minus infinity for
/// tokens that may not be chosen.
void Sampler::adjust(Span<const float> logits, const TokenLimits &limits) {
  adjusted.assign(logits.begin(), logits.end());
  auto isToken = [&](int32_t token) {
    return token >= 0 && static_cast<size_t>(token) < adjusted.size();
  };
  for (const auto &[token, bias] : params.logitBias)
    if (isToken(token))
      adjusted[static_cast<size_t>(token)] += bias;
  for (const auto &[token, count] : generated) {
    if (!isToken(token))
      continue;
    double logit = adjusted[static_cast<size_t>(token)];
    logit = logit > 0 ? logit / params.repetitionPenalty
                      : logit * params.repetitionPenalty;
    if (count > 0)
      logit -= params.presencePenalty +
               params.frequencyPenalty * static_cast<double>(count);
    adjusted[static_cast<size_t>(token)] = static_cast<float>(logit);
  }
  constexpr float never = -std::numeric_limits<float>::infinity();
  for (int32_t token : limits.forbidden)
    if (isToken(token))
      adjusted[static_cast<size_t>(token)] = never;
  if (limits.allowed.empty())
    return;
  for (size_t first = 0; first < adjusted.size(); first += 64) {
    const size_t word = first / 64, end = std::min(first + 64, adjusted.size());
    const uint64_t bits =
        word < limits.allowed.size() ? limits.allowed[word] : 0;
    for (size_t i = first; i < end && bits != ~uint64_t(0); ++i)
      if (((bits >> (i - first)) & 1) == 0)
        adjusted[i] = never;
  }
}

int32_t Sampler::sample(Span<const float> logits, int32_t best,
                        const TokenLimits &limits) {
  const bool isAdjusted = params.hasPenalties() || !params.logitBias.empty() ||
                          !limits.forbidden.empty() || !limits.allowed.empty();
  if (isAdjusted) {
    adjust(logits, limits);
    logits = adjusted;
    best = scanLogits(logits).best;
  }
  const int32_t token = choose(logits, best);
  if (params.hasPenalties())
    ++generated[token];
  return token;
}

int32_t Sampler::choose(Span<const float> logits, int32_t best) {
  const float greatest = logits[static_cast<size_t>(best)];
  if (params.temperature <= 0 || !std::isfinite(greatest))
    return best; // Probabilities are undefined for infinity and NaN.
  const auto k = static_cast<size_t>(params.topK);
  const bool keepsBest = k > 0 && k < logits.size();
  if (!keepsBest && params.topP == 1 && params.minP == 0 &&
      params.typicalP == 1)
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
    collectBest(logits, k, candidates);
  } else {
    total = params.topP < 1 ? computeMasses(logits, greatest) : 0;
    setLimits(logits.size());
    collectFrom(logits, greatest, least);
  }
  for (Candidate &candidate : candidates)
    candidate.weight = std::exp(logWeight(candidate, greatest));
  if (keepsBest) {
    total = totalWeight();
    setLimits(candidates.size());
  }
  cutTail(total, least);
  if (params.typicalP < 1)
    keepTypical(greatest);
  double point = uniform() * totalWeight();
  for (const Candidate &candidate : candidates) {
    point -= candidate.weight;
    if (point < 0)
      return candidate.id;
  }
  return candidates.back().id; // Rounding may leave a remainder.
}

} // namespace llmir

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
  size_t best = 0;
  float most = -std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > most) { // False for a NaN.
      most = logits[i];
      best = i;
    }
  return static_cast<int32_t>(best);
}

double Sampler::totalWeight() const {
  double total = 0;
  for (const Candidate &candidate : candidates)
    total += candidate.weight;
  return total;
}

/// Keeps the k best, in any order.
void Sampler::keepTopK() {
  auto keep = static_cast<size_t>(params.topK);
  if (keep == 0 || keep >= candidates.size())
    return;
  std::nth_element(candidates.begin(),
                   candidates.begin() + static_cast<ptrdiff_t>(keep),
                   candidates.end());
  candidates.resize(keep);
}

/// Top-p and min-p; keeps at least the best candidate. Top-p is a fraction of
/// the total before min-p removes candidates.
void Sampler::cutTail() {
  const double total = totalWeight();
  // Candidates below (1 - top-p) / count of the total weigh less than 1 - top-p
  // together, so top-p drops them all: only the others have to be sorted.
  const double least = std::max(params.minP, (1 - params.topP) * total /
                                                 double(candidates.size()));
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate &candidate) {
                                    return candidate.weight < least;
                                  }),
                   candidates.end());
  if (params.topK == 0 && params.topP == 1)
    return; // Leaves the candidates in order of ids.
  std::sort(candidates.begin(), candidates.end());
  if (params.topP == 1)
    return;
  double sum = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    sum += candidates[i].weight;
    if (sum >= params.topP * total)
      candidates.resize(i + 1);
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
  const double greatest = logits[static_cast<size_t>(best)];
  if (params.temperature <= 0 || !std::isfinite(greatest))
    return best; // Probabilities are undefined for infinity and NaN.
  candidates.clear();
  for (size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > -std::numeric_limits<float>::infinity()) // False for NaN.
      candidates.push_back({logits[i], static_cast<int32_t>(i), 0});
  keepTopK();
  for (Candidate &candidate : candidates)
    candidate.weight = std::exp(
        (static_cast<double>(candidate.logit) - greatest) / params.temperature);
  cutTail();
  double point = uniform() * totalWeight();
  for (const Candidate &candidate : candidates) {
    point -= candidate.weight;
    if (point < 0)
      return candidate.id;
  }
  return candidates.back().id; // Rounding may leave a remainder.
}

} // namespace llmir

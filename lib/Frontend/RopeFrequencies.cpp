//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RopeFrequencies.h"

#include "llmir/Support/TensorFormat.h"

#include <algorithm>
#include <cmath>

using namespace llmir;

/// Converters give pairs that are not rotated the divisor 1e30.
static constexpr double stillDivisor = 1e29;
static constexpr float writtenStillDivisor = 1e30f;

/// The divisor of a frequency in llama3 scaling, from 1 to the factor. Pairs
/// that rotate often within the original context keep their frequency, slow
/// ones are stretched, and those in between are interpolated.
static double llama3Divisor(const RopeScaling &scaling, double frequency) {
  constexpr double pi = 3.141592653589793;
  double rotations =
      static_cast<double>(scaling.originalContext) * frequency / (2.0 * pi);
  double divisor;
  if (rotations < scaling.lowFreqFactor) {
    divisor = scaling.factor;
  } else if (rotations > scaling.highFreqFactor ||
             scaling.highFreqFactor == scaling.lowFreqFactor) {
    divisor = 1.0;
  } else {
    double t = (rotations - scaling.lowFreqFactor) /
               (scaling.highFreqFactor - scaling.lowFreqFactor);
    divisor = 1.0 / ((1.0 - t) / scaling.factor + t);
  }
  return static_cast<float>(divisor);
}

/// YaRN's frequency of a pair: fast pairs keep theirs, slow ones are divided by
/// the factor, and there is a linear ramp in between (Peng et al. 2023).
static double yarnFrequency(const ModelConfig &config, int64_t pair,
                            double frequency) {
  constexpr double pi = 3.141592653589793;
  const RopeScaling &scaling = config.ropeScaling;
  const auto dim = static_cast<double>(config.rotaryDim);
  /// The pair, as a real number, with so many rotations in the context.
  auto pairOf = [&](double turns) {
    return dim *
           std::log(static_cast<double>(scaling.originalContext) /
                    (turns * 2.0 * pi)) /
           (2.0 * std::log(config.ropeTheta));
  };
  double low = pairOf(scaling.betaFast), high = pairOf(scaling.betaSlow);
  if (scaling.truncatesBounds) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dim - 1);
  const double ramp =
      (static_cast<double>(pair) - low) / std::max(high - low, 0.001);
  const double stretched = std::clamp(ramp, 0.0, 1.0);
  return frequency / scaling.factor * stretched + frequency * (1.0 - stretched);
}

/// The divisors of longrope scaling for a context.
static Span<const double> longRopeFactors(const RopeScaling &scaling,
                                          int64_t context) {
  return context > scaling.originalContext ? scaling.longFactors
                                           : scaling.shortFactors;
}

/// Pairs that are not rotated have the frequency 0. They are needed if the rows
/// of heads are restored from adjacent pairs to halves, since the rotated pairs
/// are then not the first elements of a head.
static std::vector<double> inHeads(const ModelConfig &config,
                                   std::vector<double> frequencies) {
  // The rotated elements of latent attention are heads of their own.
  if (config.adjacentPairRotation && config.rotaryDim != config.headDim &&
      config.latent.rank == 0)
    frequencies.resize(static_cast<size_t>(config.headDim / 2), 0.0);
  return frequencies;
}

static std::vector<double> unscaled(int64_t rotaryDim, double theta) {
  std::vector<double> frequencies;
  for (int64_t i = 0; i < rotaryDim / 2; ++i)
    frequencies.push_back(std::pow(theta, -2.0 * static_cast<double>(i) /
                                              static_cast<double>(rotaryDim)));
  return frequencies;
}

std::vector<double> llmir::ropeFrequencies(const ModelConfig &config,
                                           Span<const double> divisors) {
  std::vector<double> frequencies =
      unscaled(config.rotaryDim, config.ropeTheta);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    double &frequency = frequencies[i];
    switch (config.ropeScaling.kind) {
    case RopeScaling::Default:
    case RopeScaling::LongRope: // By the divisors.
      break;
    case RopeScaling::Linear:
      frequency /= config.ropeScaling.factor;
      break;
    case RopeScaling::Llama3:
      frequency /= llama3Divisor(config.ropeScaling, frequency);
      break;
    case RopeScaling::Yarn:
      frequency = yarnFrequency(config, static_cast<int64_t>(i), frequency);
      break;
    case RopeScaling::Proportional:
      if (static_cast<int64_t>(i) >= config.ropeScaling.turnedPairs)
        frequency = 0;
      break;
    }
    if (!divisors.empty())
      frequency = divisors[i] < stillDivisor ? frequency / divisors[i] : 0;
  }
  return inHeads(config, std::move(frequencies));
}

std::vector<float> llmir::llama3Divisors(const ModelConfig &config) {
  std::vector<float> divisors;
  for (double frequency : unscaled(config.rotaryDim, config.ropeTheta))
    divisors.push_back(
        static_cast<float>(llama3Divisor(config.ropeScaling, frequency)));
  return divisors;
}

std::vector<float> llmir::proportionalDivisors(const ModelConfig &config) {
  std::vector<float> divisors(static_cast<size_t>(config.rotaryDim / 2),
                              writtenStillDivisor);
  std::fill_n(
      divisors.begin(),
      std::min<int64_t>(config.ropeScaling.turnedPairs, config.rotaryDim / 2),
      1.0f);
  return divisors;
}

std::vector<double> llmir::localRopeFrequencies(const ModelConfig &config) {
  const int64_t dim =
      config.localRotaryDim ? config.localRotaryDim : config.rotaryDim;
  return inHeads(config, unscaled(dim, config.localRopeTheta));
}

/// Reads the divisors of a GGUF file.
static Expected<std::vector<double>> readDivisors(const Checkpoint &checkpoint,
                                                  const char *name) {
  Expected<const CheckpointTensor *> found = checkpoint.tensor(name);
  if (!found)
    return found.takeStatus();
  const CheckpointTensor &tensor = **found;
  int64_t pairs = checkpoint.config().rotaryDim / 2;
  auto refuse = [&](const std::string &what) {
    return Status(StatusCode::InvalidFile,
                  checkpoint.path() + ": tensor '" + tensor.name + "' " + what,
                  "convert the model again with a current converter");
  };
  if (tensor.shape != std::vector<int64_t>{pairs})
    return refuse("has shape " + tensor.shapeText() + ", the model needs [" +
                  std::to_string(pairs) + "]");
  Expected<TensorFormat> format = tensor.usableFormat();
  if (!format)
    return format.takeStatus();
  std::vector<float> values(static_cast<size_t>(pairs));
  decodeTensorRow(*format, tensor.bytes.data(), pairs, values.data());
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]) || values[i] <= 0)
      return refuse("holds " + std::to_string(values[i]) + " at index " +
                    std::to_string(i) + ", where a positive number is needed");
  return std::vector<double>(values.begin(), values.end());
}

Expected<std::vector<double>>
llmir::ropeFrequencies(const Checkpoint &checkpoint, int64_t context) {
  const ModelConfig &config = checkpoint.config();
  const RopeScaling &scaling = config.ropeScaling;
  if (context == 0)
    context = config.contextLength;
  const char *tensor = nullptr;
  if (config.ropeFrequencyDivisors)
    tensor = ropeDivisorsTensor;
  else if (scaling.kind == RopeScaling::LongRope && scaling.longFactors.empty())
    tensor = context > scaling.originalContext ? longFactorsTensor
                                               : shortFactorsTensor;
  std::vector<double> divisors;
  if (tensor) {
    Expected<std::vector<double>> read = readDivisors(checkpoint, tensor);
    if (!read)
      return read;
    divisors = std::move(*read);
  } else if (scaling.kind == RopeScaling::LongRope) {
    Span<const double> factors = longRopeFactors(scaling, context);
    divisors.assign(factors.begin(), factors.end());
  }
  return ropeFrequencies(config, divisors);
}

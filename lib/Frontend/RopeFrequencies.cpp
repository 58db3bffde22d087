//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RopeFrequencies.h"

#include "llmir/Support/TensorFormat.h"

#include <cmath>

using namespace llmir;

/// The divisor of a frequency in llama3 scaling, from 1 to the factor. `turns`
/// is the number of rotations of the pair within the original context; fast
/// pairs keep their frequency, slow ones are stretched, and those in between
/// are interpolated.
static double llama3Divisor(const RopeScaling &scaling, double frequency) {
  constexpr double pi = 3.141592653589793;
  double turns =
      static_cast<double>(scaling.originalContext) * frequency / (2.0 * pi);
  double divisor;
  if (turns < scaling.lowFreqFactor) {
    divisor = scaling.factor;
  } else if (turns > scaling.highFreqFactor) {
    divisor = 1.0;
  } else {
    double t = (turns - scaling.lowFreqFactor) /
               (scaling.highFreqFactor - scaling.lowFreqFactor);
    divisor = 1.0 / ((1.0 - t) / scaling.factor + t);
  }
  return static_cast<float>(divisor);
}

std::vector<double> llmir::ropeFrequencies(const ModelConfig &config,
                                           Span<const double> divisors) {
  int64_t pairs = config.rotaryDim / 2;
  std::vector<double> frequencies(static_cast<size_t>(pairs));
  for (int64_t i = 0; i < pairs; ++i) {
    double frequency =
        std::pow(config.ropeTheta, -2.0 * static_cast<double>(i) /
                                       static_cast<double>(config.rotaryDim));
    switch (config.ropeScaling.kind) {
    case RopeScaling::Default:
      break;
    case RopeScaling::Linear:
      frequency /= config.ropeScaling.factor;
      break;
    case RopeScaling::Llama3:
      frequency /= llama3Divisor(config.ropeScaling, frequency);
      break;
    }
    if (!divisors.empty())
      frequency /= divisors[static_cast<size_t>(i)];
    frequencies[static_cast<size_t>(i)] = frequency;
  }
  return frequencies;
}

/// Reads the divisors of a GGUF file.
static Expected<std::vector<double>>
readDivisors(const Checkpoint &checkpoint) {
  Expected<const CheckpointTensor *> found =
      checkpoint.tensor(ropeDivisorsTensor);
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
llmir::ropeFrequencies(const Checkpoint &checkpoint) {
  std::vector<double> divisors;
  if (checkpoint.config().ropeFrequencyDivisors) {
    Expected<std::vector<double>> read = readDivisors(checkpoint);
    if (!read)
      return read;
    divisors = std::move(*read);
  }
  return ropeFrequencies(checkpoint.config(), divisors);
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/models/Recurrent.h"

#include "mllm/nn/Functional.h"

#include <cmath>

using namespace mllm;
using namespace mllm::models;

/// log(1 + e^x), without overflow.
static Tensor softplus(const Tensor &x) {
  return nn::F::relu(x) + nn::F::log(nn::F::exp(-nn::F::abs(x)) + 1.0);
}

/// The factor of the exponent of decays, [heads], which is negative.
static Tensor decayRate(const nn::Param &parameter,
                        const llmir::RecurrentConfig &sizes) {
  Tensor value = parameter();
  return sizes.storesDecay ? value : -nn::F::exp(value);
}

/// Columns [first, first + count) of x [T, …].
static Tensor columns(const Tensor &x, int64_t first, int64_t count) {
  return nn::F::slice(x, {{}, {first, first + count}});
}

/// Rows [first, first + …) of a tensor of `rows` rows.
static nn::Storage storedRows(int64_t first, int64_t rows) {
  nn::Storage storage;
  storage.place.first = first;
  storage.place.rows = rows;
  return storage;
}

//===----------------------------------------------------------------------===//
// Short convolution
//===----------------------------------------------------------------------===//

ShortConv::ShortConv(const DecoderConfig &config, int64_t layer)
    : before(reg<nn::Linear>("in_proj.b", config.hiddenSize, config.hiddenSize,
                             config.recurrent.projectionBias,
                             storedRows(0, 3 * config.hiddenSize))),
      after(reg<nn::Linear>(
          "in_proj.c", config.hiddenSize, config.hiddenSize,
          config.recurrent.projectionBias,
          storedRows(config.hiddenSize, 3 * config.hiddenSize))),
      values(reg<nn::Linear>(
          "in_proj.x", config.hiddenSize, config.hiddenSize,
          config.recurrent.projectionBias,
          storedRows(2 * config.hiddenSize, 3 * config.hiddenSize))),
      output(reg<nn::Linear>("out_proj", config.hiddenSize, config.hiddenSize,
                             config.recurrent.projectionBias)),
      conv(reg<nn::CausalConv>("conv", config.hiddenSize, config.recurrent.taps,
                               config.recurrent.convBias,
                               config.indexOfKind(layer))) {}

Tensor ShortConv::forward(const Tensor &x) {
  Tensor b = before(x);
  Tensor c = after(x);
  Tensor u = values(x);
  return output(c * conv(b * u));
}

//===----------------------------------------------------------------------===//
// Mamba-2
//===----------------------------------------------------------------------===//

/// Channels of the values of all heads.
static int64_t innerSize(const llmir::RecurrentConfig &sizes) {
  return sizes.valueHeads * sizes.valueDim;
}
/// Channels of the convolution: values, keys (B) and queries (C).
static int64_t convSize(const llmir::RecurrentConfig &sizes) {
  return innerSize(sizes) + 2 * sizes.keyHeads * sizes.keyDim;
}

Mamba2::Mamba2(const DecoderConfig &config, int64_t layer)
    : sizes(config.recurrent),
      gate(reg<nn::Linear>("in_proj.z", config.hiddenSize, innerSize(sizes),
                           sizes.projectionBias,
                           storedRows(0, innerSize(sizes) + convSize(sizes) +
                                             sizes.valueHeads))),
      inputs(reg<nn::Linear>(
          "in_proj.xbc", config.hiddenSize, convSize(sizes),
          sizes.projectionBias,
          storedRows(innerSize(sizes),
                     innerSize(sizes) + convSize(sizes) + sizes.valueHeads))),
      times(reg<nn::Linear>(
          "in_proj.dt", config.hiddenSize, sizes.valueHeads,
          sizes.projectionBias,
          storedRows(innerSize(sizes) + convSize(sizes),
                     innerSize(sizes) + convSize(sizes) + sizes.valueHeads))),
      conv(reg<nn::CausalConv>("conv1d", convSize(sizes), sizes.taps,
                               sizes.convBias, config.indexOfKind(layer))),
      timeBias(reg<nn::Param>("dt_bias", "",
                              std::vector<int64_t>{sizes.valueHeads})),
      decay(
          reg<nn::Param>("A_log", "", std::vector<int64_t>{sizes.valueHeads})),
      skip(reg<nn::Param>("D", "", std::vector<int64_t>{sizes.valueHeads})),
      recurrence(reg<nn::LinearAttention>("ssm", config.indexOfKind(layer))),
      norm(reg<nn::RMSNorm>("norm", innerSize(sizes), config.normEps)),
      output(reg<nn::Linear>("out_proj", innerSize(sizes), config.hiddenSize,
                             sizes.projectionBias)) {}

Tensor Mamba2::forward(const Tensor &x) {
  const int64_t heads = sizes.valueHeads, inner = innerSize(sizes),
                keys = sizes.keyHeads * sizes.keyDim;
  Tensor z = gate(x);
  Tensor mixed = nn::F::silu(conv(inputs(x)));
  Tensor u = columns(mixed, 0, inner).view({kSymbolic, heads, sizes.valueDim});
  Tensor b = columns(mixed, inner, keys)
                 .view({kSymbolic, sizes.keyHeads, sizes.keyDim});
  Tensor c = columns(mixed, inner + keys, keys)
                 .view({kSymbolic, sizes.keyHeads, sizes.keyDim});
  Tensor dt = softplus(times(x) + timeBias());
  Tensor decays = nn::F::exp(dt * decayRate(decay, sizes));
  Tensor scaled = u * dt.view({kSymbolic, heads, 1});
  Tensor y = recurrence(c, b, scaled, decays);
  y = y + u * skip().view({heads, 1});
  Tensor gated = y.view({kSymbolic, inner}) * nn::F::silu(z);
  return output(norm(gated));
}

//===----------------------------------------------------------------------===//
// Gated delta rule
//===----------------------------------------------------------------------===//

/// Rows of each group of a stored matrix: one for each key head.
static nn::Storage storedGroups(int64_t first, int64_t rows, int64_t stride,
                                int64_t groups) {
  nn::Storage storage;
  storage.place.first = first;
  storage.place.rows = stride * groups;
  storage.place.groupRows = rows;
  storage.place.groupStride = stride;
  return storage;
}

namespace {
/// Where checkpoints store the projections.
class StoredDelta {
public:
  StoredDelta(const llmir::RecurrentConfig &sizes, bool isGrouped)
      : isGrouped(isGrouped), groups(sizes.keyHeads), keyRows(sizes.keyDim),
        heads(sizes.valueHeads / sizes.keyHeads),
        valueRows(heads * sizes.valueDim) {}

  /// q (0), k (1) and v (2): consecutive in GGUF.
  nn::Storage input(int64_t part) const {
    nn::Storage storage = storedGroups(
        part * keyRows, part < 2 ? keyRows : valueRows, stride(), groups);
    storage.placeInGGUF.emplace();
    storage.placeInGGUF->first = part * keyRows * groups;
    storage.placeInGGUF->rows = (2 * keyRows + valueRows) * groups;
    return storage;
  }
  nn::Storage gate() const {
    nn::Storage storage;
    if (isGrouped) {
      storage =
          storedGroups(2 * keyRows + valueRows, valueRows, stride(), groups);
      storage.placeInGGUF.emplace(); // A tensor of its own.
    }
    return storage;
  }
  /// b (0) and a (1), grouped in both kinds of checkpoints.
  nn::Storage perHead(int64_t part) const {
    return isGrouped ? storedGroups(part * heads, heads, 2 * heads, groups)
                     : nn::Storage();
  }

private:
  int64_t stride() const { return 2 * (keyRows + valueRows); }

  bool isGrouped;
  int64_t groups, keyRows, heads, valueRows;
};
} // namespace

DeltaNet::DeltaNet(const DecoderConfig &config, bool isGrouped, int64_t layer)
    : sizes(config.recurrent),
      gate(reg<nn::Linear>(isGrouped ? "in_proj_qkvz.z" : "in_proj_z",
                           config.hiddenSize, innerSize(sizes), /*bias=*/false,
                           StoredDelta(sizes, isGrouped).gate())),
      rates(reg<nn::Linear>(isGrouped ? "in_proj_ba.b" : "in_proj_b",
                            config.hiddenSize, sizes.valueHeads, /*bias=*/false,
                            StoredDelta(sizes, isGrouped).perHead(0))),
      times(reg<nn::Linear>(isGrouped ? "in_proj_ba.a" : "in_proj_a",
                            config.hiddenSize, sizes.valueHeads, /*bias=*/false,
                            StoredDelta(sizes, isGrouped).perHead(1))),
      conv(reg<nn::CausalConv>("conv1d", convSize(sizes), sizes.taps,
                               /*hasBias=*/false, config.indexOfKind(layer))),
      timeBias(reg<nn::Param>("dt_bias", "",
                              std::vector<int64_t>{sizes.valueHeads})),
      decay(
          reg<nn::Param>("A_log", "", std::vector<int64_t>{sizes.valueHeads})),
      recurrence(reg<nn::LinearAttention>(
          "delta_rule", config.indexOfKind(layer), sizes.interleavesHeads)),
      norm(reg<nn::RMSNorm>("norm", sizes.valueDim, config.normEps)),
      output(reg<nn::Linear>("out_proj", innerSize(sizes), config.hiddenSize,
                             /*bias=*/false)) {
  if (!isGrouped) {
    inputs.push_back(reg<nn::Linear>("in_proj_qkv", config.hiddenSize,
                                     convSize(sizes), /*bias=*/false));
    return;
  }
  const StoredDelta stored(sizes, isGrouped);
  const int64_t keys = sizes.keyHeads * sizes.keyDim;
  for (int64_t part : {0, 1, 2})
    inputs.push_back(reg<nn::Linear>(std::string("in_proj_qkvz.") + "qkv"[part],
                                     config.hiddenSize,
                                     part < 2 ? keys : innerSize(sizes),
                                     /*bias=*/false, stored.input(part)));
}

Tensor DeltaNet::mixedInputs(const Tensor &x) const {
  std::vector<Tensor> parts;
  for (const nn::Linear &each : inputs)
    parts.push_back(each(x));
  Tensor all = parts.size() == 1 ? parts[0] : nn::F::concat(parts, -1);
  return nn::F::silu(conv(all));
}

/// Heads of length 1: x / sqrt(sum of squares + 1e-6) [T, heads, D].
static Tensor unitHeads(const Tensor &x) {
  Tensor squares = nn::F::sum(x * x, -1, /*keepDim=*/true) + 1e-6;
  return x * nn::F::exp(nn::F::log(squares) * -0.5);
}

Tensor DeltaNet::forward(const Tensor &x) {
  const int64_t keys = sizes.keyHeads * sizes.keyDim, inner = innerSize(sizes),
                heads = sizes.valueHeads;
  auto asKeys = [&](const Tensor &rows) {
    return unitHeads(rows.view({kSymbolic, sizes.keyHeads, sizes.keyDim}));
  };
  Tensor mixed = mixedInputs(x);
  Tensor q = asKeys(columns(mixed, 0, keys)) *
             (1 / std::sqrt(static_cast<double>(sizes.keyDim)));
  Tensor k = asKeys(columns(mixed, keys, keys));
  Tensor v =
      columns(mixed, 2 * keys, inner).view({kSymbolic, heads, sizes.valueDim});
  Tensor beta = nn::F::sigmoid(rates(x));
  Tensor dt = softplus(times(x) + timeBias());
  Tensor decays = nn::F::exp(dt * decayRate(decay, sizes));
  Tensor y = norm(recurrence(q, k, v, decays, beta));
  Tensor z = nn::F::silu(gate(x));
  return output(y.view({kSymbolic, inner}) * z);
}

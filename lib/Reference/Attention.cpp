//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Attention.h"
#include "llmir/Support/SmallFloat.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmir::reference {

static const double minusInfinity = -std::numeric_limits<double>::infinity();

/// The mask term of the score of key j, with broadcasting.
static double maskTerm(const Tensor &mask, int64_t b, int64_t h, int64_t i,
                       int64_t j) {
  auto index = [&](int64_t d, int64_t at) { return mask.dim(d) == 1 ? 0 : at; };
  const double value =
      mask.at({index(0, b), index(1, h), index(2, i), index(3, j)});
  if (mask.kind != ElementKind::I1)
    return value;
  return value != 0 ? 0 : minusInfinity;
}

/// The first key in the window of a position.
static int64_t firstKey(const AttentionParams &params, int64_t position) {
  if (!params.chunked || position < 0)
    return position - params.window + 1;
  return position - position % params.window;
}

/// The end of the window of a position.
static int64_t keyEnd(const AttentionParams &params, int64_t position) {
  if (!params.chunked)
    return position + params.window;
  return position < 0 ? 0 : firstKey(params, position) + params.window;
}

static double score(const AttentionParams &params, const AttentionRow &row,
                    int64_t j) {
  if (params.causal && j > row.position)
    return minusInfinity;
  if (params.window > 0 &&
      (j < firstKey(params, row.position) || j >= keyEnd(params, row.position)))
    return minusInfinity;
  const double term =
      params.mask ? maskTerm(*params.mask, row.batch, row.head, row.maskRow, j)
                  : 0.0;
  if (term == minusInfinity) // Hidden, even if the key is NaN.
    return minusInfinity;
  double dot = 0;
  for (int64_t d = 0; d < row.headDim; ++d)
    dot += row.query[d] * row.key(j)[d];
  double result = params.scale * dot;
  if (params.softCap > 0)
    result = params.softCap * std::tanh(result / params.softCap);
  if (!params.alibiSlopes.empty())
    result += params.alibiSlopes[static_cast<size_t>(row.head)] *
              double(j - row.position);
  return result + term;
}

static double roundedToBf16(double value) {
  return static_cast<double>(
      bf16ToFloat(floatToBf16(static_cast<float>(value))));
}

/// Rounds elements to multiples of a step with 16-bit integers; to zeros if all
/// are tiny.
static void roundToCodes(double *numbers, size_t count) {
  constexpr float greatestCode = 127 * 255 + 127;
  float most = 0;
  for (size_t i = 0; i < count; ++i) // A NaN makes all elements NaN.
    if (const float x = std::fabs(static_cast<float>(numbers[i])); !(x <= most))
      most = x;
  const float step = most * (1 / greatestCode);
  const float factor = most < 0x1p-100f ? 0 : greatestCode / most;
  for (size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<double>(step) *
                 std::nearbyint(static_cast<float>(numbers[i]) * factor);
}

/// Rounds the query, if required.
static std::vector<double> roundedQuery(const AttentionParams &params,
                                        const AttentionRow &row) {
  const double unit = params.mask ? 1 : 1.4426950408889634; // log2(e)
  const double factor = params.scale * unit;
  std::vector<double> query(row.query, row.query + row.headDim);
  if (factor == 0)
    return query;
  for (double &q : query)
    q = static_cast<double>(static_cast<float>(q) * static_cast<float>(factor));
  if (params.rounding == AttentionRounding::Bytes)
    roundToCodes(query.data(), query.size());
  for (double &q : query) {
    if (params.rounding == AttentionRounding::Bf16) {
      const double greater = roundedToBf16(q);
      q = greater + roundedToBf16(q - greater);
    }
    q /= factor;
  }
  return query;
}

namespace {
/// The factor of a key's value, and its term in the denominator.
struct KeyWeight {
  double ofValue, ofTotal;
};
} // namespace

/// The scale of a value head in an i8 cache, whose maximum is 127 steps.
static double valueScale(const AttentionParams &params, const AttentionRow &row,
                         int64_t j) {
  const double *stored = params.valuesInKeys ? row.key(j) : row.value(j);
  const int64_t count = params.valuesInKeys ? row.headDim : row.valueDim;
  double most = 0;
  for (int64_t i = 0; i < count; ++i)
    if (const double x = std::fabs(stored[i]); !(x <= most))
      most = x;
  return most / 127;
}

/// Rounds the weights of keys [first, end) of a span for an i8 cache, with the
/// scales of their values.
static void roundBytes(const AttentionParams &params, const AttentionRow &row,
                       int64_t first, std::vector<KeyWeight> &weights) {
  std::vector<double> scales, products;
  for (size_t i = 0; i < weights.size(); ++i) {
    scales.push_back(valueScale(params, row, first + static_cast<int64_t>(i)));
    const double weight = weights[i].ofValue;
    products.push_back(weight != 0 ? weight * scales[i] : 0);
  }
  roundToCodes(products.data(), products.size());
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i].ofValue = scales[i] != 0 ? products[i] / scales[i] : 0;
}

/// The rounded weights of all keys: span by span, relative to the maximum score
/// so far in the span's chunk.
static std::vector<KeyWeight> roundedWeights(const AttentionParams &params,
                                             const AttentionRow &row,
                                             const std::vector<double> &scores,
                                             double most) {
  constexpr int64_t spanKeys = 64, chunkKeys = 512;
  std::vector<KeyWeight> all;
  double known = minusInfinity;
  for (int64_t first = 0; first < row.keys; first += spanKeys) {
    const auto begin = scores.begin() + first;
    const auto end = scores.begin() + std::min(first + spanKeys, row.keys);
    const double greatest = *std::max_element(begin, end);
    known = first % chunkKeys == 0 ? greatest : std::max(known, greatest);
    std::vector<KeyWeight> span;
    for (auto score = begin; score != end; ++score) {
      double weight = known == minusInfinity ? 0 : std::exp(*score - known);
      if (params.rounding == AttentionRounding::Bf16)
        weight = roundedToBf16(weight);
      span.push_back({weight, weight});
    }
    if (params.rounding == AttentionRounding::Bytes)
      roundBytes(params, row, first, span);
    const double rescale = known == minusInfinity ? 0 : std::exp(known - most);
    for (KeyWeight weight : span)
      all.push_back({weight.ofValue * rescale, weight.ofTotal * rescale});
  }
  return all;
}

static std::vector<KeyWeight> keyWeights(const AttentionParams &params,
                                         const AttentionRow &row,
                                         const std::vector<double> &scores,
                                         double most) {
  if (params.rounding != AttentionRounding::None)
    return roundedWeights(params, row, scores, most);
  std::vector<KeyWeight> all;
  for (double score : scores) {
    const double weight = std::exp(score - most);
    all.push_back({weight, weight});
  }
  return all;
}

void attendRow(const AttentionParams &params, const AttentionRow &row,
               double *output) {
  if (params.rounding != AttentionRounding::None && !row.isRounded) {
    const std::vector<double> query = roundedQuery(params, row);
    AttentionRow rounded = row;
    rounded.query = query.data();
    rounded.isRounded = true;
    return attendRow(params, rounded, output);
  }
  const double sink = params.sinks ? (*params.sinks)[row.head] : minusInfinity;
  std::vector<double> scores(static_cast<size_t>(row.keys));
  double most = sink;
  for (int64_t j = 0; j < row.keys; ++j) {
    scores[static_cast<size_t>(j)] = score(params, row, j);
    if (const double found = scores[static_cast<size_t>(j)];
        !std::isnan(most) && !(found <= most))
      most = found; // A NaN makes the whole result NaN.
  }
  std::fill_n(output, row.valueDim, 0.0);
  if (most == minusInfinity)
    return; // No visible keys.
  double total = std::exp(sink - most);
  const std::vector<KeyWeight> weights = keyWeights(params, row, scores, most);
  for (int64_t j = 0; j < row.keys; ++j) {
    const KeyWeight weight = weights[static_cast<size_t>(j)];
    total += weight.ofTotal;
    for (int64_t v = 0; v < row.valueDim && weight.ofValue != 0; ++v)
      output[v] += weight.ofValue * row.value(j)[v];
  }
  for (int64_t v = 0; v < row.valueDim; ++v)
    output[v] /= total;
}

Tensor attention(const Tensor &query, const Tensor &keys, const Tensor &values,
                 const AttentionParams &params) {
  const int64_t tokens = query.dim(1), heads = query.dim(2);
  const int64_t context = keys.dim(1), kvHeads = keys.dim(2);
  Tensor result(query.kind, {query.dim(0), tokens, heads, values.dim(3)});
  for (int64_t b = 0; b < query.dim(0); ++b)
    for (int64_t i = 0; i < tokens; ++i)
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t g = h / (heads / kvHeads);
        AttentionRow row;
        row.query = query.from({b, i, h, 0});
        row.headDim = query.dim(3);
        row.valueDim = values.dim(3);
        row.keys = context;
        row.position = context - tokens + i;
        row.key = [&, b, g](int64_t j) { return keys.from({b, j, g, 0}); };
        row.value = [&, b, g](int64_t j) { return values.from({b, j, g, 0}); };
        row.batch = b;
        row.head = h;
        row.maskRow = i;
        attendRow(params, row, result.from({b, i, h, 0}));
      }
  return result;
}

//===----------------------------------------------------------------------===//
// Paged
//===----------------------------------------------------------------------===//

Expected<Tensor> pagedAttention(const PagedQueries &queries,
                                const PagedCache &cache, int64_t layer,
                                const AttentionParams &params) {
  const CacheGeometry &facts = cache.geometry();
  if (!cache.isLayer(layer))
    return Status(StatusCode::InvalidArgument, "paged attention: layer " +
                                                   std::to_string(layer) +
                                                   " does not exist");
  LLMIR_RETURN_IF_ERROR(mlir::llm::runtime::checkRaggedBatch(
      {{queries.blockTables.integers(), queries.blockTables.dim(1)},
       queries.seqLens.integers(),
       queries.offsets,
       queries.query.dim(0),
       params.mask ? params.mask->dim(3) : 0},
      cache.bounds()));
  const Tensor &query = queries.query;
  const int64_t heads = query.dim(1), columns = queries.blockTables.dim(1);
  Tensor result(query.kind, {query.dim(0), heads, facts.valueDim});
  for (int64_t s = 0; s < queries.seqLens.size(); ++s) {
    const int64_t first = queries.offsets[static_cast<size_t>(s)];
    const int64_t end = queries.offsets[static_cast<size_t>(s) + 1];
    const int64_t length = queries.seqLens.integer(s);
    auto block = [&, s](int64_t j) {
      return queries.blockTables.integer(s * columns + j / facts.blockSize);
    };
    for (int64_t t = first; t < end; ++t)
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t g = h / (heads / facts.heads);
        AttentionRow row;
        row.query = query.from({t, h, 0});
        row.headDim = facts.headDim;
        row.valueDim = facts.valueDim;
        row.keys = length;
        row.position = length - (end - t);
        row.key = [&, g](int64_t j) {
          return cache.key(layer, block(j), j % facts.blockSize, g);
        };
        row.value = [&, g](int64_t j) {
          return cache.value(layer, block(j), j % facts.blockSize, g);
        };
        row.batch = queries.maskPerSequence ? s : 0;
        row.head = h;
        row.maskRow = queries.maskPerSequence ? t - first : t;
        attendRow(params, row, result.from({t, h, 0}));
      }
  }
  return result;
}

} // namespace llmir::reference

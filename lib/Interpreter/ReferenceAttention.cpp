//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Interpreter/ReferenceAttention.h"
#include "llmir/Support/SmallFloat.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmir::reference {

static const double minusInfinity = -std::numeric_limits<double>::infinity();

/// What the mask adds to the score of key j; sizes of 1 are broadcast.
static double maskTerm(const Tensor &mask, int64_t b, int64_t h, int64_t i,
                       int64_t j) {
  auto index = [&](int64_t d, int64_t at) { return mask.dim(d) == 1 ? 0 : at; };
  const double value =
      mask.at({index(0, b), index(1, h), index(2, i), index(3, j)});
  if (mask.kind != ElementKind::I1)
    return value;
  return value != 0 ? 0 : minusInfinity;
}

static double score(const AttentionParams &params, const AttentionRow &row,
                    int64_t j) {
  if (params.causal && j > row.position)
    return minusInfinity;
  if (params.window > 0 && j <= row.position - params.window)
    return minusInfinity;
  const double term =
      params.mask ? maskTerm(*params.mask, row.batch, row.head, row.maskRow, j)
                  : 0.0;
  if (term == minusInfinity) // Hidden, whatever its key is.
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

/// The weight of key j where weights are rounded.
static double roundedWeight(const std::vector<double> &scores, int64_t j,
                            double most) {
  constexpr int64_t spanKeys = 64, chunkKeys = 512;
  const int64_t chunk = j / chunkKeys * chunkKeys;
  const int64_t end = std::min<int64_t>((j / spanKeys + 1) * spanKeys,
                                        static_cast<int64_t>(scores.size()));
  const double known =
      *std::max_element(scores.begin() + chunk, scores.begin() + end);
  if (known == minusInfinity)
    return 0;
  return roundedToBf16(std::exp(scores[static_cast<size_t>(j)] - known)) *
         std::exp(known - most);
}

/// The query where queries are rounded.
static std::vector<double> roundedQuery(const AttentionParams &params,
                                        const AttentionRow &row) {
  const double unit = params.mask ? 1 : 1.4426950408889634; // log2(e)
  const double factor = params.scale * unit;
  std::vector<double> query(row.query, row.query + row.headDim);
  for (double &q : query) {
    if (factor == 0)
      continue;
    const auto scaled =
        static_cast<double>(static_cast<float>(q) * static_cast<float>(factor));
    const double greater = roundedToBf16(scaled);
    q = (greater + roundedToBf16(scaled - greater)) / factor;
  }
  return query;
}

void attendRow(const AttentionParams &params, const AttentionRow &row,
               double *output) {
  if (params.roundsToBf16 && !row.isRounded) {
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
    most = std::max(most, scores[static_cast<size_t>(j)]);
  }
  std::fill_n(output, row.valueDim, 0.0);
  if (most == minusInfinity)
    return; // Sees nothing.
  double total = std::exp(sink - most);
  for (int64_t j = 0; j < row.keys; ++j) {
    const double weight = params.roundsToBf16
                              ? roundedWeight(scores, j, most)
                              : std::exp(scores[static_cast<size_t>(j)] - most);
    total += weight;
    for (int64_t v = 0; v < row.valueDim && weight > 0; ++v)
      output[v] += weight * row.value(j)[v];
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

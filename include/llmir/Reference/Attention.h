//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference attention: `attendRow` implements all three ops.
//
// T queries, H query heads, G KV heads, D elements of a query or key head, V of
// a value head. Query head h uses KV head h / (H / G).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_ATTENTION_H
#define LLMIR_REFERENCE_ATTENTION_H

#include "llmir/Reference/Cache.h"
#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Status.h"

#include <functional>
#include <optional>

namespace llmir::reference {

/// Rounding of queries and weights in compiled code: Bytes for i8 caches, Bf16
/// for bf16 caches at levels with bf16 products.
enum class AttentionRounding { None, Bf16, Bytes };

struct AttentionParams {
  double scale = 1;    ///< Factor of the scores.
  bool causal = false; ///< A query at position p attends to keys up to p …
  int64_t window = 0;  ///< … and at a distance of less than this; 0: any.
  /// The keys of the same chunk instead, which begin at multiples of the
  /// window.
  bool chunked = false;
  double softCap = 0;              ///< c · tanh(score / c); 0 = none.
  std::vector<double> alibiSlopes; ///< [H], or empty.
  /// Rank 4, broadcastable to [B, H, queries, keys]; an i1 mask is false for
  /// hidden keys, any other mask is added to the scores.
  const Tensor *mask = nullptr;
  const Tensor *sinks = nullptr; ///< [H]: scores in the denominator only.
  /// Rounding of queries and weights; see llm.paged_attention.
  AttentionRounding rounding = AttentionRounding::None;
  /// Values are the first elements of their keys, whose scales they share.
  bool valuesInKeys = false;
};

/// One query of one head, with access to its keys and values.
struct AttentionRow {
  const double *query; ///< [D]
  int64_t headDim;
  int64_t valueDim;
  int64_t keys;                               ///< Keys 0 to keys − 1 exist.
  int64_t position;                           ///< Of the query among the keys.
  std::function<const double *(int64_t)> key; ///< [D]
  std::function<const double *(int64_t)> value; ///< [V]
  int64_t batch, head, maskRow; ///< Indices into mask, sinks and slopes.
  bool isRounded = false;       ///< The query is already rounded.
};

/// output = Σ_j p_j · value_j with p the softmax over the visible keys j of
///   s_j = cap(scale · query · key_j) + slope · (j − position) + mask_j
/// and cap(s) = c · tanh(s / c). A sink adds exp(sink) to the denominator of
/// the softmax. A row without visible keys yields zeros. `output` is [V].
void attendRow(const AttentionParams &params, const AttentionRow &row,
               double *output);

/// Queries [B, Tq, H, D], keys [B, Tk, G, D], values [B, Tk, G, V] → [B, Tq, H,
/// V]. Query row i is at position Tk − Tq + i.
Tensor attention(const Tensor &query, const Tensor &keys, const Tensor &values,
                 const AttentionParams &params);

/// The queries of several sequences to a paged cache.
struct PagedQueries {
  const Tensor &query;          ///< [T, H, D]: the rows of all sequences.
  const Tensor &blockTables;    ///< [S, blocks]: entry i = block of tokens
                                ///< i · blockSize to (i + 1) · blockSize − 1.
  const Tensor &seqLens;        ///< [S], including new tokens.
  std::vector<int64_t> offsets; ///< [S + 1]: first row of each sequence.
  /// Whether mask rows are numbered per sequence (batched form) or across all
  /// sequences (ragged form).
  bool maskPerSequence;
};

/// → [T, H, V]. The last query of a sequence is at its last token. Fails like
/// checkRaggedBatch() of BlockTables.h, and if the layer does not exist.
Expected<Tensor> pagedAttention(const PagedQueries &queries,
                                const PagedCache &cache, int64_t layer,
                                const AttentionParams &params);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_ATTENTION_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What attention means: one core, `attendRow`, under all three ops.
//
// T queries, H query heads, G KV heads, D numbers of a query or key, V of a
// value. Query head h reads KV head h / (H / G).
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

/// What compiled code rounds beside a cache: Bytes for one of i8, Bf16 for one
/// of bf16 at levels that multiply bf16.
enum class AttentionRounding { None, Bf16, Bytes };

struct AttentionParams {
  double scale = 1;    ///< Factor of the scores.
  bool causal = false; ///< A query at position p sees keys up to p …
  int64_t window = 0;  ///< … and above p − window; 0 = no window.
  double softCap = 0;  ///< c · tanh(score / c); 0 = none.
  std::vector<double> alibiSlopes; ///< [H], or empty.
  /// Rank 4, each size 1 or that of [B, H, queries, keys]; of i1, false hides a
  /// key, otherwise it is added to the score.
  const Tensor *mask = nullptr;
  const Tensor *sinks = nullptr; ///< [H]: a score in the denominator alone.
  /// How queries and weights are rounded, as llm.paged_attention says it.
  AttentionRounding rounding = AttentionRounding::None;
};

/// One query of one head, and where it finds what it looks at.
struct AttentionRow {
  const double *query; ///< [D]
  int64_t headDim;
  int64_t valueDim;
  int64_t keys;                               ///< Keys 0 to keys − 1 exist.
  int64_t position;                           ///< Of the query among the keys.
  std::function<const double *(int64_t)> key; ///< [D]
  std::function<const double *(int64_t)> value; ///< [V]
  int64_t batch, head, maskRow; ///< Indices into mask, sinks and slopes.
  bool isRounded = false;       ///< The query is what rounding makes of it.
};

/// output = Σ_j p_j · value_j with p the softmax over the visible keys j of
///   s_j = cap(scale · query · key_j) + slope · (j − position) + mask_j
/// and cap(s) = c · tanh(s / c). A sink adds exp(sink) to the softmax's
/// denominator. A row that sees nothing gives zeros. `output` is [V].
void attendRow(const AttentionParams &params, const AttentionRow &row,
               double *output);

/// Queries [B, Tq, H, D], keys [B, Tk, G, D], values [B, Tk, G, V] →
/// [B, Tq, H, V]. Query row i stands at position Tk − Tq + i.
Tensor attention(const Tensor &query, const Tensor &keys, const Tensor &values,
                 const AttentionParams &params);

/// The queries of several sequences against a paged cache.
struct PagedQueries {
  const Tensor &query;          ///< [T, H, D]: the rows of all sequences.
  const Tensor &blockTables;    ///< [S, blocks]: entry i = block of tokens
                                ///< i · blockSize to (i + 1) · blockSize − 1.
  const Tensor &seqLens;        ///< [S], the new tokens included.
  std::vector<int64_t> offsets; ///< [S + 1]: first row of each sequence.
  /// The rows of a sequence start the mask's rows anew (the batched form), or
  /// count on through all sequences (the ragged one).
  bool maskPerSequence;
};

/// → [T, H, V]. The last query of a sequence stands at its last token. Fails
/// as checkRaggedBatch() of BlockTables.h does, and where there is no such
/// layer.
Expected<Tensor> pagedAttention(const PagedQueries &queries,
                                const PagedCache &cache, int64_t layer,
                                const AttentionParams &params);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_ATTENTION_H

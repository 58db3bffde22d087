//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How attention divides a sequence's keys into chunks, and when a step
// distributes the chunks among its workers. The results do not depend on the
// distribution, so these are performance decisions only.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ABI_ATTENTIONSPLIT_H
#define LLMIR_ABI_ATTENTIONSPLIT_H

#include <stdint.h>

namespace llmir {

/// Attention reads the keys and values of whole spans of so many tokens, which
/// start at multiples of it.
constexpr int64_t kAttentionSpan = 64;

/// Keys per chunk; chunks start at multiples of it. The softmax and sums of
/// each chunk start from zero.
constexpr int64_t kAttentionChunk = 512;

/// Capacity of the buffer of partial results, in pairs of a token and a chunk.
constexpr int64_t kAttentionPartials = 256;

/// Accumulates the size of a step and decides how to distribute its attention.
class AttentionLoad {
public:
  /// Adds a sequence of `length` keys, `tokens` of them new.
  void add(int64_t tokens, int64_t length) {
    int64_t chunks = (length + kAttentionChunk - 1) / kAttentionChunk;
    partials += tokens * chunks;
    keys += length;
    if (length > longest)
      longest = length;
  }

  /// Whether to distribute chunks instead of whole heads of sequences: if a
  /// sequence has more than one chunk, all chunks fit, and whole heads would
  /// leave workers idle for more than an eighth of the time. `heads` is the
  /// number of KV heads, each of which reads all keys.
  bool splits(int64_t heads, int64_t workers) const {
    if (workers < 2 || longest <= kAttentionChunk ||
        partials > kAttentionPartials)
      return false;
    int64_t perWorker = (keys * heads + workers - 1) / workers;
    // Work items are indivisible: the busiest worker has a whole number of
    // them.
    int64_t most = (perWorker + longest - 1) / longest * longest;
    return most - perWorker > perWorker / 8;
  }

private:
  int64_t partials = 0, keys = 0, longest = 0;
};

} // namespace llmir

#endif // LLMIR_ABI_ATTENTIONSPLIT_H

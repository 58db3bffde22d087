//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How attention cuts a sequence's keys, and when a step shares the pieces out
// among its workers. A piece has the same bits whoever computes it, so this
// decides time only.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ABI_ATTENTIONSPLIT_H
#define LLMIR_ABI_ATTENTIONSPLIT_H

#include <stdint.h>

namespace llmir {

/// Keys of one chunk, at positions that this divides. Each chunk's softmax and
/// sums start from zero.
constexpr int64_t kAttentionChunk = 512;

/// Pairs of a token and a chunk that the buffer of partial results has room
/// for.
constexpr int64_t kAttentionPartials = 256;

/// Counts of a step, and what it would be to deal out whole sequences' heads.
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

  /// Whether chunks are dealt out instead: there is more than one in a
  /// sequence, they fit, and whole items would leave workers idle for more than
  /// an eighth of the time. `heads` KV heads each read the keys.
  bool splits(int64_t heads, int64_t workers) const {
    if (workers < 2 || longest <= kAttentionChunk ||
        partials > kAttentionPartials)
      return false;
    int64_t perWorker = (keys * heads + workers - 1) / workers;
    // No item is divided: the busiest worker has some whole ones.
    int64_t most = (perWorker + longest - 1) / longest * longest;
    return most - perWorker > perWorker / 8;
  }

private:
  int64_t partials = 0, keys = 0, longest = 0;
};

} // namespace llmir

#endif // LLMIR_ABI_ATTENTIONSPLIT_H

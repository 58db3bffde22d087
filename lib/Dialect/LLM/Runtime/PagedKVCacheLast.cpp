//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sequence that ended last, for one that begins with the same tokens: a
// conversation, to which the next turn adds some. Unlike a tree of prefixes, it
// shares parts of blocks and states within them, and takes no more memory than
// the conversation.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>

using llmir::Expected;
using llmir::Span;
using llmir::Status;

namespace mlir::llm::runtime {

Status PagedKVCache::endSequence(SequenceId id, Span<const int32_t> tokens,
                                 uint64_t salt) {
  Sequence *sequence = find(id);
  const int64_t length =
      std::min(getSequenceLength(id), static_cast<int64_t>(tokens.size()));
  // A state is that after the last token.
  const bool isKept = isLastKept && sequence && sequence->evenLayers &&
                      length > 0 &&
                      (statePool.isEmpty() || length == sequence->length);
  if (!isKept)
    return freeSequence(id);
  LLMIR_RETURN_IF_ERROR(truncate(id, length));
  freeLast();
  last.emplace();
  last->sequence = std::move(*sequence);
  last->tokens.assign(tokens.begin(), tokens.begin() + length);
  last->salt = salt;
  sequences.erase(id);
  return Status::ok();
}

void PagedKVCache::freeLast() {
  if (last)
    release(last->sequence);
  last.reset();
}

/// Its blocks that no other sequence uses.
int64_t PagedKVCache::numBlocksOfLast() const {
  const std::vector<int32_t> &table = last->sequence.table;
  return std::count_if(table.begin(), table.end(), [&](int32_t block) {
    return manager.refCount(block) == 1;
  });
}

/// The number of tokens with which a sequence can continue the last one.
int64_t PagedKVCache::commonWithLast(Span<const int32_t> tokens,
                                     uint64_t salt) const {
  if (!last || last->salt != salt)
    return 0;
  const auto end =
      tokens.begin() +
      static_cast<ptrdiff_t>(std::min(tokens.size(), last->tokens.size()));
  const int64_t common =
      std::mismatch(tokens.begin(), end, last->tokens.begin()).first -
      tokens.begin();
  const bool canGoBack = statePool.isEmpty();
  return canGoBack || common == last->sequence.length ? common : 0;
}

Expected<int64_t> PagedKVCache::continueLast(SequenceId id,
                                             Span<const int32_t> tokens,
                                             uint64_t salt) {
  const int64_t common = commonWithLast(tokens, salt);
  if (common == 0)
    freeLast();
  if (common == 0 || find(id)) // In which case this fails.
    LLMIR_RETURN_IF_ERROR(createSequence(id));
  if (common > 0) {
    sequences[id] = std::move(last->sequence);
    last.reset();
    LLMIR_RETURN_IF_ERROR(truncate(id, common));
  }
  lookedUpTokens += static_cast<int64_t>(tokens.size());
  foundTokens += common;
  return common;
}

} // namespace mlir::llm::runtime

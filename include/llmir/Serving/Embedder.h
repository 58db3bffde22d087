//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Embeddings of texts, several of them in a step.
//
//   Expected<Embedder> embedder = Embedder::create(*executor);
//   Expected<std::vector<float>> rows = embedder->embed(texts);
//   // The embedding of texts[i]: rows->data() + i * embedder->size()
//
// An embedding depends only on its text: neither on the other texts, nor on the
// order, nor on the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVING_EMBEDDER_H
#define LLMIR_SERVING_EMBEDDER_H

#include "llmir/Runtime/Executor.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <vector>

namespace llmir {

/// Uses sequences of the executor's cache, which exist during embed() only. The
/// executor must outlive it; one thread may use it.
class Embedder {
public:
  /// Fails with InvalidArgument if the executor's model yields logits.
  static Expected<Embedder> create(Executor &executor);

  /// Elements of an embedding.
  int64_t size() const { return executor->info().embeddingSize; }
  /// Maximum tokens of a text.
  int64_t maxTokens() const;

  /// The embeddings, of unit length, of texts as token ids: [texts][size()].
  /// Fails with InvalidArgument (a text without tokens), ContextLengthExceeded
  /// (a text
  /// longer than maxTokens(), naming both lengths and the number of the text
  /// from 0), OutOfRange (a token outside the vocabulary), or as Executor::step
  /// does.
  Expected<std::vector<float>> embed(Span<const std::vector<int32_t>> texts);

private:
  explicit Embedder(Executor &executor) : executor(&executor) {}

  Executor *executor;
};

} // namespace llmir

#endif // LLMIR_SERVING_EMBEDDER_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step function written by hand, with a meaning that a test can predict. It
// keeps the rules of generated code: every worker runs it, it reads the context
// only, stores keys and values in the paged cache, and synchronizes at
// barriers.
//
//   K[t] = token, V[t] = position, in every layer, head and dimension
//   logits[r][v] = 1 where v = (sum over the sequence up to row r's token of
//                  K * (V + 1)) * weight mod vocabulary, else 0
//
// The columns after the vocabulary hold 1e30: they must not be visible.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_RUNTIME_HANDWRITTENSTEP_H
#define LLMIR_TEST_RUNTIME_HANDWRITTENSTEP_H

#include "Artifact/Handmade.h"
#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/ABI/StepContext.h"

namespace llmir::test {

inline KVBlockLayout sampleLayout() {
  ArtifactInfo info = sampleInfo();
  return {info.numKVHeads, info.headDim, info.kvBlockSize, 4};
}

inline float loadFloat(const uint8_t *address) {
  float value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

/// The weights of the handwritten step: one float.
alignas(64) inline const float handwrittenWeights[16] = {3.0f};

inline Span<const uint8_t> handwrittenWeightBytes() {
  return {reinterpret_cast<const uint8_t *>(handwrittenWeights),
          sizeof handwrittenWeights};
}

/// What the step computes for the last of `tokens`.
inline int32_t expectedToken(const std::vector<int32_t> &tokens,
                             size_t length) {
  int64_t sum = 0;
  for (size_t i = 0; i < length; ++i)
    sum += int64_t(tokens[i]) * static_cast<int64_t>(i + 1);
  return static_cast<int32_t>(sum * 3 % sampleInfo().vocabSize);
}

/// Phase 1: this worker's tokens go into the cache.
inline void writeTokens(const LLMIRStepContext *ctx, int64_t worker,
                        int64_t workers) {
  const KVBlockLayout layout = sampleLayout();
  for (int64_t t = worker; t < ctx->num_tokens; t += workers)
    for (int64_t layer = 0; layer < sampleInfo().numLayers; ++layer) {
      int64_t slot = ctx->slot_mapping[t];
      uint8_t *block = ctx->kv_pool + layer * ctx->kv_layer_stride +
                       slot / layout.blockSize * layout.blockBytes();
      float key = static_cast<float>(ctx->token_ids[t]);
      float value = static_cast<float>(ctx->positions[t]);
      for (int64_t d = 0; d < layout.headDim; ++d) {
        int64_t offset = slot % layout.blockSize;
        std::memcpy(block + layout.keyOffset(offset, 0, d), &key, 4);
        std::memcpy(block + layout.valueOffset(offset, 0, d), &value, 4);
      }
    }
}

/// Phase 2: the sequence of token `t` up to it, read through the block table;
/// the last layer and dimension, which were written last.
inline int64_t sumUpTo(const LLMIRStepContext *ctx, int64_t t) {
  const KVBlockLayout layout = sampleLayout();
  int64_t s = 0;
  while (ctx->query_offsets[s + 1] <= t)
    ++s;
  int64_t length = ctx->seq_lens[s] - (ctx->query_offsets[s + 1] - 1 - t);
  const int32_t *table = ctx->block_tables + s * ctx->block_table_stride;
  int64_t sum = 0;
  for (int64_t p = 0; p < length; ++p) {
    const uint8_t *block = ctx->kv_pool +
                           (sampleInfo().numLayers - 1) * ctx->kv_layer_stride +
                           table[p / layout.blockSize] * layout.blockBytes();
    int64_t offset = p % layout.blockSize, d = layout.headDim - 1;
    sum += static_cast<int64_t>(
               loadFloat(block + layout.keyOffset(offset, 0, d))) *
           static_cast<int64_t>(
               loadFloat(block + layout.valueOffset(offset, 0, d)) + 1);
  }
  return sum;
}

inline void handwrittenStep(const LLMIRStepContext *ctx, int64_t worker,
                            int64_t workers) {
  const ArtifactInfo info = sampleInfo();
  writeTokens(ctx, worker, workers);
  ctx->runtime->barrier(ctx, worker);
  // The sums go through the arena, another worker reads them.
  int64_t *sums = reinterpret_cast<int64_t *>(ctx->arena);
  for (int64_t r = worker; r < ctx->num_logit_rows; r += workers)
    sums[r] = sumUpTo(ctx, ctx->logit_rows[r]);
  ctx->runtime->barrier(ctx, worker);
  const float weight = loadFloat(ctx->weights);
  for (int64_t r = (worker + 1) % workers; r < ctx->num_logit_rows;
       r += workers)
    for (int64_t v = 0; v < info.logitsRowStride; ++v)
      ctx->logits[r * info.logitsRowStride + v] =
          v >= info.vocabSize                                            ? 1e30f
          : v == sums[r] * static_cast<int64_t>(weight) % info.vocabSize ? 1.0f
                                                                         : 0.0f;
}

} // namespace llmir::test

#endif // LLMIR_TEST_RUNTIME_HANDWRITTENSTEP_H

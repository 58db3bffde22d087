//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Runtime/StepRuntime.h"

#include "llmir/Support/Sampler.h"

#include <algorithm>
#include <string>

namespace llmir {

using mlir::llm::runtime::CacheBounds;
using mlir::llm::runtime::checkRaggedBatch;
using mlir::llm::runtime::checkRoom;
using mlir::llm::runtime::checkSlots;
using mlir::llm::runtime::fillRow;
using mlir::llm::runtime::IndexRows;
using mlir::llm::runtime::PagedKVCache;

/// The functions in the table. All except barrier are called by one worker.
struct RuntimeFunctions {
  static StepRuntime &of(const LLMIRStepContext *ctx) {
    return *static_cast<StepRuntime *>(ctx->state);
  }

  /// Keeps the first failure for the caller of the run.
  static bool keep(StepRuntime &runtime, Status status) {
    if (status)
      return true;
    if (runtime.failure)
      runtime.failure = std::move(status);
    return false;
  }

  /// True if the cache may be called: there is one, and nothing has failed.
  static bool ready(StepRuntime &runtime) {
    if (!runtime.failure)
      return false;
    return runtime.cache ||
           keep(runtime, Status(StatusCode::Internal,
                                "the code requires a KV cache, but none was "
                                "given"));
  }

  static void barrier(const LLMIRStepContext *ctx, int64_t worker) {
    of(ctx).team.barrier(worker);
  }

  static void reserveKV(const LLMIRStepContext *ctx, int64_t layer,
                        const int32_t *sequences, int64_t count, int64_t tokens,
                        int32_t *slots, int32_t *blockIndices,
                        int64_t rowBlocks, int32_t *blockTables, int64_t stride,
                        int32_t *seqLens) {
    StepRuntime &runtime = of(ctx);
    std::fill_n(slots, count * tokens, 0);
    std::fill_n(blockIndices, count * rowBlocks, 0);
    std::fill_n(blockTables, count * stride, 0);
    std::fill_n(seqLens, count, 0);
    if (!ready(runtime))
      return;
    PagedKVCache &cache = *runtime.cache;
    if (!keep(runtime,
              cache.reserveLayer(
                  layer, tokens,
                  Span<const int32_t>(sequences, static_cast<size_t>(count)),
                  Span<int32_t>(slots, static_cast<size_t>(count * tokens)))))
      return;
    for (int64_t b = 0; b < count; ++b) {
      Span<const int32_t> table = cache.blockTable(sequences[b]);
      fillRow(table, rowBlocks, blockIndices + b * rowBlocks);
      fillRow(table, stride, blockTables + b * stride);
      seqLens[b] =
          static_cast<int32_t>(cache.getSequenceLength(sequences[b], layer));
    }
  }

  static void findKV(const LLMIRStepContext *ctx, int64_t layer,
                     const int32_t *blockIndices, int64_t count,
                     int64_t columns, int64_t rowStride, const int32_t *seqLens,
                     int64_t room, int32_t *blockTables, int64_t stride,
                     int32_t *foundLens) {
    StepRuntime &runtime = of(ctx);
    std::fill_n(blockTables, count * stride, 0);
    std::fill_n(foundLens, count, 0);
    if (!ready(runtime))
      return;
    const std::vector<int64_t> lengths(seqLens, seqLens + count);
    if (room >= 0 && !keep(runtime, checkRoom(lengths, room)))
      return;
    auto tables = runtime.cache->findBlockTables(
        layer, IndexRows::copy(blockIndices, count, columns, rowStride),
        lengths);
    if (!tables) {
      keep(runtime, tables.takeStatus());
      return;
    }
    for (int64_t b = 0; b < count; ++b)
      fillRow((*tables)[static_cast<size_t>(b)], stride,
              blockTables + b * stride);
    std::copy_n(seqLens, count, foundLens);
  }

  static void checkKV(const LLMIRStepContext *ctx, const int32_t *blockTables,
                      int64_t count, int64_t columns, int64_t rowStride,
                      const int32_t *seqLens, const int32_t *queryOffsets,
                      int64_t numQueries, int64_t maskColumns,
                      int32_t *checkedTables, int64_t stride,
                      int32_t *checkedLens, int32_t *checkedOffsets) {
    StepRuntime &runtime = of(ctx);
    std::fill_n(checkedTables, count * stride, 0);
    std::fill_n(checkedLens, count, 0);
    std::fill_n(checkedOffsets, count + 1, 0);
    if (!ready(runtime))
      return;
    const CacheBounds bounds = runtime.cache->bounds();
    const std::vector<int64_t> lengths(seqLens, seqLens + count);
    const std::vector<int64_t> offsets(queryOffsets, queryOffsets + count + 1);
    if (!keep(runtime,
              checkRaggedBatch(
                  {IndexRows::copy(blockTables, count, columns, rowStride),
                   lengths, offsets, numQueries, maskColumns},
                  bounds)))
      return;
    for (int64_t b = 0; b < count; ++b)
      std::copy_n(blockTables + b * rowStride,
                  (seqLens[b] + bounds.blockSize - 1) / bounds.blockSize,
                  checkedTables + b * stride);
    std::copy_n(seqLens, count, checkedLens);
    std::copy_n(queryOffsets, count + 1, checkedOffsets);
  }

  static void checkSlotsOf(const LLMIRStepContext *ctx, const int32_t *slots,
                           int64_t count, int32_t *checked) {
    StepRuntime &runtime = of(ctx);
    std::fill_n(checked, count, 0);
    const std::vector<int64_t> list(slots, slots + count);
    if (ready(runtime) &&
        keep(runtime, checkSlots(list, runtime.cache->bounds())))
      std::copy_n(slots, count, checked);
  }

  static void forkKV(const LLMIRStepContext *ctx, const int32_t *sources,
                     const int32_t *targets, int64_t count) {
    StepRuntime &runtime = of(ctx);
    const auto size = static_cast<size_t>(count);
    if (ready(runtime))
      keep(runtime,
           runtime.cache->forkSequences({sources, size}, {targets, size}));
  }

  static void freeKV(const LLMIRStepContext *ctx, const int32_t *sequences,
                     int64_t count) {
    StepRuntime &runtime = of(ctx);
    if (ready(runtime))
      keep(runtime, runtime.cache->freeSequences(
                        {sequences, static_cast<size_t>(count)}));
  }

  static void sample(const LLMIRStepContext *ctx, const float *logits,
                     int64_t rows, int64_t columns, int64_t rowStride,
                     double temperature, int64_t topK, double topP, double minP,
                     int64_t seed, int32_t *ids) {
    std::fill_n(ids, rows, 0);
    SamplingParams params;
    params.temperature = temperature;
    params.topK = topK;
    params.topP = topP;
    params.minP = minP;
    if (!keep(of(ctx), validateSamplingParams(params)))
      return;
    for (int64_t row = 0; row < rows; ++row) {
      params.seed = static_cast<uint64_t>(seed + row);
      ids[row] = Sampler(params).sample(Span<const float>(
          logits + row * rowStride, static_cast<size_t>(columns)));
    }
  }

  static void trace(const LLMIRStepContext *ctx, int64_t worker, int64_t site,
                    int64_t layer) {
    of(ctx).trace->record(worker, static_cast<int32_t>(site),
                          static_cast<int32_t>(layer));
  }
};

static const LLMIRRuntimeTable runtimeTable = {
    RuntimeFunctions::barrier,      RuntimeFunctions::reserveKV,
    RuntimeFunctions::findKV,       RuntimeFunctions::checkKV,
    RuntimeFunctions::checkSlotsOf, RuntimeFunctions::forkKV,
    RuntimeFunctions::freeKV,       RuntimeFunctions::sample,
    RuntimeFunctions::trace};

static TracedStep sizeOf(const LLMIRStepContext &context) {
  TracedStep step;
  step.tokens = context.num_tokens;
  step.sequences = context.num_sequences;
  step.logitRows = context.num_logit_rows;
  for (int64_t s = 0; context.seq_lens && s < step.sequences; ++s)
    step.keys += context.seq_lens[s];
  return step;
}

Status StepRuntime::run(LLMIRStepFunction function, LLMIRStepContext &context) {
  context.runtime = &runtimeTable;
  context.state = this;
  context.kv_groups = cache ? cache->layerGroups()
                            : mlir::llm::runtime::PagedKVCache::singleGroup();
  if (cache) {
    context.kv_pool = cache->pool();
    // All layers of the code share the only one of such a cache.
    context.kv_layer_stride =
        cache->getNumLayers() > 1 ? cache->layerStride() : 0;
    context.state_pool = cache->states().data();
    context.state_layer_stride = cache->states().layerStride();
    context.state_slot_stride = cache->states().slotStride();
  }
  failure = Status::ok();
  const LLMIRStepContext *ctx = &context;
  context.trace = trace;
  if (trace) { // With all workers, since a trace records their times.
    trace->beginStep(sizeOf(context));
    team.run([ctx, function, events = trace,
              workers = team.size()](int64_t worker) mutable {
      events->record(worker, TraceEvent::stepBegins, events->step());
      function(ctx, worker, workers);
      events->record(worker, TraceEvent::stepEnds, events->step());
    });
    return std::move(failure);
  }
  // The results do not depend on the number of workers.
  team.runWithContention([ctx, function](int64_t worker, int64_t workers) {
    function(ctx, worker, workers);
  });
  return std::move(failure);
}

} // namespace llmir

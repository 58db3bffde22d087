//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the steps of a compiled model.
//
//   Expected<std::unique_ptr<Executor>> executor =
//       Executor::create(artifact, {/*threads=*/2});
//   (*executor)->cache().createSequence(7);
//   SequenceStep part;
//   part.sequence = 7;
//   part.tokens = promptIds; // Span<const int32_t>
//   Expected<StepLogits> logits = (*executor)->step({&part, 1});
//   const float *row = logits->row(0).data();
//
// A step takes the new tokens of any number of sequences, mixing prompts and
// single tokens, appends their keys and values to the cache, and returns the
// requested rows of logits. create() allocates all memory; a step allocates
// none. Not thread-safe: only one thread may run steps.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_RUNTIME_EXECUTOR_H
#define LLMIR_RUNTIME_EXECUTOR_H

#include "llmir/ABI/StepContext.h"
#include "llmir/Artifact/ArtifactInfo.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"
#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

class Artifact;
class StepTrace;

using mlir::llm::runtime::PagedKVCache;
using mlir::llm::runtime::SequenceId;

/// Placement of memory on a machine with several NUMA nodes (sockets).
enum class NumaPolicy : uint8_t {
  Off, ///< Left to the system: the weights are the pages of the file.
  /// Each worker runs on one node, and the memory that it accesses is placed
  /// there: its parts of the weights (of which a copy is made), its heads of
  /// the cache, its rows of the arena.
  FirstTouch,
  /// The pages of the weights (a copy), cache and arena are interleaved across
  /// all nodes, and workers run anywhere.
  Interleave,
};

/// The policy of a `--numa` value: off, first-touch, interleave.
std::optional<NumaPolicy> numaPolicyFromName(std::string_view name);

struct ExecutorOptions {
  int64_t threads = 0; ///< 0 = one per usable processor.
  bool pin = false;    ///< Bind each worker to a processor.
  /// Has no effect on a machine with one node; see Executor::placement().
  NumaPolicy numa = NumaPolicy::Off;
  /// Which of the artifact's levels to run; empty: the best supported one.
  std::string level;
  /// Maximum sequence length. 0 = the model's own; if neither kvBlocks nor
  /// kvBytes is given, reduced to fit into half of the memory available to the
  /// process (the machine's, or its control group's).
  int64_t contextLength = 0;
  /// Size of the KV pool, in blocks or in bytes. Both 0: one sequence of
  /// contextLength and, with keepsPrefixes, the block from which its start is
  /// copied if a kept prefix ends within a block.
  int64_t kvBlocks = 0;
  int64_t kvBytes = 0;
  /// Blocks for layers with a window, as PagedKVCacheOptions::windowBlocks.
  /// Empty: enough for `sequences` of them (or as many as a step may have) or
  /// for kvBlocks; with kvBytes, fewer if a sequence of contextLength would not
  /// have room otherwise, or all of them without full layers, but enough for
  /// one. If given, kvBytes is divided as if they were not.
  std::vector<int64_t> windowBlocks;
  /// Sequences for which layers with a window or a state have room, at most
  /// 65536. Windows have room for another one with keepsPrefixes, so that a
  /// kept prefix need not give way; see windowBlocks for 0. Of states, the
  /// number includes kept ones; 0 = as many as fit into a quarter of the memory
  /// available to the process, from 1 to 64; the memory of a sequence is used
  /// when it is created.
  int64_t sequences = 0;
  /// See PagedKVCacheOptions.
  bool keepsPrefixes = false;
  /// Surround arena, logits and KV pool with unreadable pages. For tests.
  bool guardPages = false;
  /// Where the system describes its nodes; overridden by tests.
  std::string numaRoot = "/sys/devices/system/node";
};

/// Which logits rows of a sequence a step computes. A model that pools
/// (ArtifactInfo::pooling) yields no row (None) or one (Last): the embedding of
/// the sequence.
enum class WantLogits : uint8_t {
  None,
  Last,   ///< Of the sequence's last new token.
  All,    ///< Of every new token.
  Listed, ///< Of SequenceStep::rows.
};

/// One sequence's part of a step. The spans are only read during the call.
struct SequenceStep {
  SequenceId sequence = 0;
  Span<const int32_t> tokens; ///< New token ids, at least one.
  WantLogits want = WantLogits::Last;
  /// With Listed: strictly ascending indices into `tokens`.
  Span<const int32_t> rows;
};

/// Logits of a step in batch order, or embeddings if the model pools; valid
/// until the next step.
struct StepLogits {
  const float *data = nullptr; ///< [numRows][rowStride]
  int64_t numRows = 0;
  int64_t rowStride = 0;
  int64_t rowSize = 0; ///< Elements of a row; the rest is padding.

  Span<const float> row(int64_t index) const {
    return Span<const float>(data + index * rowStride,
                             static_cast<size_t>(rowSize));
  }
};

class Executor {
public:
  /// Selects the code for this processor, maps it, allocates all memory and
  /// starts the workers. Fails with IncompatibleTarget, ResourceExhausted or
  /// InvalidArgument.
  static Expected<std::unique_ptr<Executor>>
  create(std::shared_ptr<const Artifact> artifact,
         const ExecutorOptions &options = {});

  /// The same for a step function in memory, whose sizes `info` gives.
  /// `weights` (64-byte aligned) must outlive the executor.
  static Expected<std::unique_ptr<Executor>>
  create(const ArtifactInfo &info, LLMIRStepFunction step,
         Span<const uint8_t> weights, const ExecutorOptions &options = {});

  ~Executor();
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  /// Runs one step. Each sequence must exist in cache(), have the same number
  /// of tokens in every layer, and be listed once. The total number of tokens
  /// is at most the token budget, that of rows at most maxLogitRows. If the
  /// model needs whole sequences (ArtifactInfo::wholeSequences), they must be
  /// empty before. Fails with InvalidArgument, OutOfRange (token id, budget,
  /// rows, context) or ResourceExhausted (KV blocks); a failed step changes
  /// nothing.
  Expected<StepLogits> step(Span<const SequenceStep> batch);

  /// Calls fn(index) once for every index in [0, count), in any order, on the
  /// workers, which run no step meanwhile; returns when all calls have
  /// returned. For what a step's logits are needed for.
  void forEach(int64_t count, const std::function<void(int64_t)> &fn);

  /// Traces the following steps, keeping the last `eventsPerWorker` events of
  /// each worker; discards an earlier trace. Fails with InvalidArgument or
  /// ResourceExhausted.
  Status startTrace(int64_t eventsPerWorker = int64_t(1) << 20);
  /// Stops tracing; the trace can still be read.
  void stopTrace();
  /// Null before startTrace().
  const StepTrace *trace() const;

  /// Used to create, fork, truncate and free sequences.
  PagedKVCache &cache();

  const ArtifactInfo &info() const;
  /// The level of the code that runs; empty for a given step function.
  const std::string &level() const;
  int64_t tokenBudget() const;
  int64_t maxLogitRows() const;
  int64_t contextLength() const; ///< Maximum sequence length of this executor.
  int64_t threads() const;
  /// As WorkerTeam::processors().
  const std::vector<std::vector<int>> &processors() const;
  /// Bytes allocated by create(): arena, logits, batch arrays, KV pool, and the
  /// copy of the weights that `numa` may require.
  int64_t memoryBytes() const;
  /// A sentence describing the effect of `numa`; empty if it is off.
  const std::string &placement() const;

private:
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace llmir

#endif // LLMIR_RUNTIME_EXECUTOR_H

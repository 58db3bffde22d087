//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a compiled model: the engine's floor.
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
// A step takes the new tokens of any number of sequences, prompts and single
// tokens mixed, appends their keys and values to the cache, and gives the
// logits of the rows that were asked for. All memory is taken by create();
// a step allocates none. Not thread-safe: one thread steps.
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

/// Where memory lies on a machine of several nodes (sockets).
enum class NumaPolicy : uint8_t {
  Off, ///< Wherever the system puts it: the weights are the file's own pages.
  /// Workers stay on a node each. What one of them reads and writes is its
  /// node's: its shares of the weights, of which there is a copy in memory
  /// then, its heads of the cache, its rows of the arena.
  FirstTouch,
  /// The pages of weights (a copy), cache and arena come from all nodes in
  /// turn, and workers run anywhere.
  Interleave,
};

/// A policy by its name, as `--numa` gives it: off, first-touch, interleave.
std::optional<NumaPolicy> numaPolicyFromName(std::string_view name);

struct ExecutorOptions {
  int64_t threads = 0; ///< 0 = one per usable processor.
  bool pin = false;    ///< Bind each worker to a processor.
  /// Changes nothing where the machine has one node; see Executor::placement().
  NumaPolicy numa = NumaPolicy::Off;
  /// Which of the artifact's levels to run; empty: the best that fits.
  std::string level;
  /// Longest sequence. 0 = the model's own, or, where neither kvBlocks nor
  /// kvBytes is given, as much of it as fits into half of the memory that the
  /// process may have: the machine's, or its control group's.
  int64_t contextLength = 0;
  /// Size of the KV pool: in blocks, or in bytes. Both 0: one sequence of
  /// contextLength.
  int64_t kvBlocks = 0;
  int64_t kvBytes = 0;
  /// Unreadable pages around arena, logits and KV pool. For tests.
  bool guardPages = false;
  /// What the system says of its nodes. Another folder is for tests.
  std::string numaRoot = "/sys/devices/system/node";
};

/// Which rows' logits a step shall give.
enum class WantLogits : uint8_t {
  None,
  Last,   ///< Of the sequence's last new token.
  All,    ///< Of every new token.
  Listed, ///< Of SequenceStep::rows.
};

/// One sequence's part of a step. The spans are read during the call only.
struct SequenceStep {
  SequenceId sequence = 0;
  Span<const int32_t> tokens; ///< New token ids, at least one.
  WantLogits want = WantLogits::Last;
  /// With Listed: indices into `tokens`, ascending, no index twice.
  Span<const int32_t> rows;
};

/// Logits of a step, in the order of the batch; valid until the next step.
struct StepLogits {
  const float *data = nullptr; ///< [numRows][rowStride]
  int64_t numRows = 0;
  int64_t rowStride = 0;
  int64_t vocabSize = 0; ///< Values of a row; what follows is padding.

  Span<const float> row(int64_t index) const {
    return Span<const float>(data + index * rowStride,
                             static_cast<size_t>(vocabSize));
  }
};

class Executor {
public:
  /// Chooses the code for this processor, maps it, takes all memory and starts
  /// the workers. Fails with IncompatibleTarget, ResourceExhausted or
  /// InvalidArgument.
  static Expected<std::unique_ptr<Executor>>
  create(std::shared_ptr<const Artifact> artifact,
         const ExecutorOptions &options = {});

  /// The same around a step function that is already in memory, with `info`
  /// for its sizes. `weights` (64-byte aligned) must outlive the executor.
  static Expected<std::unique_ptr<Executor>>
  create(const ArtifactInfo &info, LLMIRStepFunction step,
         Span<const uint8_t> weights, const ExecutorOptions &options = {});

  ~Executor();
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  /// Runs one step. Its sequences must exist in cache(), each listed once, with
  /// the same number of tokens in every layer. The tokens together are at most
  /// the token budget, the rows at most maxLogitRows. Fails with
  /// InvalidArgument, OutOfRange (token id, budget, rows, context) or
  /// ResourceExhausted (KV blocks); a step that fails has changed nothing.
  Expected<StepLogits> step(Span<const SequenceStep> batch);

  /// Lets the steps that follow leave a trace, of which the last
  /// `eventsPerWorker` events are kept; an earlier trace is dropped. Fails with
  /// InvalidArgument or ResourceExhausted.
  Status startTrace(int64_t eventsPerWorker = int64_t(1) << 20);
  /// The steps that follow leave none; what was traced can still be read.
  void stopTrace();
  /// Null before startTrace.
  const StepTrace *trace() const;

  /// Creates, forks, truncates and frees the sequences.
  PagedKVCache &cache();

  const ArtifactInfo &info() const;
  /// The level of the code that runs; empty around a given step function.
  const std::string &level() const;
  int64_t tokenBudget() const;
  int64_t maxLogitRows() const;
  int64_t contextLength() const; ///< Longest sequence of this executor.
  int64_t threads() const;
  /// As of its WorkerTeam.
  const std::vector<std::vector<int>> &processors() const;
  /// Bytes taken by create(): arena, logits, batch arrays, KV pool, and the
  /// weights where `numa` has them copied.
  int64_t memoryBytes() const;
  /// What `numa` did, as a sentence; empty where it is off.
  const std::string &placement() const;

private:
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace llmir

#endif // LLMIR_RUNTIME_EXECUTOR_H

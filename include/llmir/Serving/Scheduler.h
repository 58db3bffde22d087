//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides what the next step of an engine computes. A pure function of the
// state that it is given, so that it can be tested and simulated without a
// model.
//
// Sequences are served in order of priority, then of arrival. Sequences that
// need one token come first, then the prompts that have been started, in
// chunks, then new sequences, as long as tokens, rows of logits and blocks
// suffice. A sequence that does not fit keeps the ones after it waiting, so
// that long prompts do not starve. One that waits for a prefix that is being
// computed does not hold back others.
//
// If a running sequence needs a block and none is available, another one is
// preempted: its blocks are released and its tokens are computed again later.
// The victim is the last in priority, and of those with that priority the one
// with the fewest computed tokens, among the sequences that come later in the
// order. A sequence without victims keeps its blocks and waits until others
// end, before any sequence starts that comes later.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVING_SCHEDULER_H
#define LLMIR_SERVING_SCHEDULER_H

#include "llmir/Support/Span.h"

#include <cstdint>
#include <vector>

namespace llmir {

/// Only this many waiting sequences are offered to the scheduler, because each
/// one's prefix is looked up in every step; no more can start in one step.
constexpr size_t mostWaitingCandidates = 16;

/// What a sequence has in the blocks of layers that keep only a window.
struct WindowUse {
  int64_t held = 0;        ///< If it runs: blocks that it holds.
  int64_t ownBlocks = 0;   ///< As SchedulableSequence.
  int64_t startBlocks = 0; ///< The same.
};

/// A sequence as the scheduler sees it.
struct SchedulableSequence {
  int64_t priority = 0; ///< Lower values are served first.
  int64_t arrival = 0;  ///< Order of submission.
  bool isRunning = false;
  /// Known tokens, of the prompt and generated. Always greater than `computed`.
  int64_t tokens = 0;
  /// Tokens in the cache; of a sequence that does not run, those of the prefix
  /// with which it would start.
  int64_t computed = 0;
  /// Rows of logits that it needs: those of this many last tokens. At least 1,
  /// and at most the tokens that are not computed if it is to run.
  int64_t rows = 1;
  /// If it runs: the blocks that become available if it is preempted.
  int64_t ownBlocks = 0;
  /// If it runs: its last block is shared, so that the next token copies it.
  bool copiesLastBlock = false;
  /// If it does not run: CachedPrefix::startBlocks.
  int64_t startBlocks = 0;
  std::vector<WindowUse> windows; ///< As many as SchedulerLimits::windows.
  /// If it does not run: the sequence that computes a longer prefix of it.
  /// While that one runs, or starts in the same step, it does not start, so
  /// that it can share this prefix. -1 = none.
  int64_t awaits = -1;
};

/// The blocks of layers that keep only a window. A sequence takes one of them
/// with each other block, and gives it back later.
struct WindowLimits {
  int64_t available = 0; ///< As planStep()'s availableBlocks.
  int64_t mostHeld = 0;  ///< By a sequence: WindowBlocks::mostHeld().
};

struct SchedulerLimits {
  int64_t tokensPerStep = 0;    ///< At least 1.
  int64_t runningSequences = 0; ///< At least 1.
  int64_t logitRows = 0;        ///< At least runningSequences.
  int64_t blockSize = 0;        ///< Tokens per block.
  /// Tokens of prompts in a step that also decodes: they delay the sequences
  /// that receive text. 0 = no limit but tokensPerStep.
  int64_t promptTokensBesideDecoding = 0;
  std::vector<WindowLimits> windows; ///< Of the cache.
};

/// A sequence's part of a step.
struct ScheduledPart {
  int64_t sequence = 0; ///< Index into the sequences.
  int64_t tokens = 0;   ///< The next ones that are not computed, at least 1.
};

/// What to do, in this order; indices into the sequences.
struct StepPlan {
  std::vector<int64_t> preempted; ///< Release their blocks.
  /// Cannot proceed, though no other sequence uses blocks: the pool is too
  /// small for them.
  std::vector<int64_t> tooLarge;
  /// Give them their prefixes, one after the other, if canStartAsPlanned().
  std::vector<int64_t> started;
  /// The step, of what runs and of what has started; empty if there is nothing.
  std::vector<ScheduledPart> parts;
};

/// Plans the next step. `availableBlocks`: those that are free or can be
/// evicted.
StepPlan planStep(Span<const SchedulableSequence> sequences,
                  const SchedulerLimits &limits, int64_t availableBlocks);

/// Whether a planned start is still possible: `now` has the prefix that
/// `planned` has, and takes no more blocks with it. Sequences that started
/// before it, in the same step, may have evicted a part of its prefix; blocks
/// that the plan did not count could then be missing. It must wait for the next
/// plan. The first start of a plan is always possible.
bool canStartAsPlanned(const SchedulableSequence &planned,
                       const SchedulableSequence &now);

} // namespace llmir

#endif // LLMIR_SERVING_SCHEDULER_H

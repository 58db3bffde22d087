//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/Scheduler.h"

#include <algorithm>

namespace llmir {

namespace {
class Planner {
public:
  Planner(Span<const SchedulableSequence> sequences,
          const SchedulerLimits &limits, int64_t availableBlocks)
      : sequences(sequences), limits(limits), available(availableBlocks),
        tokensLeft(limits.tokensPerStep), rowsLeft(limits.logitRows) {
    for (const WindowLimits &window : limits.windows)
      windowsLeft.push_back(window.available);
  }

  StepPlan plan();

private:
  const SchedulableSequence &at(int64_t index) const {
    return sequences[static_cast<size_t>(index)];
  }
  int64_t blocksFor(int64_t tokens) const {
    return (tokens + limits.blockSize - 1) / limits.blockSize;
  }
  int64_t growth(const SchedulableSequence &sequence, int64_t tokens) const {
    return blocksFor(sequence.computed + tokens) -
           blocksFor(sequence.computed) + sequence.copiesLastBlock;
  }
  /// Tokens before the first one whose row of logits is needed.
  int64_t tokensWithoutRow(const SchedulableSequence &sequence) const {
    return std::max<int64_t>(
        sequence.tokens - sequence.rows - sequence.computed, 0);
  }
  int64_t rowsOf(const SchedulableSequence &sequence, int64_t tokens) const {
    return std::max<int64_t>(tokens - tokensWithoutRow(sequence), 0);
  }
  /// The next tokens, as many as there are rows for.
  int64_t tokensWithinRows(const SchedulableSequence &sequence) const {
    return std::min(sequence.tokens - sequence.computed,
                    tokensWithoutRow(sequence) + rowsLeft);
  }
  bool hasRoom(int64_t blocks) const {
    return blocks <= available &&
           std::all_of(windowsLeft.begin(), windowsLeft.end(),
                       [&](int64_t left) { return blocks <= left; });
  }
  /// Blocks of a window that a sequence will take until its tokens are
  /// computed, given what it takes of others and holds already.
  int64_t windowGrowth(size_t window, int64_t blocks, int64_t held) const {
    return std::clamp<int64_t>(limits.windows[window].mostHeld - held, 0,
                               blocks);
  }
  void add(int64_t index, int64_t tokens);
  bool precedes(int64_t a, int64_t b) const;
  bool isBetterVictim(int64_t a, int64_t b) const;
  bool makeRoom(size_t place, int64_t blocks);
  void schedule(size_t place, int64_t tokens);
  void continueRunning(bool decoding);
  void reservePrompts();
  bool awaitsPrefix(const SchedulableSequence &sequence) const;
  bool takeForStart(const SchedulableSequence &sequence, int64_t numRunning);
  void startWaiting();

  Span<const SchedulableSequence> sequences;
  const SchedulerLimits &limits;
  int64_t available, tokensLeft, rowsLeft;
  std::vector<int64_t> windowsLeft; ///< Available blocks of each window.
  /// Tokens of prompts that this step may still compute.
  int64_t promptTokensLeft = 0;
  /// Sequences in the order of service; those that run and are not yet part of
  /// the step can be preempted.
  std::vector<int64_t> running, waiting;
  std::vector<bool> isSettled; ///< [place in running]
  StepPlan result;
};
} // namespace

bool Planner::precedes(int64_t a, int64_t b) const {
  return at(a).priority != at(b).priority ? at(a).priority < at(b).priority
                                          : at(a).arrival < at(b).arrival;
}

bool Planner::isBetterVictim(int64_t a, int64_t b) const {
  if (at(a).priority != at(b).priority)
    return at(a).priority > at(b).priority;
  if (at(a).computed != at(b).computed)
    return at(a).computed < at(b).computed;
  return at(a).arrival > at(b).arrival;
}

/// Preempts later sequences until `blocks` are available for the one at
/// `place`. If that is not enough, it keeps its blocks and is not part of this
/// step; it is too large if it is the only one.
bool Planner::makeRoom(size_t place, int64_t blocks) {
  while (!hasRoom(blocks)) {
    size_t victim = place;
    for (size_t i = place + 1; i < running.size(); ++i)
      if (!isSettled[i] &&
          (victim == place || isBetterVictim(running[i], running[victim])))
        victim = i;
    if (victim == place) {
      // Blocks that only the victims share were not counted; the next plan
      // counts them.
      if (place == 0 && result.parts.empty() && result.preempted.empty())
        result.tooLarge.push_back(running[place]);
      return false;
    }
    available += at(running[victim]).ownBlocks;
    for (size_t w = 0; w < windowsLeft.size(); ++w)
      windowsLeft[w] += at(running[victim]).windows[w].ownBlocks;
    isSettled[victim] = true;
    result.preempted.push_back(running[victim]);
  }
  return true;
}

void Planner::schedule(size_t place, int64_t tokens) {
  const SchedulableSequence &sequence = at(running[place]);
  if (tokens < 1 || !makeRoom(place, growth(sequence, tokens)))
    return;
  available -= growth(sequence, tokens);
  for (int64_t &left : windowsLeft)
    left -= growth(sequence, tokens);
  isSettled[place] = true;
  add(running[place], tokens);
}

void Planner::add(int64_t index, int64_t tokens) {
  tokensLeft -= tokens;
  rowsLeft -= rowsOf(at(index), tokens);
  result.parts.push_back({index, tokens});
}

void Planner::continueRunning(bool decoding) {
  for (size_t place = 0; place < running.size(); ++place) {
    const SchedulableSequence &sequence = at(running[place]);
    const bool decodes = sequence.tokens - sequence.computed == 1;
    if (isSettled[place] || decodes != decoding)
      continue;
    const int64_t before = tokensLeft;
    schedule(place,
             std::min(tokensWithinRows(sequence),
                      decoding ? tokensLeft
                               : std::min(tokensLeft, promptTokensLeft)));
    promptTokensLeft -= decoding ? 0 : before - tokensLeft;
  }
}

/// Prompts that have been started were promised their blocks.
void Planner::reservePrompts() {
  auto reserve = [&](const SchedulableSequence &sequence, int64_t tokens) {
    const int64_t taken = tokens > 0 ? growth(sequence, tokens) : 0;
    const int64_t blocks =
        blocksFor(sequence.tokens) - blocksFor(sequence.computed + tokens);
    available -= blocks;
    for (size_t w = 0; w < windowsLeft.size(); ++w)
      windowsLeft[w] -=
          windowGrowth(w, blocks, sequence.windows[w].held + taken);
  };
  for (const ScheduledPart &part : result.parts)
    reserve(at(part.sequence), part.tokens);
  for (size_t place = 0; place < running.size(); ++place)
    if (!isSettled[place])
      reserve(at(running[place]), 0);
}

/// Whether a sequence that starts has room, with another block for each that
/// runs; takes its blocks if so.
bool Planner::takeForStart(const SchedulableSequence &sequence,
                           int64_t numRunning) {
  const int64_t growing =
      blocksFor(sequence.tokens) - blocksFor(sequence.computed);
  const int64_t needed = growing + sequence.startBlocks;
  bool fits = needed + numRunning <= available;
  std::vector<int64_t> windows;
  for (size_t w = 0; w < windowsLeft.size(); ++w) {
    // Of the blocks with which it starts, some may be copied or given back.
    const int64_t start = sequence.windows[w].startBlocks;
    windows.push_back(start + windowGrowth(w, growing, start));
    fits &= windows[w] + numRunning <= windowsLeft[w];
  }
  for (size_t w = 0; fits && w < windows.size(); ++w)
    windowsLeft[w] -= windows[w];
  available -= fits ? needed : 0;
  return fits;
}

bool Planner::awaitsPrefix(const SchedulableSequence &sequence) const {
  return sequence.awaits >= 0 &&
         (at(sequence.awaits).isRunning ||
          std::count(result.started.begin(), result.started.end(),
                     sequence.awaits) != 0);
}

/// A sequence starts only if all its tokens have room, and each running one has
/// another block to grow into: otherwise it would be preempted soon.
void Planner::startWaiting() {
  auto numRunning = static_cast<int64_t>(running.size());
  for (int64_t index : waiting) {
    const SchedulableSequence &sequence = at(index);
    if (awaitsPrefix(sequence))
      continue;
    const int64_t tokens =
        std::min({tokensWithinRows(sequence), tokensLeft, promptTokensLeft});
    const bool mayStart = tokens >= 1 && numRunning < limits.runningSequences;
    if (!takeForStart(sequence, numRunning)) {
      if (numRunning == 0)
        result.tooLarge.push_back(index);
      return;
    }
    if (!mayStart)
      return;
    result.started.push_back(index);
    add(index, tokens);
    promptTokensLeft -= tokens;
    ++numRunning;
  }
}

StepPlan Planner::plan() {
  for (int64_t i = 0; i < static_cast<int64_t>(sequences.size()); ++i)
    (at(i).isRunning ? running : waiting).push_back(i);
  auto inOrder = [&](int64_t a, int64_t b) { return precedes(a, b); };
  std::sort(running.begin(), running.end(), inOrder);
  std::sort(waiting.begin(), waiting.end(), inOrder);
  isSettled.assign(running.size(), false);

  continueRunning(/*decoding=*/true);
  const bool limitsPrompts =
      !result.parts.empty() && limits.promptTokensBesideDecoding > 0;
  promptTokensLeft =
      limitsPrompts ? std::min(tokensLeft, limits.promptTokensBesideDecoding)
                    : tokensLeft;
  continueRunning(/*decoding=*/false);
  if (result.preempted.empty() && result.tooLarge.empty()) {
    reservePrompts();
    startWaiting();
  }
  return std::move(result);
}

StepPlan planStep(Span<const SchedulableSequence> sequences,
                  const SchedulerLimits &limits, int64_t availableBlocks) {
  return Planner(sequences, limits, availableBlocks).plan();
}

bool canStartAsPlanned(const SchedulableSequence &planned,
                       const SchedulableSequence &now) {
  bool can = now.computed == planned.computed &&
             now.startBlocks <= planned.startBlocks;
  for (size_t w = 0; w < planned.windows.size(); ++w)
    can &= now.windows[w].startBlocks <= planned.windows[w].startBlocks;
  return can;
}

} // namespace llmir

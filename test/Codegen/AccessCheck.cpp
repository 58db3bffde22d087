//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessCheck.h"

#include <algorithm>
#include <cstring>

namespace llmir::test {

using mllm::kernel::kTileColumns;
using mllm::kernel::WorkDivision;
using mllm::kernel::WorkUnit;

namespace {
/// The permitted effects of a worker on a byte.
enum class Right : uint8_t {
  None,   ///< Must not change it.
  Own,    ///< Must write its final value.
  Shared, ///< Must write its final value, unless another worker does.
};

/// Number of bytes compared at once: most of the memory does not change.
constexpr size_t kChunk = 4096;

/// The contents of all blocks.
using Contents = std::vector<std::vector<uint8_t>>;

/// A range of units of work.
struct Range {
  int64_t first, last;
  bool contains(int64_t i) const { return i >= first && i < last; }
};

class AccessChecker {
public:
  AccessChecker(const CheckedStep &step, int64_t workers)
      : step(step), workers(workers) {}

  std::string check();

private:
  Contents save() const;
  void restore(const Contents &contents) const;
  void run(int64_t worker, int64_t count);
  static void arrive(const LLMIRStepContext *ctx, int64_t worker);
  void beginPhase();
  void endPhase();
  void checkPhase();
  void checkClaims();
  void checkBytes(size_t block, size_t first, size_t last);
  void report(const char *what, size_t block, size_t byte);

  Range rangeOf(const WorkDivision &division) const;
  bool isOwn(const CheckedOperand &operand, int64_t row, int64_t column,
             Range range) const;
  /// Calls body(byte offset in the block, whether the byte is the worker's
  /// own).
  template <typename Body>
  void overElements(const CheckedOperand &operand, Body body) const;
  void poisonUnused(Contents &start) const;
  void poisonOthers(Contents &begin) const;
  std::vector<std::vector<Right>> rights() const;
  std::string describe(size_t block, size_t byte) const;

  const CheckedStep &step;
  int64_t workers;
  /// The memory at the start of each phase, and at the end of the last one, in
  /// a run with one worker.
  std::vector<Contents> states;
  std::vector<Contents> claims; ///< Bytes that a worker has written, by phase.
  // The worker being run.
  int64_t worker = 0;
  size_t phase = 0;
  Contents begin; ///< The memory when the phase began.
  std::vector<std::vector<Right>> rightsOfPhase; ///< Empty if not known yet.
  bool recording = false;
  std::string wrong;
};
} // namespace

/// The checker whose worker is running.
static AccessChecker *running = nullptr;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Contents AccessChecker::save() const {
  Contents contents;
  for (const MemoryBlock &block : step.blocks)
    contents.emplace_back(block.data, block.data + block.size);
  return contents;
}

void AccessChecker::restore(const Contents &contents) const {
  for (size_t i = 0; i < contents.size(); ++i)
    if (!contents[i].empty())
      std::memcpy(step.blocks[i].data, contents[i].data(), contents[i].size());
}

static void poison(std::vector<uint8_t> &block, size_t byte, int64_t size,
                   uint32_t with) {
  for (int64_t i = 0; i < size; i += 4)
    std::memcpy(block.data() + byte + i, &with, 4);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Replaces the runtime's barrier: a worker that runs alone continues with the
/// memory that all workers would have written.
void AccessChecker::arrive(const LLMIRStepContext *, int64_t) {
  running->endPhase();
  ++running->phase;
  running->beginPhase();
}

void AccessChecker::run(int64_t number, int64_t count) {
  LLMIRRuntimeTable table{};
  table.barrier = arrive;
  LLMIRStepContext context = step.context;
  context.runtime = &table;
  worker = number;
  phase = 0;
  running = this;
  beginPhase();
  step.function(&context, number, count);
  endPhase();
}

void AccessChecker::beginPhase() {
  if (recording)
    return;
  if (phase >= step.phases.size()) {
    wrong = "there are more barriers than phases";
    return;
  }
  rightsOfPhase.clear();
  begin = states[phase];
  poisonOthers(begin);
  restore(begin);
}

void AccessChecker::endPhase() {
  if (recording)
    states.push_back(save());
  else if (wrong.empty())
    checkPhase();
}

//===----------------------------------------------------------------------===//
// Divisions
//===----------------------------------------------------------------------===//

/// Contiguous ranges of whole grains of nearly equal sizes.
Range AccessChecker::rangeOf(const WorkDivision &division) const {
  const int64_t count = division.unit == WorkUnit::Rows
                            ? step.limits.rows(division.over) * division.parts
                            : division.parts;
  const int64_t grains = (count + division.grain - 1) / division.grain;
  return {std::min(worker * grains / workers * division.grain, count),
          std::min((worker + 1) * grains / workers * division.grain, count)};
}

/// Whether an element belongs to a worker with the given contiguous range of
/// work.
bool AccessChecker::isOwn(const CheckedOperand &operand, int64_t row,
                          int64_t column, Range range) const {
  const int64_t parts = operand.division->parts;
  switch (operand.division->unit) {
  case WorkUnit::Rows:
    return range.contains(row);
  case WorkUnit::Columns: // Padding belongs to the last tile.
    return range.contains(std::min(column / kTileColumns, parts - 1));
  case WorkUnit::Heads: {
    const int64_t dim = operand.columns / parts;
    const int64_t head = std::min(column / dim, parts - 1);
    return (row * parts + head) % workers == worker;
  }
  case WorkUnit::First:
    return worker == 0;
  case WorkUnit::Items:
  case WorkUnit::Elements:
    break;
  }
  return false;
}

/// Whether the division determines the elements of a worker.
static bool isKnown(const CheckedOperand &operand) {
  return operand.division && operand.division->isKnown();
}

template <typename Body>
void AccessChecker::overElements(const CheckedOperand &operand,
                                 Body body) const {
  const bool known = isKnown(operand);
  const Range range = known ? rangeOf(*operand.division) : Range{0, 0};
  for (int64_t row = 0; row < operand.rows; ++row)
    for (int64_t column = 0; column < operand.stride; ++column)
      body(operand.offset +
               (row * operand.stride + column) * operand.elementBytes,
           known && isOwn(operand, row, column, range));
}

//===----------------------------------------------------------------------===//
// Permitted accesses
//===----------------------------------------------------------------------===//

static bool isSameMemory(const CheckedOperand &a, const CheckedOperand &b) {
  return a.block == b.block && a.offset == b.offset;
}

/// Poisons memory that is written before it is read, and rows that must not be
/// accessed.
void AccessChecker::poisonUnused(Contents &start) const {
  std::vector<CheckedOperand> known; // One for each memory.
  for (const CheckedPhase &each : step.phases) {
    const size_t before = known.size();
    for (const CheckedOperand &operand : each.operands) {
      auto same = std::find_if(known.begin(), known.end(),
                               [&](const CheckedOperand &other) {
                                 return isSameMemory(operand, other);
                               });
      if (same == known.end()) {
        known.push_back(operand);
        continue;
      }
      const bool isNew = same >= known.begin() + before;
      same->reads |= isNew && operand.reads;
      same->usedRows = std::max(same->usedRows, operand.usedRows);
    }
  }
  for (const CheckedOperand &operand : known) {
    const int64_t rowBytes = operand.stride * operand.elementBytes;
    for (int64_t row = operand.reads ? operand.usedRows : 0; row < operand.rows;
         ++row)
      poison(start[operand.block], operand.offset + row * rowBytes, rowBytes,
             operand.reads ? kForbidden : kUnwritten);
  }
}

/// Poisons the elements of other workers, unless the worker may read any
/// element through another operand.
void AccessChecker::poisonOthers(Contents &contents) const {
  const std::vector<CheckedOperand> &operands = step.phases[phase].operands;
  for (const CheckedOperand &operand : operands) {
    if (!operand.reads || !isKnown(operand))
      continue;
    std::vector<const CheckedOperand *> same;
    for (const CheckedOperand &other : operands)
      if (other.reads && isSameMemory(operand, other))
        same.push_back(&other);
    if (!std::all_of(same.begin(), same.end(),
                     [](const auto *each) { return isKnown(*each); }))
      continue;
    std::vector<bool> own(operand.rows * operand.stride);
    auto indexOf = [&](size_t byte) {
      return (byte - operand.offset) / operand.elementBytes;
    };
    for (const CheckedOperand *each : same)
      overElements(*each, [&](size_t byte, bool isOwn) {
        if (isOwn)
          own[indexOf(byte)] = true;
      });
    overElements(operand, [&](size_t byte, bool) {
      if (!own[indexOf(byte)])
        poison(contents[operand.block], byte, operand.elementBytes, kForbidden);
    });
  }
}

std::vector<std::vector<Right>> AccessChecker::rights() const {
  std::vector<std::vector<Right>> result;
  for (const MemoryBlock &block : step.blocks)
    result.emplace_back(block.size, Right::None);
  for (size_t block : step.phases[phase].sharedBlocks)
    std::fill(result[block].begin(), result[block].end(), Right::Shared);
  for (const CheckedOperand &operand : step.phases[phase].operands)
    if (operand.writes)
      overElements(operand, [&](size_t byte, bool own) {
        Right right = !isKnown(operand) ? Right::Shared
                      : own             ? Right::Own
                                        : Right::None;
        if (right != Right::None)
          std::fill_n(result[operand.block].begin() + byte,
                      operand.elementBytes, right);
      });
  return result;
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

std::string AccessChecker::describe(size_t block, size_t byte) const {
  const std::vector<CheckedOperand> &operands = step.phases[phase].operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    const CheckedOperand &operand = operands[i];
    const size_t element = (byte - operand.offset) / operand.elementBytes;
    if (operand.block == block && byte >= operand.offset &&
        element < static_cast<size_t>(operand.rows * operand.stride))
      return "operand " + std::to_string(i) + " [" +
             std::to_string(element / operand.stride) + ", " +
             std::to_string(element % operand.stride) + "]";
  }
  return "byte " + std::to_string(byte) + " of block " + std::to_string(block);
}

void AccessChecker::report(const char *what, size_t block, size_t byte) {
  wrong = "worker " + std::to_string(worker) + " of " +
          std::to_string(workers) + " " + what + " " + describe(block, byte);
  if (step.phases.size() > 1)
    wrong += " in phase " + std::to_string(phase);
}

void AccessChecker::checkPhase() {
  for (size_t block = 0; block < step.blocks.size(); ++block)
    for (size_t first = 0; first < step.blocks[block].size; first += kChunk) {
      const size_t last = std::min(first + kChunk, step.blocks[block].size);
      const uint8_t *after = step.blocks[block].data + first;
      auto isSame = [&](const Contents &other) {
        return std::memcmp(after, other[block].data() + first, last - first) ==
               0;
      };
      if (!isSame(begin) || !isSame(states[phase + 1]))
        checkBytes(block, first, last);
      if (!wrong.empty())
        return;
    }
}

void AccessChecker::checkBytes(size_t block, size_t first, size_t last) {
  if (rightsOfPhase.empty())
    rightsOfPhase = rights();
  const Contents &expected = states[phase + 1];
  const uint8_t *end = step.blocks[block].data;
  for (size_t byte = first; byte < last && wrong.empty(); ++byte) {
    const bool changed = end[byte] != begin[block][byte];
    const bool right = end[byte] == expected[block][byte];
    uint8_t &claim = claims[phase][block][byte];
    switch (rightsOfPhase[block][byte]) {
    case Right::None:
      if (changed)
        report("writes an element that is not its own:", block, byte);
      break;
    case Right::Own:
      if (!right)
        report("does not write its own element correctly, or depends on one "
               "that it must not read:",
               block, byte);
      claim = 1;
      break;
    case Right::Shared:
      if (!changed)
        break;
      if (!right)
        report("writes another value than a single worker:", block, byte);
      else if (claim)
        report("writes an element that another worker writes:", block, byte);
      claim = 1;
      break;
    }
  }
}

/// Elements written by a single worker in the phase must be written by some
/// worker.
void AccessChecker::checkClaims() {
  for (size_t block = 0; block < step.blocks.size(); ++block) {
    const std::vector<uint8_t> &before = states[phase][block];
    const std::vector<uint8_t> &after = states[phase + 1][block];
    for (size_t first = 0; first < before.size(); first += kChunk) {
      const size_t last = std::min(first + kChunk, before.size());
      if (std::memcmp(before.data() + first, after.data() + first,
                      last - first) == 0)
        continue;
      for (size_t byte = first; byte < last && wrong.empty(); ++byte)
        if (before[byte] != after[byte] && !claims[phase][block][byte])
          wrong = "no worker writes " + describe(block, byte);
    }
  }
}

std::string AccessChecker::check() {
  const Contents saved = save();
  Contents start = saved;
  poisonUnused(start);
  restore(start);
  states.push_back(start);
  recording = true;
  run(0, 1);
  recording = false;
  if (states.size() != step.phases.size() + 1)
    wrong = "there are " + std::to_string(states.size() - 1) + " phases";
  Contents none;
  for (const std::vector<uint8_t> &block : start)
    none.emplace_back(block.size(), 0);
  claims.assign(step.phases.size(), none);
  for (int64_t number = 0; number < workers && wrong.empty(); ++number)
    run(number, workers);
  for (phase = 0; phase < step.phases.size() && wrong.empty(); ++phase)
    checkClaims();
  restore(saved);
  return wrong;
}

std::string findWrongAccess(const CheckedStep &step, int64_t workers) {
  return AccessChecker(step, workers).check();
}

} // namespace llmir::test

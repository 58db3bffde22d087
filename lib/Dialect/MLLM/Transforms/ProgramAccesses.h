//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What each op of a code fragment touches, given what the step context holds
// where it runs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_PROGRAMACCESSES_H
#define LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_PROGRAMACCESSES_H

#include "llmir/Dialect/MLLM/MLLMProgramOps.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <optional>

namespace llmir::mllm {

/// A count of the step context. Equal ones are the same number.
struct StepCount {
  /// The number; -1: what the caller has set, or, with `label`, what it is
  /// where jumps with different counts arrive.
  int64_t number = -1;
  mlir::Operation *label = nullptr;

  bool isCallers() const { return number < 0 && !label; }
  bool operator==(const StepCount &other) const {
    return number == other.number && label == other.label;
  }
  bool operator!=(const StepCount &other) const { return !(*this == other); }
};

/// What fields of the step context may hold at some place in the code.
struct StepFields {
  /// What num_tokens and num_logit_rows are.
  StepCount tokens, logitRows;
  /// The buffers to which a field may point.
  std::map<StepField, llvm::SmallSetVector<mlir::Value, 2>> pointers;
  /// Whether kv_pool may be what the caller has set.
  bool hasCallersPool = true;

  const StepCount &rows(kernel::RowSpace over) const {
    return over == kernel::RowSpace::Tokens ? tokens : logitRows;
  }
  void set(program::SetFieldOp op);
  /// Adds what workers bring along that come to the label by another way.
  /// Gives whether that is anything new.
  bool include(const StepFields &other, program::LabelOp label);
};

/// What an op does to one buffer.
struct ProgramAccess {
  mlir::Value buffer; ///< Null for the KV cache of the caller.
  bool reads = false, writes = false;
  /// The elements that each worker touches; without value, any of them.
  std::optional<kernel::WorkDivision> division;
  StepCount rows; ///< Of the row space of the division.
  kernel::SplitCondition condition = kernel::SplitCondition::Always;

  static ProgramAccess reading(mlir::Value buffer) {
    return {buffer, true, false, std::nullopt, {}};
  }
  /// Whether each worker touches the rows that are its own in a step of the
  /// caller's size.
  bool isByRowsOfStep() const {
    return division && division->unit == kernel::WorkUnit::Rows &&
           division->parts == 1 && rows.isCallers();
  }
  bool isInSteps(bool split) const {
    return condition == kernel::SplitCondition::Always ||
           (condition == kernel::SplitCondition::IfSplit) == split;
  }
  /// Whether there are steps in which two workers may touch the same element,
  /// one of them writing.
  bool mayMeet(const ProgramAccess &other) const {
    const bool inOneStep = (isInSteps(true) && other.isInSteps(true)) ||
                           (isInSteps(false) && other.isInSteps(false));
    const bool ownElements = division && other.division &&
                             *division == *other.division && rows == other.rows;
    return buffer == other.buffer && (writes || other.writes) && inOneStep &&
           !ownElements;
  }
};

/// What each instruction and each call of the runtime touches, in the order of
/// the code.
using AccessTable =
    llvm::MapVector<mlir::Operation *, llvm::SmallVector<ProgramAccess>>;

llvm::SmallVector<ProgramAccess> accessesOf(kernel::KernelOpInterface kernel,
                                            const StepFields &fields);
/// Of all kernels of an instruction, or of a call of the runtime; other ops
/// touch nothing.
llvm::SmallVector<ProgramAccess> accessesOf(mlir::Operation &op,
                                            const StepFields &fields);

/// Calls `visit` for each op of the fragment, in order, with what the step
/// context may hold there.
void forEachWithFields(
    program::FragmentOp code,
    llvm::function_ref<void(mlir::Operation &, const StepFields &)> visit);

} // namespace llmir::mllm

#endif // LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_PROGRAMACCESSES_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accesses of each op of a code fragment, given the state of the step
// context at the op.
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

/// The value of a count of the step context. Equal objects denote equal values.
struct StepCount {
  /// The value; -1: the caller's value or, with `label`, the unknown value at a
  /// label that jumps reach with different counts.
  int64_t number = -1;
  mlir::Operation *label = nullptr;

  bool isCallers() const { return number < 0 && !label; }
  bool operator==(const StepCount &other) const {
    return number == other.number && label == other.label;
  }
  bool operator!=(const StepCount &other) const { return !(*this == other); }
};

/// The possible values of fields of the step context at a point of the code.
struct StepFields {
  /// The values of num_tokens and num_logit_rows.
  StepCount tokens, logitRows;
  /// The buffers to which a field may point.
  std::map<StepField, llvm::SmallSetVector<mlir::Value, 2>> pointers;
  /// Whether kv_pool may have the caller's value.
  bool hasCallersPool = true;

  const StepCount &rows(kernel::RowSpace over) const {
    return over == kernel::RowSpace::Tokens ? tokens : logitRows;
  }
  void set(program::SetFieldOp op);
  /// Joins the state of another predecessor of the label. Returns whether the
  /// state has changed.
  bool include(const StepFields &other, program::LabelOp label);
};

/// The access of an op to one buffer.
struct ProgramAccess {
  mlir::Value buffer; ///< Null for the KV cache of the caller.
  bool reads = false, writes = false;
  /// The elements that each worker accesses; without value, any of them.
  std::optional<kernel::WorkDivision> division;
  StepCount rows; ///< Number of rows of the division's row space.
  kernel::SplitCondition condition = kernel::SplitCondition::Always;

  static ProgramAccess reading(mlir::Value buffer) {
    return {buffer, true, false, std::nullopt, {}};
  }
  /// Whether each worker accesses only its own rows of a step of the caller's
  /// size.
  bool isByRowsOfStep() const {
    return division && division->unit == kernel::WorkUnit::Rows &&
           division->parts == 1 && rows.isCallers();
  }
  bool isInSteps(bool split) const {
    return condition == kernel::SplitCondition::Always ||
           (condition == kernel::SplitCondition::IfSplit) == split;
  }
  /// Whether there are steps in which two workers may access the same element,
  /// at least one of them writing.
  bool mayConflict(const ProgramAccess &other) const {
    const bool inOneStep = (isInSteps(true) && other.isInSteps(true)) ||
                           (isInSteps(false) && other.isInSteps(false));
    const bool ownElements = division && other.division &&
                             *division == *other.division && rows == other.rows;
    return buffer == other.buffer && (writes || other.writes) && inOneStep &&
           !ownElements;
  }
};

/// The accesses of each instruction and each call of the runtime, in program
/// order.
using AccessTable =
    llvm::MapVector<mlir::Operation *, llvm::SmallVector<ProgramAccess>>;

llvm::SmallVector<ProgramAccess> accessesOf(kernel::KernelOpInterface kernel,
                                            const StepFields &fields);
/// The accesses of all kernels of an instruction, or of a call of the runtime;
/// empty for other ops.
llvm::SmallVector<ProgramAccess> accessesOf(mlir::Operation &op,
                                            const StepFields &fields);

/// Calls `visit` for each op of the fragment, in order, with the state of the
/// step context.
void forEachWithFields(
    program::FragmentOp code,
    llvm::function_ref<void(mlir::Operation &, const StepFields &)> visit);

} // namespace llmir::mllm

#endif // LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_PROGRAMACCESSES_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the accesses of compiled kernels against KernelOpInterface: each
// worker runs alone, on memory in which everything that it must not read is
// poisoned, and must write exactly its own elements.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_CODEGEN_ACCESSCHECK_H
#define LLMIR_TEST_CODEGEN_ACCESSCHECK_H

#include "llmir/ABI/StepContext.h"
#include "llmir/Dialect/MLLM/Kernels/KernelAccess.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmir::test {

/// Quiet NaNs that computations do not produce: uninitialized memory, and
/// memory that must not be read. They differ, so that copies are detected.
inline constexpr uint32_t kUnwritten = 0x7fc0dead, kForbidden = 0x7fc0f0f0;

/// Memory that a step may write to.
struct MemoryBlock {
  uint8_t *data = nullptr;
  size_t size = 0;
};

/// An operand of a kernel in one of the blocks.
struct CheckedOperand {
  size_t block, offset; ///< Offset in bytes.
  int64_t rows, columns, stride, elementBytes;
  int64_t usedRows; ///< Rows that the kernel may access.
  bool reads = false, writes = false;
  /// The elements that a worker accesses; without value, any of them.
  std::optional<mllm::kernel::WorkDivision> division = std::nullopt;
};

/// The accesses of kernels between two barriers.
struct CheckedPhase {
  std::vector<CheckedOperand> operands;
  /// Blocks of which any worker may write any byte (the KV cache).
  std::vector<size_t> sharedBlocks;
};

/// A compiled step.
struct CheckedStep {
  LLMIRStepFunction function = nullptr;
  LLMIRStepContext context{}; ///< With the runtime of the check.
  mllm::kernel::StepLimits limits;
  std::vector<MemoryBlock> blocks;
  std::vector<CheckedPhase> phases; ///< One more than there are barriers.
};

/// Runs each of several workers alone and returns a description of the first
/// wrong access; empty if there is none. Compared with a single worker that
/// does all of the work, in each phase a worker must
/// - write the same values to its elements of the operand's division,
///   independent of the elements that it must not read, and
/// - not change anything else; or, if any worker may access any element,
/// write only elements that no other worker writes.
/// Restores the memory.
std::string findWrongAccess(const CheckedStep &step, int64_t workers);

} // namespace llmir::test

#endif // LLMIR_TEST_CODEGEN_ACCESSCHECK_H

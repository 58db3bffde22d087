//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether the workers of a compiled kernel touch what KernelOpInterface says:
// each of them runs alone, on memory in which everything that it may not read
// is poisoned, and must write its own elements and nothing else.
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

/// Quiet NaNs that no computation makes: what is not written yet, and what must
/// not be read. A copy of one onto the other shows.
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
  int64_t usedRows; ///< Those that the kernel may touch.
  bool reads = false, writes = false;
  /// The elements that a worker touches; without value, any of them.
  std::optional<mllm::kernel::WorkDivision> division = std::nullopt;
};

/// What kernels touch between two barriers.
struct CheckedPhase {
  std::vector<CheckedOperand> operands;
  /// Blocks of which any worker may write any byte (the KV cache).
  std::vector<size_t> sharedBlocks;
};

/// A compiled step.
struct CheckedStep {
  LLMIRStepFunction function = nullptr;
  LLMIRStepContext context{}; ///< Its runtime is that of the check.
  mllm::kernel::StepLimits limits;
  std::vector<MemoryBlock> blocks;
  std::vector<CheckedPhase> phases; ///< One more than there are barriers.
};

/// Runs each of several workers alone and gives what is wrong with what it
/// touches; empty if nothing is. Compared with one worker that does all of the
/// work, a worker must in each phase
/// - write the elements of the operand's division in the same way, whatever the
///   elements hold that it may not read, and
/// - leave everything else as it is; or, where any worker may touch any
/// element,
///   write what no other worker writes.
/// The memory is left as it was.
std::string findWrongAccess(const CheckedStep &step, int64_t workers);

} // namespace llmir::test

#endif // LLMIR_TEST_CODEGEN_ACCESSCHECK_H

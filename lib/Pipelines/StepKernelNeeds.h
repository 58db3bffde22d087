//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel of a step touches: how many rows of each of its buffers, and
// how many weights it takes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_PIPELINES_STEPKERNELNEEDS_H
#define LLMIR_LIB_PIPELINES_STEPKERNELNEEDS_H

#include "llmir/Dialect/MLLM/MLLMProgramOps.h"

#include "llvm/ADT/SmallVector.h"

namespace llmir {

/// The largest step.
struct StepLimits {
  int64_t tokens = 0; ///< Of all sequences, each of which has one or more.
  int64_t logitRows = 0;
  int64_t contextLength = 0; ///< Keys that a token may see.
};

struct StepKernelNeeds {
  int64_t weights = 0;
  /// Of each buffer that the kernel declares, from the first on; for a buffer
  /// beyond those that its kind has, none.
  llvm::SmallVector<int64_t> rows;
};

/// An integer parameter of a kernel; 0 where there is none.
int64_t kernelParameter(mllm::program::KernelOp kernel, llvm::StringRef name);

/// What the kernel needs in a step of those limits. Fails, with a diagnostic,
/// for a kind that steps do not have and for attention whose parameters are
/// malformed.
mlir::FailureOr<StepKernelNeeds> needsOf(mllm::program::KernelOp kernel,
                                         const StepLimits &limits);

} // namespace llmir

#endif // LLMIR_LIB_PIPELINES_STEPKERNELNEEDS_H

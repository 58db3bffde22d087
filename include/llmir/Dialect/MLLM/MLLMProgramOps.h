//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program level: fragments, instructions, labels and jumps.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMPROGRAMOPS_H
#define LLMIR_DIALECT_MLLM_MLLMPROGRAMOPS_H

#include "llmir/ABI/StepFields.h"
#include "llmir/Dialect/MLLM/KernelCall.h"
#include "llmir/Dialect/MLLM/MLLMDialect.h"

#include "llmir/Dialect/MLLM/MLLMProgramEnums.h.inc"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMProgramOps.h.inc"

namespace llmir::mllm::program {

/// How many trace sites an op of a code fragment is: the kernels of an
/// instruction, one for a barrier or a call of the runtime. A trace numbers
/// them from 0 in the order of the text.
inline int64_t numTraceSites(mlir::Operation &op) {
  if (auto instruction = llvm::dyn_cast<InstructionOp>(op))
    return static_cast<int64_t>(instruction.getKernels().size());
  return llvm::isa<BarrierOp, RuntimeCallOp>(op) ? 1 : 0;
}

} // namespace llmir::mllm::program

#endif // LLMIR_DIALECT_MLLM_MLLMPROGRAMOPS_H

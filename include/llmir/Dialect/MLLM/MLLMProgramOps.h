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
#include "llmir/Dialect/MLLM/Kernels/Kernels.h"
#include "llmir/Dialect/MLLM/MLLMDialect.h"

#include "llmir/Dialect/MLLM/MLLMProgramEnums.h.inc"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMProgramOps.h.inc"

namespace llmir::mllm::program {

/// The kernels of an instruction, in order; none once code is emitted.
llvm::SmallVector<kernel::KernelOpInterface> kernelsOf(InstructionOp op);

/// How many trace sites an op of a code fragment is: the kernels (or calls) of
/// an instruction, one for a barrier or a call of the runtime. A trace numbers
/// them from 0 in the order of the text.
int64_t numTraceSites(mlir::Operation &op);

/// The weight that an op names, in whichever fragment of the module it is; null
/// if there is none, which verification refuses.
WeightOp findWeight(mlir::ModuleOp module, GetWeightOp op);

/// The discardable attribute of a kernel with the name that profiles, traces
/// and generated functions use.
inline constexpr llvm::StringLiteral kLabelAttr = "label";
/// The label of a kernel, or, without one, its mnemonic.
llvm::StringRef labelOf(mlir::Operation *kernel);

} // namespace llmir::mllm::program

#endif // LLMIR_DIALECT_MLLM_MLLMPROGRAMOPS_H

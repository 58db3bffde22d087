//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trace as it comes, brought into the one form that becomes a step.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_MLLMTOLLM_PREPARESTEP_H
#define LLMIR_LIB_CONVERSION_MLLMTOLLM_PREPARESTEP_H

#include "llmir/Dialect/MLLM/MLLM.h"

namespace llmir {

/// Marks the model `entry` where a call of the module says which it is, fuses
/// its attention, and takes the dimension of sequences, a 1 before the tokens,
/// off all of its values. Gives the entry. Reports an error and fails where
/// there is none, or the model is for several sequences.
mlir::FailureOr<mllm::SubGraphOp> prepareStep(mlir::ModuleOp module);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_PREPARESTEP_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Normalizes traces for conversion to a step.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_MLLMTOLLM_PREPARESTEP_H
#define LLMIR_LIB_CONVERSION_MLLMTOLLM_PREPARESTEP_H

#include "llmir/Dialect/MLLM/MLLM.h"

namespace llmir {

/// Marks the callee of a call in the module as `entry`, fuses its attention,
/// and removes the sequence dimension, a 1 before the tokens, from all of its
/// values. Returns the entry. Fails, with a diagnostic, if there is none, or
/// the model was traced for several sequences.
mlir::FailureOr<mllm::SubGraphOp> prepareStep(mlir::ModuleOp module);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_PREPARESTEP_H

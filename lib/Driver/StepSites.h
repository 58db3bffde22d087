//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The costs of the trace sites of a step, computed from its program.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DRIVER_STEPSITES_H
#define LLMIR_LIB_DRIVER_STEPSITES_H

#include "llmir/Artifact/ArtifactInfo.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace llmir {

/// The trace sites of the module's code fragment, in order. Buffers have
/// `tokenBudget` rows for the tokens of a step.
std::vector<StepSite> describeStepSites(mlir::ModuleOp module,
                                        int64_t tokenBudget);

} // namespace llmir

#endif // LLMIR_LIB_DRIVER_STEPSITES_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stage 2: a checkpoint becomes `mllm` IR.
//
//   Expected<OwningOpRef<ModuleOp>> module =
//       traceCheckpoint(context, checkpoint, FrontendOptions());
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_FRONTEND_FRONTEND_H
#define LLMIR_FRONTEND_FRONTEND_H

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Support/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llmir {

struct FrontendOptions {
  /// Tokens that a sequence may have; 0 means as many as the model was trained
  /// for, and no more than those are accepted.
  int64_t contextLength = 0;
};

/// Builds the model's family from the checkpoint's config, traces it, and binds
/// each parameter to its tensor. The module is verified and carries
/// `mllm.model` (see mllm::ModelFacts); the values of the weights stay in the
/// checkpoint, to which the module keeps no reference. Loads the dialects that
/// it needs into `context`, and emits no diagnostic.
///
/// Fails with Unsupported (no such family, a storage type that LLMIR cannot
/// use), NotFound (a tensor is missing), InvalidFile (a tensor is extra or of
/// another shape; rotary divisors that are not positive numbers), OutOfRange
/// (options.contextLength); each names the tensor and the shapes.
Expected<mlir::OwningOpRef<mlir::ModuleOp>>
traceCheckpoint(mlir::MLIRContext &context, const Checkpoint &checkpoint,
                const FrontendOptions &options);

} // namespace llmir

#endif // LLMIR_FRONTEND_FRONTEND_H

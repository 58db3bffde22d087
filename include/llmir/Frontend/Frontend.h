//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stage 2: traces a checkpoint to `mllm` IR.
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
  /// Maximum number of tokens of a sequence; 0: the trained context length,
  /// which must not be exceeded.
  int64_t contextLength = 0;
};

/// Builds the model's family from the checkpoint's config, traces it, and binds
/// each parameter to its tensor. The module is verified and has the attribute
/// `mllm.model` (see mllm::ModelFacts); the weights stay in the checkpoint, to
/// which the module has no reference. Loads the required dialects into
/// `context` and emits no diagnostics.
///
/// Fails with Unsupported (unknown family or storage type), NotFound (missing
/// tensor), InvalidFile (extra tensor or wrong shape; rotary divisors that are
/// not positive), OutOfRange (options.contextLength); messages name the tensor
/// and the shapes.
Expected<mlir::OwningOpRef<mlir::ModuleOp>>
traceCheckpoint(mlir::MLIRContext &context, const Checkpoint &checkpoint,
                const FrontendOptions &options);

} // namespace llmir

#endif // LLMIR_FRONTEND_FRONTEND_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads programs from text and checks them against the artifact whose weights
// they use. The text is not trusted.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DRIVER_PROGRAMINPUT_H
#define LLMIR_LIB_DRIVER_PROGRAMINPUT_H

#include "llmir/Artifact/ArtifactInfo.h"
#include "llmir/Support/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <string>
#include <string_view>

namespace llmir {

/// Runs an action of MLIR; on failure, returns the first reported error, after
/// `prefix`, with the advice.
Status withDiagnostics(mlir::MLIRContext &context, StatusCode code,
                       const std::string &prefix, const std::string &advice,
                       const std::function<mlir::LogicalResult()> &action);

/// Parses and verifies a program in MLIR's or the mllm text format. `name` is
/// the file name for messages. Fails with InvalidFile; text of more than 64
/// MiB, or nested deeper than 256 brackets, is rejected before it is parsed.
Expected<mlir::OwningOpRef<mlir::ModuleOp>>
parseProgram(mlir::MLIRContext &context, std::string_view text,
             const std::string &name);

/// The same for any module of the project's dialects; `advice` is a sentence on
/// how to see its form.
Expected<mlir::OwningOpRef<mlir::ModuleOp>>
parseModule(mlir::MLIRContext &context, std::string_view text,
            const std::string &name, const std::string &advice);

/// Checks that a program can run on the weight section and the cache of an
/// artifact: `base` is the artifact's own program, `info` its metadata. Reports
/// errors at the ops. Checks
///   - the parts: one code fragment @llmir_step, ops and kernels of steps only;
///   - each weight: source, layout, format, shape and bytes are those of what
/// the artifact has at its offset;
///   - each call of a kernel: its weights' shapes and format, the rows of its
///     buffers for the largest step, the geometry of the cache;
///   - the layer register: a weight of several layers and the cache have the
///     layers that it may hold.
mlir::LogicalResult checkStepProgram(mlir::ModuleOp program,
                                     mlir::ModuleOp base,
                                     const ArtifactInfo &info);

} // namespace llmir

#endif // LLMIR_LIB_DRIVER_PROGRAMINPUT_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers all dialects and passes of LLMIR, for llmir-opt, llmir-translate,
// llmir-lsp-server, llmir-reduce and the plugin. New dialects and groups of
// passes are added in Registration.cpp only.
//
//   DialectRegistry registry;
//   llmir::registerAllLLMIRDialects(registry);
//   llmir::registerAllLLMIRPasses();
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_PIPELINES_REGISTRATION_H
#define LLMIR_PIPELINES_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace llmir {

/// Registers the dialects of LLMIR, the upstream dialects used at any stage,
/// and the extensions of both that LLMIR's passes require.
void registerAllLLMIRDialects(mlir::DialectRegistry &registry);

/// A single-threaded context in which all dialects of models and programs are
/// loaded.
std::unique_ptr<mlir::MLIRContext> createCompilerContext();

/// Registers LLMIR's passes and pipelines; those of MLIR are registered by
/// mlir::registerAllPasses().
void registerAllLLMIRPasses();

} // namespace llmir

#endif // LLMIR_PIPELINES_REGISTRATION_H

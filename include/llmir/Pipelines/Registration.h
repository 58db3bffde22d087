//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that a tool over LLMIR's IR has to know, in one call each. A new
// dialect or a new folder of passes is added in Registration.cpp and nowhere
// else; llmir-opt, llmir-translate, llmir-lsp-server, llmir-reduce and the
// plugin all ask here.
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

/// Adds our dialects, the dialects of MLIR that our IR is written with at any
/// stage, and the extensions of both that our passes ask for.
void registerAllLLMIRDialects(mlir::DialectRegistry &registry);

/// A context with the dialects in which models and programs are read and built,
/// all loaded, and without threads.
std::unique_ptr<mlir::MLIRContext> createCompilerContext();

/// Registers our passes and pipelines by their flags; those of MLIR are
/// registered by mlir::registerAllPasses().
void registerAllLLMIRPasses();

} // namespace llmir

#endif // LLMIR_PIPELINES_REGISTRATION_H

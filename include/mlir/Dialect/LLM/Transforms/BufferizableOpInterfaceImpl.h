//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One-Shot Bufferize models of the cache ops; see docs/Dialects/LLM.md,
// "Bufferization".
//
//===----------------------------------------------------------------------===//

#ifndef MLIR_DIALECT_LLM_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define MLIR_DIALECT_LLM_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;

namespace llm {

void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace llm
} // namespace mlir

#endif // MLIR_DIALECT_LLM_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

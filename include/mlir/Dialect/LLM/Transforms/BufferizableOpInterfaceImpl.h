//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What One-Shot Bufferize knows of the cache ops: docs/Dialects/LLM.md, "A
// cache is bufferized to the place where it is kept".
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

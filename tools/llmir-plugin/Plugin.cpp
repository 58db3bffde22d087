//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLMIR's dialects and passes as a plugin for any tool of MLIR 22:
//
//   mlir-opt --load-dialect-plugin=lib/LLMIRPlugin.so \
//            --load-pass-plugin=lib/LLMIRPlugin.so \
//            --pass-pipeline='builtin.module(llm-deduplicate-functions)' f.mlir
//
//===----------------------------------------------------------------------===//

#include "llmir/Pipelines/Registration.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "LLMIR", LLMIR_VERSION,
          [](mlir::DialectRegistry *registry) {
            llmir::registerAllLLMIRDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "LLMIR", LLMIR_VERSION,
          [] { llmir::registerAllLLMIRPasses(); }};
}

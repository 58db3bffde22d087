//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir-translate: runs the functions of a module; converts programs to text
// and back.
//
//===----------------------------------------------------------------------===//

#include "llmir/Driver/ProgramTranslation.h"
#include "llmir/Execution/ExecuteTranslation.h"
#include "llmir/Execution/ModelTranslation.h"
#include "llmir/Export/BuildGraph.h"
#include "llmir/Interpreter/Translation.h"
#include "llmir/MLLMText/Text.h"
#ifdef LLMIR_HAS_XNNPACK
#include "llmir/Export/RunOnXNNPACK.h"
#endif
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  llmir::registerInterpretTranslation();
  llmir::registerExecuteTranslations();
  llmir::registerModelTranslations();
  llmir::registerProgramTranslations();
  llmir::mllm::registerTextTranslations();
  llmir::registerExportTranslations();
#ifdef LLMIR_HAS_XNNPACK
  llmir::registerXNNPACKTranslation();
#endif
  return failed(mlir::mlirTranslateMain(argc, argv, "LLMIR's runner\n"));
}

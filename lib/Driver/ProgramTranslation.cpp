//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir-translate --disassemble-program and --assemble-program.
//
//===----------------------------------------------------------------------===//

#include "llmir/Driver/ProgramTranslation.h"
#include "ProgramInput.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/MLLMText/Text.h"
#include "llmir/Pipelines/Registration.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-translate/Translation.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace llmir {

static LogicalResult report(MLIRContext *context, const Status &status) {
  return emitError(UnknownLoc::get(context), status.message());
}

/// The program of an artifact. Opens the file by name, so that it is mapped and
/// checked like in the runtime.
static LogicalResult disassemble(const std::shared_ptr<llvm::SourceMgr> &source,
                                 llvm::raw_ostream &output,
                                 MLIRContext *context) {
  llvm::StringRef path =
      source->getMemoryBuffer(source->getMainFileID())->getBufferIdentifier();
  if (path == "<stdin>")
    return report(context,
                  Status(StatusCode::InvalidArgument,
                         "an artifact cannot be read from standard input",
                         "name the .llmir file"));
  auto artifact = Artifact::open(path.str());
  if (!artifact)
    return report(context, artifact.takeStatus());
  // Parse the output, to ensure that it can be assembled.
  std::unique_ptr<MLIRContext> compiler = createCompilerContext();
  auto program = parseProgram(*compiler, (*artifact)->program(), path.str());
  if (!program)
    return report(context, program.takeStatus());
  return mllm::printText(**program, output);
}

static LogicalResult assemble(const std::shared_ptr<llvm::SourceMgr> &source,
                              llvm::raw_ostream &output, MLIRContext *context) {
  const llvm::MemoryBuffer *text =
      source->getMemoryBuffer(source->getMainFileID());
  std::unique_ptr<MLIRContext> compiler = createCompilerContext();
  auto program =
      parseProgram(*compiler, {text->getBufferStart(), text->getBufferSize()},
                   text->getBufferIdentifier().str());
  if (!program)
    return report(context, program.takeStatus());
  (*program)->print(output);
  output << "\n";
  return success();
}

void registerProgramTranslations() {
  static TranslateRegistration disassembleRegistration(
      "disassemble-program", "Write the program of a .llmir file as text",
      disassemble);
  static TranslateRegistration assembleRegistration(
      "assemble-program",
      "Parse a program's text, verify it and write it as MLIR", assemble);
}

} // namespace llmir

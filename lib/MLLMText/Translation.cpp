//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --mlir-to-mllm and --mllm-to-mlir.
//
//===----------------------------------------------------------------------===//

#include "llmir/MLLMText/Text.h"

#include "llmir/Dialect/CheckOption.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Support/MessageLine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-translate/Translation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace llmir::mllm;

namespace {
struct CommandLine {
  llvm::cl::opt<TextStyle> style{
      "mllm-style", llvm::cl::desc("How --mlir-to-mllm prints"),
      llvm::cl::values(
          clEnumValN(TextStyle::Full, "full",
                     "the current spelling, with all information"),
          clEnumValN(
              TextStyle::Document, "document",
              "as in MLLM's documentation: no attributes, no parameters")),
      llvm::cl::init(TextStyle::Full)};
  llvm::cl::opt<int64_t> first{
      "mllm-first-number",
      llvm::cl::desc("Number of the first value that --mlir-to-mllm prints"),
      llvm::cl::init(0)};
  llvm::cl::opt<bool> files{
      "mllm-file-locations",
      llvm::cl::desc("Also print file locations of ops (--mlir-to-mllm)")};
};
} // namespace

namespace {
/// Sanitizes diagnostics of untrusted text: messages are on one line, and
/// source lines with control characters or excessive length are not shown.
class ShowableDiagnostics {
public:
  ShowableDiagnostics(MLIRContext &context, StringRef text)
      : handler(&context, [this](Diagnostic &diagnostic) {
          Diagnostic made(locationOf(diagnostic), diagnostic.getSeverity());
          appendPlace(made, diagnostic);
          made << llmir::messageLine(diagnostic.str());
          for (Diagnostic &note : diagnostic.getNotes())
            appendNote(made.attachNote(locationOf(note)), note);
          diagnostic = std::move(made);
          return failure(); // The next handler prints it.
        }) {
    text.split(lines, '\n');
  }

private:
  /// The location of a diagnostic without its source line.
  FileLineColLoc hiddenPlace(Diagnostic &diagnostic) {
    auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
    if (!place || place.getLine() == 0 || place.getLine() > lines.size())
      return {};
    StringRef line = lines[place.getLine() - 1];
    return llmir::messageLine(line) == line ? FileLineColLoc() : place;
  }
  Location locationOf(Diagnostic &diagnostic) {
    if (FileLineColLoc place = hiddenPlace(diagnostic))
      return UnknownLoc::get(place.getContext());
    return diagnostic.getLocation();
  }
  void appendPlace(Diagnostic &made, Diagnostic &diagnostic) {
    if (FileLineColLoc place = hiddenPlace(diagnostic))
      made << llmir::messageLine(place.getFilename().strref()) << ":"
           << place.getLine() << ":" << place.getColumn() << ": ";
  }
  /// A note may print an op, which has several lines.
  void appendNote(Diagnostic &made, Diagnostic &note) {
    appendPlace(made, note);
    const std::string words = note.str();
    llvm::interleave(
        llvm::split(words, '\n'),
        [&](StringRef line) { made << llmir::messageLine(line); },
        [&] { made << "\n"; });
  }

  SmallVector<StringRef> lines;
  ScopedDiagnosticHandler handler;
};
} // namespace

/// The dialects of a traced model and of a program's kernels.
static void registerDialects(DialectRegistry &registry) {
  registry.insert<MLLMDialect, llm::LLMDialect, arith::ArithDialect,
                  func::FuncDialect, math::MathDialect>();
}

void llmir::mllm::registerTextTranslations() {
  static CommandLine commandLine;
  static TranslateFromMLIRRegistration print(
      "mlir-to-mllm", "Print in the MLLM text format",
      [](Operation *op, raw_ostream &output) {
        // An upper bound on the number of values.
        const std::string wrong = llmir::whyNotOption(
            commandLine.first.ArgStr, commandLine.first, /*least=*/0,
            /*most=*/std::numeric_limits<int64_t>::max() / 2);
        if (!wrong.empty())
          return LogicalResult(emitError(op->getLoc()) << wrong);
        TextOptions options;
        options.style = commandLine.style;
        options.firstNumber = commandLine.first;
        options.fileLocations = commandLine.files;
        return printText(op, output, options);
      },
      registerDialects);
  static TranslateToMLIRRegistration parse(
      "mllm-to-mlir", "Read the MLLM text format",
      [](const std::shared_ptr<llvm::SourceMgr> &source,
         MLIRContext *context) -> OwningOpRef<Operation *> {
        const llvm::MemoryBuffer *buffer =
            source->getMemoryBuffer(source->getMainFileID());
        // Kernels contain ops of other dialects.
        context->loadAllAvailableDialects();
        ShowableDiagnostics diagnostics(*context, buffer->getBuffer());
        return parseText(buffer->getBuffer(), buffer->getBufferIdentifier(),
                         *context);
      },
      registerDialects);
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the MLLM text format; implemented in PrintNames.cpp, Printer.cpp and
// PrintModules.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_MLLMTEXT_PRINTER_H
#define LLMIR_LIB_MLLMTEXT_PRINTER_H

#include "Numbering.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/MLLMText/Text.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace llmir::mllm {

/// Whether a symbol or attribute name needs no quotes.
bool isBareName(llvm::StringRef name);

/// The attributes of an op that are printed in brackets, without those of its
/// head and values.
llvm::SmallVector<mlir::NamedAttribute> ownAttributes(mlir::Operation *op);

/// The mnemonics of an instruction's kernels, for its head; none after code is
/// emitted.
llvm::SmallVector<llvm::StringRef> kernelNames(program::InstructionOp op);

/// Prints ops with the value numbers of their module.
class TextPrinter {
public:
  TextPrinter(llvm::raw_ostream &os, const TextOptions &options,
              mlir::Operation *op)
      : os(os), isFull(options.style == TextStyle::Full),
        hasFiles(options.fileLocations),
        numbering(op, options.firstNumber, /*inheritsGivenNames=*/!isFull) {}

  mlir::LogicalResult printOp(mlir::Operation *op);
  mlir::LogicalResult printRegion(mlir::Region &region);
  void printValueName(mlir::Value value) { os << '%' << numbering.name(value); }

private:
  mlir::LogicalResult printModule(mlir::ModuleOp module);
  mlir::LogicalResult printDocumentModule(mlir::ModuleOp module);
  mlir::LogicalResult printFullModule(mlir::ModuleOp module);
  mlir::LogicalResult printSubGraph(SubGraphOp subgraph);
  mlir::LogicalResult printFragment(program::FragmentOp fragment);
  mlir::LogicalResult printOps(mlir::Block &block);
  mlir::LogicalResult printPlain(mlir::Operation *op);
  void printEntryCall(SubGraphOp entry);
  void printRegister(RegisterOp op);

  void printHead(mlir::Operation *op);
  void printInstruction(program::InstructionOp op);
  void printLocation(mlir::Operation *op);
  void printAttributes(llvm::ArrayRef<mlir::NamedAttribute> attributes);
  void printAttribute(mlir::Attribute attribute);
  void printMLIR(llvm::function_ref<void(llvm::raw_ostream &)> print);
  void printSymbol(llvm::StringRef name);
  void printType(mlir::Type type);
  void printValue(mlir::Value value, bool isDefinition);
  void printValueAttributes(mlir::Value value);
  void printValues(mlir::ValueRange values, bool areDefinitions);

  void newLine() { os.indent(4 * indent); }
  const char *device(mlir::Operation *op) {
    return ::mllm::deviceName(deviceTypeOf(op), isFull);
  }

  llvm::raw_ostream &os;
  bool isFull;
  bool hasFiles;
  int indent = 0;
  Numbering numbering;
};

} // namespace llmir::mllm

#endif // LLMIR_LIB_MLLMTEXT_PRINTER_H

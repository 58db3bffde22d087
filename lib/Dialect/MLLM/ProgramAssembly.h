//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The custom parts of the program ops' text: rows of RuntimeABI.def by name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_PROGRAMASSEMBLY_H
#define LLMIR_LIB_DIALECT_MLLM_PROGRAMASSEMBLY_H

#include "mlir/IR/OpImplementation.h"

namespace llmir::mllm::program {

mlir::ParseResult parseStepFieldName(mlir::OpAsmParser &parser,
                                     mlir::IntegerAttr &field);
void printStepFieldName(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                        mlir::IntegerAttr field);

mlir::ParseResult parseRuntimeFunctionName(mlir::OpAsmParser &parser,
                                           mlir::IntegerAttr &function);
void printRuntimeFunctionName(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                              mlir::IntegerAttr function);

} // namespace llmir::mllm::program

#endif // LLMIR_LIB_DIALECT_MLLM_PROGRAMASSEMBLY_H

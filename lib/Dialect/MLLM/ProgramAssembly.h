//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The custom parts of the program ops' text: rows of RuntimeABI.def by name,
// and the kind of a fragment.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_PROGRAMASSEMBLY_H
#define LLMIR_LIB_DIALECT_MLLM_PROGRAMASSEMBLY_H

#include "llmir/Dialect/MLLM/MLLM.h"

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

/// code, data or text; `table` is read as text.
mlir::ParseResult parseFragmentKind(mlir::OpAsmParser &parser,
                                    FragmentKindAttr &kind);
void printFragmentKind(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                       FragmentKindAttr kind);

} // namespace llmir::mllm::program

#endif // LLMIR_LIB_DIALECT_MLLM_PROGRAMASSEMBLY_H

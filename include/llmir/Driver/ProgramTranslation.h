//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The assembler and disassembler of programs in llmir-translate.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DRIVER_PROGRAMTRANSLATION_H
#define LLMIR_DRIVER_PROGRAMTRANSLATION_H

namespace llmir {

/// Adds `--disassemble-program` (a .llmir file to the text of its program) and
/// `--assemble-program` (that text, verified, to MLIR).
void registerProgramTranslations();

} // namespace llmir

#endif // LLMIR_DRIVER_PROGRAMTRANSLATION_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `llmir-translate --execute` runs functions as they are compiled for this
// processor; `--compare` runs them in the interpreter as well, and says how far
// the results are apart.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXECUTION_EXECUTETRANSLATION_H
#define LLMIR_EXECUTION_EXECUTETRANSLATION_H

namespace llmir {

/// Registers both translations with their options.
void registerExecuteTranslations();

} // namespace llmir

#endif // LLMIR_EXECUTION_EXECUTETRANSLATION_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `llmir-translate --execute` compiles functions for this processor and runs
// them; `--compare` also interprets them and reports the differences of the
// results.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXECUTION_EXECUTETRANSLATION_H
#define LLMIR_EXECUTION_EXECUTETRANSLATION_H

namespace llmir {

/// Registers both translations with their options.
void registerExecuteTranslations();

} // namespace llmir

#endif // LLMIR_EXECUTION_EXECUTETRANSLATION_H

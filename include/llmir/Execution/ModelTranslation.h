//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `llmir-translate --interpret-model` evaluates a traced model with the
// parameters of a checkpoint, step by step with caches, and prints the logits,
// the reference for compiled code. `--execute-model` runs one step as a
// function that is compiled for its number of tokens.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXECUTION_MODELTRANSLATION_H
#define LLMIR_EXECUTION_MODELTRANSLATION_H

namespace llmir {

/// Registers both translations with their options, --checkpoint and --ids.
void registerModelTranslations();

} // namespace llmir

#endif // LLMIR_EXECUTION_MODELTRANSLATION_H

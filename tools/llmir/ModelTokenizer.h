//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens the tokenizer of a MODEL, or of a path with only a tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_MODELTOKENIZER_H
#define LLMIR_TOOLS_LLMIR_MODELTOKENIZER_H

#include "llmir/Support/Status.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <string>

namespace llmir::cli {

/// `path` is a model, a directory without weights, a GGUF file with only a
/// vocabulary, a tokenizer.json or a tokenizer.model. Nothing is compiled.
Expected<Tokenizer> openTokenizer(const std::string &path);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_MODELTOKENIZER_H

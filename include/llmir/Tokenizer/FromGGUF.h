//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tokenizer of a GGUF file. This is a separate library, LLMIRTokenizerGGUF,
// because the tokenizer library does not depend on checkpoints.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOKENIZER_FROMGGUF_H
#define LLMIR_TOKENIZER_FROMGGUF_H

#include "llmir/Checkpoint/GGUF.h"
#include "llmir/Tokenizer/Tokenizer.h"

namespace llmir {

/// Builds the tokenizer described by the tokenizer.ggml.* keys. NotFound if the
/// file has none; Unsupported for other models than "llama", "t5", "gpt2",
/// "gemma4" and "bert" and for unknown pre-tokenizers. The result does not
/// refer to the file.
Expected<Tokenizer> tokenizerFromGGUF(const GGUFMetadata &metadata);

} // namespace llmir

#endif // LLMIR_TOKENIZER_FROMGGUF_H

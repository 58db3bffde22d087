//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tokenizer inside a GGUF file. A library of its own, LLMIRTokenizerGGUF:
// the tokenizer itself knows nothing of checkpoints.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOKENIZER_FROMGGUF_H
#define LLMIR_TOKENIZER_FROMGGUF_H

#include "llmir/Checkpoint/GGUF.h"
#include "llmir/Tokenizer/Tokenizer.h"

namespace llmir {

/// Builds the tokenizer that the keys tokenizer.ggml.* describe. NotFound where
/// the file has none; Unsupported for models other than "llama" and "gpt2" and
/// for unknown pre-tokenizers. Nothing of the file is referred to afterwards.
Expected<Tokenizer> tokenizerFromGGUF(const GGUFMetadata &metadata);

} // namespace llmir

#endif // LLMIR_TOKENIZER_FROMGGUF_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//
// Reads the chat templates of GGUF files.
//
//===----------------------------------------------------------------------===//
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CHATTEMPLATE_FROMGGUF_H
#define LLMIR_CHATTEMPLATE_FROMGGUF_H

#include "llmir/ChatTemplate/ModelTemplates.h"
#include "llmir/Checkpoint/GGUF.h"

namespace llmir {

/// `tokenizer.chat_template`, `tokenizer.chat_template.NAME`, and the texts of
/// the special tokens.
Expected<ModelTemplates> templatesFromGGUF(const GGUFMetadata &metadata);

} // namespace llmir

#endif // LLMIR_CHATTEMPLATE_FROMGGUF_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts the stages of tokenizer.json to steps.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_JSONSTAGES_H
#define LLMIR_LIB_TOKENIZER_JSONSTAGES_H

#include "TokenizerSpec.h"

#include "llmir/Support/Json.h"

namespace llmir {

/// Each function takes the stage's object (never null), follows Sequences and
/// appends to the spec. Unsupported for unknown stages; `where` prefixes the
/// messages.
Status addNormalizers(const Json &stage, const std::string &where,
                      TokenizerSpec &spec);
Status addPreTokenizers(const Json &stage, const std::string &where,
                        TokenizerSpec &spec);
Status addDecoders(const Json &stage, const std::string &where,
                   TokenizerSpec &spec);
Status addPostProcessors(const Json &stage, const std::string &where,
                         TokenizerSpec &spec);

/// The stages of BERT, for other sources.
NormalizerStep bertNormalizer(bool cleans, bool separates, bool strips,
                              bool lowercases);
void addBertPreTokenizer(TokenizerSpec &spec);
void addWordPieceDecoder(std::string prefix, bool cleans, TokenizerSpec &spec);

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_JSONSTAGES_H

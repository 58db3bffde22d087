//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pre-tokenizers that GGUF files name (`tokenizer.ggml.pre`), each as the
// splits of the corresponding tokenizer.json.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_PRETOKENIZERNAMES_H
#define LLMIR_LIB_TOKENIZER_PRETOKENIZERNAMES_H

#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// A named pre-tokenizer and the other properties that its name implies.
struct NamedPreTokenizer {
  std::string_view name;
  /// Patterns, applied in sequence; matches and the text between them are
  /// pieces.
  std::vector<const char *> patterns;
  bool ignoreMerges = false;
  bool addBos = false;
  bool nfc = false;
};

/// All of them; some have the same rules.
const std::vector<NamedPreTokenizer> &namedPreTokenizers();
/// Null for an unknown name.
const NamedPreTokenizer *findPreTokenizer(std::string_view name);

/// The three known names that differ least from an unknown one, for messages.
std::string nearestPreTokenizers(std::string_view name);

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_PRETOKENIZERNAMES_H

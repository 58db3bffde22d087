//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoding one id at a time, as a model generates them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOKENIZER_STREAMDECODER_H
#define LLMIR_TOKENIZER_STREAMDECODER_H

#include "llmir/Tokenizer/Tokenizer.h"

namespace llmir {

struct StreamDecoderState;

struct StreamDecoderOptions {
  bool skipSpecialTokens = true;
  /// The ids continue a text that was shown already: the space with which
  /// SentencePiece-style vocabularies begin a text is kept.
  bool continuesText = false;
};

/// Feeds ids, gives text. Every returned string is whole, valid UTF-8; a
/// character whose bytes are spread over tokens comes out with its last one.
/// All pieces in a row equal Tokenizer::decode of the same ids, with one
/// exception: where byte tokens ("<0xE4>") in a row are not UTF-8 as a whole,
/// decode() replaces every byte of the row, as the format's reference does,
/// while the stream has already given the characters that were complete.
///
/// Not thread-safe; movable. Keeps the Tokenizer's representation alive.
class StreamDecoder {
public:
  explicit StreamDecoder(const Tokenizer &tokenizer,
                         StreamDecoderOptions options = {});
  StreamDecoder(StreamDecoder &&) noexcept;
  StreamDecoder &operator=(StreamDecoder &&) noexcept;
  ~StreamDecoder();

  /// The text that `id` completes; often empty.
  std::string feed(int32_t id);
  /// Ends the text: what was held back, an unfinished character as U+FFFD. The
  /// decoder then starts anew.
  std::string flush();

private:
  Tokenizer tokenizer;
  StreamDecoderOptions options;
  std::unique_ptr<StreamDecoderState> state;
};

} // namespace llmir

#endif // LLMIR_TOKENIZER_STREAMDECODER_H

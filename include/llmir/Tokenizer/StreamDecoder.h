//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Incremental decoding of token ids.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOKENIZER_STREAMDECODER_H
#define LLMIR_TOKENIZER_STREAMDECODER_H

#include "llmir/Tokenizer/Tokenizer.h"

namespace llmir {

struct StreamDecoderState;

struct StreamDecoderOptions {
  bool skipSpecialTokens = true;
  /// The ids continue a text that was already emitted: keeps the leading space
  /// that SentencePiece-style vocabularies otherwise drop.
  bool continuesText = false;
};

/// Converts a stream of ids to text. Every returned string is valid UTF-8; a
/// character whose bytes span several tokens is returned with the last of them.
/// The concatenated pieces equal Tokenizer::decode of the same ids, with one
/// exception: if a run of byte tokens ("<0xE4>") is not valid UTF-8 as a whole,
/// decode() replaces every byte of the run, as the reference implementation
/// does, but the stream has already returned the characters that were complete.
///
/// Not thread-safe; movable. Keeps the tokenizer's representation alive.
class StreamDecoder {
public:
  explicit StreamDecoder(const Tokenizer &tokenizer,
                         StreamDecoderOptions options = {});
  StreamDecoder(StreamDecoder &&) noexcept;
  StreamDecoder &operator=(StreamDecoder &&) noexcept;
  ~StreamDecoder();

  /// The text that `id` completes; often empty.
  std::string feed(int32_t id);
  /// Ends the text and returns what was held back; an incomplete character
  /// becomes U+FFFD. Resets the decoder.
  std::string flush();

private:
  Tokenizer tokenizer;
  StreamDecoderOptions options;
  std::unique_ptr<StreamDecoderState> state;
};

/// The bytes that a token adds to a text that it continues, which need not be
/// whole characters; empty if there is no such token.
std::string bytesOfToken(const Tokenizer &tokenizer, int32_t id);

} // namespace llmir

#endif // LLMIR_TOKENIZER_STREAMDECODER_H

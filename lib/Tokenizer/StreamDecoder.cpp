//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Tokenizer/StreamDecoder.h"

#include "TokenizerImpl.h"

namespace llmir {

struct StreamDecoderState {
  DecoderChain chain;
};

static std::unique_ptr<StreamDecoderState> newState(const Tokenizer &tokenizer,
                                                    bool continuesText) {
  DecoderChainOptions options;
  options.continuesText = continuesText;
  return std::make_unique<StreamDecoderState>(StreamDecoderState{
      DecoderChain(tokenizer.impl().spec.decoders, options)});
}

StreamDecoder::StreamDecoder(const Tokenizer &tokenizer,
                             StreamDecoderOptions options)
    : tokenizer(tokenizer), options(options),
      state(newState(tokenizer, options.continuesText)) {}
StreamDecoder::StreamDecoder(StreamDecoder &&) noexcept = default;
StreamDecoder &StreamDecoder::operator=(StreamDecoder &&) noexcept = default;
StreamDecoder::~StreamDecoder() = default;

std::string StreamDecoder::feed(int32_t id) {
  std::string text;
  const TokenizerImpl &impl = tokenizer.impl();
  bool isSkipped = options.skipSpecialTokens && impl.skipsInDecoding(id);
  if (tokenizer.hasToken(id) && !isSkipped)
    state->chain.feed(impl.decodedText(id), text);
  return text;
}

std::string StreamDecoder::flush() {
  std::string text;
  state->chain.finish(text);
  state = newState(tokenizer, options.continuesText);
  return text;
}

std::string bytesOfToken(const Tokenizer &tokenizer, int32_t id) {
  std::string bytes;
  if (!tokenizer.hasToken(id))
    return bytes;
  DecoderChainOptions options;
  options.continuesText = options.keepsBytes = true;
  DecoderChain chain(tokenizer.impl().spec.decoders, options);
  chain.feed(tokenizer.impl().decodedText(id), bytes);
  chain.finish(bytes);
  return bytes;
}

} // namespace llmir

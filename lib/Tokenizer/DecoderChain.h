//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages after the model, as a chain through which tokens run one by one:
// decoding a list and decoding a stream are the same code.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_DECODERCHAIN_H
#define LLMIR_LIB_TOKENIZER_DECODERCHAIN_H

#include "TokenizerSpec.h"
#include "Unicode.h"

namespace llmir {

/// Refuses chains whose stages cannot run token by token (a Replace of several
/// characters after Fuse, for example), naming the stage, and those that
/// multiply what they get.
Status checkDecoders(const std::vector<DecoderStep> &steps);

/// How many times as long a token and one byte the steps may make it, at most.
/// checkDecoders bounds it.
size_t decoderGrowthOf(const std::vector<DecoderStep> &steps);

struct DecoderChainOptions {
  /// Rows of byte tokens are decoded when they end, as a whole, instead of
  /// character by character.
  bool wholeByteRows = false;
  /// The text has begun before: nothing is stripped at the start.
  bool continuesText = false;
};

class DecoderChain {
public:
  /// `steps` passed checkDecoders and stay in place.
  DecoderChain(const std::vector<DecoderStep> &steps,
               DecoderChainOptions options);

  /// Appends to `out` what the token completes.
  void feed(std::string_view token, std::string &out) { run(0, token, out); }
  /// Appends what was held back.
  void finish(std::string &out);

private:
  /// What a stage remembers between tokens.
  struct State {
    bool isFused = false; ///< All tokens before this stage are one.
    bool isFirst = true;  ///< No token has come yet.
    uint32_t toStrip = 0; ///< Strip: left of `start`, where fused.
    std::string heldBack; ///< Strip: trailing text that may have to go.
    std::string row;      ///< ByteFallback: the bytes of a row.
    Utf8Repair repair;
  };

  void run(size_t stage, std::string_view token, std::string &out);
  void runByteFallback(size_t stage, std::string_view token, std::string &out);
  void endByteRow(size_t stage, std::string &out);
  void runStrip(size_t stage, std::string_view token, std::string &out);

  const std::vector<DecoderStep> &steps;
  DecoderChainOptions options;
  std::vector<State> states;
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_DECODERCHAIN_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages after the model, as a chain that processes tokens one by one, so
// that decoding a list and decoding a stream share their code.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_DECODERCHAIN_H
#define LLMIR_LIB_TOKENIZER_DECODERCHAIN_H

#include "TokenizerSpec.h"
#include "Unicode.h"

namespace llmir {

/// Rejects chains whose stages cannot process tokens one by one (for example, a
/// Replace of several characters after Fuse), naming the stage, and chains that
/// grow their input too much.
Status checkDecoders(const std::vector<DecoderStep> &steps);

/// Upper bound of the factor by which the steps lengthen a token plus one byte.
/// checkDecoders limits it.
size_t decoderGrowthOf(const std::vector<DecoderStep> &steps);

struct DecoderChainOptions {
  /// Decode runs of byte tokens as a whole when they end, instead of character
  /// by character.
  bool wholeByteRows = false;
  /// The text continues an earlier one: strip nothing at the start.
  bool continuesText = false;
  /// Keep bytes that are no characters, instead of holding back those that
  /// begin one and replacing others. The stages after them see these bytes.
  bool keepsBytes = false;
};

class DecoderChain {
public:
  /// `steps` must have passed checkDecoders and must outlive this object.
  DecoderChain(const std::vector<DecoderStep> &steps,
               DecoderChainOptions options);

  /// Appends the text that the token completes to `out`.
  void feed(std::string_view token, std::string &out) { run(0, token, out); }
  /// Appends what was held back.
  void finish(std::string &out);

private:
  /// The state of a stage between tokens.
  struct State {
    bool isFused = false; ///< All tokens before this stage were joined.
    bool isFirst = true;  ///< No token has been seen yet.
    uint32_t toStrip = 0; ///< Strip: remainder of `start` if fused.
    std::string heldBack; ///< Strip: trailing text that may be removed.
    std::string row;      ///< ByteFallback: the bytes of a run.
    std::string previous; ///< WordSuffix, Collapse: the preceding token.
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

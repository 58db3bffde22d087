//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a traced decoder to a file that `llmir compile --graph` compiles.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_DECODERGRAPH_H
#define MLLM_IR_DECODERGRAPH_H

#include "mllm/ir/IRContext.h"

#include <cstdint>
#include <string>

namespace mllm::ir {

/// The properties of a decoder that the compiler requires in addition to its
/// graph. All numbers are positive.
struct DecoderSizes {
  std::string architecture; ///< A name for messages: "own-decoder".
  int64_t numLayers = 0;    ///< Layers of the KV cache.
  int64_t numHeads = 0, numKVHeads = 0, headDim = 0;
  int64_t hiddenSize = 0, intermediateSize = 0;
  int64_t vocabSize = 0;     ///< Columns of the logits.
  int64_t contextLength = 0; ///< Maximum tokens of a sequence.
};

/// Writes the context's module, a trace of ids [(1,) T] -> logits [(1,) T,
/// vocabulary], as MLIR text. The file appears complete or not at all. Fails
/// if the trace has failed or the file cannot be written.
llmir::Status writeDecoder(IRContext &context, const DecoderSizes &sizes,
                           const std::string &path);

} // namespace mllm::ir

#endif // MLLM_IR_DECODERGRAPH_H

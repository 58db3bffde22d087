//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model's dimensions and options, independent of the checkpoint format.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CHECKPOINT_MODELCONFIG_H
#define LLMIR_CHECKPOINT_MODELCONFIG_H

#include "llmir/Support/GenerationDefaults.h"
#include "llmir/Support/Json.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmir {

struct CheckpointTensor;
class GGUFMetadata;

/// How rotary frequencies are scaled beyond the training context.
struct RopeScaling {
  enum Kind { Default, Linear, Llama3 };
  Kind kind = Default;
  double factor = 1.0;         ///< Linear, Llama3.
  double lowFreqFactor = 1.0;  ///< Llama3; below highFreqFactor.
  double highFreqFactor = 4.0; ///< Llama3.
  int64_t originalContext = 0; ///< Llama3: tokens.
};

/// The validated parameters that the frontend's model families need: sizes are
/// positive and bounded, numHeads is a multiple of numKVHeads, headDim and
/// rotaryDim are even (rotaryDim is 0 with learned positions), normEps and
/// ropeTheta are positive and finite, token ids are below vocabSize.
struct ModelConfig {
  std::string modelName; ///< Display name: general.name, or the directory name.
  std::string architecture; ///< "llama", "qwen2", "qwen3", "gpt2".

  int64_t vocabSize = 0; ///< Rows of the embedding, padding included.
  int64_t hiddenSize = 0;
  int64_t intermediateSize = 0;
  int64_t numLayers = 0;
  int64_t numHeads = 0;
  int64_t numKVHeads = 0;
  int64_t headDim = 0; ///< Need not be hiddenSize / numHeads.
  int64_t rotaryDim =
      0; ///< Leading elements of a head that are rotated: headDim, or 0.
  int64_t contextLength = 0;
  double normEps = 0.0; ///< Of RMSNorm; of LayerNorm in gpt2.
  /// Positions index a table whose rows are added to the embeddings; there is
  /// no rotary embedding.
  bool learnedPositions = false;

  double ropeTheta = 10000.0;
  RopeScaling ropeScaling;
  /// GGUF: the tensor rope_freqs.weight has a divisor for each frequency.
  bool ropeFrequencyDivisors = false;
  /// GGUF of the llama architecture: rows of q and k are stored for rotation of
  /// adjacent pairs (rows 2j and 2j+1 of a head are its original rows j and
  /// j + D/2).
  bool adjacentPairRotation = false;

  bool tieWordEmbeddings = false; ///< The output projection is the embedding.
  bool qkvBias = false;
  bool attentionOutputBias = false;
  bool mlpBias = false;
  bool qkNorm = false; ///< RMSNorm of each head of q and k before rotation.

  int64_t bosToken = -1;          ///< -1 = none.
  std::vector<int64_t> eosTokens; ///< Each ends a text; may be empty.
  GenerationDefaults generation;
};

/// Reads config.json (as written before and since transformers 5) and, unless
/// null, generation_config.json, whose end tokens take precedence.
/// `hasOutputProjection` (whether there is an lm_head.weight) decides about
/// tying if the file does not specify it. Messages name config.json and the
/// key: NotFound (missing key), InvalidFile (invalid value), Unsupported (known
/// to the format but not to LLMIR: model types, rope types, windows, …).
Expected<ModelConfig> modelConfigFromHuggingFace(const Json &config,
                                                 const Json *generation,
                                                 bool hasOutputProjection);

/// Reads from the same files only what a model of any architecture has:
/// model_type, vocab_size, max_position_embeddings, and the special tokens and
/// defaults of generation. The other fields are 0.
Expected<ModelConfig> tokensFromHuggingFace(const Json &config,
                                            const Json *generation);

/// Reads the keys of a GGUF file; the tensors present decide about biases,
/// tying and frequency divisors. Failures as above, naming the file and the
/// key.
Expected<ModelConfig>
modelConfigFromGGUF(const GGUFMetadata &metadata,
                    const std::vector<CheckpointTensor> &tensors);

} // namespace llmir

#endif // LLMIR_CHECKPOINT_MODELCONFIG_H

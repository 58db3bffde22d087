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
#include "llmir/Support/JsonType.h"
#include "llmir/Support/Pooling.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmir {

struct CheckpointTensor;
class GGUFMetadata;

/// How rotary frequencies are scaled beyond the training context.
struct RopeScaling {
  enum Kind { Default, Linear, Llama3, Yarn, LongRope, Proportional };
  Kind kind = Default;
  double factor = 1.0;         ///< Linear, Llama3, Yarn.
  double lowFreqFactor = 1.0;  ///< Llama3; up to highFreqFactor.
  double highFreqFactor = 4.0; ///< Llama3.
  int64_t originalContext = 0; ///< Llama3, Yarn, LongRope: tokens.
  /// Yarn: pairs with more rotations than this in the original context keep
  /// their frequency, those with fewer than the other one are stretched.
  double betaFast = 32.0, betaSlow = 1.0;
  bool truncatesBounds = true; ///< Yarn: bounds of the ramp are whole pairs.
  /// LongRope: a divisor per pair, for contexts of up to originalContext tokens
  /// and for longer ones. Empty for GGUF, where they are tensors.
  std::vector<double> shortFactors = {}, longFactors = {};
  double attentionFactor = 1.0; ///< Yarn, LongRope: of cosines and sines.
  /// Proportional: so many pairs, which are numbered over all rotated elements,
  /// keep their frequency, and that of the others is 0.
  int64_t turnedPairs = 0;
};

/// What the attention of a layer has of its own.
struct LayerAttention {
  /// Global: ropeTheta and ropeScaling; Local: localRopeTheta, without scaling.
  enum Rotation { Global, Local, None };
  /// The number of tokens in a direction, including itself, that a token
  /// attends to; 0: all.
  int64_t window = 0;
  /// The window begins at the last multiple of its size up to the token: tokens
  /// do not attend across the borders of chunks.
  bool isChunked = false;
  Rotation rotation = Global;
  /// The sizes of its own heads, up to those of the model, which caches have
  /// for all layers; 0: the same. Elements that a head lacks are stored as
  /// zeros, and keys and values of fewer heads several times each.
  int64_t headDim = 0, numKVHeads = 0;
  /// The earlier layer whose keys and values it reads, in place of any of its
  /// own; -1: none.
  int64_t cacheOf = -1;
  /// Values are the projected keys, before their norm and rotation.
  bool valuesAreKeys = false;
};

/// The mixtures of experts in place of the MLPs of some layers. The scores of a
/// token's experts are the softmax or the sigmoid of the router's logits; those
/// with the greatest scores are chosen, and the scores are their weights.
struct ExpertsConfig {
  enum Scores { Softmax, Sigmoid };
  int64_t count = 0;           ///< 0: all layers have MLPs.
  int64_t perToken = 0;        ///< Up to `count`.
  int64_t innerSize = 0;       ///< Of an expert.
  int64_t sharedInnerSize = 0; ///< Of an MLP for all tokens in addition, or 0.
  Scores scores = Softmax;
  bool normalizes = false; ///< Weights of a token are divided by their sum
  double sumOffset = 0.0;  ///< plus this,
  double scale = 1.0;      ///< and then multiplied by this.
  /// The choice, not the weights, is by scores plus a bias of each expert.
  bool hasChoiceBias = false;
  /// The weight of a token's only expert multiplies its input, not its result.
  bool weighsInputs = false;
  bool hasBias = false; ///< The router and all matrices have biases.
  /// GGUF: the gate and up projections of a layer are one tensor, gate first.
  bool opensInOneTensor = false;
  /// Of the clamped SwiGLU: of a gate g and an up projection u, it is
  /// g' sigmoid(1.702 g') (u' + 1) with g' up to the limit and u' within it.
  double swigluLimit = 0.0; ///< 0: silu(g) u.
  /// Experts are chosen from `groupsPerToken` of so many groups of equal size:
  /// those with the greatest sum of their `groupScores` greatest scores.
  int64_t groups = 1, groupsPerToken = 1, groupScores = 2;
  std::vector<bool> layers = {}; ///< Which have experts; empty: all of them.
};

/// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): keys and values
/// of all heads are projections of one latent vector per token, beside which
/// keys have rotated elements that all heads share.
struct LatentConfig {
  int64_t rank = 0;      ///< Elements of a latent; 0: there is none.
  int64_t queryRank = 0; ///< Of queries before their projection; 0: hidden.
  int64_t plainDim = 0;  ///< Elements of a head that are not rotated.
  int64_t valueDim = 0;  ///< Elements of a value of a head.
};

/// The layers that keep a state of a sequence in place of keys and values.
struct RecurrentConfig {
  enum Kind {
    ShortConv, ///< LFM2: a gated convolution of the hidden size.
    Mamba2,    ///< arXiv:2405.21060
    DeltaNet,  ///< Gated delta rule, arXiv:2412.06464.
  };
  Kind kind = ShortConv;
  std::vector<bool> layers = {}; ///< Which they are; empty: none.
  int64_t taps = 0;              ///< Tokens of the convolution.
  bool convBias = false;         ///< Of the convolution,
  bool projectionBias = false;   ///< and of the projections.
  // Mamba2: keys and queries are B and C, a group of heads is a key head.
  int64_t keyHeads = 0, valueHeads = 0;
  int64_t keyDim = 0, valueDim = 0;
  /// Value head h has key head h mod keyHeads, not h / (valueHeads / keyHeads).
  bool interleavesHeads = false;
  /// The parameter of the decay is -exp(A_log), as in GGUF, not A_log.
  bool storesDecay = false;
};

/// The function between the projections of an MLP.
enum class Activation { SiLU, GELUTanh, GELU };

/// A projection of pooled rows, without activation.
struct DenseLayer {
  std::string name; ///< Of the folder with its weights: "2_Dense".
  int64_t outputSize = 0;
  bool hasBias = false;
};

/// The validated parameters that the frontend's model families need: sizes are
/// positive and bounded, numHeads is a multiple of numKVHeads, headDim and
/// rotaryDim are even (rotaryDim is 0 with learned positions), normEps, bases
/// and scales are positive and finite, token ids are below vocabSize.
struct ModelConfig {
  std::string modelName; ///< Display name: general.name, or the directory name.
  std::string architecture; ///< "llama", "qwen2", …: as general.architecture.

  int64_t vocabSize = 0; ///< Rows of the embedding, padding included.
  int64_t hiddenSize = 0;
  int64_t intermediateSize = 0;
  /// Of the MLP of each layer; empty: intermediateSize.
  std::vector<int64_t> innerSizes;
  int64_t numLayers = 0;
  /// Layers of the checkpoint after these, which predict further tokens and are
  /// ignored.
  int64_t numPredictionLayers = 0;
  int64_t numHeads = 0;
  int64_t numKVHeads = 0;
  int64_t headDim = 0; ///< Need not be hiddenSize / numHeads.
  /// With it, numKVHeads is 1 and headDim the size of what a token keeps, a
  /// latent followed by rotated elements.
  LatentConfig latent;
  /// Elements of a value, which are the first ones of its key; 0: values are
  /// stored beside keys.
  int64_t valuesInKeys = 0;
  int64_t rotaryDim =
      0; ///< Leading elements of a head that are rotated: up to headDim, or 0.
  int64_t contextLength = 0;
  double normEps = 0.0; ///< Of RMSNorm or LayerNorm.
  /// Positions index a table whose rows are added to the embeddings; there is
  /// no rotary embedding.
  bool learnedPositions = false;
  /// Folders: the row of that table for the first token; earlier ones are not
  /// used.
  int64_t firstPosition = 0;
  /// Rows of a table of token types, of which the first is added to all
  /// embeddings; 0: there is none.
  int64_t tokenTypes = 0;
  /// Tokens attend to later tokens, too. A window then has tokens on both
  /// sides.
  bool isBidirectional = false;

  double ropeTheta = 10000.0;
  RopeScaling ropeScaling;
  double localRopeTheta = 10000.0; ///< See LayerAttention.
  int64_t localRotaryDim = 0;      ///< The same; 0: rotaryDim.
  /// GGUF: the tensor rope_freqs.weight has a divisor for each frequency.
  bool ropeFrequencyDivisors = false;
  /// Rows of q and k are stored for rotation of adjacent pairs: rows 2j and
  /// 2j+1 of a head are rows j and j + D/2 of one whose halves are paired.
  bool adjacentPairRotation = false;
  /// One per layer; empty if all layers are as a default one.
  std::vector<LayerAttention> layers;
  ExpertsConfig experts;
  RecurrentConfig recurrent;

  double attentionScale = 0.0;   ///< Of scores; 0: headDim ^ -0.5.
  double attentionSoftCap = 0.0; ///< Scores s are c tanh(s / c); 0: they are s.
  double logitSoftCap = 0.0;     ///< The same for logits.
  double embeddingScale = 1.0;
  double residualScale = 1.0; ///< Of what a block adds to the residual stream.
  double logitScale = 1.0;
  /// Queries at position p are multiplied by
  /// 1 + queryGrowth * ln(1 + floor(p / queryGrowthContext)); with
  /// growsUnrotated, only in layers without rotation, and p counts from 1.
  double queryGrowth = 0.0;
  int64_t queryGrowthContext = 1;
  bool growsUnrotated = false;

  Activation activation = Activation::SiLU;
  /// Folders: the text part of a multimodal model, whose other parts are
  /// ignored.
  bool isTextPart = false;
  bool tieWordEmbeddings = false; ///< The output projection is the embedding.
  bool qkvBias = false;
  bool attentionOutputBias = false;
  bool mlpBias = false;
  bool qkNorm = false;   ///< Norms of q and k before rotation.
  bool hasSinks = false; ///< A score of each head without a key.
  /// In layers with rotation, heads of q and k are divided by their root mean
  /// squares after it.
  bool normalizesRotated = false;
  /// Attention and MLP have the same input: x + attention(x) + mlp(x).
  bool parallelResidual = false;
  bool normUnitOffset = false; ///< Norms scale by 1 + weight.
  /// Elements of a further embedding of each token for each layer; 0: none.
  int64_t layerEmbeddingSize = 0;
  double layerEmbeddingScale = 1.0;
  bool hasLayerScales = false; ///< A factor of the result of each layer.

  /// Not None: the model yields one embedding of unit length per text instead
  /// of logits. Its output projection, if there is one, is ignored.
  Pooling pooling = Pooling::None;
  std::vector<DenseLayer> dense; ///< After pooling.
  /// Tokens of the longest text that a model with pooling is meant for, up to
  /// contextLength; 0: contextLength.
  int64_t textLength = 0;
  int64_t embeddingSize() const {
    return dense.empty() ? hiddenSize : dense.back().outputSize;
  }

  int64_t bosToken = -1;          ///< -1 = none.
  std::vector<int64_t> eosTokens; ///< Each ends a text; may be empty.
  GenerationDefaults generation;

  LayerAttention attentionOf(int64_t layer) const {
    return layers.empty() ? LayerAttention()
                          : layers[static_cast<size_t>(layer)];
  }
  bool isRecurrent(int64_t layer) const {
    return !recurrent.layers.empty() &&
           recurrent.layers[static_cast<size_t>(layer)];
  }
  /// Whether a layer has keys and values of its own.
  bool hasCache(int64_t layer) const {
    return !isRecurrent(layer) && attentionOf(layer).cacheOf < 0;
  }
  /// The index of a layer, or of the one whose keys and values it reads, among
  /// those with keys and values of their own, or of a layer that keeps a state
  /// among such layers.
  int64_t indexOfKind(int64_t layer) const {
    const bool keepsState = isRecurrent(layer);
    if (!keepsState && !hasCache(layer))
      layer = attentionOf(layer).cacheOf;
    int64_t index = 0;
    for (int64_t i = 0; i < layer; ++i)
      index += keepsState ? isRecurrent(i) : hasCache(i);
    return index;
  }
  /// The number of layers with keys and values of their own.
  int64_t numCacheLayers() const {
    int64_t count = 0;
    for (int64_t i = 0; i < numLayers; ++i)
      count += hasCache(i);
    return count;
  }
  int64_t innerSizeOf(int64_t layer) const {
    return innerSizes.empty() ? intermediateSize
                              : innerSizes[static_cast<size_t>(layer)];
  }
  bool hasExperts(int64_t layer) const {
    return experts.count > 0 && (experts.layers.empty() ||
                                 experts.layers[static_cast<size_t>(layer)]);
  }
};

/// Reads config.json (as written before and since transformers 5) and, unless
/// null, generation_config.json, whose end tokens take precedence.
/// `hasOutputProjection` (whether there is an lm_head.weight) decides about
/// tying if the file does not specify it. Messages name config.json and the
/// key: NotFound (missing key), InvalidFile (invalid value), Unsupported (known
/// to the format but not to LLMIR: model types, rope types, …).
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

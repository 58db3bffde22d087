//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoders with rotary positions as modules. The families differ in the names
// of their modules, which are those of the tensors in a Hugging Face model
// directory, and in a few choices (DecoderForm).
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_DECODER_H
#define MLLM_MODELS_DECODER_H

#include "mllm/models/Attention.h"
#include "mllm/models/Config.h"
#include "mllm/nn/Layers.h"

#include <memory>
#include <optional>

namespace mllm::models {

/// The names of a decoder's modules. A norm without a name does not exist.
struct DecoderNames {
  std::string model = "model";
  std::string embedding = "embed_tokens";
  /// Of the table of learned positions, which is named after its parent.
  std::string positions = {};
  /// Of the first row of a table of token types, which is named likewise.
  std::string tokenType = {};
  std::string embeddingNorm = {}; ///< Of the input of the first layer.
  std::string layers = "layers";
  std::string norm = "norm"; ///< Of the result of the last layer.
  std::string head = "lm_head";

  // In model.layers.N.
  std::string attentionNorm = "input_layernorm"; ///< Of attention's input.
  std::string afterAttention = {};               ///< Of its result.
  std::string attention = "self_attn";
  std::string mlpNorm = "post_attention_layernorm"; ///< Of the MLP's input.
  std::string afterMLP = {};                        ///< Of its result.
  std::string mlp = "mlp";

  // In the attention.
  std::string query = "q_proj", key = "k_proj", value = "v_proj";
  std::string output = "o_proj";
  std::string queryNorm = "q_norm", keyNorm = "k_norm";

  /// In place of the attention, in layers that keep a state.
  std::string recurrent = "linear_attn";

  // In the MLP.
  std::string gate = "gate_proj", up = "up_proj", down = "down_proj";

  // In the mixture of experts, which has the name of the MLP.
  std::string router = "gate";
  /// The bias of the choice; empty: a parameter of the router.
  std::string choiceBias = {};
  std::string expertGate = "experts.gate_proj", expertUp = "experts.up_proj",
              expertDown = "experts.down_proj";
  /// Of their parameters: of gate and up projections, and of down projections.
  std::string expertOpening = "weight", expertClosing = "weight";
  std::string shared = "shared_expert"; ///< The MLP of all tokens.
  /// The factor of its result; empty: none.
  std::string sharedGate = {};
};

/// What distinguishes a family, and the traced form.
struct DecoderForm {
  enum class QKNorm {
    None,
    Heads, ///< RMSNorm over each q and k head before rotation.
    Rows,  ///< RMSNorm over all heads of a token together.
  };
  /// How checkpoints store queries, keys and values. The names of layers that
  /// share a tensor consist of its name and one for the part: "qkv_proj.q".
  enum class Rows {
    Separate,    ///< Three tensors.
    Consecutive, ///< One tensor: all queries, all keys, all values.
    /// One tensor: for each key head its queries, its key and its value.
    Grouped,
  };
  DecoderNames names = {};
  bool usesLayerNorm = false; ///< Not RMSNorm.
  bool normBias = false;      ///< Of LayerNorm.
  /// The norms of results are of their sum with the residual stream:
  /// n(x + f(x)), not x + n(f(x)).
  bool normalizesSums = false;
  bool firstIsNormalized = true; ///< The input of the first attention.
  QKNorm qkNorm = QKNorm::None;
  bool isGated = true; ///< down(act(gate x) * up x), not down(act(up x)).
  Rows qkv = Rows::Separate, qkvInGGUF = Rows::Separate;
  /// Gate and up projections are one tensor in checkpoints, gate first.
  bool sharesGateAndUp = false;
  /// How folders store the matrices of experts; in GGUF, gate, up and down
  /// projections are a stack each, unless the config says otherwise.
  enum class Experts {
    Numbered, ///< A tensor per matrix: "experts.3.up_proj".
    /// Stacks; gate and up projections are one, gate first.
    Stacked,
    /// Stacks; of the rows of gate and up projections, gate and up alternate.
    Interleaved,
  };
  Experts experts = Experts::Numbered;
  /// Folders: stacks of matrices are [experts, in, out], unless in blocks.
  bool transposesExperts = false;
  /// The shared MLP is a module of the layer, not of the mixture.
  bool sharesBesideMixture = false;
  /// Gate and up projections are two tensors in GGUF, even if they are one in
  /// folders, and modules of the MLP are named by their use: see Granite.cpp.
  bool separatesInGGUF = false;
  /// Queries are followed by a gate, of which the sigmoid is a factor of the
  /// head's result.
  bool gatesAttention = false;
  /// See DeltaNet.
  bool groupsRecurrentInputs = false;
  AttentionForm form = AttentionForm::Fused;
};

/// RMSNorm or LayerNorm; null if the family has none at this place.
class DecoderNorm {
public:
  DecoderNorm() = default;
  DecoderNorm(nn::RMSNorm norm) : rms(std::move(norm)) {}
  DecoderNorm(nn::LayerNorm norm) : layer(std::move(norm)) {}

  explicit operator bool() const { return rms || layer; }
  /// x […, columns] -> same shape
  Tensor operator()(const Tensor &x) const;

private:
  std::optional<nn::RMSNorm> rms;
  std::optional<nn::LayerNorm> layer;
};

/// Base of modules with norms.
class DecoderModule : public nn::Module {
protected:
  explicit DecoderModule(std::string name = {}) : Module(std::move(name)) {}
  /// Creates a norm of the kind that the family has.
  DecoderNorm regNorm(const DecoderConfig &config, const DecoderForm &form,
                      const std::string &name);
};

/// x [(B,) T, hidden], and the factors of queries [T, 1, 1] if they grow with
/// their position -> shape of x
class DecoderAttention : public CausalAttention {
public:
  DecoderAttention(const DecoderConfig &config, const DecoderForm &form,
                   int64_t layer);
  std::vector<Tensor> forwardAll(const std::vector<Tensor> &inputs) override;

private:
  int64_t numHeads, numKVHeads;
  bool normalizesRows;
  double rotatedEps; ///< Of norms after rotation; 0: there are none.
  nn::Linear query, key, value, output;
  std::optional<nn::Linear> gate; ///< Of the result.
  std::optional<nn::RMSNorm> queryNorm, keyNorm;
  std::optional<nn::RoPE> rope;
  std::optional<nn::Param> sinks;
};

/// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): what a token
/// keeps is a latent vector and one rotated key for all heads. Keys of heads
/// are projections of latents; instead, queries are multiplied by these
/// matrices, and the weighted latents by those of the values. Inputs and result
/// are those of DecoderAttention.
class LatentAttention : public nn::Module {
public:
  LatentAttention(const DecoderConfig &config, const DecoderForm &form,
                  int64_t layer);
  std::vector<Tensor> forwardAll(const std::vector<Tensor> &inputs) override;

private:
  int64_t numHeads, rotaryDim, valueDim;
  llmir::LatentConfig sizes;
  std::optional<nn::Linear> queryLatent; ///< Queries have latents as well.
  std::optional<nn::RMSNorm> queryNorm;
  std::optional<nn::Linear> plainQuery, rotatedQuery;
  nn::Linear latent, rotatedKey;
  nn::RMSNorm latentNorm;
  nn::HeadLinear keys, values;
  nn::RoPE rope;
  nn::KVCache kvCache;
  nn::FlashAttention2 attention;
  nn::Linear output;
};

/// down(act(gate x) * up x) or down(act(up x)): x […, hidden] -> same shape
class DecoderMLP : public nn::Module {
public:
  DecoderMLP(const DecoderConfig &config, const DecoderForm &form,
             int64_t innerSize);
  Tensor forward(const Tensor &x) override;

private:
  Tensor activate(const Tensor &x) const;

  std::optional<nn::Linear> gate;
  nn::Linear up, down;
  std::optional<nn::SiLU> silu;
  std::optional<nn::GELU> gelu;
};

/// The experts that a router chooses for each token, and possibly an MLP that
/// all tokens share: x […, hidden] -> same shape
class DecoderMixture : public nn::Module {
public:
  DecoderMixture(const DecoderConfig &config, const DecoderForm &form);
  Tensor forward(const Tensor &x) override;

private:
  /// The chosen experts and their weights: x […, hidden] -> […, k] each
  std::pair<Tensor, Tensor> route(const Tensor &x) const;
  Tensor ofWeighedInputs(const Tensor &x) const;
  Tensor ofWeighedResults(const Tensor &x) const;
  Tensor inBestGroups(const Tensor &scores) const;

  llmir::ExpertsConfig config;
  nn::Linear router;
  nn::ExpertMatrices gate, up, down;
  nn::Experts experts;
  std::optional<nn::Param> choiceBias;
  std::optional<DecoderMLP> shared;
  std::optional<nn::Linear> sharedGate;
};

/// The inputs and the result are those of DecoderAttention.
class DecoderLayer : public DecoderModule {
public:
  DecoderLayer(const DecoderConfig &config, const DecoderForm &form,
               int64_t layer);
  std::vector<Tensor> forwardAll(const std::vector<Tensor> &inputs) override;

private:
  std::shared_ptr<nn::Module> regRecurrent(const DecoderConfig &config,
                                           const DecoderForm &form,
                                           int64_t layer);
  Tensor feedForward(const Tensor &x);

  Tensor added(const Tensor &x, const Tensor &result,
               const DecoderNorm &after) const;

  double residualScale;
  bool isParallel, normalizesSums;
  DecoderNorm attentionNorm;
  std::optional<DecoderAttention> attention;
  std::optional<LatentAttention> latent; ///< In place of the attention.
  std::shared_ptr<nn::Module> recurrent; ///< In place of the attention.
  DecoderNorm afterAttention, mlpNorm;
  std::optional<DecoderMLP> mlp;
  std::optional<DecoderMixture> mixture; ///< In place of the MLP.
  std::optional<DecoderMLP> shared;      ///< In addition to the mixture.
  DecoderNorm afterMLP;
};

/// ids [(B,) T] -> [(B,) T, hidden]
class DecoderModel : public DecoderModule {
public:
  DecoderModel(const DecoderConfig &config, const DecoderForm &form,
               std::string name = {});
  Tensor forward(const Tensor &ids) override;
  const nn::Parameter &embeddingTable() const { return embedding.weight(); }

private:
  Tensor embed(const Tensor &ids) const;
  Tensor queryFactors(const Tensor &ids) const;

  double embeddingScale, queryGrowth;
  int64_t queryGrowthContext, firstPosition;
  std::vector<bool> grows; ///< The layers whose queries grow.
  nn::Embedding embedding;
  std::optional<nn::Embedding> positionTable;
  std::optional<nn::Param> tokenType;
  DecoderNorm embeddingNorm;
  nn::Positions positions;
  std::vector<DecoderLayer> layers;
  DecoderNorm norm;
};

/// The output projection, with the scale and the soft cap of logits.
class DecoderHead {
public:
  DecoderHead(const DecoderConfig &config, nn::Linear projection)
      : scale(config.logitScale), softCap(config.logitSoftCap),
        projection(std::move(projection)) {}

  /// x […, hidden] -> logits […, vocabulary]
  Tensor operator()(const Tensor &x) const;

private:
  double scale, softCap;
  nn::Linear projection;
};

/// The whole model as `llmir compile` traces it, with the decoder as a
/// subgraph: ids [T] -> logits [T, vocabulary], or with pooling the embedding
/// of the text [1, size]
class Decoder : public nn::Module {
public:
  Decoder(const DecoderConfig &config, const DecoderForm &form);
  Tensor forward(const Tensor &ids) override;

private:
  DecoderModel model;
  llmir::Pooling pooling;
  std::vector<nn::Linear> dense;   ///< With pooling.
  std::optional<DecoderHead> head; ///< Without pooling.
};

/// The whole model with explicit attention, one subgraph @model with layers in
/// it: ids [B, T] -> logits [B, T, vocabulary].
/// An invalid config creates a module with an error status.
class ExplicitDecoder : public DecoderModel {
public:
  Tensor forward(const Tensor &ids) override;

protected:
  ExplicitDecoder(const DecoderConfig &config, const llmir::Status &checked,
                  const DecoderForm &form);

private:
  DecoderHead head;
};

} // namespace mllm::models

#endif // MLLM_MODELS_DECODER_H

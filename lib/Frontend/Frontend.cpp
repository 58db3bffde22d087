//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Frontend/Frontend.h"

#include "CheckpointParameters.h"
#include "RopeFrequencies.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "mllm/models/Families.h"

using namespace llmir;
using namespace mlir;

static Expected<const ::mllm::models::ModelFamily *>
familyOf(const Checkpoint &checkpoint) {
  const std::string &architecture = checkpoint.config().architecture;
  if (const auto *family = ::mllm::models::findModelFamily(architecture))
    return family;
  std::string known;
  for (const auto *family : ::mllm::models::modelFamilies()) {
    known += known.empty() ? "" : ", ";
    known += family->architecture;
  }
  return Status(StatusCode::Unsupported,
                checkpoint.path() + ": no model family '" + architecture + "'",
                "use a model of one of these: " + known);
}

static Expected<int64_t> contextLength(const Checkpoint &checkpoint,
                                       const FrontendOptions &options) {
  int64_t trained = checkpoint.config().contextLength;
  if (options.contextLength == 0)
    return trained;
  if (options.contextLength > 0 && options.contextLength <= trained)
    return options.contextLength;
  return Status(StatusCode::OutOfRange,
                "a context of " + std::to_string(options.contextLength) +
                    " tokens was requested, but the model was trained for " +
                    std::to_string(trained),
                "request 1 to " + std::to_string(trained) + " tokens");
}

static Status checkPooling(const Checkpoint &checkpoint) {
  const ModelConfig &config = checkpoint.config();
  if (config.isBidirectional && (config.latent.rank > 0 || config.hasSinks ||
                                 !config.recurrent.layers.empty()))
    return Status(StatusCode::Unsupported,
                  checkpoint.path() +
                      ": attention in both directions is not supported in " +
                      config.architecture + " models",
                  "use an embedding model of another family");
  if (config.pooling == Pooling::None || config.architecture != "gpt2")
    return Status::ok();
  return Status(StatusCode::Unsupported,
                checkpoint.path() + ": embeddings by " + config.architecture +
                    " models are not supported",
                "use an embedding model of another family");
}

static llmir::mllm::ModelFacts factsOf(const ModelConfig &config,
                                       int64_t context) {
  llmir::mllm::ModelFacts facts;
  facts.architecture = config.architecture;
  facts.numLayers = config.numCacheLayers();
  facts.numHeads = config.numHeads;
  facts.numKVHeads = config.numKVHeads;
  facts.headDim = config.headDim;
  facts.valuesInKeys = config.valuesInKeys;
  facts.hiddenSize = config.hiddenSize;
  facts.intermediateSize = config.intermediateSize;
  facts.vocabSize = config.vocabSize;
  facts.contextLength = context;
  return facts;
}

Expected<OwningOpRef<ModuleOp>>
llmir::traceCheckpoint(MLIRContext &context, const Checkpoint &checkpoint,
                       const FrontendOptions &options) {
  Expected<const ::mllm::models::ModelFamily *> family = familyOf(checkpoint);
  if (!family)
    return family.takeStatus();
  LLMIR_RETURN_IF_ERROR(checkPooling(checkpoint));
  Expected<int64_t> maxTokens = contextLength(checkpoint, options);
  if (!maxTokens)
    return maxTokens.takeStatus();
  Expected<std::vector<double>> frequencies =
      ropeFrequencies(checkpoint, *maxTokens);
  if (!frequencies)
    return frequencies.takeStatus();

  ::mllm::models::DecoderConfig config{
      checkpoint.config(), std::move(*frequencies),
      localRopeFrequencies(checkpoint.config())};
  std::unique_ptr<::mllm::nn::Module> model = (*family)->build(config);
  CheckpointParameters parameters(checkpoint);
  StringRef name((*family)->className.data(), (*family)->className.size());
  Expected<OwningOpRef<ModuleOp>> module =
      ::mllm::ir::traceModel(context, *model, name, parameters);
  if (!module)
    return module;
  LLMIR_RETURN_IF_ERROR(parameters.checkAllUsed());
  factsOf(config, *maxTokens).write(**module);
  return module;
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model checkpoint: memory-mapped tensors and the validated configuration.
//
//   Expected<Checkpoint> model = Checkpoint::open("models/Llama-3.2-1B");
//   if (!model)
//     return model.takeStatus();
//   const CheckpointTensor *w = model->find("model.norm.weight");
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CHECKPOINT_CHECKPOINT_H
#define LLMIR_CHECKPOINT_CHECKPOINT_H

#include "llmir/Checkpoint/CheckpointTensor.h"
#include "llmir/Checkpoint/GGUF.h"
#include "llmir/Checkpoint/ModelConfig.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

enum class CheckpointKind { HuggingFace, GGUF };

/// What a checkpoint is opened for.
enum class CheckpointUse {
  Model,      ///< A model of a family: the whole config must be valid.
  Parameters, ///< Those of a graph that the caller has. A directory's config
              ///< may name any architecture, and gives vocabulary, context
              ///< length and special tokens only.
};

/// Owns the mappings; its tensors, config and metadata are read-only and may be
/// read from any thread. Weights are not copied.
class Checkpoint {
public:
  /// `path` is a Hugging Face directory (config.json, and model.safetensors or
  /// model.safetensors.index.json) or a .gguf file (the first part of a split
  /// model). Everything is validated before this returns; failures name the
  /// file and the field. Pickles (.bin, .pt) are never read.
  static Expected<Checkpoint> open(const std::string &path,
                                   CheckpointUse use = CheckpointUse::Model);

  Checkpoint(Checkpoint &&) = default;
  Checkpoint &operator=(Checkpoint &&) = default;

  CheckpointKind kind() const { return checkpointKind; }
  /// The path passed to open().
  const std::string &path() const { return rootPath; }
  const ModelConfig &config() const { return modelConfig; }

  /// In file order, shard by shard; names are unique and those of the format:
  /// "model.layers.0.mlp.up_proj.weight" or "blk.0.ffn_up.weight".
  const std::vector<CheckpointTensor> &tensors() const { return tensorList; }
  /// Null if there is no such tensor. O(log n).
  const CheckpointTensor *find(std::string_view name) const;
  /// find(), or NotFound naming the tensor and the checkpoint.
  Expected<const CheckpointTensor *> tensor(std::string_view name) const;

  /// All files that make up the model, config.json included; the first one is
  /// the file whose header names the tensors.
  const std::vector<std::shared_ptr<const MappedFile>> &files() const {
    return fileList;
  }

  /// The GGUF metadata (tokenizer, template); null for Hugging Face
  /// directories, whose tokenizer files are in path().
  const GGUFMetadata *gguf() const { return metadata.get(); }

private:
  Checkpoint() = default;
  static Expected<Checkpoint> openAny(const std::string &path,
                                      CheckpointUse use);
  static Expected<Checkpoint> openFolder(const std::string &path,
                                         CheckpointUse use);
  static Expected<Checkpoint> openGGUF(const std::string &path);
  Status addDenseTensors();
  Status indexTensors();

  CheckpointKind checkpointKind = CheckpointKind::HuggingFace;
  std::string rootPath;
  ModelConfig modelConfig;
  std::vector<CheckpointTensor> tensorList;
  std::vector<uint32_t> byName; ///< Indices into tensorList, sorted by name.
  std::vector<std::shared_ptr<const MappedFile>> fileList;
  std::unique_ptr<GGUFMetadata> metadata;
};

/// True if a Hugging Face directory or a GGUF file includes a tokenizer.
bool hasTokenizer(const std::string &folder);
bool hasTokenizer(const GGUFMetadata &metadata);

} // namespace llmir

#endif // LLMIR_CHECKPOINT_CHECKPOINT_H

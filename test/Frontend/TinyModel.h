//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small checkpoints for the frontend's tests: any shape, in both containers.
// The values do not matter, for tracing never reads a weight.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_FRONTEND_TINYMODEL_H
#define LLMIR_TEST_FRONTEND_TINYMODEL_H

#include "../Checkpoint/GGUFImage.h"

#include "llmir/Checkpoint/Checkpoint.h"

#include <map>
#include <string>
#include <vector>

namespace llmir::test {

/// A model's dimensions, and the tensors that they call for.
struct TinyModel {
  std::string family = "llama"; ///< llama, qwen2 or qwen3.
  int64_t hidden = 64, intermediate = 160, layers = 2, heads = 4, kvHeads = 2,
          headDim = 16, vocab = 40;
  bool tied = false;
  bool attentionBias = false, mlpBias = false; ///< Flags of the config.
  std::string dtype = "BF16";                  ///< As safetensors has it.
  std::string moreConfig; ///< `"key": value` pairs, each after a comma.

  /// {Hugging Face name: shape}; a test may change it.
  std::map<std::string, std::vector<int64_t>> tensors;

  /// Fills `tensors`.
  TinyModel &complete();

  std::string configJson() const;
  /// What model.safetensors begins with, and the bytes of the tensors, all
  /// zeros, that follow it.
  std::pair<std::string, int64_t> safetensorsHeader() const;
  /// Writes a Hugging Face model directory into `directory` and opens it. The
  /// zeros take no space if the file system supports sparse files, so that a
  /// model may be large.
  Expected<Checkpoint> open(const TempFolder &folder) const;

  /// The same model in GGUF; matrices have this type, vectors are F32.
  GGUFImage gguf(uint32_t type) const;
};

/// Writes an image and opens it.
Expected<Checkpoint> openGGUF(const TempFolder &folder, const GGUFImage &image);

} // namespace llmir::test

#endif // LLMIR_TEST_FRONTEND_TINYMODEL_H

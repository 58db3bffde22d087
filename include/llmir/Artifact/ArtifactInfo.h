//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an artifact says of itself: everything that the runtime must know to
// run the program, and nothing of how it was made.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ARTIFACT_ARTIFACTINFO_H
#define LLMIR_ARTIFACT_ARTIFACTINFO_H

#include "llmir/Support/GenerationDefaults.h"
#include "llmir/Support/TensorFormat.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmir {

/// The metadata section of an artifact, stored as JSON.
struct ArtifactInfo {
  // Identity.
  std::string modelName;          ///< For people: folder or file name.
  std::string architecture;       ///< "llama", "qwen2", "qwen3".
  std::string weightsDescription; ///< "bf16", "q8_0", "mixed", …
  uint64_t parameterCount = 0;
  /// Bytes of packed weights that every step reads: all but an embedding table
  /// of which it reads single rows.
  int64_t stepWeightBytes = 0;

  // Compatibility, checked on load.
  int64_t abiVersion = 0;
  std::string targetTriple; ///< "x86_64-unknown-linux-gnu".
  std::string targetLevel;  ///< "x86-64-v3", "x86-64-v4-vnni", "aarch64".
  std::vector<std::string> cpuFeatures; ///< What the code needs: "avx2", …

  // Shape of a step.
  int64_t vocabSize = 0;       ///< Rows of the output projection.
  int64_t logitsRowStride = 0; ///< f32 values from one logits row to the next.
  int64_t tokenBudget = 0;     ///< Most tokens of one step.
  int64_t maxLogitRows = 0;    ///< Most logits rows of one step.
  int64_t arenaBytes = 0;
  int64_t contextLength = 0; ///< Longest sequence the model is made for.

  // The KV cache that the code addresses (KVBlockLayout).
  int64_t numLayers = 0;
  int64_t numKVHeads = 0;
  int64_t headDim = 0;
  int64_t kvBlockSize = 0;
  TensorFormat kvFormat = TensorFormat::F32; ///< F32, F16 or BF16.

  // Text.
  int64_t bosToken = -1;          ///< -1 = none.
  std::vector<int64_t> eosTokens; ///< Generation stops at any of them.
  GenerationDefaults generation;
};

} // namespace llmir

#endif // LLMIR_ARTIFACT_ARTIFACTINFO_H

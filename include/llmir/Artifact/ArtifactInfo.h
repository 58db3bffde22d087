//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The metadata of an artifact: everything that the runtime needs to run the
// program, and nothing about how it was made.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ARTIFACT_ARTIFACTINFO_H
#define LLMIR_ARTIFACT_ARTIFACTINFO_H

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Support/GenerationDefaults.h"
#include "llmir/Support/Pooling.h"
#include "llmir/Support/TensorFormat.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmir {

/// The target of one image of the step function.
struct CodeTarget {
  std::string level;  ///< A level of CPULevels.def: "x86-64-v4-bf16".
  std::string triple; ///< "x86_64-unknown-linux-gnu".
  std::vector<std::string> cpuFeatures; ///< All required features: "avx2", …
};

/// A site of the step's code that takes time: an instruction, a barrier or a
/// call of the runtime. Sites are numbered from 0 in the order of the code;
/// traces refer to them by number. The costs are for benchmarks and profiles;
/// execution does not depend on them.
struct StepSite {
  std::string name;        ///< The kernel's, "barrier", or the function's.
  std::string kind;        ///< Of the kernel: "linear", …; otherwise the name.
  int64_t calls = 1;       ///< Per step: one, or one per layer of a run.
  bool inLayerRun = false; ///< In the loop over a run of layers.
  bool logitRows = false;  ///< Processes the logits rows, not all tokens.
  /// Bytes of weights read per call, in the checkpoint's format (or the scheme
  /// that they are quantized to), and as packed.
  int64_t sourceBytes = 0, packedBytes = 0;
  /// Multiplications by weights per row, and the type of the activations in
  /// them: "int8", "bf16" or "f32"; "" if there are none.
  int64_t products = 0;
  std::string inputs;
  /// Number of experts that these weights belong to, of which a token uses
  /// `chosen`; 0: all weights are used.
  int64_t experts = 0, chosen = 0;
};

/// A place of packed matrices in the weights: `count` consecutive matrices of
/// `bytes` each. Workers divide the rows of each into contiguous parts; NUMA
/// placement uses this.
struct MatrixPlace {
  int64_t offset = 0, bytes = 0, count = 1;
};

/// The metadata section of an artifact, stored as JSON.
struct ArtifactInfo {
  // Identity.
  std::string modelName;          ///< For display: directory or file name.
  std::string architecture;       ///< "llama", "qwen2", "qwen3".
  std::string weightsDescription; ///< "BF16", "q8_0", "int4:g128 + BF16", …
  uint64_t parameterCount = 0;
  std::vector<StepSite> sites;       ///< In the order of the code.
  std::vector<MatrixPlace> matrices; ///< By offset.

  // Compatibility, checked on load.
  int64_t abiVersion = 0;
  /// Entry i is the target of code section i. At least one entry; each level at
  /// most once.
  std::vector<CodeTarget> code;

  // Shape of a step.
  int64_t vocabSize = 0;       ///< Rows of the output projection.
  int64_t logitsRowStride = 0; ///< f32 values from one logits row to the next.
  int64_t tokenBudget = 0;     ///< Maximum tokens of a step.
  int64_t maxLogitRows = 0;    ///< Maximum logits rows of a step.
  int64_t arenaBytes = 0;      ///< A multiple of 64.
  int64_t workerBytes = 0;     ///< After the arena, per worker.
  int64_t contextLength = 0;   ///< Maximum sequence length of the model.

  // The rows that a step yields: logits, or with pooling embeddings.
  Pooling pooling = Pooling::None;
  int64_t embeddingSize = 0; ///< Elements of an embedding; 0 without pooling.
  /// A step must have all tokens of its sequences, since the results of early
  /// tokens depend on later ones.
  bool wholeSequences = false;
  /// Elements of a row, which has logitsRowStride of them with padding.
  int64_t rowSize() const {
    return pooling == Pooling::None ? vocabSize : embeddingSize;
  }

  // The KV cache that the code addresses (KVBlockLayout).
  int64_t numLayers = 0; ///< Layers with keys and values.
  int64_t numKVHeads = 0;
  int64_t headDim = 0;
  int64_t valuesInKeys = 0; ///< See ModelConfig.
  int64_t kvBlockSize = 0;
  KVFormat kvFormat = KVFormat::F32;
  /// [layer] The number of tokens, including its own, whose keys and values a
  /// token may read, those with the next smaller positions; 0: all. Empty: all
  /// in every layer.
  std::vector<int64_t> windows;

  KVBlockLayout kvLayout() const {
    return {numKVHeads,   headDim,         kvBlockSize, kvStoredBytes(kvFormat),
            valuesInKeys, valuesInKeys > 0};
  }

  // The states of layers that the code addresses (StatePool.h).
  int64_t stateLayers = 0;      ///< Layers that keep a state; 0: none.
  int64_t stateRecordBytes = 0; ///< Of one layer and sequence.

  // Text.
  int64_t bosToken = -1;          ///< -1 = none.
  std::vector<int64_t> eosTokens; ///< Each stops generation.
  GenerationDefaults generation;
};

} // namespace llmir

#endif // LLMIR_ARTIFACT_ARTIFACTINFO_H

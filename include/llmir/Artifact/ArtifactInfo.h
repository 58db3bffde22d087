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

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Support/GenerationDefaults.h"
#include "llmir/Support/TensorFormat.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmir {

/// What one image of the step function runs on.
struct CodeTarget {
  std::string level;  ///< A name of CPULevels.def: "x86-64-v4-bf16".
  std::string triple; ///< "x86_64-unknown-linux-gnu".
  std::vector<std::string> cpuFeatures; ///< All that it needs: "avx2", …
};

/// A place of the step's code that takes time: an instruction, a barrier or a
/// call of the runtime. Places are counted from 0 in the order of the code; a
/// trace of a step names them by number. The costs are for benchmarks and
/// profiles; nothing that runs depends on them.
struct StepSite {
  std::string name;        ///< The kernel's, "barrier", or the function's.
  std::string kind;        ///< Of the kernel: "linear", …; else as the name.
  int64_t calls = 1;       ///< In a step: one, or one for each layer of a run.
  bool inLayerRun = false; ///< Stands in the loop of a run of layers.
  bool logitRows = false;  ///< Works on the rows of logits, not on all tokens.
  /// Bytes of the weights that a call reads, as the checkpoint's format (or the
  /// scheme that they are quantized to) has them, and as they lie packed.
  int64_t sourceBytes = 0, packedBytes = 0;
  /// Products with weights that a call computes for a row, and in which numbers
  /// the row is then: "int8", "bf16" or "f32"; "" without weights' products.
  int64_t products = 0;
  std::string inputs;
  /// Experts whose weights these are, of which a token needs `chosen`; 0: all
  /// weights are needed.
  int64_t experts = 0, chosen = 0;
};

/// Where packed matrices lie in the weights: `count` of `bytes` each, one after
/// the other. Workers share the rows of each out in contiguous parts; memory is
/// placed near to them by this.
struct MatrixPlace {
  int64_t offset = 0, bytes = 0, count = 1;
};

/// The metadata section of an artifact, stored as JSON.
struct ArtifactInfo {
  // Identity.
  std::string modelName;          ///< For people: folder or file name.
  std::string architecture;       ///< "llama", "qwen2", "qwen3".
  std::string weightsDescription; ///< "BF16", "q8_0", "int4:g128 + BF16", …
  uint64_t parameterCount = 0;
  std::vector<StepSite> sites;       ///< Of the code, in its order.
  std::vector<MatrixPlace> matrices; ///< By offset.

  // Compatibility, checked on load.
  int64_t abiVersion = 0;
  /// The program's code: entry i is what code section number i runs on. At
  /// least one, each level at most once.
  std::vector<CodeTarget> code;

  // Shape of a step.
  int64_t vocabSize = 0;       ///< Rows of the output projection.
  int64_t logitsRowStride = 0; ///< f32 values from one logits row to the next.
  int64_t tokenBudget = 0;     ///< Most tokens of one step.
  int64_t maxLogitRows = 0;    ///< Most logits rows of one step.
  int64_t arenaBytes = 0;      ///< A multiple of 64.
  int64_t workerBytes = 0;     ///< Behind the arena, for each worker.
  int64_t contextLength = 0;   ///< Longest sequence the model is made for.

  // The KV cache that the code addresses (KVBlockLayout).
  int64_t numLayers = 0;
  int64_t numKVHeads = 0;
  int64_t headDim = 0;
  int64_t kvBlockSize = 0;
  KVFormat kvFormat = KVFormat::F32;

  // Text.
  int64_t bosToken = -1;          ///< -1 = none.
  std::vector<int64_t> eosTokens; ///< Generation stops at any of them.
  GenerationDefaults generation;
};

} // namespace llmir

#endif // LLMIR_ARTIFACT_ARTIFACTINFO_H

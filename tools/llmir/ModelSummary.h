//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a person wants to know about a checkpoint or an artifact before running
// it: its sizes, its memory, and what is unusual about it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_MODELSUMMARY_H
#define LLMIR_TOOLS_LLMIR_MODELSUMMARY_H

#include "llmir/Artifact/Artifact.h"
#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Support/Json.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmir::cli {

/// Layers that keep only a window of a sequence.
struct KVWindow {
  int64_t bytesPerToken = 0; ///< In all these layers, part of kvPerToken.
  int64_t mostTokens = 0;    ///< Kept of a sequence, with those of a step.
};

/// The memory of a model that runs, in bytes.
struct ModelMemory {
  int64_t weights = 0;      ///< As stored in the file.
  int64_t readPerToken = 0; ///< Weights that decoding a token reads.
  int64_t kvPerToken = 0;   ///< KV cache of one token, all layers.
  int64_t stateLayers = 0;  ///< Layers that keep a state instead,
  int64_t statePerSequence =
      0;                     ///< and the states of a sequence in all of them.
  int64_t contextLength = 0; ///< Tokens.
  std::string kvFormat;      ///< Element type of the cache: "bf16".

  std::vector<KVWindow> windows;

  /// The KV cache of a sequence.
  int64_t kvOf(int64_t tokens) const;
  int64_t kvOfContext() const { return kvOf(contextLength); }
  /// The longest sequence whose KV cache has at most so many bytes; at most
  /// contextLength.
  int64_t longestWithin(int64_t bytes) const;
};

/// With the element type of the cache that `llmir compile` chooses by default.
ModelMemory memoryOf(const Checkpoint &checkpoint);
ModelMemory memoryOf(const Artifact &artifact);

/// {"weight_bytes", "kv_bytes_per_1000_tokens", "kv_bytes_of_context",
/// "kv_format", "state_bytes_per_sequence"}
Json toJson(const ModelMemory &memory);

/// The summary of a checkpoint as pairs of a name and a text, in the order of
/// the report.
using SummaryLines = std::vector<std::pair<std::string, std::string>>;
SummaryLines summarize(const Checkpoint &checkpoint);

/// What may surprise a user of the checkpoint: rows of the vocabulary without
/// tokens, missing end tokens, storage types that cannot be used, … One
/// sentence each.
std::vector<std::string> unusualFacts(const Checkpoint &checkpoint);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_MODELSUMMARY_H

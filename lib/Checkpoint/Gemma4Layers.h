//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layers of Gemma 4, whose attention differs: those with a window have
// smaller heads, and the last ones read keys and values of earlier ones.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHECKPOINT_GEMMA4LAYERS_H
#define LLMIR_LIB_CHECKPOINT_GEMMA4LAYERS_H

#include "ConfigChecks.h"

namespace llmir {

/// What both formats specify about the attention of Gemma 4's layers.
struct Gemma4Layers {
  /// Of layers with a window, and of the others.
  int64_t localHeadDim = 0, fullHeadDim = 0;
  int64_t localKVHeads = 0, fullKVHeads = 0;
  /// So many layers at the end read the keys and values of the last layer of
  /// their kind before them.
  int64_t sharing = 0;
  /// In layers without a window, values are keys.
  bool valuesAreKeys = false;
  /// The names of the fields, for messages.
  struct {
    std::string fullHeadDim, kvHeads, sharing;
  } names;
};

/// Sets the sizes of heads and the attention of each layer, of which
/// config.layers has the windows and the rotation already (or nothing, if all
/// layers are rotated alike). Reports fields that contradict each other or are
/// not supported.
Status setGemma4Layers(ModelConfig &config, const Gemma4Layers &given,
                       const FieldFailure &failure);

} // namespace llmir

#endif // LLMIR_LIB_CHECKPOINT_GEMMA4LAYERS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gemma4Layers.h"

#include <algorithm>

namespace llmir {

static Status setHeads(ModelConfig &config, const Gemma4Layers &given,
                       const FieldFailure &failure) {
  if (given.fullHeadDim < given.localHeadDim)
    return failure(StatusCode::Unsupported, given.names.fullHeadDim,
                   "is " + std::to_string(given.fullHeadDim) +
                       ", less than the " + std::to_string(given.localHeadDim) +
                       " of layers with a window; this is not supported");
  const auto [least, most] = std::minmax(given.localKVHeads, given.fullKVHeads);
  if (most % least != 0)
    return failure(StatusCode::Unsupported, given.names.kvHeads,
                   "gives some layers " + std::to_string(least) +
                       " heads and others " + std::to_string(most) +
                       "; numbers of which one does not divide the other are "
                       "not supported");
  config.headDim = config.rotaryDim = given.fullHeadDim;
  config.localRotaryDim = given.localHeadDim;
  config.numKVHeads = most;
  return Status::ok();
}

/// The last layer before `end` that is rotated as `layer`, or -1.
static int64_t lastOfKind(const ModelConfig &config, int64_t end,
                          const LayerAttention &layer) {
  while (--end >= 0)
    if (config.layers[static_cast<size_t>(end)].rotation == layer.rotation)
      break;
  return end;
}

Status setGemma4Layers(ModelConfig &config, const Gemma4Layers &given,
                       const FieldFailure &failure) {
  LLMIR_RETURN_IF_ERROR(setHeads(config, given, failure));
  config.layers.resize(static_cast<size_t>(config.numLayers));
  const int64_t numOwn = config.numLayers - given.sharing;
  for (int64_t i = 0; i < config.numLayers; ++i) {
    LayerAttention &layer = config.layers[static_cast<size_t>(i)];
    const bool isLocal = layer.rotation == LayerAttention::Local;
    const int64_t kvHeads = isLocal ? given.localKVHeads : given.fullKVHeads;
    layer.headDim = isLocal ? given.localHeadDim : given.fullHeadDim;
    layer.numKVHeads = kvHeads;
    layer.valuesAreKeys = !isLocal && given.valuesAreKeys && i < numOwn;
    if (i < numOwn)
      continue;
    layer.cacheOf = lastOfKind(config, numOwn, layer);
    if (layer.cacheOf < 0)
      return failure(StatusCode::InvalidFile, given.names.sharing,
                     "is " + std::to_string(given.sharing) +
                         ", but no layer before those has the keys and values "
                         "for layer " +
                         std::to_string(i));
  }
  return Status::ok();
}

} // namespace llmir

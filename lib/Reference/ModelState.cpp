//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/ModelState.h"

#include "llmir/Reference/Elementwise.h"

#include <algorithm>

namespace llmir {

using reference::Tensor;

/// Concatenates `past`, unless it is empty, and `added` along `dim`.
static Expected<Tensor> joined(const Tensor *past, const Tensor &added,
                               int64_t dim) {
  if (!past)
    return added;
  reference::Shape have = past->shape, want = added.shape;
  const auto at = static_cast<size_t>(dim);
  if (have.size() != want.size() || at >= have.size())
    return Status(StatusCode::InvalidArgument, "a cache " + typeString(*past) +
                                                   " cannot hold " +
                                                   typeString(added));
  const int64_t tokens = have[at] + want[at];
  have[at] = want[at] = tokens;
  if (have != want || past->kind != added.kind)
    return Status(StatusCode::InvalidArgument, "a cache " + typeString(*past) +
                                                   " cannot hold " +
                                                   typeString(added));
  LLMIR_RETURN_IF_ERROR(reference::checkAffordable(have));
  return reference::concatenate({*past, added}, dim);
}

Expected<ModelState::Layer> ModelState::append(int64_t layer,
                                               const Tensor &keys,
                                               const Tensor &values,
                                               int64_t tokenDim) {
  auto found = layers.find(layer);
  const Layer *old = found == layers.end() ? nullptr : &found->second;
  if (old && old->tokenDim != tokenDim)
    return Status(StatusCode::InvalidArgument,
                  "layer " + std::to_string(layer) +
                      " has its tokens in a different dimension");
  Expected<Tensor> allKeys = joined(old ? &old->keys : nullptr, keys, tokenDim);
  if (!allKeys)
    return allKeys.status();
  Expected<Tensor> allValues =
      joined(old ? &old->values : nullptr, values, tokenDim);
  if (!allValues)
    return allValues.status();
  Layer &all = layers[layer];
  all = {std::move(*allKeys), std::move(*allValues), tokenDim};
  return all;
}

Expected<Tensor *> ModelState::kept(int64_t layer, Kept what,
                                    reference::ElementKind kind,
                                    const reference::Shape &shape) {
  LLMIR_RETURN_IF_ERROR(reference::checkAffordable(shape));
  Tensor &state =
      states.try_emplace({layer, what}, Tensor(kind, shape)).first->second;
  if (state.kind != kind || state.shape != shape)
    return Status(StatusCode::InvalidArgument,
                  "layer " + std::to_string(layer) + " keeps a state " +
                      typeString(state) + ", not " +
                      typeString(Tensor(kind, shape)));
  return &state;
}

void ModelState::beginStep() {
  tokensBefore = 0;
  for (const auto &[number, layer] : layers)
    tokensBefore = std::max(tokensBefore, layer.keys.dim(layer.tokenDim));
}

void ModelState::reset() {
  layers.clear();
  states.clear();
  tokensBefore = 0;
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a model between steps: the keys and values of each layer's
// cache, or what else the layer keeps. One object per conversation; use another
// object or reset() for a new one. Not thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_MODELSTATE_H
#define LLMIR_REFERENCE_MODELSTATE_H

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Status.h"

#include <map>

namespace llmir {

class ModelState {
public:
  /// All keys and values of a layer, oldest first, as `mllm.linalg.kv_cache`
  /// returns them.
  struct Layer {
    reference::Tensor keys, values;
    int64_t tokenDim = 0; ///< The token dimension.
  };

  /// Appends the keys and values of new tokens to a layer and returns all of
  /// them. The first call creates the layer. Fails without side effects if the
  /// new ones differ from the existing ones in more than the number of tokens,
  /// or if more than 2^28 elements would be kept.
  Expected<Layer> append(int64_t layer, const reference::Tensor &keys,
                         const reference::Tensor &values, int64_t tokenDim);

  /// What a layer keeps besides keys and values.
  enum class Kept {
    Tail,     ///< The last inputs of its convolution.
    Matrices, ///< Those of its recurrence.
  };
  /// The state of a layer, of this type; zeros at first. Fails if it has been
  /// of another type, or if it is too large. Valid until reset().
  Expected<reference::Tensor *> kept(int64_t layer, Kept what,
                                     reference::ElementKind kind,
                                     const reference::Shape &shape);

  /// Position of the first token of this step: the maximum number of tokens of
  /// a layer when the step began.
  int64_t past() const { return tokensBefore; }
  /// Begins a step: sets past() to the current number of tokens.
  void beginStep();
  /// Removes all layers.
  void reset();

private:
  std::map<int64_t, Layer> layers;
  std::map<std::pair<int64_t, Kept>, reference::Tensor> states;
  int64_t tokensBefore = 0;
};

} // namespace llmir

#endif // LLMIR_REFERENCE_MODELSTATE_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a model keeps from one step to the next: the keys and values of each
// layer's cache. One object is one conversation; who starts another one uses
// another object, or reset(). Not for several threads at once.
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
  /// Everything that a layer has seen, oldest first, as
  /// `mllm.linalg.kv_cache` gives it.
  struct Layer {
    reference::Tensor keys, values;
    int64_t tokenDim = 0; ///< The dimension that counts tokens.
  };

  /// Lengthens a layer's keys and values by those of new tokens, and gives all
  /// of them. The first call makes the layer. Fails, and then has changed
  /// nothing, when the new ones differ from the old ones in more than their
  /// number of tokens, or more than 2^28 numbers would be kept.
  Expected<Layer> append(int64_t layer, const reference::Tensor &keys,
                         const reference::Tensor &values, int64_t tokenDim);

  /// Position of the first token of this step: the tokens that the layer with
  /// most had when the step began.
  int64_t past() const { return tokensBefore; }
  /// A step begins: past() counts what has been appended so far.
  void beginStep();
  /// Forgets everything.
  void reset();

private:
  std::map<int64_t, Layer> layers;
  int64_t tokensBefore = 0;
};

} // namespace llmir

#endif // LLMIR_REFERENCE_MODELSTATE_H

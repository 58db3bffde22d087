//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensors of a GGUF file in terms of those of a Hugging Face directory.
// Both follow from the family's modules, so that every family that can be
// imported can also be converted.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_FRONTEND_GGUFTENSORS_H
#define LLMIR_FRONTEND_GGUFTENSORS_H

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Checkpoint/StoredParameter.h"

#include <string>
#include <vector>

namespace llmir {

/// A tensor of a GGUF file, made of tensors of a directory or of given values.
struct GGUFTensorSource {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<StoredParameter> parts; ///< Their rows follow each other.
  /// The file has 1 + weight of some norms, and -exp of the logarithms of
  /// decays.
  enum Change { None, PlusOne, MinusExp };
  Change change = None;
  /// Files of Qwen3.5 have the value heads in another order: the first one of
  /// each key head, then the second ones, and so on.
  struct HeadOrder {
    int64_t keyHeads = 0; ///< 0: in the order of the directory.
    int64_t first = 0;    ///< Rows before those of value heads.
    int64_t size = 0;     ///< Rows of a value head, or its columns.
    bool isOfColumns = false;
  };
  HeadOrder heads;
  std::vector<float> values; ///< Without parts: all elements.
};

/// The tensors of the checkpoint, a Hugging Face directory, in the order in
/// which the model uses them, then those that replace keys of its config
/// (rope_freqs, rope_factors_long, rope_factors_short).
Expected<std::vector<GGUFTensorSource>>
ggufTensorsOf(const Checkpoint &checkpoint);

} // namespace llmir

#endif // LLMIR_FRONTEND_GGUFTENSORS_H

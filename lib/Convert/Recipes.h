//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which tensor gets which format.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERT_RECIPES_H
#define LLMIR_LIB_CONVERT_RECIPES_H

#include "llmir/Support/TensorFormat.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// A value of --type.
struct Recipe {
  /// Layers whose most sensitive matrices get more bits.
  enum Layers : uint8_t {
    NoLayers,
    FirstEighth,
    /// The first and the last eighth, and every third layer in between.
    SomeLayers,
    AllLayers,
  };

  std::string_view name;
  uint32_t fileType;   ///< general.file_type, llama.cpp's number.
  TensorFormat base;   ///< Of matrices not named below.
  TensorFormat output; ///< Of the output projection, or a tied embedding.
  TensorFormat more;   ///< Of attn_v and ffn_down in `layers`.
  Layers layers;
  TensorFormat attentionOutput; ///< Of attn_output.
};

/// Null for an unknown name.
const Recipe *findRecipe(std::string_view name);
/// "f32, f16, …".
std::string allRecipeNames();

/// A tensor's format by a recipe, before its row length is considered.
/// `isTied`: the model has no output.weight.
TensorFormat formatOf(const Recipe &recipe, std::string_view name,
                      const std::vector<int64_t> &shape, int64_t numLayers,
                      bool isTied);

/// The format itself, or the one that replaces it if rows of this length are
/// not whole blocks: about as many bits in blocks of 32, else f16.
TensorFormat fittingFormat(TensorFormat format, int64_t columns);

} // namespace llmir

#endif // LLMIR_LIB_CONVERT_RECIPES_H

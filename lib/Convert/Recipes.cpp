//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recipes.h"

#include "llmir/Support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

using namespace llmir;

using F = TensorFormat;
using R = Recipe;

// Errors of the output projection reach the logits directly, and it is read
// once per token: 6 bits in all types with fewer. Errors of values and of the
// MLP's result are added to the residual stream, those of queries, keys and
// gates pass through a softmax or a product first. The first layers' errors
// are amplified by all others, the last layers' ones reach the logits
// unaveraged. The types _m give these matrices more bits in half of the
// layers, _s in the first ones only, _l everywhere. In files of 2 and 3 bits
// the attention's result needs more as well: it is small, so that this costs
// little.
static constexpr Recipe recipes[] = {
    // clang-format off
    // name, file type, base, output, more, layers, attention output
    {"f32",    0,  F::F32,    F::F32,    F::F32,    R::NoLayers,    F::F32},
    {"f16",    1,  F::F16,    F::F16,    F::F16,    R::NoLayers,    F::F16},
    {"bf16",   32, F::BF16,   F::BF16,   F::BF16,   R::NoLayers,    F::BF16},
    {"q8_0",   7,  F::Q8_0,   F::Q8_0,   F::Q8_0,   R::NoLayers,    F::Q8_0},
    {"q6_k",   18, F::Q6_K,   F::Q6_K,   F::Q6_K,   R::NoLayers,    F::Q6_K},
    {"q5_k_m", 17, F::Q5_K,   F::Q6_K,   F::Q6_K,   R::SomeLayers,  F::Q5_K},
    {"q5_k_s", 16, F::Q5_K,   F::Q6_K,   F::Q5_K,   R::NoLayers,    F::Q5_K},
    {"q5_1",   9,  F::Q5_1,   F::Q6_K,   F::Q5_1,   R::NoLayers,    F::Q5_1},
    {"q5_0",   8,  F::Q5_0,   F::Q6_K,   F::Q5_0,   R::NoLayers,    F::Q5_0},
    {"q4_k_m", 15, F::Q4_K,   F::Q6_K,   F::Q6_K,   R::SomeLayers,  F::Q4_K},
    {"q4_k_s", 14, F::Q4_K,   F::Q6_K,   F::Q5_K,   R::FirstEighth, F::Q4_K},
    {"q4_1",   3,  F::Q4_1,   F::Q6_K,   F::Q4_1,   R::NoLayers,    F::Q4_1},
    {"q4_0",   2,  F::Q4_0,   F::Q6_K,   F::Q4_0,   R::NoLayers,    F::Q4_0},
    {"iq4_nl", 25, F::IQ4_NL, F::Q6_K,   F::Q5_K,   R::FirstEighth, F::IQ4_NL},
    {"iq4_xs", 30, F::IQ4_XS, F::Q6_K,   F::Q5_K,   R::FirstEighth, F::IQ4_XS},
    {"mxfp4",  38, F::MXFP4,  F::Q6_K,   F::MXFP4,  R::NoLayers,    F::MXFP4},
    {"q3_k_l", 13, F::Q3_K,   F::Q6_K,   F::Q5_K,   R::AllLayers,   F::Q5_K},
    {"q3_k_m", 12, F::Q3_K,   F::Q6_K,   F::Q4_K,   R::AllLayers,   F::Q4_K},
    {"q3_k_s", 11, F::Q3_K,   F::Q6_K,   F::Q3_K,   R::NoLayers,    F::Q3_K},
    {"q2_k",   10, F::Q2_K,   F::Q6_K,   F::Q3_K,   R::AllLayers,   F::Q3_K},
    {"tq2_0",  37, F::TQ2_0,  F::Q6_K,   F::TQ2_0,  R::NoLayers,    F::TQ2_0},
    {"tq1_0",  36, F::TQ1_0,  F::Q6_K,   F::TQ1_0,  R::NoLayers,    F::TQ1_0},
    // clang-format on
};

const Recipe *llmir::findRecipe(std::string_view name) {
  for (const Recipe &recipe : recipes)
    if (recipe.name == name)
      return &recipe;
  return nullptr;
}

std::string llmir::allRecipeNames() {
  std::string names;
  for (const Recipe &recipe : recipes)
    names += (names.empty() ? "" : ", ") + std::string(recipe.name);
  return names;
}

static bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Matrices that are read once per model or are tiny, and whose errors would
/// choose other experts or shift positions: they stay f32.
static bool staysWhole(std::string_view name) {
  for (std::string_view part : {"position_embd", "ffn_gate_inp", "norm",
                                "ssm_conv1d", "shortconv.conv", "token_types"})
    if (contains(name, part))
      return true;
  return false;
}

/// N of "blk.N.…".
static std::optional<int64_t> layerOf(std::string_view name) {
  constexpr std::string_view prefix = "blk.";
  if (!startsWith(name, prefix))
    return std::nullopt;
  return std::atoll(std::string(name.substr(prefix.size())).c_str());
}

static bool isChosen(Recipe::Layers layers, int64_t layer, int64_t numLayers) {
  const int64_t eighth = numLayers / 8;
  switch (layers) {
  case Recipe::NoLayers:
    return false;
  case Recipe::FirstEighth:
    return layer < std::max<int64_t>(eighth, 1);
  case Recipe::SomeLayers:
    return layer < eighth || layer >= 7 * numLayers / 8 ||
           (layer - eighth) % 3 == 2;
  case Recipe::AllLayers:
    return true;
  }
  return false;
}

TensorFormat llmir::formatOf(const Recipe &recipe, std::string_view name,
                             const std::vector<int64_t> &shape,
                             int64_t numLayers, bool isTied) {
  if (shape.size() < 2 || !endsWith(name, ".weight") || staysWhole(name))
    return TensorFormat::F32;
  if (name == "output.weight" || (isTied && name == "token_embd.weight"))
    return recipe.output;
  const std::optional<int64_t> layer = layerOf(name);
  if (!layer)
    return recipe.base;
  const bool isSensitive = contains(name, ".attn_v.") ||
                           contains(name, ".attn_qkv.") ||
                           contains(name, ".ffn_down");
  if (isSensitive && isChosen(recipe.layers, *layer, numLayers))
    return recipe.more;
  return contains(name, ".attn_output.") ? recipe.attentionOutput : recipe.base;
}

TensorFormat llmir::fittingFormat(TensorFormat format, int64_t columns) {
  auto fits = [&](TensorFormat candidate) {
    return tensorRowBytes(candidate, columns).has_value();
  };
  if (fits(format))
    return format;
  TensorFormat smaller = TensorFormat::F16;
  switch (format) {
  case TensorFormat::Q6_K:
    smaller = TensorFormat::Q8_0;
    break;
  case TensorFormat::Q5_K:
    smaller = TensorFormat::Q5_1;
    break;
  case TensorFormat::Q4_K:
    smaller = TensorFormat::Q5_0;
    break;
  case TensorFormat::Q2_K:
  case TensorFormat::Q3_K:
  case TensorFormat::IQ4_XS:
  case TensorFormat::TQ1_0:
  case TensorFormat::TQ2_0:
    smaller = TensorFormat::IQ4_NL;
    break;
  default:
    break;
  }
  return fits(smaller) ? smaller : TensorFormat::F16;
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of model parameters in checkpoints.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_FRONTEND_TENSORNAMES_H
#define LLMIR_FRONTEND_TENSORNAMES_H

#include "llmir/Support/Span.h"

#include <optional>
#include <string>
#include <string_view>

namespace llmir {

/// A module and its name in GGUF, {"mlp.up_proj", "ffn_up"}: of a layer, or
/// with its whole path; or a parameter of a layer,
/// {"mlp.gate.e_score_correction_bias", "exp_probs_b.bias"}.
struct TensorName {
  std::string_view module, gguf;
};

/// Returns the name of a parameter in GGUF files:
/// "model.layers.3.mlp.up_proj.weight" is "blk.3.ffn_up.weight". nullopt if the
/// format does not define a name.
std::optional<std::string> ggufTensorName(std::string_view parameter,
                                          Span<const TensorName> own = {});

/// True for tensors in some exports that no model needs: buffers that can be
/// recomputed, such as "model.layers.0.self_attn.rotary_emb.inv_freq".
bool isIgnoredTensor(std::string_view name);

} // namespace llmir

#endif // LLMIR_FRONTEND_TENSORNAMES_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What checkpoints call the parameters of a model.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_FRONTEND_TENSORNAMES_H
#define LLMIR_FRONTEND_TENSORNAMES_H

#include <optional>
#include <string>
#include <string_view>

namespace llmir {

/// The tensor of a GGUF file that holds a parameter:
/// "model.layers.3.mlp.up_proj.weight" is "blk.3.ffn_up.weight". nullopt for a
/// parameter that the format has no name for.
std::optional<std::string> ggufTensorName(std::string_view parameter);

/// True for tensors that some exports carry and no model needs: buffers that
/// are computed anew, such as "model.layers.0.self_attn.rotary_emb.inv_freq".
bool isIgnoredTensor(std::string_view name);

} // namespace llmir

#endif // LLMIR_FRONTEND_TENSORNAMES_H

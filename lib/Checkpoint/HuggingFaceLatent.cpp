//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Multi-head latent attention in config.json.
//
//===----------------------------------------------------------------------===//

#include "HuggingFaceConfig.h"

namespace llmir {

/// Keys since DeepSeek-V2. `head_dim` and `num_key_value_heads` are not about
/// what the cache holds, and are ignored.
Status HuggingFaceConfig::readLatentAttention() {
  if (!has(Trait::HasLatents))
    return Status::ok();
  LatentSizes sizes;
  LatentConfig &latent = config.latent;
  LLMIR_ASSIGN_OR_RETURN(latent.rank,
                         json.integer("kv_lora_rank", 1, maxHeadDim));
  LLMIR_ASSIGN_OR_RETURN(latent.queryRank,
                         json.integerOr("q_lora_rank", 0, 0, maxHiddenSize));
  LLMIR_ASSIGN_OR_RETURN(latent.plainDim,
                         json.integer("qk_nope_head_dim", 1, maxHeadDim));
  LLMIR_ASSIGN_OR_RETURN(latent.valueDim,
                         json.integer("v_head_dim", 1, maxHeadDim));
  LLMIR_ASSIGN_OR_RETURN(sizes.rotaryDim,
                         json.integer("qk_rope_head_dim", 2, maxHeadDim));
  sizes.names = {"kv_lora_rank", "qk_nope_head_dim", "v_head_dim",
                 "qk_rope_head_dim"};
  bool hasBias;
  LLMIR_ASSIGN_OR_RETURN(hasBias, json.booleanOr("attention_bias", false));
  if (hasBias)
    return unsupported(json, "attention_bias",
                       "is true; biases of latent attention are not supported");
  LLMIR_ASSIGN_OR_RETURN(
      config.adjacentPairRotation,
      json.booleanOr("rope_interleave", has(Trait::PairsInFolder)));
  return setLatentSizes(config, sizes,
                        [&](StatusCode code, const std::string &field,
                            const std::string &problem) {
                          return json.failure(code, field, problem);
                        });
}

} // namespace llmir

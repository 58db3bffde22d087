// RUN: llmir-checkpoint-tests --gtest_filter='NVFP4Test*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checkpoints in NVFP4, which LLMIR does not read, are refused by that name,
// whichever tool wrote them.
//
//===----------------------------------------------------------------------===//

#include "QuantizedTensors.h"

#include <gtest/gtest.h>

using namespace llmir;

namespace {

void expectFailure(const Json &options, StatusCode code,
                   const std::string &words) {
  const Json config = {{"quantization_config", options}};
  Status refused = checkQuantizationConfig(JsonReader(config, "config.json"));
  EXPECT_EQ(refused.code(), code) << words;
  EXPECT_NE(refused.message().find(words), std::string::npos)
      << refused.message();
}

/// A sentence with the key that names the format, and what to do.
TEST(NVFP4Test, IsRefusedByName) {
  const Json group = {{"targets", {"Linear"}},
                      {"weights", {{"num_bits", 4}, {"type", "float"}}}};
  const std::pair<Json, const char *> cases[] = {
      {{{"quant_method", "modelopt"}, {"quant_algo", "NVFP4"}},
       "'quantization_config.quant_algo' is \"NVFP4\""},
      {{{"quant_method", "modelopt"}, {"quant_algo", "W4A16_NVFP4"}},
       "'quantization_config.quant_algo' is \"W4A16_NVFP4\""},
      {{{"quant_method", "modelopt_fp4"}},
       "'quantization_config.quant_method' is \"modelopt_fp4\""},
      {{{"quant_method", "compressed-tensors"},
        {"format", "nvfp4-pack-quantized"},
        {"config_groups", {{"group_0", group}}}},
       "'quantization_config.format' is \"nvfp4-pack-quantized\""},
      {{{"quant_method", "compressed-tensors"},
        {"format", "mixed-precision"},
        {"config_groups",
         {{"group_0", group},
          {"group_1", {{"format", "nvfp4-pack-quantized"}}}}}},
       "'quantization_config.config_groups.group_1.format' is "
       "\"nvfp4-pack-quantized\""}};
  for (const auto &[options, words] : cases)
    for (const char *part :
         {words, "does not read weights in NVFP4", "use the original model"})
      expectFailure(options, StatusCode::Unsupported, part);
  expectFailure({{"quant_method", "modelopt"}, {"quant_algo", "FP8"}},
                StatusCode::Unsupported,
                "'quantization_config.quant_method' is \"modelopt\"");
  expectFailure({{"quant_method", "modelopt"}, {"quant_algo", 4}},
                StatusCode::InvalidFile,
                "'quantization_config.quant_algo' is 4");
}

/// Older files have no 'quantization_config'.
TEST(NVFP4Test, IsRecognizedByItsScales) {
  CheckpointTensor scale;
  scale.name = "model.layers.0.mlp.up_proj.weight_scale_2";
  scale.storageName = "F32";
  scale.format = TensorFormat::F32;
  const Json config = Json::object();
  auto list = assembleQuantized(JsonReader(config, "config.json"), {scale});
  ASSERT_FALSE(list);
  EXPECT_EQ(list.status().code(), StatusCode::Unsupported);
  EXPECT_NE(list.status().message().find("'" + scale.name +
                                         "' belongs to weights in NVFP4"),
            std::string::npos)
      << list.status().message();
}

} // namespace

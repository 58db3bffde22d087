//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedTensors.h"
#include "QuantizedParts.h"

#include "llmir/Support/Text.h"

#include <algorithm>
#include <cctype>
#include <iterator>

using namespace llmir;

namespace {

struct Method {
  std::string_view name;
  /// What the last part of a matrix's name is replaced by in the tensor that
  /// tells that the matrix is quantized, and the reader of the matrix.
  std::vector<std::pair<std::string_view, Status (*)(QuantizedParts &)>>
      readers;
};

} // namespace

static const std::vector<Method> &methods() {
  static const std::vector<Method> all = {
      {"gptq", {{".qweight", readGPTQ}}},
      {"awq", {{".qweight", readAWQ}}},
      {"compressed-tensors",
       {{".weight_packed", readPackedIntegers},
        {".weight_scale", readScaledMatrix}}},
      {"fp8",
       {{".weight_scale_inv", readScaledMatrix},
        {".weight_scale", readScaledMatrix}}},
      {"fbgemm_fp8", {{".weight_scale", readScaledMatrix}}},
      {"bitsandbytes",
       {{".weight.absmax", readBitsAndBytes4}, {".SCB", readBitsAndBytes8}}},
      {"mxfp4", {{"_blocks", readMXFP4}}},
  };
  return all;
}

static const Method *findMethod(std::string_view name) {
  for (const Method &method : methods())
    if (method.name == name)
      return &method;
  return nullptr;
}

static constexpr const char *nvfp4Advice =
    "use the original model, with --quantize for weights of 4 bits, or a GGUF "
    "file of it";

/// NVFP4, 4-bit floats with a scale for each 16 and one for all, is a format of
/// several tools. Fails with Unsupported if the text of a key names it:
/// "NVFP4", "nvfp4-pack-quantized".
static Status refuseNVFP4(const JsonReader &options, std::string_view key) {
  if (!options.has(key))
    return Status::ok();
  Expected<std::string> text = options.string(key);
  if (!text)
    return text.takeStatus();
  std::string lower = *text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (lower.find("nvfp4") == std::string::npos && lower != "modelopt_fp4")
    return Status::ok();
  return options.failure(
      StatusCode::Unsupported, key,
      "is \"" + printable(*text) +
          "\": LLMIR does not read weights in NVFP4, NVIDIA's 4-bit floats",
      nvfp4Advice);
}

/// The keys of Model Optimizer and compressed-tensors.
static Status checkForNVFP4(const JsonReader &options) {
  for (const char *key : {"quant_algo", "format", "quant_method"})
    LLMIR_RETURN_IF_ERROR(refuseNVFP4(options, key));
  const Json *groups = options.find("config_groups");
  if (!groups || !groups->is_object())
    return Status::ok();
  for (auto group = groups->begin(); group != groups->end(); ++group)
    LLMIR_RETURN_IF_ERROR(
        refuseNVFP4(JsonReader(*group, options.file(),
                               "quantization_config.config_groups." +
                                   printable(group.key(), 60) + "."),
                    "format"));
  return Status::ok();
}

/// The object of the key, and its method; null if there is no such key.
static Expected<const Method *> methodOf(const JsonReader &config) {
  if (!config.has("quantization_config"))
    return nullptr;
  Expected<JsonReader> options = config.object("quantization_config");
  if (!options)
    return options.takeStatus();
  LLMIR_RETURN_IF_ERROR(checkForNVFP4(*options));
  Expected<std::string> name = options->string("quant_method");
  if (!name)
    return name.takeStatus();
  if (const Method *method = findMethod(*name))
    return method;
  std::string known;
  for (const Method &method : methods())
    known += (known.empty() ? "" : ", ") + std::string(method.name);
  return options->failure(StatusCode::Unsupported, "quant_method",
                          "is \"" + printable(*name) +
                              "\", a quantization that LLMIR does not read",
                          "it reads " + known +
                              "; use such a checkpoint, the original one, or "
                              "a GGUF file");
}

Status llmir::checkQuantizationConfig(const JsonReader &config) {
  Expected<const Method *> method = methodOf(config);
  if (!method)
    return method.takeStatus();
  if (!*method)
    return Status::ok();
  return checkOptions((*method)->name, *config.object("quantization_config"));
}

/// Scales of activations and of the KV cache, and names of layouts.
static bool isUnneeded(std::string_view name) {
  for (std::string_view suffix :
       {".input_scale", ".input_zero_point", ".output_scale", ".k_scale",
        ".v_scale", ".q_scale", ".prob_scale", ".weight_format",
        ".input_global_scale", ".activation_scale"})
    if (endsWith(name, suffix))
      return true;
  return false;
}

Expected<std::vector<CheckpointTensor>>
llmir::assembleQuantized(const JsonReader &config,
                         std::vector<CheckpointTensor> tensors) {
  Expected<const Method *> method = methodOf(config);
  if (!method)
    return method.takeStatus();
  const Json none = Json::object();
  const JsonReader options = *method ? *config.object("quantization_config")
                                     : JsonReader(none, config.file());

  QuantizedParts parts(options, tensors);
  if (*method)
    LLMIR_RETURN_IF_ERROR(checkOptions((*method)->name, options));
  if (*method)
    for (const auto &[suffix, read] : (*method)->readers)
      for (const CheckpointTensor &tensor : tensors)
        if (endsWith(tensor.name, suffix)) {
          parts.setBase(
              tensor.name.substr(0, tensor.name.size() - suffix.size()));
          LLMIR_RETURN_IF_ERROR(read(parts));
        }
  // Older files of Model Optimizer name the format in hf_quant_config.json
  // only.
  for (const CheckpointTensor &tensor : tensors)
    if (!*method && endsWith(tensor.name, ".weight_scale_2"))
      return Status(StatusCode::Unsupported,
                    config.file() + ": no 'quantization_config', but '" +
                        printable(tensor.name) +
                        "' belongs to weights in NVFP4, NVIDIA's 4-bit "
                        "floats, which LLMIR does not read",
                    nvfp4Advice);
  LLMIR_RETURN_IF_ERROR(readUnscaledBytes(parts, /*mayLackScale=*/!*method));

  std::vector<CheckpointTensor> result = parts.takeMatrices();
  for (CheckpointTensor &tensor : tensors)
    if (!parts.isUsed(tensor.name) && !(*method && isUnneeded(tensor.name)))
      result.push_back(std::move(tensor));
  return result;
}

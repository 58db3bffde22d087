//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The quantized checkpoints of the Hub: GPTQ, AWQ, compressed-tensors,
// bitsandbytes, FP8 and MXFP4.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHECKPOINT_QUANTIZEDTENSORS_H
#define LLMIR_LIB_CHECKPOINT_QUANTIZEDTENSORS_H

#include "llmir/Checkpoint/CheckpointTensor.h"
#include "llmir/Support/Json.h"

#include <vector>

namespace llmir {

/// Fails with Unsupported if "quantization_config" of config.json has a method
/// or a variant that LLMIR does not read, and with InvalidFile if it is not
/// valid. `config` is the object that may have the key.
Status checkQuantizationConfig(const JsonReader &config);

/// Replaces the integers, scales and zero points of each quantized matrix by
/// the matrix, with the name that it has in an unquantized checkpoint
/// ("model.layers.0.mlp.up_proj.weight"). Scales of activations and of the KV
/// cache are dropped: LLMIR derives its own. Fails with NotFound if a part of a
/// matrix is missing, InvalidFile if parts do not match one another, and
/// Unsupported for variants that LLMIR does not read. `config` is the object
/// that may have the key "quantization_config".
Expected<std::vector<CheckpointTensor>>
assembleQuantized(const JsonReader &config,
                  std::vector<CheckpointTensor> tensors);

} // namespace llmir

#endif // LLMIR_LIB_CHECKPOINT_QUANTIZEDTENSORS_H

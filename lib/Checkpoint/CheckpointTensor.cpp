//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Checkpoint/CheckpointTensor.h"

namespace llmir {

AssembledRows::~AssembledRows() = default;

Expected<TensorFormat> CheckpointTensor::usableFormat() const {
  if (format)
    return *format;
  return Status(StatusCode::Unsupported,
                (file ? std::string(file->name()) + ": " : std::string()) +
                    "tensor '" + name + "' is stored as " +
                    std::string(storageName) + ", which LLMIR does not support",
                "use a checkpoint in a type that docs/Quantization.md lists");
}

std::string CheckpointTensor::shapeText() const {
  std::string text = "[";
  for (int64_t size : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

int64_t CheckpointTensor::numElements() const {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

} // namespace llmir

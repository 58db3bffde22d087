//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The safetensors container: a JSON header, then the tensors' bytes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHECKPOINT_SAFETENSORS_H
#define LLMIR_LIB_CHECKPOINT_SAFETENSORS_H

#include "llmir/Checkpoint/CheckpointTensor.h"

#include <memory>
#include <string>
#include <vector>

namespace llmir {

/// Reads the header of a mapped file and checks it all: length, UTF-8, JSON,
/// known dtypes, shape products, and that the tensors' ranges cover the data
/// without hole, overlap or rest. Messages name the file and the tensor.
/// Tensors come in the order of their data.
Expected<std::vector<CheckpointTensor>>
readSafetensors(std::shared_ptr<const MappedFile> file);

/// Maps `folder`/model.safetensors, or every shard that
/// model.safetensors.index.json names, and reads them. With an index, its
/// weight_map and the shards must agree tensor by tensor; shard names are bare
/// file names of the same folder. Appends the files to `files`.
Expected<std::vector<CheckpointTensor>>
readSafetensorsFolder(const std::string &folder,
                      std::vector<std::shared_ptr<const MappedFile>> &files);

} // namespace llmir

#endif // LLMIR_LIB_CHECKPOINT_SAFETENSORS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The safetensors container: a JSON header followed by the tensors' bytes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHECKPOINT_SAFETENSORS_H
#define LLMIR_LIB_CHECKPOINT_SAFETENSORS_H

#include "llmir/Checkpoint/CheckpointTensor.h"

#include <memory>
#include <string>
#include <vector>

namespace llmir {

/// Reads and validates the header of a mapped file: length, UTF-8, JSON, known
/// dtypes, shape products, and that the tensors' ranges cover the data without
/// gaps or overlaps. Messages name the file and the tensor. Tensors are in the
/// order of their data.
Expected<std::vector<CheckpointTensor>>
readSafetensors(std::shared_ptr<const MappedFile> file);

/// Maps and reads `directory`/model.safetensors, or all shards named by
/// model.safetensors.index.json. The index's weight_map must match the shards'
/// tensors exactly; shard names are plain file names in the same directory.
/// Appends the files to `files`.
Expected<std::vector<CheckpointTensor>>
readSafetensorsFolder(const std::string &folder,
                      std::vector<std::shared_ptr<const MappedFile>> &files);

} // namespace llmir

#endif // LLMIR_LIB_CHECKPOINT_SAFETENSORS_H

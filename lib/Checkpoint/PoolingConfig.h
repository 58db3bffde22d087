//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The files of sentence-transformers in a Hugging Face directory: modules.json,
// a list of modules, and the config.json of each.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHECKPOINT_POOLINGCONFIG_H
#define LLMIR_LIB_CHECKPOINT_POOLINGCONFIG_H

#include "llmir/Checkpoint/ModelConfig.h"
#include "llmir/Support/Json.h"

#include <functional>
#include <string>

namespace llmir {

/// Reads one JSON file of the directory, by its name relative to that; NotFound
/// if there is none.
using FolderReader = std::function<Expected<Json>(const std::string &name)>;

/// Sets config.pooling, dense and textLength; the other fields are known. A
/// directory with neither modules.json nor 1_Pooling/config.json has a model
/// without pooling.
Status readPooling(const FolderReader &read, ModelConfig &config);

} // namespace llmir

#endif // LLMIR_LIB_CHECKPOINT_POOLINGCONFIG_H

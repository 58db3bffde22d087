//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From MODEL, as the user names it, to an artifact that can be run: an artifact
// is opened, a checkpoint is compiled into the cache first.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_MODELRESOLVER_H
#define LLMIR_TOOLS_LLMIR_MODELRESOLVER_H

#include "ArtifactCache.h"
#include "Command.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/Support/Status.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <memory>
#include <optional>
#include <string>

namespace llmir::cli {

/// What a MODEL is, by its content.
enum class ModelKind { HuggingFaceFolder, GGUF, Artifact, Other };

/// NotFound where there is nothing at `path`.
Expected<ModelKind> modelKind(const std::string &path);

/// The model and how it is to be compiled where it is not yet.
struct ModelRequest {
  std::string model;
  std::string quantize = "none";
  std::string kv = "auto";
  std::string level; ///< Of the code to run; empty: the best that fits.
  CacheOptions cache;
};

/// Adds MODEL, --quantize, --kv, --level and the cache's flags to a command.
void addModelOptions(CLI::App &command, ModelRequest &request);
void addCacheOptions(CLI::App &command, CacheOptions &options);

struct ResolvedModel {
  std::shared_ptr<const Artifact> artifact;
  double compileMs = 0; ///< 0 where nothing was compiled.
  bool compiled = false;
};

Expected<ResolvedModel> resolveModel(const ModelRequest &request);

/// An artifact's checksum as 16 hexadecimal digits: says which one gave a
/// figure.
std::string checksumText(const Artifact &artifact);

/// The tokenizer that an artifact carries, if any.
Expected<std::optional<Tokenizer>> artifactTokenizer(const Artifact &artifact);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_MODELRESOLVER_H

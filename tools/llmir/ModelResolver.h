//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Resolves the user's MODEL to an artifact that can be run: artifacts are
// opened, checkpoints are first compiled into the cache.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_MODELRESOLVER_H
#define LLMIR_TOOLS_LLMIR_MODELRESOLVER_H

#include "ArtifactCache.h"
#include "Command.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/Hub/RemoteHeaders.h"
#include "llmir/Support/Status.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace llmir::cli {

/// The kind of a MODEL, by its contents.
enum class ModelKind { HuggingFaceFolder, GGUF, Artifact, Other };

/// MODEL in the help texts of commands that take any.
extern const char *const modelHelp;
/// MODEL in those that take checkpoints only.
extern const char *const checkpointHelp;

/// Makes `model` a path: an existing one is kept, and the name of a model of
/// the Hub (ORG/NAME[@REVISION][:FILE or quantization]) becomes its path in the
/// Hub's cache. No network is used. NotFound, with the command that downloads
/// it, if `model` is neither.
Status locateModel(std::string &model);

/// Like locateModel(), for commands that need no weights: of a model of the Hub
/// that is not in its cache, the headers are read from the Hub, and `model`
/// becomes their path, which exists as long as `headers`.
Status locateOrDescribe(std::string &model,
                        std::optional<hub::RemoteHeaders> &headers);

/// The action of a command that takes a MODEL: locates it, then runs `action`.
std::function<Outcome()> withModel(std::string &model,
                                   std::function<Outcome()> action);

/// NotFound if `path` does not exist.
Expected<ModelKind> modelKind(const std::string &path);
/// Why a file of kind Other cannot be used.
Status notAModel(const std::string &path);

/// The model, and how to compile it if necessary.
struct ModelRequest {
  std::string model;
  std::string quantize = "none";
  std::string kv = "auto";
  std::string level; ///< Of the code to run; empty: the best supported one.
  CacheOptions cache;
};

/// Adds MODEL, --quantize, --kv, --level and the cache's flags to a command.
void addModelOptions(Command command, ModelRequest &request);
void addCacheOptions(Command command, CacheOptions &options);

struct ResolvedModel {
  std::shared_ptr<const Artifact> artifact;
  double compileMs = 0; ///< 0 if nothing was compiled.
  bool compiled = false;
};

Expected<ResolvedModel> resolveModel(const ModelRequest &request);

/// An artifact's checksum as 16 hexadecimal digits, to identify it in results.
std::string checksumText(const Artifact &artifact);

/// The tokenizer that an artifact carries, if any.
Expected<std::optional<Tokenizer>> artifactTokenizer(const Artifact &artifact);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_MODELRESOLVER_H

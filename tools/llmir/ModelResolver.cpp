//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelResolver.h"
#include "CompilerLibrary.h"
#include "Console.h"
#include "Hash.h"

#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Checkpoint/GGUF.h"
#include "llmir/Hub/Cache.h"
#include "llmir/Hub/ModelReference.h"
#include "llmir/Hub/Settings.h"
#include "llmir/Support/MappedFile.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <sys/stat.h>
#include <vector>

using namespace llmir;
using namespace llmir::cli;

static const char *const modelForms =
    "MODEL is a Hugging Face model directory, a .gguf file, a .llmir artifact, "
    "or a model of the Hub that `llmir pull` downloaded";
const char *const cli::modelHelp = "Hugging Face model directory, .gguf file, "
                                   ".llmir artifact, or a downloaded "
                                   "ORG/NAME[@REVISION][:FILE or quantization]";
const char *const cli::checkpointHelp =
    "Hugging Face model directory, .gguf file, or a downloaded "
    "ORG/NAME[@REVISION][:FILE or quantization]";

Status cli::locateModel(std::string &model) {
  struct stat info;
  if (stat(model.c_str(), &info) == 0 ||
      (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG))
    return Status::ok();
  Expected<hub::ModelReference> reference = hub::ModelReference::parse(model);
  Expected<std::string> folder = hub::cacheFolder();
  if (!reference || !folder)
    return Status::ok(); // The command reports that there is no such path.
  const hub::Cache cache(*folder);
  if (cache.has(reference->repository)) {
    Expected<std::string> path = cache.find(*reference);
    if (!path)
      return path.takeStatus();
    model = std::move(*path);
    return Status::ok();
  }
  if (reference->repository.find('/') == std::string::npos)
    return Status::ok(); // Rather a file than one of the Hub's old names.
  return Status(StatusCode::NotFound,
                "'" + model + "': " + std::strerror(ENOENT) +
                    ", and the Hub's cache '" + *folder + "' has no such model",
                "check the path, or download the model: `llmir pull " + model +
                    "`");
}

Status cli::locateOrDescribe(std::string &model,
                             std::optional<hub::RemoteHeaders> &headers) {
  Status located = locateModel(model);
  if (located || located.code() != StatusCode::NotFound || !hub::canPull())
    return located;
  // Only the name of a model of the Hub fails to be located.
  Expected<hub::ModelReference> reference = hub::ModelReference::parse(model);
  Expected<hub::Settings> settings = hub::Settings::fromEnvironment();
  if (!reference || !settings || settings->isOffline)
    return located;
  std::signal(SIGPIPE, SIG_IGN); // Connections that the Hub closes.
  auto read = hub::RemoteHeaders::read(
      *reference, *settings, hub::PullOptions(),
      [](const std::string &path) { return bool(GGUFFile::open(path)); });
  if (!read)
    return Status(read.status().code(),
                  located.cause() + "; the Hub: " + read.status().cause(),
                  read.status().advice());
  note("'" + model + "' is not downloaded: its headers (" +
       formatBytes(static_cast<double>(read->receivedBytes())) +
       ") were read from the Hub");
  model = read->path();
  headers = std::move(*read);
  return Status::ok();
}

std::function<Outcome()> cli::withModel(std::string &model,
                                        std::function<Outcome()> action) {
  return [&model, action = std::move(action)] {
    Status located = locateModel(model);
    return located ? action() : Outcome(std::move(located));
  };
}

Expected<ModelKind> cli::modelKind(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    bool missing = errno == ENOENT || errno == ENOTDIR;
    return Status(missing ? StatusCode::NotFound : StatusCode::IoError,
                  "'" + path + "': " + std::strerror(errno), modelForms);
  }
  if (S_ISDIR(info.st_mode))
    return ModelKind::HuggingFaceFolder;
  if (Artifact::looksLikeArtifact(path))
    return ModelKind::Artifact;
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeStatus();
  if (file->text().substr(0, 4) == "GGUF")
    return ModelKind::GGUF;
  // Leave a damaged file to the reader of the format that its name suggests.
  std::string_view name = file->name();
  auto named = [&](std::string_view end) {
    return name.size() >= end.size() &&
           name.substr(name.size() - end.size()) == end;
  };
  if (named(".gguf"))
    return ModelKind::GGUF;
  if (named(".llmir"))
    return ModelKind::Artifact;
  return ModelKind::Other;
}

void cli::addCacheOptions(Command command, CacheOptions &options) {
  addOption(command, "--cache-dir", options.folder,
            "directory of compiled artifacts (default: $XDG_CACHE_HOME/llmir, "
            "else ~/.cache/llmir)");
  addOption(
      command, "--cache-limit", options.limitGB,
      "size in GB above which the least recently used artifacts are removed")
      .showDefault()
      .check(atLeast(0));
}

void cli::addModelOptions(Command command, ModelRequest &request) {
  command.addArgument("MODEL", request.model, modelHelp).required();
  addOption(command, "--quantize", request.quantize,
            "quantize the projections' weights: none, q8, q4, or int8 or int4 "
            "with :g32, :g64 or :g128, :asym, :a32 (f32 instead of int8 "
            "activations)")
      .showDefault();
  addOption(command, "--kv", request.kv, "element type of the KV cache")
      .showDefault()
      .check(oneOf({"auto", "f32", "f16", "bf16", "q8"}));
  addOption(command, "--level", request.level,
            "CPU level of the code to run (default: the best supported one)",
            "LEVEL");
  addCacheOptions(command, request.cache);
}

//===----------------------------------------------------------------------===//
// Keys of cache entries
//===----------------------------------------------------------------------===//

/// Describes a file by name, size, time and a hash of the first 64 KiB (the
/// header, or enough to distinguish files of equal size).
static Status describeFile(const std::string &path, std::string &key,
                           int64_t &bytes) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeStatus();
  key += std::string(file->name()) + " " +
         std::to_string(file->bytes().size()) + " " +
         std::to_string(file->modifiedNs()) + " " +
         hashText(file->text().substr(0, size_t(64) << 10)) + "\n";
  bytes += static_cast<int64_t>(file->bytes().size());
  return Status::ok();
}

/// Adds the files of a module of sentence-transformers, which has a folder of
/// its own.
static void addModuleFiles(const std::string &folder,
                           std::vector<std::string> &files) {
  for (const char *name : {"/config.json", "/model.safetensors"}) {
    struct stat info;
    const std::string path = folder + name;
    if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode))
      files.push_back(path);
  }
}

/// The files of a checkpoint: the files of a directory that the readers may
/// open, or all parts of a split GGUF file.
static Expected<std::vector<std::string>>
checkpointFiles(const std::string &path, ModelKind kind) {
  std::string folder = path, prefix;
  if (kind == ModelKind::GGUF) {
    size_t slash = path.rfind('/');
    std::string name = path.substr(slash + 1);
    size_t part = name.find("-00001-of-");
    if (part == std::string::npos)
      return std::vector<std::string>{path};
    folder = path.substr(0, slash);
    prefix = name.substr(0, part + 1);
  }
  DIR *handle = opendir(folder.empty() ? "/" : folder.c_str());
  if (!handle)
    return Status(StatusCode::IoError,
                  "'" + folder + "': " + std::strerror(errno),
                  "check the directory's permissions");
  std::vector<std::string> files;
  while (const dirent *entry = readdir(handle)) {
    std::string name = entry->d_name;
    auto ends = [&](std::string_view end) {
      return name.size() > end.size() &&
             std::string_view(name).substr(name.size() - end.size()) == end;
    };
    bool wanted =
        kind == ModelKind::GGUF
            ? name.compare(0, prefix.size(), prefix) == 0 && ends(".gguf")
            : ends(".json") || ends(".safetensors") || ends(".model") ||
                  ends(".txt") || ends(".tiktoken") || ends(".jinja");
    struct stat info;
    if (stat((folder + "/" + name).c_str(), &info) != 0)
      continue;
    if (wanted && S_ISREG(info.st_mode))
      files.push_back(folder + "/" + name);
    if (kind != ModelKind::GGUF && S_ISDIR(info.st_mode) && name[0] != '.')
      addModuleFiles(folder + "/" + name, files);
  }
  closedir(handle);
  std::sort(files.begin(), files.end());
  return files;
}

/// The path without links; that of a GGUF file keeps its own name, which the
/// other parts of a split model have in common with it, and which a blob of the
/// Hub's cache lacks.
static Expected<std::string> canonicalPath(const std::string &model,
                                           ModelKind kind) {
  const size_t slash = model.rfind('/');
  std::string path = model, name;
  if (kind == ModelKind::GGUF) {
    path = slash == std::string::npos ? "." : model.substr(0, slash + 1);
    name = "/" + model.substr(slash + 1); // npos + 1 is 0.
  }
  char *real = realpath(path.c_str(), nullptr);
  if (!real)
    return Status(StatusCode::IoError,
                  "'" + path + "': " + std::strerror(errno), modelForms);
  std::string text = real;
  std::free(real);
  return text + name;
}

/// Everything that affects the compiler's output. `bytes` receives the size of
/// the checkpoint.
static Expected<std::string> cacheKey(const ModelRequest &request,
                                      const std::string &model, ModelKind kind,
                                      int64_t &bytes) {
  Expected<std::string> compiler = compilerIdentity();
  if (!compiler)
    return compiler.takeStatus();
  std::string key = "compiler " + *compiler + "\ntarget";
  const CpuFeatures &cpu = CpuFeatures::host();
  key += " " + cpu.architecture() + " " + cpu.level();
  for (const std::string &feature : cpu.features())
    key += " " + feature;
  key += request.level.empty() ? "" : "\nlevel " + request.level;
  key += "\nquantize " + request.quantize + "\nkv " + request.kv + "\n";
  Expected<std::vector<std::string>> files = checkpointFiles(model, kind);
  if (!files)
    return files.takeStatus();
  for (const std::string &file : *files)
    LLMIR_RETURN_IF_ERROR(describeFile(file, key, bytes));
  return key;
}

//===----------------------------------------------------------------------===//
// Resolution
//===----------------------------------------------------------------------===//

static Expected<ResolvedModel> openArtifact(const ModelRequest &request) {
  auto artifact = Artifact::open(request.model);
  if (!artifact)
    return artifact.takeStatus();
  const char *compiled = "omit the flag, or compile the checkpoint again";
  if (request.quantize != "none")
    return Status(StatusCode::Unsupported,
                  "'" + request.model + "' is already compiled: --quantize " +
                      request.quantize + " has no effect",
                  compiled);
  std::string kv(kvFormatName((*artifact)->info().kvFormat));
  if (request.kv != "auto" && request.kv != kv)
    return Status(StatusCode::Unsupported,
                  "'" + request.model + "' is compiled for a KV cache of " +
                      kv + ", but --kv is " + request.kv,
                  compiled);
  ResolvedModel resolved;
  resolved.artifact = std::move(*artifact);
  return resolved;
}

static Status compileInto(const ModelRequest &request, const std::string &model,
                          const std::string &path) {
  LLMIRCompileOptions options = {};
  options.model = model.c_str();
  options.output = path.c_str();
  options.target = request.level.empty() ? "native" : request.level.c_str();
  options.quantize = request.quantize.c_str();
  options.kv = request.kv.c_str();
  return compileModel(options).takeStatus();
}

static Expected<ResolvedModel> compileIntoCache(const ModelRequest &request,
                                                ModelKind kind) {
  if (!request.level.empty()) // Fail before the model is compiled.
    LLMIR_RETURN_IF_ERROR(checkCpuLevel(request.level));
  Expected<std::string> model = canonicalPath(request.model, kind);
  if (!model)
    return model.takeStatus();
  int64_t bytes = 0;
  Expected<std::string> key = cacheKey(request, *model, kind, bytes);
  if (!key)
    return key.takeStatus();
  Expected<ArtifactCache> cache = ArtifactCache::open(request.cache);
  if (!cache)
    return cache.takeStatus();

  auto findOrCompile = [&](std::string &path) -> Expected<ResolvedModel> {
    ResolvedModel resolved;
    Expected<std::string> found =
        cache->findOrMake(*model, *key, bytes + bytes / 32 + (16 << 20),
                          [&](const std::string &target) {
                            Stopwatch watch;
                            // Use the user's spelling of the path in errors.
                            Status made =
                                compileInto(request, request.model, target);
                            resolved.compileMs = watch.milliseconds();
                            resolved.compiled = true;
                            return made;
                          });
    if (!found)
      return found.takeStatus();
    path = *found;
    auto artifact = Artifact::open(path);
    if (!artifact)
      return artifact.takeStatus();
    resolved.artifact = std::move(*artifact);
    return resolved;
  };

  std::string path;
  Expected<ResolvedModel> resolved = findOrCompile(path);
  if (resolved || path.empty())
    return resolved;
  // An entry that was damaged in the cache is created again, once.
  note("compiling again, because the cache's entry is unusable: " +
       resolved.status().cause());
  cache->remove(path);
  return findOrCompile(path);
}

Status cli::notAModel(const std::string &path) {
  // Opening it as a checkpoint yields specific errors for common mistakes. The
  // file is invalid, not the usage of the command.
  Expected<Checkpoint> opened = Checkpoint::open(path);
  if (!opened)
    return Status(StatusCode::InvalidFile, opened.status().cause(),
                  opened.status().advice());
  return Status(StatusCode::InvalidFile, "'" + path + "' is no model",
                modelForms);
}

Expected<ResolvedModel> cli::resolveModel(const ModelRequest &request) {
  Expected<ModelKind> kind = modelKind(request.model);
  if (!kind)
    return kind.takeStatus();
  if (*kind == ModelKind::Artifact)
    return openArtifact(request);
  if (*kind == ModelKind::Other)
    return notAModel(request.model);
  return compileIntoCache(request, *kind);
}

std::string cli::checksumText(const Artifact &artifact) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, artifact.fileChecksum());
  return text;
}

Expected<std::optional<Tokenizer>>
cli::artifactTokenizer(const Artifact &artifact) {
  if (artifact.tokenizer().empty())
    return std::optional<Tokenizer>();
  Expected<Tokenizer> tokenizer = Tokenizer::load(artifact.tokenizer());
  if (!tokenizer)
    return tokenizer.takeStatus().withContext("'" + artifact.path() + "'");
  return std::optional<Tokenizer>(std::move(*tokenizer));
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompilerLibrary.h"
#include "Console.h"
#include "Hash.h"

#include "llmir/Support/MappedFile.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace llmir;
using namespace llmir::cli;

static const char *const libraryName = "libLLMIRCompiler.so";

static std::string executableFolder() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0 || length == static_cast<ssize_t>(sizeof path))
    return ".";
  std::string text(path, static_cast<size_t>(length));
  return text.substr(0, text.rfind('/'));
}

Expected<std::string> cli::findCompilerLibrary() {
  if (const char *chosen = std::getenv("LLMIR_COMPILER_LIBRARY")) {
    if (access(chosen, R_OK) == 0)
      return std::string(chosen);
    return Status(StatusCode::NotFound,
                  std::string("LLMIR_COMPILER_LIBRARY is '") + chosen +
                      "', which cannot be read",
                  std::string("set it to the path of ") + libraryName);
  }
  std::string folder = executableFolder();
  for (const char *place : {"/../lib/", "/"}) {
    std::string path = folder + place + libraryName;
    if (access(path.c_str(), R_OK) == 0)
      return path;
  }
  return Status(
      StatusCode::NotFound,
      std::string(libraryName) + " is neither in '" + folder +
          "/../lib' nor in '" + folder + "'",
      "build it (`./dev build`), install the package llmir-compiler, or run "
      "a compiled .llmir artifact, which needs no compiler");
}

Expected<std::string> cli::compilerIdentity() {
  Expected<std::string> path = findCompilerLibrary();
  if (!path)
    return path.takeStatus();
  Expected<MappedFile> file = MappedFile::open(*path);
  if (!file)
    return file.takeStatus();
  // The first page contains the section table and, if the linker wrote one, the
  // build id.
  Span<const uint8_t> bytes = file->bytes();
  size_t head = std::min<size_t>(bytes.size(), 4096);
  return std::string(libraryName) + " " + std::to_string(bytes.size()) + " " +
         std::to_string(file->modifiedNs()) + " " +
         hashText(std::string_view(reinterpret_cast<const char *>(bytes.data()),
                                   head));
}

namespace {

struct CompilerFunctions {
  decltype(&llmirCompile) compile = nullptr;
  decltype(&llmirExport) exportModel = nullptr;
  decltype(&llmirConvert) convertModel = nullptr;
  decltype(&llmirCompilerFree) free = nullptr;
};

} // namespace

static Expected<CompilerFunctions> openCompiler() {
  Expected<std::string> path = findCompilerLibrary();
  if (!path)
    return path.takeStatus();
  void *library = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    return Status(StatusCode::IncompatibleTarget,
                  "the compiler cannot be loaded: " +
                      std::string(reason ? reason : *path),
                  "install the missing libraries (`./dev setup` on Debian 12), "
                  "or rebuild");
  }
  CompilerFunctions functions;
  functions.compile =
      reinterpret_cast<decltype(&llmirCompile)>(dlsym(library, "llmirCompile"));
  functions.exportModel =
      reinterpret_cast<decltype(&llmirExport)>(dlsym(library, "llmirExport"));
  functions.convertModel =
      reinterpret_cast<decltype(&llmirConvert)>(dlsym(library, "llmirConvert"));
  functions.free = reinterpret_cast<decltype(&llmirCompilerFree)>(
      dlsym(library, "llmirCompilerFree"));
  if (!functions.compile || !functions.exportModel || !functions.convertModel ||
      !functions.free)
    return Status(
        StatusCode::IncompatibleTarget,
        "'" + *path + "' is not LLMIR's compiler",
        "rebuild, so that command and library are of the same version");
  return functions;
}

Status cli::loadCompilerLibrary() { return openCompiler().takeStatus(); }

Expected<std::string> cli::compileModel(LLMIRCompileOptions options) {
  Expected<CompilerFunctions> compiler = openCompiler();
  if (!compiler)
    return compiler.takeStatus();
  options.version = LLMIR_COMPILER_API_VERSION;

  ProgressBar bar;
  options.progress_user = &bar;
  options.progress = [](void *user, const char *stage, double fraction) {
    static_cast<ProgressBar *>(user)->update(stage ? stage : "", fraction);
  };

  char *message = nullptr;
  int failed = compiler->compile(&options, &message);
  std::string text = message ? message : "";
  compiler->free(message);
  if (failed && text.empty())
    return Status(StatusCode::Internal, "the compiler failed without a reason");
  if (failed == 2) // An invalid option.
    return Status(StatusCode::InvalidArgument, text);
  if (failed) // A cause without advice is due to the checkpoint.
    return Status(StatusCode::InvalidFile, text);
  return text;
}

Status cli::exportModel(LLMIRExportOptions options) {
  Expected<CompilerFunctions> compiler = openCompiler();
  if (!compiler)
    return compiler.takeStatus();
  options.version = LLMIR_COMPILER_API_VERSION;
  char *message = nullptr;
  const int failed = compiler->exportModel(&options, &message);
  std::string text = message ? message : "";
  compiler->free(message);
  if (!failed)
    return Status::ok();
  return Status(StatusCode::InvalidFile,
                text.empty() ? "the export failed without a reason" : text);
}

Expected<std::string> cli::convertModel(LLMIRConvertOptions options) {
  Expected<CompilerFunctions> compiler = openCompiler();
  if (!compiler)
    return compiler.takeStatus();
  options.version = LLMIR_COMPILER_API_VERSION;
  ProgressBar bar;
  options.progress_user = &bar;
  options.progress = [](void *user, const char *stage, double fraction) {
    static_cast<ProgressBar *>(user)->update(stage, fraction);
  };
  char *message = nullptr;
  const int failed = compiler->convertModel(&options, &message);
  std::string text = message ? message : "";
  compiler->free(message);
  if (!failed)
    return text;
  if (text.empty())
    text = "the conversion failed without a reason";
  return Status(failed == 2 ? StatusCode::InvalidArgument
                            : StatusCode::InvalidFile,
                text);
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelTokenizer.h"
#include "ModelResolver.h"

#include "llmir/Checkpoint/GGUF.h"
#include "llmir/Tokenizer/FromGGUF.h"

using namespace llmir;

static Expected<Tokenizer> tokenizerOfArtifact(const std::string &path) {
  auto artifact = Artifact::open(path);
  if (!artifact)
    return artifact.takeStatus();
  Expected<std::optional<Tokenizer>> tokenizer =
      cli::artifactTokenizer(**artifact);
  if (!tokenizer)
    return tokenizer.takeStatus();
  if (!*tokenizer)
    return Status(StatusCode::NotFound, "'" + path + "' has no tokenizer",
                  "give a tokenizer.json or tokenizer.model instead");
  return std::move(**tokenizer);
}

Expected<Tokenizer> cli::openTokenizer(const std::string &path) {
  Expected<ModelKind> kind = modelKind(path);
  if (!kind)
    return kind.takeStatus();
  switch (*kind) {
  case ModelKind::HuggingFaceFolder:
    return Tokenizer::fromFolder(path);
  case ModelKind::Artifact:
    return tokenizerOfArtifact(path);
  case ModelKind::GGUF: {
    Expected<GGUFFile> file = GGUFFile::open(path);
    if (!file)
      return file.takeStatus();
    return tokenizerFromGGUF(file->metadata());
  }
  case ModelKind::Other:
    break;
  }
  // A SentencePiece model has no magic number; its reader takes any file.
  constexpr std::string_view weights = ".safetensors";
  if (path.size() > weights.size() &&
      path.compare(path.size() - weights.size(), weights.size(), weights) == 0)
    return notAModel(path);
  return Tokenizer::fromFile(path);
}

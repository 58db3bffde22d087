//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TemplateOptions.h"
#include "ModelResolver.h"

#include "llmir/ChatTemplate/FromGGUF.h"

using namespace llmir;
using namespace llmir::cli;

void cli::addTemplateOptions(Command command, TemplateRequest &request) {
  addOption(command, "--template", request.file,
            "a chat template to use instead of the model's", "FILE.jinja");
  addOption(command, "--bos", request.bos,
            "the text of bos_token in the template (default: the model's)");
  addOption(command, "--eos", request.eos,
            "the text of eos_token in the template (default: the model's)");
}

Expected<ModelTemplates> cli::artifactTemplates(const Artifact &artifact) {
  if (artifact.chatTemplates().empty())
    return ModelTemplates();
  Expected<ModelTemplates> loaded =
      ModelTemplates::load(artifact.chatTemplates());
  if (!loaded)
    return loaded.takeStatus().withContext("'" + artifact.path() + "'");
  return loaded;
}

Expected<ModelTemplates> cli::openTemplates(const std::string &path) {
  Expected<ModelKind> kind = modelKind(path);
  if (!kind)
    return kind.takeStatus();
  switch (*kind) {
  case ModelKind::HuggingFaceFolder:
    return ModelTemplates::fromFolder(path);
  case ModelKind::Artifact: {
    auto artifact = Artifact::open(path);
    if (!artifact)
      return artifact.takeStatus();
    return artifactTemplates(**artifact);
  }
  case ModelKind::GGUF: {
    Expected<GGUFFile> file = GGUFFile::open(path);
    if (!file)
      return file.takeStatus();
    return templatesFromGGUF(file->metadata());
  }
  case ModelKind::Other:
    break;
  }
  return ModelTemplates();
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The chat templates of a model, and the flags that replace them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_TEMPLATEOPTIONS_H
#define LLMIR_TOOLS_LLMIR_TEMPLATEOPTIONS_H

#include "Command.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/Server/ChatPrompt.h"

#include <string>

namespace llmir::cli {

/// Adds --template, --bos and --eos to a command.
void addTemplateOptions(Command command, TemplateRequest &request);

/// The templates of a MODEL of any kind; none for a file with only a tokenizer.
Expected<ModelTemplates> openTemplates(const std::string &path);
/// Those that an artifact carries.
Expected<ModelTemplates> artifactTemplates(const Artifact &artifact);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_TEMPLATEOPTIONS_H

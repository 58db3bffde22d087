//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//
// The chat templates that a model brings along, and its special tokens.
//
//===----------------------------------------------------------------------===//
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CHATTEMPLATE_MODELTEMPLATES_H
#define LLMIR_CHATTEMPLATE_MODELTEMPLATES_H

#include "llmir/Support/Json.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

struct ModelTemplates {
  struct Named {
    std::string name; ///< "default" if there is only one.
    std::string source;
  };

  std::vector<Named> templates; ///< Unique names; may be empty.
  /// An object of texts: "bos_token", "eos_token", … A token that the model
  /// declares not to have is null, one that it does not mention is absent.
  Json tokens = Json::object();

  /// From a Hugging Face directory, as transformers looks for them:
  /// chat_template.jinja and additional_chat_templates/NAME.jinja, else
  /// `chat_template` of tokenizer_config.json, a text or a list of named ones.
  static Expected<ModelTemplates> fromFolder(const std::string &folder);

  /// Adds a template; an earlier one of this name is replaced.
  void set(std::string_view name, std::string source);
  const Named *find(std::string_view name) const;
  /// The template for a conversation, as transformers chooses it: with tools
  /// "tool_use", if there is one, else "default", else the only one. NotFound
  /// if there is none or no default.
  Expected<const Named *> choose(bool hasTools) const;

  /// The form stored in artifacts.
  std::vector<uint8_t> serialize() const;
  /// Reads the output of serialize(); InvalidFile for malformed bytes.
  static Expected<ModelTemplates> load(Span<const uint8_t> bytes);
};

} // namespace llmir

#endif // LLMIR_CHATTEMPLATE_MODELTEMPLATES_H

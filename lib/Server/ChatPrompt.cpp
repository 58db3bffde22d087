//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/ChatPrompt.h"
#include "llmir/Support/MappedFile.h"

namespace llmir {

/// The text of a token that the templates' source does not mention.
static void addToken(Json &tokens, const char *name, const Tokenizer &tokenizer,
                     int32_t id) {
  if (id >= 0 && tokenizer.hasToken(id) && !tokens.contains(name))
    tokens[name] = std::string(tokenizer.tokenText(id));
}

Expected<ChatPrompt> ChatPrompt::create(ModelTemplates templates,
                                        const TemplateRequest &request,
                                        const Tokenizer *tokenizer) {
  ChatPrompt result;
  result.mutex = std::make_unique<std::mutex>();
  result.templates = std::move(templates);
  result.shownName = "chat template";
  Json &tokens = result.templates.tokens;
  if (tokenizer) {
    addToken(tokens, "bos_token", *tokenizer, tokenizer->bosId());
    addToken(tokens, "eos_token", *tokenizer, tokenizer->eosId());
    addToken(tokens, "unk_token", *tokenizer, tokenizer->unkId());
    addToken(tokens, "pad_token", *tokenizer, tokenizer->padId());
  }
  if (request.bos)
    tokens["bos_token"] = *request.bos;
  if (request.eos)
    tokens["eos_token"] = *request.eos;
  if (!request.file.empty()) {
    Expected<MappedFile> file =
        MappedFile::open(request.file, ChatTemplateLimits().sourceBytes);
    if (!file)
      return file.takeStatus().withContext("--template");
    result.templates.templates.clear();
    result.templates.set("default", std::string(file->text()));
    result.shownName = std::string(file->name());
  }
  return result;
}

OrderedJson ChatPrompt::conversation(const std::optional<std::string> &system,
                                     const std::string &question) {
  OrderedJson messages = OrderedJson::array();
  if (system)
    messages.push_back({{"role", "system"}, {"content", *system}});
  messages.push_back({{"role", "user"}, {"content", question}});
  return {{"messages", messages}, {"add_generation_prompt", true}};
}

/// The parsed template, or why it cannot be parsed.
Expected<const ChatTemplate *>
ChatPrompt::parsed(const ModelTemplates::Named &named) {
  std::lock_guard<std::mutex> lock(*mutex);
  auto found = parsedTemplates.find(named.name);
  if (found == parsedTemplates.end()) {
    std::string name = shownName;
    if (named.name != "default")
      name += " '" + named.name + "'";
    found = parsedTemplates
                .emplace(named.name, ChatTemplate::parse(named.source, name))
                .first;
  }
  if (!found->second)
    return found->second.status();
  return &*found->second;
}

bool ChatPrompt::mentions(std::string_view text) const {
  for (const ModelTemplates::Named &named : templates.templates)
    if (named.source.find(text) != std::string::npos)
      return true;
  return false;
}

std::string_view ChatPrompt::source(bool hasTools) const {
  auto chosen = templates.choose(hasTools);
  return chosen ? std::string_view((*chosen)->source) : std::string_view();
}

Status ChatPrompt::check() {
  auto chosen = templates.choose(/*hasTools=*/false);
  if (!chosen)
    return chosen.takeStatus();
  return parsed(**chosen).takeStatus();
}

/// Adds the variables that are not given.
OrderedJson ChatPrompt::withDefaults(OrderedJson variables) const {
  auto setDefault = [&](const char *name, OrderedJson value) {
    if (!variables.contains(name))
      variables[name] = std::move(value);
  };
  setDefault("tools", nullptr);
  setDefault("documents", nullptr);
  setDefault("add_generation_prompt", false);
  for (const auto &[name, text] : templates.tokens.items())
    if (text.is_string())
      setDefault(name.c_str(), text.get<std::string>());
  return variables;
}

/// What the template wants; the variables of a request do not change that.
MessageForms ChatPrompt::formsOf(const ModelTemplates::Named &named,
                                 const ChatTemplate &chat) {
  std::lock_guard<std::mutex> lock(*mutex);
  auto forms = messageForms.find(named.name);
  if (forms == messageForms.end())
    forms = messageForms
                .emplace(
                    named.name,
                    MessageForms::of(chat, withDefaults(OrderedJson::object())))
                .first;
  return forms->second;
}

Expected<std::string> ChatPrompt::render(OrderedJson variables) {
  variables = withDefaults(std::move(variables));
  auto chosen = templates.choose(!variables["tools"].is_null());
  if (!chosen)
    return chosen.takeStatus();
  auto chat = parsed(**chosen);
  if (!chat)
    return chat.takeStatus();
  if (variables.contains("messages"))
    LLMIR_RETURN_IF_ERROR(
        adaptMessages(variables["messages"], formsOf(**chosen, **chat)));
  return (*chat)->render(variables);
}

} // namespace llmir

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversation.h"

#include "llmir/Support/FileWriter.h"
#include "llmir/Support/Json.h"

using namespace llmir;
using namespace llmir::cli;

bool Conversation::hasSystem() const {
  return !list.empty() && list.front().role == "system";
}

void Conversation::setSystem(const std::string &text) {
  // What has been dropped stays dropped.
  if (hasSystem()) {
    list.erase(list.begin());
    firstSent -= firstSent > 0;
  }
  if (!text.empty()) {
    list.insert(list.begin(), {"system", text});
    firstSent += firstSent > 0;
  }
}

void Conversation::add(const std::string &role, const std::string &content) {
  list.push_back({role, content});
}

bool Conversation::removeLast(const std::string &role) {
  if (list.empty() || list.back().role != role)
    return false;
  list.pop_back();
  return true;
}

void Conversation::restore(const Conversation &state) {
  list = state.list;
  firstSent = state.firstSent;
}

void Conversation::reset() {
  list.resize(hasSystem() ? 1 : 0);
  firstSent = 0;
}

//===----------------------------------------------------------------------===//
// The prompt
//===----------------------------------------------------------------------===//

Expected<Conversation::Prompt> Conversation::render() {
  OrderedJson messages = OrderedJson::array();
  for (size_t i = 0; i < list.size(); ++i)
    if (i >= firstSent || (i == 0 && hasSystem()))
      messages.push_back(
          {{"role", list[i].role}, {"content", list[i].content}});
  Prompt prompt;
  LLMIR_ASSIGN_OR_RETURN(prompt.text,
                         model.chat->render({{"messages", std::move(messages)},
                                             {"add_generation_prompt", true}}));
  // The template spells the special tokens itself.
  LLMIR_ASSIGN_OR_RETURN(prompt.ids,
                         encodePrompt(prompt.text, /*addsSpecialTokens=*/false,
                                      "the conversation", model));
  return prompt;
}

bool Conversation::dropTurn(size_t &dropped) {
  size_t next = std::max<size_t>(firstSent, hasSystem() ? 1 : 0) + 1;
  while (next < list.size() && list[next].role != "user")
    ++next;
  if (next >= list.size())
    return false;
  dropped += next - std::max<size_t>(firstSent, hasSystem() ? 1 : 0);
  firstSent = next;
  return true;
}

Expected<Conversation::Prompt> Conversation::prompt(int64_t maxTokens) {
  auto exceeds = [](const Prompt &prompt, int64_t limit) {
    return static_cast<int64_t>(prompt.ids.size()) > limit;
  };
  Expected<Prompt> prompt = render();
  if (!prompt || !exceeds(*prompt, maxTokens))
    return prompt;
  const size_t before = firstSent;
  size_t dropped = 0;
  while (prompt && exceeds(*prompt, maxTokens - maxTokens / 4) &&
         dropTurn(dropped)) {
    prompt = render();
  }
  if (!prompt || exceeds(*prompt, maxTokens))
    firstSent = before;
  if (prompt && exceeds(*prompt, maxTokens))
    return Status(StatusCode::OutOfRange,
                  "the message takes " + std::to_string(prompt->ids.size()) +
                      " tokens with the system message; there is room for " +
                      std::to_string(maxTokens),
                  "shorten it, or use a larger --ctx");
  if (prompt)
    prompt->dropped = dropped;
  return prompt;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Status Conversation::save(const std::string &path) const {
  OrderedJson messages = OrderedJson::array();
  for (const ChatMessage &message : list)
    messages.push_back({{"role", message.role}, {"content", message.content}});
  OrderedJson object = {{"messages", std::move(messages)}};
  Expected<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file.takeStatus();
  LLMIR_RETURN_IF_ERROR(file->write(
      object.dump(2, ' ', false, OrderedJson::error_handler_t::replace) +
      "\n"));
  return file->commit();
}

Status Conversation::load(const std::string &path) {
  Expected<Json> file = parseJsonFile(path);
  if (!file)
    return file.takeStatus();
  auto invalid = [&](const std::string &what) {
    return Status(StatusCode::InvalidFile, "'" + path + "': " + what,
                  "give a file written by /save: {\"messages\": [{\"role\": "
                  "…, \"content\": …}, …]}");
  };
  if (!file->is_object() || !file->contains("messages") ||
      !(*file)["messages"].is_array())
    return invalid("there is no list 'messages'");
  std::vector<ChatMessage> loaded;
  for (const Json &message : (*file)["messages"]) {
    const std::string where = "messages[" + std::to_string(loaded.size()) + "]";
    if (!message.is_object() || !message.contains("role") ||
        !message.contains("content") || !message["role"].is_string() ||
        !message["content"].is_string())
      return invalid(where + " has no texts 'role' and 'content'");
    ChatMessage one = {message["role"], message["content"]};
    if (one.role != "user" && one.role != "assistant" &&
        !(one.role == "system" && loaded.empty()))
      return invalid(where + " has the role '" + printable(one.role) + "'");
    loaded.push_back(std::move(one));
  }
  list = std::move(loaded);
  firstSent = 0;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/ChatTemplate/Messages.h"

#include <algorithm>

namespace llmir {

//===----------------------------------------------------------------------===//
// What a template wants
//===----------------------------------------------------------------------===//

/// A conversation with a call whose argument has the value "probed".
static OrderedJson conversationWithCall(const OrderedJson &arguments,
                                        const OrderedJson &content) {
  // Templates of Mistral want ids of nine letters and digits.
  constexpr const char *id = "call00001";
  const OrderedJson call = {
      {"id", id},
      {"type", "function"},
      {"function", {{"name", "probe"}, {"arguments", arguments}}}};
  return OrderedJson::array({{{"role", "user"}, {"content", "question"}},
                             {{"role", "assistant"},
                              {"content", content},
                              {"tool_calls", OrderedJson::array({call})}},
                             {{"role", "tool"},
                              {"tool_call_id", id},
                              {"name", "probe"},
                              {"content", "result"}}});
}

namespace {
/// Renders conversations to see what becomes of them.
struct Probe {
  const ChatTemplate &chat;
  OrderedJson variables;
  bool isTooCostly = false; ///< A limit was reached: it is not tried again.

  /// Empty if the template fails.
  std::string render(OrderedJson messages) {
    if (isTooCostly)
      return {};
    variables["messages"] = std::move(messages);
    Expected<std::string> text = chat.render(variables);
    isTooCostly = !text && text.status().code() == StatusCode::OutOfRange;
    return text ? *text : std::string();
  }
};
} // namespace

static bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

/// Whether the call's arguments are there. Text that is quoted once more is not
/// what the template expects.
static bool rendersCall(const std::string &text) {
  return contains(text, "probed") && !contains(text, "\\\"probed");
}

static size_t countNone(const std::string &text) {
  size_t count = 0;
  for (size_t at = text.find("None"); at != std::string::npos;
       at = text.find("None", at + 1))
    ++count;
  return count;
}

/// Whether a rendering with empty content is better than one without content,
/// which is equally good otherwise.
static bool isBetter(const std::string &withText, const std::string &withNull) {
  if (rendersCall(withText) != rendersCall(withNull))
    return rendersCall(withText);
  return !withText.empty() &&
         (withNull.empty() || countNone(withNull) > countNone(withText));
}

MessageForms MessageForms::of(const ChatTemplate &chat, OrderedJson variables) {
  MessageForms forms;
  Probe probe{chat, std::move(variables)};
  const OrderedJson text = {{"role", "user"}, {"content", "question"}};
  const OrderedJson parts = {
      {"role", "user"},
      {"content",
       OrderedJson::array({{{"type", "text"}, {"text", "question"}}})}};
  forms.contentIsParts =
      !contains(probe.render(OrderedJson::array({text})), "question") &&
      contains(probe.render(OrderedJson::array({parts})), "question");

  probe.variables["tools"] = OrderedJson::array(
      {{{"type", "function"},
        {"function",
         {{"name", "probe"},
          {"description", "a tool"},
          {"parameters",
           {{"type", "object"},
            {"properties",
             {{"key", {{"type", "string"}, {"description", "a key"}}}}}}}}}}});
  const OrderedJson object = {{"key", "probed"}};
  for (bool asText : {false, true}) {
    const OrderedJson arguments = asText ? OrderedJson(object.dump()) : object;
    const std::string withNull =
        probe.render(conversationWithCall(arguments, nullptr));
    const std::string withText =
        probe.render(conversationWithCall(arguments, ""));
    // The template fails, leaves out the call, or prints "None".
    if (!asText)
      forms.absentContentIsText = isBetter(withText, withNull);
    if (!rendersCall(withNull) && !rendersCall(withText))
      continue;
    forms.argumentsAreText = asText;
    forms.absentContentIsText = isBetter(withText, withNull);
    break;
  }
  return forms;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static Status adaptArguments(OrderedJson &call, const MessageForms &forms,
                             const std::string &where) {
  if (!call.is_object() || !call.contains("function"))
    return Status::ok();
  OrderedJson &function = call["function"];
  if (!function.is_object() || !function.contains("arguments"))
    return Status::ok();
  OrderedJson &arguments = function["arguments"];
  if (arguments.is_string() && !forms.argumentsAreText) {
    std::string text = arguments.get<std::string>();
    if (text.find_first_not_of(" \t\r\n") == std::string::npos)
      text = "{}"; // A call without arguments.
    Expected<OrderedJson> parsed =
        parseOrderedJson(text, where + ".function.arguments");
    if (!parsed)
      return Status(StatusCode::InvalidArgument, parsed.status().cause(),
                    "give the JSON text of an object");
    arguments = std::move(*parsed);
  } else if (arguments.is_object() && forms.argumentsAreText) {
    arguments = arguments.dump();
  }
  if (arguments.is_object() || arguments.is_string() || arguments.is_null())
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                where + ".function.arguments is no object",
                "give the JSON text of an object");
}

/// The text of parts, line by line; false if not all of them are text.
static bool joinParts(const OrderedJson &parts, std::string &text) {
  for (const OrderedJson &part : parts) {
    if (part.is_string()) {
      text += (text.empty() ? "" : "\n") + part.get<std::string>();
      continue;
    }
    if (!part.is_object() || !part.contains("text") ||
        !part["text"].is_string())
      return false;
    text += (text.empty() ? "" : "\n") + part["text"].get<std::string>();
  }
  return true;
}

static void adaptContent(OrderedJson &message, const MessageForms &forms) {
  const bool hasCalls =
      message.contains("tool_calls") && !message["tool_calls"].empty();
  if (!message.contains("content") || message["content"].is_null()) {
    if (hasCalls)
      message["content"] =
          forms.absentContentIsText ? OrderedJson("") : OrderedJson(nullptr);
    return;
  }
  OrderedJson &content = message["content"];
  if (content.is_array() && !forms.contentIsParts) {
    std::string text;
    if (joinParts(content, text))
      content = std::move(text);
  } else if (content.is_string() && forms.contentIsParts) {
    OrderedJson part = {{"type", "text"}, {"text", std::move(content)}};
    content = OrderedJson::array({std::move(part)});
  }
}

Status adaptMessages(OrderedJson &messages, const MessageForms &forms) {
  if (!messages.is_array())
    return Status::ok();
  for (size_t i = 0; i < messages.size(); ++i) {
    OrderedJson &message = messages[i];
    if (!message.is_object())
      continue;
    if (message.contains("tool_calls") && message["tool_calls"].is_null())
      message.erase("tool_calls"); // Templates ask whether it is defined.
    if (message.contains("tool_calls") && message["tool_calls"].is_array())
      for (size_t j = 0; j < message["tool_calls"].size(); ++j)
        LLMIR_RETURN_IF_ERROR(adaptArguments(message["tool_calls"][j], forms,
                                             "messages[" + std::to_string(i) +
                                                 "].tool_calls[" +
                                                 std::to_string(j) + "]"));
    adaptContent(message, forms);
  }
  return Status::ok();
}

} // namespace llmir

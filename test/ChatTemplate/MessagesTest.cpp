// RUN: llmir-chat-template-tests --gtest_filter='Messages*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/ChatTemplate/Messages.h"

#include <gtest/gtest.h>

using namespace llmir;

static const OrderedJson &conversation() {
  static const OrderedJson messages = *parseOrderedJson(R"([
    {"role": "user", "content": [{"type": "text", "text": "a"},
                                 {"type": "text", "text": "b"}]},
    {"role": "assistant", "tool_calls": [{"id": "call00001",
      "type": "function", "function": {"name": "f",
      "arguments": "{\"z\": 1, \"a\": [true, \"é\"]}"}}]},
    {"role": "tool", "tool_call_id": "call00001", "content": "r"}])",
                                                        "messages");
  return messages;
}

/// The conversation as a template renders it after its messages were adapted.
static std::string render(const char *source) {
  auto chat = ChatTemplate::parse(source);
  EXPECT_TRUE(bool(chat));
  OrderedJson variables = {{"messages", conversation()},
                           {"tools", nullptr},
                           {"add_generation_prompt", false}};
  const MessageForms forms = MessageForms::of(*chat, variables);
  EXPECT_TRUE(adaptMessages(variables["messages"], forms).isOk());
  auto text = chat->render(variables);
  return text ? *text : text.status().message();
}

// As in the templates of Qwen, Llama 3 and Mistral.
TEST(MessagesTest, ArgumentsAsObject) {
  EXPECT_EQ(render("{% for m in messages %}{% if m.tool_calls %}"
                   "{{ m.tool_calls[0].function.arguments | tojson }}"
                   "{% else %}{{ '<' + m.content + '>' }}{% endif %}"
                   "{% endfor %}"),
            "<a\nb>{\"z\": 1, \"a\": [true, \"é\"]}<r>");
}

// As in those of Qwen3-Coder and GLM 4.5, which print a content of none.
TEST(MessagesTest, ArgumentsAsItems) {
  EXPECT_EQ(render("{% for m in messages %}{{ m.content }}"
                   "{% for c in m.tool_calls or [] %}"
                   "{% for k, v in c.function.arguments.items() %}"
                   "[{{ k }}={{ v }}]{% endfor %}{% endfor %};{% endfor %}"),
            "a\nb;[z=1][a=[True, 'é']];r;");
}

// As in those of functionary and the first DeepSeek V3, which concatenate.
TEST(MessagesTest, ArgumentsAsText) {
  EXPECT_EQ(render("{% for m in messages %}{% if m.content is not none %}"
                   "{{ m.content }}{% endif %}{% for c in m.tool_calls or [] %}"
                   "{{ '>' + c['function']['arguments'] }}{% endfor %};"
                   "{% endfor %}"),
            "a\nb;>{\"z\": 1, \"a\": [true, \"é\"]};r;");
}

TEST(MessagesTest, ContentAsParts) {
  auto chat = ChatTemplate::parse(
      "{% for m in messages %}{% for p in m.content %}{{ p.text }}"
      "{% endfor %}{% endfor %}");
  OrderedJson variables = {
      {"messages", {{{"role", "user"}, {"content", "hi"}}}}};
  const MessageForms forms = MessageForms::of(*chat, variables);
  EXPECT_TRUE(forms.contentIsParts);
  ASSERT_TRUE(adaptMessages(variables["messages"], forms).isOk());
  EXPECT_EQ(*chat->render(variables), "hi");
}

TEST(MessagesTest, OtherPartsAreKept) {
  OrderedJson messages = {
      {{"role", "user"}, {"content", {{{"type", "image"}}}}}, 7};
  const OrderedJson before = messages;
  ASSERT_TRUE(adaptMessages(messages, {}).isOk());
  EXPECT_EQ(messages, before);
}

TEST(MessagesTest, WrongArguments) {
  auto failure = [](const OrderedJson &arguments) {
    OrderedJson messages = {
        {{"role", "assistant"},
         {"tool_calls", {{{"function", {{"arguments", arguments}}}}}}}};
    return adaptMessages(messages, {}).cause();
  };
  EXPECT_EQ(failure(""), "");
  EXPECT_EQ(failure("{}"), "");
  EXPECT_EQ(failure(OrderedJson::object()), "");
  EXPECT_EQ(failure("[1]"),
            "messages[0].tool_calls[0].function.arguments is no object");
  EXPECT_EQ(failure(3),
            "messages[0].tool_calls[0].function.arguments is no object");
  EXPECT_EQ(
      failure("{\"a\"").find("messages[0].tool_calls[0].function.arguments: "),
      0u)
      << failure("{\"a\"");
}

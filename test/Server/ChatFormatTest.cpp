// RUN: llmir-server-tests --gtest_filter='ChatFormat.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How answers with reasoning and calls of tools are written, whole and as
// events.
//
//===----------------------------------------------------------------------===//

#include "Server/Apis.h"
#include "Tokenizer/TestSupport.h"

#include <gtest/gtest.h>

using namespace llmir;
using namespace llmir::server;

namespace {

using Kind = ChatDelta::Kind;

/// A conversation's answer, as the engine's updates would give it.
class Conversation {
public:
  Conversation(Expected<GenerationPlan> (*read)(RequestBody &, ServedModel &),
               const std::string &request) {
    ModelTemplates templates;
    templates.set("default", "{{ messages[0].content }}");
    model.names = {"m"};
    model.tokenizer = *Tokenizer::fromTokenizerJson(tinyByteLevel().dump());
    model.prompts.tokenizer = &*model.tokenizer;
    model.prompts.chat = ChatPrompt::create(std::move(templates), {}, nullptr);
    Expected<GenerationPlan> made = read(*parseBody(request), model);
    EXPECT_TRUE(made) << made.status().message();
    plan = std::move(*made);
    answer.id = "id";
    answer.model = "m";
    answer.prompts = plan.prompts;
    answer.promptLogprobs.resize(1);
    answer.cachedTokens = {0};
    answer.choices.emplace_back(nullptr, nullptr, 0);
    answer.choices[0].reasoningTokens = 3;
  }

  /// The events of a stream of these parts.
  std::string stream(const std::vector<ChatDelta> &parts,
                     FinishReason finish = FinishReason::Stop) {
    std::string text = plan.format->first(answer);
    for (const ChatDelta &part : parts) {
      answer.choices[0].answer.append(part);
      text += plan.format->delta(answer, {answer.choices[0], {part}, 0});
    }
    answer.choices[0].finish = finish;
    text += plan.format->delta(answer, {answer.choices[0], {}, 0});
    return text + plan.format->last(answer);
  }

  Json whole(const std::vector<ChatDelta> &parts,
             FinishReason finish = FinishReason::Stop) {
    for (const ChatDelta &part : parts)
      answer.choices[0].answer.append(part);
    answer.choices[0].finish = finish;
    return plan.format->whole(answer);
  }

  GenerationPlan plan;

private:
  ServedModel model;
  Answer answer;
};

} // namespace

static const char *const chatRequest =
    R"({"messages": [{"role": "user", "content": "a"}],
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "max_tokens": 5, "stream": false})";
static const char *const responseRequest =
    R"({"input": "a", "tools": [{"type": "function", "name": "f"}]})";

static std::vector<ChatDelta> thoughtAndCall() {
  return {{Kind::Reasoning, "hm", 0, "", ""},
          {Kind::Content, "I ", 0, "", ""},
          {Kind::Content, "call", 0, "", ""},
          {Kind::CallStart, "", 0, "f", "call_1"},
          {Kind::CallArguments, "{\"x\":", 0, "", ""},
          {Kind::CallArguments, " 1}", 0, "", ""},
          {Kind::CallEnd, "", 0, "", ""}};
}

/// The objects of a stream.
static std::vector<Json> eventsOf(const std::string &text) {
  std::vector<Json> result;
  size_t at = 0;
  while ((at = text.find("data: ", at)) != std::string::npos) {
    at += 6;
    const std::string line = text.substr(at, text.find("\n\n", at) - at);
    if (line != "[DONE]")
      result.push_back(Json::parse(line));
  }
  return result;
}

TEST(ChatFormat, WritesCallsOfTools) {
  const Json choice =
      Conversation(readChat, chatRequest).whole(thoughtAndCall())["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_EQ(choice["message"]["content"], "I call");
  EXPECT_EQ(choice["message"]["reasoning_content"], "hm");
  EXPECT_EQ(choice["message"]["tool_calls"],
            Json::parse(R"([{"id": "call_1", "type": "function",
                 "function": {"name": "f", "arguments": "{\"x\": 1}"}}])"));
}

TEST(ChatFormat, StreamsCallsOfTools) {
  const std::string text =
      Conversation(readChat, chatRequest).stream(thoughtAndCall());
  std::string reasoning, content, arguments, name, finish;
  for (const Json &event : eventsOf(text)) {
    const Json &choice = event["choices"][0], &delta = choice["delta"];
    reasoning += delta.value("reasoning_content", "");
    content += delta.value("content", "");
    if (delta.contains("tool_calls")) {
      const Json &call = delta["tool_calls"][0];
      EXPECT_EQ(call["index"], 0);
      name += call["function"].value("name", "");
      arguments += call["function"].value("arguments", "");
    }
    if (!choice["finish_reason"].is_null())
      finish += choice["finish_reason"].get<std::string>();
  }
  EXPECT_EQ(reasoning, "hm");
  EXPECT_EQ(content, "I call");
  EXPECT_EQ(name, "f");
  EXPECT_EQ(arguments, "{\"x\": 1}");
  EXPECT_EQ(finish, "tool_calls");
  EXPECT_EQ(text.substr(text.size() - 14), "data: [DONE]\n\n");
}

TEST(ChatFormat, ReturnsWithdrawnCallsAsContent) {
  const Json choice =
      Conversation(readChat, chatRequest)
          .whole({{Kind::CallStart, "", 0, "f", "call_1"},
                  {Kind::CallArguments, "{", 0, "", ""},
                  {Kind::CallWithdrawn, "<call>{", 0, "", ""}})["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_EQ(choice["message"]["content"], "<call>{");
  EXPECT_FALSE(choice["message"].contains("tool_calls"));
}

TEST(ChatFormat, WritesResponsesAsItems) {
  const Json response =
      Conversation(readResponse, responseRequest).whole(thoughtAndCall());
  const Json &output = response["output"];
  ASSERT_EQ(output.size(), 3u) << output;
  EXPECT_EQ(output[0]["content"][0]["text"], "hm");
  EXPECT_EQ(output[1]["content"][0]["text"], "I call");
  EXPECT_EQ(output[2]["type"], "function_call");
  EXPECT_EQ(output[2]["arguments"], "{\"x\": 1}");
  EXPECT_EQ(output[2]["call_id"], "call_1");
  EXPECT_EQ(response["status"], "completed");
}

TEST(ChatFormat, StreamsResponsesAsItems) {
  const std::vector<Json> events = eventsOf(
      Conversation(readResponse, responseRequest).stream(thoughtAndCall()));
  std::vector<std::string> types;
  for (size_t i = 0; i < events.size(); ++i) {
    types.push_back(events[i]["type"].get<std::string>().substr(9));
    EXPECT_EQ(events[i]["sequence_number"], i);
  }
  EXPECT_EQ(types, (std::vector<std::string>{"created",
                                             "in_progress",
                                             "output_item.added",
                                             "content_part.added",
                                             "reasoning_text.delta",
                                             "reasoning_text.done",
                                             "content_part.done",
                                             "output_item.done",
                                             "output_item.added",
                                             "content_part.added",
                                             "output_text.delta",
                                             "output_text.delta",
                                             "output_text.done",
                                             "content_part.done",
                                             "output_item.done",
                                             "output_item.added",
                                             "function_call_arguments.delta",
                                             "function_call_arguments.delta",
                                             "function_call_arguments.done",
                                             "output_item.done",
                                             "completed"}));
  const Json whole =
      Conversation(readResponse, responseRequest).whole(thoughtAndCall());
  const Json &last = events.back()["response"]["output"];
  ASSERT_EQ(last.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    Json streamed = last[i], complete = whole["output"][i];
    streamed.erase("id");
    complete.erase("id");
    EXPECT_EQ(streamed, complete);
  }
}

TEST(ChatFormat, PassesToolsOnlyIfTheyMayBeCalled) {
  EXPECT_TRUE(bool(Conversation(readChat, chatRequest).plan.tools));
  std::string none = chatRequest;
  none.insert(1, "\"tool_choice\": \"none\", ");
  EXPECT_FALSE(bool(Conversation(readChat, none).plan.tools));
}

static std::vector<ChatDelta> partOfACall() {
  return {{Kind::CallStart, "", 0, "f", "call_1"},
          {Kind::CallArguments, "{\"x\":", 0, "", ""}};
}

TEST(ChatFormat, CallsThatAreCutOffStay) {
  const Json choice =
      Conversation(readChat, chatRequest)
          .whole(partOfACall(), FinishReason::Length)["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "length");
  EXPECT_EQ(choice["message"]["tool_calls"][0]["function"]["arguments"],
            "{\"x\":");
  const std::vector<Json> events =
      eventsOf(Conversation(readChat, chatRequest)
                   .stream(partOfACall(), FinishReason::Length));
  EXPECT_EQ(events.back()["choices"][0]["finish_reason"], "length");
}

TEST(ChatFormat, CountsTokensOfReasoning) {
  EXPECT_EQ(
      Conversation(readChat, chatRequest)
          .whole({})["usage"]["completion_tokens_details"]["reasoning_tokens"],
      3);
  EXPECT_EQ(
      Conversation(readResponse, responseRequest)
          .whole({})["usage"]["output_tokens_details"]["reasoning_tokens"],
      3);
}

TEST(ChatFormat, ItemsThatAreCutOffAreIncomplete) {
  const std::vector<ChatDelta> text = {{Kind::Reasoning, "hm", 0, "", ""},
                                       {Kind::Content, "I ", 0, "", ""}};
  for (const std::vector<ChatDelta> &parts : {text, partOfACall()}) {
    const Json whole = Conversation(readResponse, responseRequest)
                           .whole(parts, FinishReason::Length);
    const Json last = eventsOf(Conversation(readResponse, responseRequest)
                                   .stream(parts, FinishReason::Length))
                          .back()["response"];
    for (const Json &response : {whole, last}) {
      EXPECT_EQ(response["status"], "incomplete");
      EXPECT_EQ(response["output"].back()["status"], "incomplete");
      if (response["output"].size() > 1) {
        EXPECT_EQ(response["output"][0]["status"], "completed");
      }
    }
  }
}

// Clients find items by their index, so that a void one has to stay.
TEST(ChatFormat, WithdrawnCallsAreIncompleteItems) {
  std::vector<ChatDelta> parts = partOfACall();
  parts.push_back({Kind::CallWithdrawn, "<call>{\"x\":", 0, "", ""});
  const std::vector<Json> events =
      eventsOf(Conversation(readResponse, responseRequest).stream(parts));
  std::vector<std::string> done;
  for (const Json &event : events)
    if (event["type"] == "response.output_item.done") {
      EXPECT_EQ(event["output_index"], done.size());
      done.push_back(event["item"]["type"]);
      EXPECT_EQ(event["item"],
                events.back()["response"]["output"][done.size() - 1]);
    }
  EXPECT_EQ(done, (std::vector<std::string>{"function_call", "message"}));
  EXPECT_EQ(events.back()["response"]["output"][0]["status"], "incomplete");
}

TEST(ChatFormat, RefusesWhatItWouldIgnore) {
  ServedModel model;
  const auto refusal = [&](const std::string &more) {
    Expected<RequestBody> body =
        parseBody(R"({"prompt": [1], "stream": true, )" + more + "}");
    EXPECT_TRUE(body) << more;
    return readCompletion(*body, model).status().message();
  };
  EXPECT_EQ(refusal(R"("stream_options": {"continuous_usage_stats": false},
                       "cache_salt": "a")"),
            "");
  for (const char *more :
       {R"("stream_options": {"continuous_usage_stats": true})",
        R"("prompt_logprobs": 1)", R"("priority": -1)", R"("cache_salt": "")",
        R"("logprobs": 21)"}) {
    const std::string field = std::string(more).substr(1, 6);
    EXPECT_NE(refusal(more).find("'" + field), std::string::npos)
        << refusal(more);
  }
}

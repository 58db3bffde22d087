//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `llmir bench` reads: the answers of a server and files of prompts.
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "llmir/LoadGenerator/AnswerReader.h"
#include "llmir/LoadGenerator/Workload.h"
#include "llmir/Support/Text.h"

using namespace llmir;
using namespace llmir::fuzz;

/// What a reader makes of the answer if it arrives in pieces of `most` bytes.
static AnswerRecord readInPieces(std::string_view answer, size_t most,
                                 LoadApi api) {
  // The first byte chooses the status.
  const long status = answer.empty() || answer[0] != '!' ? 200 : 503;
  AnswerReader reader(api, 0);
  HttpEnd end;
  end.status = status;
  while (!answer.empty() && end.failure) {
    end.failure = reader.take(status, answer.substr(0, most), 1);
    answer.remove_prefix(std::min(most, answer.size()));
  }
  return reader.finish(end);
}

static void readAnswer(std::string_view input) {
  for (LoadApi api : {LoadApi::Completions, LoadApi::Chat}) {
    const AnswerRecord whole = readInPieces(input, input.size(), api);
    const AnswerRecord pieces = readInPieces(input, 3, api);
    expect(whole.text == pieces.text && whole.failure == pieces.failure &&
               whole.outputTokens == pieces.outputTokens &&
               whole.promptTokens == pieces.promptTokens,
           "answers do not depend on the pieces");
    expect(whole.failure.find('\n') == std::string::npos,
           "a failure is told in one line");
    expect(whole.outputTokens >= 0 && whole.promptTokens >= 0,
           "numbers of tokens are not negative");
  }
}

static std::vector<std::string> answerSeeds() {
  const std::string usage =
      R"("usage":{"prompt_tokens":3,"completion_tokens":2,)"
      R"("prompt_tokens_details":{"cached_tokens":1}})";
  return {
      "\xEF\xBB\xBF: hello\r\nevent: x\ndata: {\"choices\":[{\"text\":\"a\"}]}"
      "\n\nid: 7\rretry: 5\rdata:{\"choices\":[{\"text\":\"\\u00e9\",\r\ndata: "
      "\"finish_reason\":\"stop\"}]}\r\n\r\ndata: {\"choices\":[]," +
          usage + "}\n\ndata: [DONE]\n\n",
      R"(data: {"choices":[{"delta":{"role":"assistant","content":""}}]})"
      "\n\n"
      R"(data: {"choices":[{"delta":{"content":"a","reasoning":"b"}}]})"
      "\n\n"
      R"(data: {"choices":[{"delta":{"tool_calls":[]},"finish_reason":)"
      R"("length"}],)" +
          usage + "}\n\ndata: [DONE]\n\n",
      "data: {\"error\":{\"message\":\"no\\nmemory\"}}\n\n",
      "data: {\n\n",
      "!{\"error\":{\"message\":\"the queue is full\"}}",
      "!{\"detail\":\"busy\"}",
      "!{\"error\":\"busy\"}",
      "not a stream",
      "data: {\"choices\":[{\"text\":\"a\"}]}\n\n",
      "data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: [DONE]\n\n",
      "data: [DONE]\n\n"};
}

static void readPrompts(std::string_view input) {
  const std::string path = write("prompts.jsonl", input);
  for (LoadApi api : {LoadApi::Completions, LoadApi::Chat}) {
    auto list = readConversations(path, 3, 8, api);
    if (!list) {
      checkStatus(list.status());
      continue;
    }
    expect(list->size() == 3, "there are as many as were asked for");
    LoadTarget target;
    for (const Conversation &each : *list)
      expect(Json::accept(requestBody(target, api, each.front().content,
                                      each.front().maxTokens)),
             "requests are JSON");
  }
}

static std::vector<std::string> promptSeeds() {
  return {"{\"prompt\":\"a\",\"output_tokens\":3}\n{\"prompt\":\"b\"}\r\n\n",
          "{\"prompt\":[1,2,3]}\n",
          "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n",
          "{\"output_tokens\":0}\n",
          "{\"prompt\":[]}\n",
          "\n",
          "[1]\n",
          ""};
}

std::vector<Target> fuzz::clientTargets() {
  return {{"event-stream", "the answer of a server", readAnswer, answerSeeds},
          {"prompts", "a file of prompts of `llmir bench`", readPrompts,
           promptSeeds}};
}

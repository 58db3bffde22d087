//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What clients send to `llmir serve`: the bodies of requests, by route, and the
// bytes of connections.
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "../Server/ServerHarness.h"
#include "Server/HttpConnection.h"
#include "llmir/Server/ApiError.h"
#include "llmir/Server/HttpTarget.h"
#include "llmir/Support/Text.h"

#include <boost/asio/io_context.hpp>
#include <sys/socket.h>
#include <unistd.h>

using namespace llmir;
using namespace llmir::fuzz;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

namespace {
/// Waits for an answer and checks it.
class RecordedExchange final : public HttpExchange {
public:
  explicit RecordedExchange(std::string body) {
    received.method = "POST";
    received.body = std::move(body);
  }
  const HttpRequest &request() const override { return received; }
  void answer(int code, std::string_view, std::string body,
              HttpHeaders) override {
    status = code;
    text = std::move(body);
    end();
  }
  void begin(int code, std::string_view) override { status = code; }
  bool write(std::string_view part) override {
    streams = true;
    text += part;
    return true;
  }
  void end() override {
    std::lock_guard<std::mutex> lock(mutex);
    expect(!isComplete, "a request is answered once");
    isComplete = true;
    changed.notify_all();
  }
  void whenGone(std::function<void()>) override {}
  bool isGone() const override { return false; }
  void abandon() override { expect(false, "no answer is abandoned"); }
  void note(std::string, std::string) override {}

  void check();

private:
  HttpRequest received;
  std::mutex mutex;
  std::condition_variable changed;
  bool isComplete = false, streams = false;
  int status = 0;
  std::string text;
};
} // namespace

void RecordedExchange::check() {
  std::unique_lock<std::mutex> lock(mutex);
  expect(changed.wait_for(lock, std::chrono::seconds(20),
                          [&] { return isComplete; }),
         "a request is answered");
  expect(isValidUtf8(text), "an answer is UTF-8");
  if (streams) {
    expect(status == 200 && endsWith(text, "\n\n"), "events are complete");
    return;
  }
  const Json body = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  expect(!body.is_discarded(), "an answer is JSON");
  if (status == 200)
    return;
  expect(status == 400 || status == 404 || status == 429,
         "wrong requests are the client's fault");
  expect(body.contains("error") && body["error"]["message"].is_string() &&
             body["error"]["code"].is_string(),
         "an error has OpenAI's form");
}

namespace {
/// A server of a small model, and its routes that take bodies.
class BodyServer {
public:
  explicit BodyServer(test::HandmadeServer::Kind kind)
      : server(smallTokenizer(), test::handwrittenStep, kind),
        routes(server.api.routes()) {
    for (const HttpRoute &route : routes.all())
      if (route.method == "POST")
        posts.push_back(&route);
  }

  /// The input's first byte chooses the route.
  void answer(std::string_view input) {
    if (input.empty())
      return;
    const auto choice = static_cast<unsigned char>(input[0]) % posts.size();
    const auto exchange =
        std::make_shared<RecordedExchange>(std::string(input.substr(1)));
    posts[choice]->handler(exchange);
    exchange->check();
  }

private:
  test::HandmadeServer server;
  RouteTable routes;
  std::vector<const HttpRoute *> posts;
};
} // namespace

static void answerBody(std::string_view input) {
  static BodyServer server(test::HandmadeServer::Kind::Generates);
  server.answer(input);
}

static void answerEmbeddings(std::string_view input) {
  static BodyServer server(test::HandmadeServer::Kind::Embeds);
  server.answer(input);
}

/// Requests for chats and texts whose answers are constrained.
static void addConstrained(std::vector<std::string> &seeds) {
  const std::string chat =
      R"({"messages": [{"role": "user", "content": "a"}], "max_tokens": 2, )";
  const std::string text = R"({"prompt": "a", "max_tokens": 2, )";
  for (const char *field :
       {R"("response_format": {"type": "json_object"})",
        R"("response_format": {"type": "text"})",
        R"("response_format": {"type": "json_schema", "json_schema": {"name":)"
        R"( "n", "strict": true, "schema": {"type": "integer"}}})",
        R"("structured_outputs": {"json": {"type": "boolean"},)"
        R"( "disable_any_whitespace": true})",
        R"("structured_outputs": {"regex": "[ab]+"})",
        R"("structured_outputs": {"choice": ["a", "b"]})",
        R"("structured_outputs": {"grammar": "root ::= \"a\""})",
        R"("guided_json": "{}")", R"("guided_regex": "a|b")",
        R"("guided_choice": ["a"])", R"("guided_grammar": "root ::= [a-c]")",
        R"("guided_choice": [], "guided_regex": "a")"}) {
    seeds.push_back(std::string(1, '\0') + text + field + "}");
    seeds.push_back(std::string(1, '\1') + chat + field + "}");
  }
  const std::string tools =
      R"("tools": [{"type": "function", "function": {"name": "f",)"
      R"( "parameters": {"type": "object"}}}], "tool_choice": )";
  for (const char *choice :
       {R"("none")", R"("required")", R"("auto")", R"("some")",
        R"({"type": "function", "function": {"name": "f"}})",
        R"({"type": "function", "function": {"name": "g"}})"})
    for (const char *stream : {"true", "false"})
      seeds.push_back(std::string(1, '\1') + chat + tools + choice +
                      ", \"stream\": " + stream + "}");
  seeds.push_back(
      std::string(1, '\2') +
      R"({"input": "a", "text": {"format": {"type": "json_schema", "name": "n",)"
      R"( "schema": {"type": "null"}}}, "max_output_tokens": 3})");
}

/// One further field each, valid or not.
static void addFields(std::vector<std::string> &seeds) {
  for (
      const char *field :
      {R"("allowed_token_ids": [1, 2])",
       R"("bad_words": ["a"])",
       R"("best_of": 2)",
       R"("echo": true)",
       R"("ignore_eos": true, "min_tokens": 1)",
       R"("include_stop_str_in_output": true, "stop": ["a", "b"])",
       R"("frequency_penalty": 1, "presence_penalty": -1)",
       R"("repetition_penalty": 1.1, "min_p": 0.1, "top_k": 4, "top_p": 0.5)",
       R"("logit_bias": {"1": 101, "x": 2})",
       R"("logprobs": 21)",
       R"("n": 0)",
       R"("priority": 3, "user": "u", "seed": -1)",
       R"("prompt_logprobs": 1)",
       R"("stop": 3)",
       R"("stop_token_ids": [-1])",
       R"("suffix": "x")",
       R"("skip_special_tokens": false, "spaces_between_special_tokens": true)",
       R"("stream": true, "n": 2, "stop": "q")",
       R"("stream_options": {"include_usage": true})",
       R"("temperature": 9)",
       R"("use_beam_search": true)",
       R"("return_tokens_as_token_ids": true, "logprobs": 1)",
       R"("unknown": 1)",
       R"("cache_salt": "")",
       R"("metadata": {"a": "b"}, "store": false)",
       R"("model": "none")"}) {
    seeds.push_back(std::string(1, '\0') +
                    R"({"prompt": "abc", "max_tokens": 3, )" + field + "}");
    seeds.push_back(
        std::string(1, '\1') +
        R"({"messages": [{"role": "developer", "content": "a"},)"
        R"( {"role": "user", "content": [{"type": "text", "text": "b"}]}],)"
        R"( "max_tokens": 3, "reasoning_effort": "low", "documents": [],)"
        R"( "stream": true, "top_logprobs": 2, "logprobs": true, )" +
        field + "}");
  }
  for (const char *messages :
       {R"([{"role": "user", "content": [{"type": "image_url", "image_url":)"
        R"( {"url": "x"}}]}])",
        R"([{"role": "none", "content": "a"}])", "[]", R"([{"role": "user"}])",
        R"([{"role": "assistant", "content": "a"}], "continue_final_message":)"
        R"( true, "add_generation_prompt": false)"})
    seeds.push_back(std::string(1, '\1') + R"({"messages": )" + messages + "}");
}

/// One for each route.
static std::vector<std::string> seedsOfRoutes() {
  // In the order of ApiServer::routes().
  const char *const bodies[] = {
      R"({"prompt": ["in the", [1, 2]], "max_tokens": 3, "n": 2, "stop": "q",)"
      R"( "logprobs": 2, "seed": 1, "logit_bias": {"3": 1.5}, "stream": true,)"
      R"( "stream_options": {"include_usage": true}, "cache_salt": "a"})",
      R"({"messages": [{"role": "system", "content": "a"}, {"role": "user",)"
      R"( "content": [{"type": "text", "text": "b"}]}, {"role": "assistant",)"
      R"( "tool_calls": [{"id": "c", "type": "function", "function": {"name":)"
      R"( "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c",)"
      R"( "content": "d"}], "tools": [{"type": "function", "function": {"name":)"
      R"( "f", "parameters": {"type": "object", "properties": {"x": {"type":)"
      R"( "integer"}}}}}], "tool_choice": "auto", "max_completion_tokens": 4,)"
      R"( "top_logprobs": 1, "logprobs": true, "temperature": 0.5})",
      R"({"input": [{"role": "user", "content": [{"type": "input_text",)"
      R"( "text": "a"}]}, {"type": "function_call", "call_id": "c", "name":)"
      R"( "f", "arguments": "{}"}, {"type": "function_call_output", "call_id":)"
      R"( "c", "output": "d"}], "instructions": "b", "max_output_tokens": 2,)"
      R"( "tools": [{"type": "function", "name": "f", "parameters": {}}],)"
      R"( "stream": true})",
      R"({"input": ["a", "b"], "encoding_format": "base64", "model": "m"})",
      R"({"text": "a", "sampling_params": {"max_new_tokens": 2, "top_k": 3,)"
      R"( "min_new_tokens": 1, "stop_token_ids": [7]}, "stream": false})",
      R"({"prompt": "abc", "add_special_tokens": false,)"
      R"( "return_token_strs": true})",
      R"({"tokens": [1, 2, 3]})",
      R"({"messages": [{"role": "user", "content": "a"}],)"
      R"( "add_generation_prompt": true, "chat_template_kwargs": {"a": 1}})"};
  std::vector<std::string> seeds;
  for (const char *body : bodies)
    seeds.push_back(std::string(1, static_cast<char>(seeds.size())) + body);
  return seeds;
}

static std::vector<std::string> bodySeeds() {
  std::vector<std::string> seeds = seedsOfRoutes();
  addConstrained(seeds);
  addFields(seeds);
  return seeds;
}

static std::vector<std::string> embeddingSeeds() {
  std::vector<std::string> seeds = seedsOfRoutes();
  const std::string ids = std::string(600, '1'); // Without commas: one id.
  std::string many = "1";
  for (int i = 0; i < 300; ++i)
    many += ",1";
  for (const std::string &body :
       {std::string(R"({"input": "a"})"),
        std::string(
            R"({"input": ["a", "in the"], "encoding_format": "float"})"),
        std::string(R"({"input": [1, 2, 3], "dimensions": 50, "user": "u"})"),
        std::string(R"({"input": [[1, 2], [3]], "model": "handmade"})"),
        std::string(R"({"input": "a", "encoding_format": "base64"})"),
        std::string(R"({"input": "a", "encoding_format": "int8"})"),
        std::string(R"({"input": "a", "dimensions": 7})"),
        std::string(R"({"input": ""})"), std::string(R"({"input": []})"),
        std::string(R"({"input": [[]]})"), std::string(R"({"input": [99999]})"),
        std::string(R"({"input": [-1, 1.5]})"),
        std::string(R"({"input": ["a", [1]]})"),
        std::string(R"({"input": "a", "prompt": "b"})"),
        std::string(R"({"model": "none", "input": "a"})"),
        "{\"input\": [" + ids + "]}", "{\"input\": [" + many + "]}",
        "{\"input\": [[" + many + "], [1], [2, 3]]}"})
    seeds.push_back(std::string(1, '\3') + body);
  return seeds;
}

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

namespace {
/// Connections in one thread, which runs what can be run.
class OneThreadHost final : public http::ConnectionHost {
public:
  OneThreadHost() {
    options.maxHeaderBytes = 1024;
    options.maxBodyBytes = 4096;
    options.maxTotalBodyBytes = 8192;
    options.corsOrigins = {"https://a.example"};
    options.log = [](const HttpLogEntry &) {};
  }
  const HttpServerOptions &settings() const override { return options; }
  http::asio::io_context &io() override { return context; }
  bool admits(const HttpRequest &request,
              const http::RequestHead &head) const override {
    return request.path != "/no" && !hasValidKey(head.authorization, {"wrong"});
  }
  void dispatch(const std::shared_ptr<HttpExchange> &exchange,
                const http::RequestHead &head) override;
  bool addBodyBytes(int64_t bytes) override {
    bodyBytes += bytes;
    return bytes <= 0 ||
           bodyBytes <= static_cast<int64_t>(options.maxTotalBodyBytes);
  }
  bool isDraining() const override { return false; }
  void exchangeBegan() override { ++exchanges; }
  void exchangeEnded() override { --exchanges; }
  void connectionBegan() override { ++connections; }
  void connectionEnded() override { --connections; }

  HttpServerOptions options;
  http::asio::io_context context{1};
  int64_t bodyBytes = 0, exchanges = 0, connections = 0;
};
} // namespace

void OneThreadHost::dispatch(const std::shared_ptr<HttpExchange> &exchange,
                             const http::RequestHead &head) {
  const HttpRequest &request = exchange->request();
  expect(request.body.size() <= options.maxBodyBytes, "bodies are limited");
  (void)percentDecoded(request.path);
  (void)isOwnOrigin(head.origin, head.host);
  if (!admits(request, head))
    return answerError(*exchange, {401, "no", "invalid_api_key", ""});
  if (request.path == "/memory")
    throw std::bad_alloc();
  if (request.path == "/forgotten")
    return; // Nobody answers.
  if (request.path != "/stream")
    return exchange->answer(200, "text/plain", request.body);
  exchange->begin(200, "text/event-stream");
  exchange->write("data: " + std::to_string(request.body.size()) + "\n\n");
  exchange->end();
}

/// Runs handlers until there are none, and reads what was sent.
static void settle(OneThreadHost &host, int client, std::string &output) {
  char part[4096];
  for (bool isBusy = true; isBusy;) {
    host.context.restart();
    isBusy = host.context.poll() > 0;
    ssize_t count = 0;
    while ((count = recv(client, part, sizeof part, MSG_DONTWAIT)) > 0) {
      output.append(part, static_cast<size_t>(count));
      isBusy = true;
    }
  }
}

/// The first byte is the size of the pieces in which the rest arrives.
static void serveBytes(std::string_view input) {
  if (input.empty())
    return;
  const size_t most = 1 + static_cast<unsigned char>(input[0]);
  input.remove_prefix(1);
  OneThreadHost host;
  int ends[2];
  expect(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "there are sockets");
  std::string output;
  {
    const auto connection = http::makeConnection(
        host, http::asio::ip::tcp::socket(host.context,
                                          http::asio::ip::tcp::v4(), ends[0]));
    connection->start();
  }
  while (!input.empty()) {
    const size_t size = std::min(most, input.size());
    // A connection that was closed takes no more.
    if (send(ends[1], input.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
      break;
    input.remove_prefix(size);
    settle(host, ends[1], output);
  }
  shutdown(ends[1], SHUT_WR);
  settle(host, ends[1], output);
  close(ends[1]);
  settle(host, ends[1], output);
  expect(output.empty() || startsWith(output, "HTTP/1.1 "),
         "answers are those of HTTP");
  expect(host.connections == 0 && host.exchanges == 0 && host.bodyBytes == 0,
         "nothing remains of a connection");
}

static std::vector<std::string> connectionSeeds() {
  auto pieces = [](int size, const std::string &text) {
    return std::string(1, static_cast<char>(size - 1)) + text;
  };
  return {
      pieces(7, "POST /v1/completions HTTP/1.1\r\nHost: a:1\r\nContent-Length: "
                "5\r\nAuthorization: Bearer k\r\n\r\nhelloGET /stream HTTP/1.1"
                "\r\nHost: a\r\nConnection: close\r\n\r\n"),
      pieces(100, "POST /stream?a=b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
                  "chunked\r\nExpect: 100-continue\r\n\r\n5;x=y\r\nhello\r\n0"
                  "\r\nTrailer: x\r\n\r\n"),
      pieces(1, "GET http://b:80/no%41 HTTP/1.0\r\nOrigin: https://a.example"
                "\r\n\r\n"),
      pieces(30,
             "OPTIONS * HTTP/1.1\r\nHost: [::1]:8080\r\nOrigin: http://[::1]"
             ":8080\r\nAccess-Control-Request-Headers: x\r\n\r\nHEAD / "
             "HTTP/1.1\r\n\r\n"),
      pieces(256, "GET /memory HTTP/1.1\r\n\r\n"),
      pieces(256, "GET /forgotten HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"),
      pieces(256, "POST /no HTTP/1.1\r\nContent-Length: 9\r\n\r\n"),
      pieces(256, "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"),
      pieces(256,
             "GET / HTTP/1.1\r\nA: " + std::string(1200, 'x') + "\r\n\r\n"),
  };
}

std::vector<Target> fuzz::serverTargets() {
  return {{"server-body", "a byte that chooses a route, and a request's body",
           answerBody, bodySeeds},
          {"server-embeddings", "the same for a model that embeds texts",
           answerEmbeddings, embeddingSeeds},
          {"server-bytes", "a size of pieces, and what a client sends in them",
           serveBytes, connectionSeeds}};
}

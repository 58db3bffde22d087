// RUN: llmir-server-tests --gtest_filter='ServerMemory.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every allocation of the server fails once: the request gets an error in
// OpenAI's form, or its stream ends, and the server goes on.
//
//===----------------------------------------------------------------------===//

#include "FailingAllocation.h"
#include "ServerHarness.h"
#include "llmir/Support/Json.h"

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

using namespace llmir;
using namespace llmir::test;

/// Allocations of the handwritten step do not fail: the generated code that it
/// replaces makes none.
static void sparedStep(const LLMIRStepContext *context, int64_t worker,
                       int64_t workers) {
  const SparedAllocations spared;
  handwrittenStep(context, worker, workers);
}

/// What a server sends until it closes the connection; empty if it does not
/// within ten seconds.
static std::string ask(int64_t port, const std::string &path,
                       const std::string &body) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  timeval limit{10, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) ==
      0) {
    const std::string text =
        "POST " + path +
        " HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body;
    (void)!write(fd, text.data(), text.size());
    char part[4096];
    ssize_t count = 0;
    while ((count = read(fd, part, sizeof part)) > 0)
      answer.append(part, static_cast<size_t>(count));
    // Of a connection that cannot be accepted, there is none.
    EXPECT_FALSE(count < 0 && errno == EAGAIN) << "no end of: " << answer;
  }
  close(fd);
  return answer;
}

static int statusOf(const std::string &answer) {
  return answer.size() > 12 ? std::atoi(answer.c_str() + 9) : 0;
}

/// The object after the headers of an answer as a whole.
static Json bodyOf(const std::string &answer) {
  const size_t start = answer.find("\r\n\r\n");
  if (start == std::string::npos)
    return {};
  return Json::parse(answer.substr(start + 4), nullptr, false);
}

static void expectIdle(const Engine &engine) {
  for (int i = 0; i < 10000; ++i) {
    const EngineStatistics counts = engine.statistics();
    if (counts.waiting + counts.running + counts.cache.sequences == 0)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  expectAllAvailable(engine);
}

/// The destructor of nlohmann's JSON allocates, 16 bytes for each element, and
/// must not throw: what is smaller than this, more than the 16 elements of the
/// answers here, is taken to be available.
constexpr size_t leastBytes = 257;

/// Sends a request with each allocation failing; returns how often an answer
/// was an error.
static int64_t failEach(HandmadeServer &server, const std::string &body,
                        bool streams) {
  int64_t errors = 0, number = 1;
  for (bool hasFailed = true; hasFailed; ++number) {
    std::string answer;
    {
      const FailingAllocation failing(number, leastBytes);
      SCOPED_TRACE(number);
      answer = ask(server.http->port(), "/v1/completions", body);
      expectIdle(*server.engine);
      hasFailed = failing.hasFailed();
    }
    const int status = statusOf(answer);
    if (status == 500 || status == 503) {
      const Json error = bodyOf(answer);
      EXPECT_TRUE(error.is_object() && error.contains("error") &&
                  error["error"]["type"] == "server_error")
          << answer;
      ++errors;
    } else if (streams && status == 200) {
      errors += answer.find("server_error") != std::string::npos ||
                answer.find("[DONE]") == std::string::npos;
    } else if (!answer.empty()) { // Otherwise it could not be accepted.
      EXPECT_EQ(status, 200) << answer;
      EXPECT_EQ(bodyOf(answer)["usage"]["completion_tokens"], 5) << answer;
    }
  }
  EXPECT_GT(number, 10);
  return errors;
}

TEST(ServerMemory, EveryAllocationMayFail) {
  HandmadeServer server(std::nullopt, sparedStep);
  if (!server.http)
    GTEST_SKIP() << "built without Boost";
  const std::string body =
      R"({"input_ids": [[1, 2, 3], [4, 5]], "sampling_params": {)"
      R"("max_new_tokens": 5, "n": 2, "temperature": 0}})";
  const auto answerIds = [&] {
    Json ids = Json::array();
    for (const Json &choice :
         bodyOf(ask(server.http->port(), "/generate", body)))
      ids.push_back(choice["output_ids"]);
    return ids;
  };
  const Json good = answerIds();
  ASSERT_EQ(good.size(), 4u) << good;
  EXPECT_GT(failEach(server, R"({"prompt": [1, 2, 3], "max_tokens": 5})",
                     /*streams=*/false),
            5);
  EXPECT_GT(failEach(server,
                     R"({"prompt": [1, 2, 3], "max_tokens": 5, "n": 2,)"
                     R"( "stream": true})",
                     /*streams=*/true),
            5);
  EXPECT_EQ(answerIds(), good);
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Answers the requests of OpenAI's API, of vLLM, SGLang and llama.cpp, with one
// model.
//
//   ApiServer api("0.1.0");
//   auto http = HttpServer::start(options, api.routes());
//   ... load the model, with api.stepObserver() in the engine's options
//   api.serve(std::move(model), *http);
//   http->waitForSignal();
//   api.shutDown(*http, std::chrono::seconds(30));
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_APISERVER_H
#define LLMIR_SERVER_APISERVER_H

#include "llmir/Server/HttpServer.h"
#include "llmir/Server/Metrics.h"
#include "llmir/Server/ServedModel.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace llmir {

class ApiServer {
public:
  /// `version` is that of the program.
  explicit ApiServer(std::string version);
  /// The HTTP server must have ended.
  ~ApiServer();
  ApiServer(const ApiServer &) = delete;
  ApiServer &operator=(const ApiServer &) = delete;

  /// The routes refer to this object. Before serve(), they answer 503.
  std::vector<HttpRoute> routes();

  /// For EngineOptions::onStep.
  std::function<void(const StepRecord &)> stepObserver();

  /// From now on, requests are answered, in part by the workers of `http`,
  /// which has the routes.
  void serve(std::unique_ptr<ServedModel> model, HttpServer &http);

  /// Refuses further requests, waits until the others have been answered, but
  /// not longer than `limit` or until a signal, and cancels the rest. True: all
  /// were answered.
  bool shutDown(HttpServer &http, std::chrono::milliseconds limit);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace llmir

#endif // LLMIR_SERVER_APISERVER_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A server whose model has a handwritten step.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_SERVER_SERVERHARNESS_H
#define LLMIR_TEST_SERVER_SERVERHARNESS_H

#include "Serving/EngineHarness.h"
#include "llmir/Server/ApiServer.h"
#include "llmir/Server/HttpServer.h"

namespace llmir::test {

struct HandmadeServer {
  ApiServer api{"test"};
  std::unique_ptr<HttpServer> http; ///< Null in builds without Boost.
  Engine *engine = nullptr;         ///< Null if the model embeds.

  enum class Kind { Generates, Embeds };

  /// Without a tokenizer, prompts and answers are token ids.
  explicit HandmadeServer(std::optional<Tokenizer> tokenizer = std::nullopt,
                          LLMIRStepFunction step = handwrittenStep,
                          Kind kind = Kind::Generates) {
    HttpServerOptions options;
    options.port = 0;
    auto started = HttpServer::start(options, api.routes());
    if (!started)
      return;
    http = std::move(*started);
    auto model = std::make_unique<ServedModel>();
    model->names = {"handmade"};
    if (kind == Kind::Embeds) {
      addEmbedder(*model, step);
    } else {
      EngineOptions engineOptions;
      engineOptions.onStep = api.stepObserver();
      model->engine =
          makeEngine(/*kvBlocks=*/40, engineOptions, withoutEnds(), step);
      engine = model->engine.get();
    }
    if (tokenizer)
      addTexts(*model, std::move(*tokenizer));
    api.serve(std::move(model), *http);
  }
  ~HandmadeServer() {
    if (http)
      api.shutDown(*http, std::chrono::seconds(5));
  }

private:
  /// Its rows are those of the texts' last tokens.
  static void addEmbedder(ServedModel &model, LLMIRStepFunction step) {
    ArtifactInfo info = sampleInfo();
    info.pooling = Pooling::Last;
    info.embeddingSize = info.vocabSize;
    model.embeddingExecutor = makeExecutor(info, /*kvBlocks=*/40, step);
    auto embedder = Embedder::create(*model.embeddingExecutor);
    EXPECT_TRUE(embedder) << embedder.status().message();
    model.embedder = *embedder;
  }
  static void addTexts(ServedModel &model, Tokenizer tokenizer) {
    model.tokenizer = std::move(tokenizer);
    ModelTemplates templates;
    templates.set("default",
                  "{% for m in messages %}{{ m.content }}{% endfor %}");
    model.prompts.tokenizer = &*model.tokenizer;
    model.prompts.maxPromptBytes =
        maxPromptBytes(*model.tokenizer, model.contextLength());
    model.prompts.chat =
        ChatPrompt::create(std::move(templates), {}, &*model.tokenizer);
    auto format = ChatOutputFormat::choose("", "hermes", "qwen3");
    EXPECT_TRUE(format);
    model.chatFormat = *format;
  }
};

} // namespace llmir::test

#endif // LLMIR_TEST_SERVER_SERVERHARNESS_H

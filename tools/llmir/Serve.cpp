//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir serve: answers requests over HTTP.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"
#include "LoadedModel.h"

#include "llmir/Server/ApiServer.h"
#include "llmir/Server/LogLine.h"
#include "llmir/Support/Text.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct ServeOptions {
  ModelRequest model;
  ExecutionRequest execution;
  SamplingRequest sampling;
  TemplateRequest chatTemplate;
  HttpServerOptions http;
  EngineOptions engine;
  std::vector<std::string> names;
  std::optional<int64_t> maxTokens;
  std::string toolCallParser = "auto", reasoningParser = "auto";
  std::string logFormat = "text";
  int64_t maxBodyMiB = 16, streamBufferKiB = 1024, maxConnections = 2048;
  int64_t readTimeout = 60, writeTimeout = 60, streamPing = 15,
          drainTimeout = 30, requestTimeout = 0;
};

/// One invocation of `llmir serve`.
class Serve {
public:
  explicit Serve(const ServeOptions &options)
      : options(options),
        format(options.logFormat == "json" ? LogFormat::Json : LogFormat::Text),
        api(LLMIR_VERSION) {}
  Outcome operator()();

private:
  HttpServerOptions httpOptions() const;
  Expected<std::unique_ptr<ServedModel>> load();
  Status addModel(LoadedModel loaded, ServedModel &model);
  void describe(const LoadedModel &loaded) const;
  void say(const std::string &message) const {
    write(logLine(message, format, std::time(nullptr)));
  }
  static void write(const std::string &line) {
    std::fwrite(line.data(), 1, line.size(), stderr);
  }

  const ServeOptions &options;
  const LogFormat format;
  const Stopwatch watch;
  std::shared_ptr<const Artifact> artifact;
  ApiServer api;
  std::unique_ptr<HttpServer> http; ///< Uses `api`.
};

} // namespace

namespace {
/// Memory that is given back when there is no other. The request that wants
/// much then fails, and what is small, such as what destructors of JSON
/// allocate, which must not fail, succeeds.
class MemoryReserve {
public:
  static void use() {
    fill();
    std::set_new_handler([] {
      void *memory = reserve.exchange(nullptr);
      if (!memory)
        throw std::bad_alloc();
      std::free(memory);
    });
  }
  /// After a request; it may have been used.
  static void fill() {
    if (!reserve)
      std::free(reserve.exchange(std::malloc(size_t(16) << 20)));
  }

private:
  static inline std::atomic<void *> reserve{nullptr};
};
} // namespace

HttpServerOptions Serve::httpOptions() const {
  HttpServerOptions http = options.http;
  http.maxBodyBytes = static_cast<size_t>(options.maxBodyMiB) << 20;
  http.maxTotalBodyBytes =
      std::max(http.maxTotalBodyBytes, 4 * http.maxBodyBytes);
  http.maxQueuedBytes = static_cast<size_t>(options.streamBufferKiB) << 10;
  http.maxConnections = static_cast<size_t>(options.maxConnections);
  http.readTimeout = std::chrono::seconds(options.readTimeout);
  http.writeTimeout = std::chrono::seconds(options.writeTimeout);
  http.pingInterval = std::chrono::seconds(options.streamPing);
  http.log = [format = format](const HttpLogEntry &entry) {
    MemoryReserve::fill();
    write(logLine(entry, format, std::time(nullptr)));
  };
  return http;
}

void Serve::describe(const LoadedModel &loaded) const {
  const Executor &executor = *loaded.executor;
  const PagedKVCache &cache = loaded.executor->cache();
  const int64_t pool = cache.getTotalMemoryUsage();
  const auto bytes = [](int64_t count) {
    return formatBytes(static_cast<double>(count));
  };
  std::string windows;
  for (const auto &window : cache.windows())
    windows += ", " + std::to_string(window.numBlocks()) + " for windows of " +
               std::to_string(window.window());
  say("weights " +
      bytes(static_cast<int64_t>(loaded.artifact->weights().size())) +
      ", KV cache up to " + bytes(pool) + " (" +
      std::to_string(cache.blocks().numBlocks()) + " blocks of " +
      std::to_string(cache.getBlockSize()) + " tokens" + windows +
      "), workspace " + bytes(executor.memoryBytes() - pool) + "; " +
      std::to_string(executor.threads()) + " threads of " + executor.level());
}

/// Makes a loaded model one that is served.
Status Serve::addModel(LoadedModel loaded, ServedModel &model) {
  const ArtifactInfo &info = loaded.artifact->info();
  model.names = options.names;
  if (model.names.empty())
    model.names.push_back(info.modelName);
  model.tokenizer = std::move(loaded.tokenizer);
  model.prompts =
      promptModel(*loaded.artifact, model.tokenizer, options.chatTemplate);
  const std::string source(
      model.prompts.chat ? model.prompts.chat->source(/*hasTools=*/true) : "");
  LLMIR_ASSIGN_OR_RETURN(
      model.chatFormat, ChatOutputFormat::choose(source, options.toolCallParser,
                                                 options.reasoningParser));
  // As in vLLM, whose requests sample unless they say otherwise.
  GenerationDefaults generation = info.generation;
  generation.doSample = true;
  model.defaults.sampling = options.sampling.params(generation);
  model.defaults.maxTokens = options.maxTokens.value_or(-1);
  model.hasSeed = options.sampling.seed.has_value();
  if (options.requestTimeout > 0)
    model.requestTimeout = std::chrono::seconds(options.requestTimeout);
  if (info.pooling != Pooling::None) {
    model.embeddingExecutor = std::move(loaded.executor);
    Expected<Embedder> embedder = Embedder::create(*model.embeddingExecutor);
    if (!embedder)
      return embedder.takeStatus();
    model.embedder = *embedder;
  } else {
    EngineOptions engine = options.engine;
    engine.onStep = api.stepObserver();
    LLMIR_ASSIGN_OR_RETURN(model.engine,
                           Engine::create(std::move(loaded.executor), engine));
  }
  if (model.tokenizer)
    model.prompts.maxPromptBytes =
        maxPromptBytes(*model.tokenizer, model.contextLength());
  return Status::ok();
}

Expected<std::unique_ptr<ServedModel>> Serve::load() {
  Expected<ResolvedModel> resolved = resolveModel(options.model);
  if (!resolved)
    return resolved.takeStatus();
  if (resolved->compiled)
    say("compiled in " + formatNumber(resolved->compileMs / 1000, 2) + " s");
  Stopwatch loading;
  ExecutionRequest execution = options.execution;
  if (resolved->artifact->info().pooling == Pooling::None)
    execution.cacheUse = CacheUse::ManyTexts;
  Expected<LoadedModel> loaded =
      loadModel(*resolved, options.model.level, execution);
  if (!loaded)
    return loaded.takeStatus();
  artifact = loaded->artifact;
  say("loaded in " + formatNumber(loading.milliseconds(), 0) + " ms");
  describe(*loaded);
  auto model = std::make_unique<ServedModel>();
  LLMIR_RETURN_IF_ERROR(addModel(std::move(*loaded), *model));
  std::string limits =
      "longest context " + std::to_string(model->contextLength()) + " tokens";
  if (model->engine)
    limits +=
        "; " + std::to_string(model->engine->maxRunning()) +
        " sequences at once; tool calls: " +
        std::string(model->chatFormat.toolCallParser()) +
        ", reasoning: " + std::string(model->chatFormat.reasoningParser());
  say(limits);
  return model;
}

Outcome Serve::operator()() {
  if (Status flags = validateSamplingParams(options.sampling.params({}));
      !flags)
    return Outcome::usage(flags.cause(), flags.advice());
  MemoryReserve::use();
  Expected<std::unique_ptr<HttpServer>> started =
      HttpServer::start(httpOptions(), api.routes());
  if (!started)
    return Outcome::ofFlags(started.takeStatus());
  http = std::move(*started);
  const std::string address =
      (options.http.tlsCertificate.empty() ? "http://" : "https://") +
      options.http.host + ":" + std::to_string(http->port());
  say("listening on " + address);
  if (http->maxConnections() < httpOptions().maxConnections)
    say("at most " + std::to_string(http->maxConnections()) +
        " connections: raise the system's limit of open files (ulimit -n) for "
        "more");
  if (options.http.apiKeys.empty() && options.http.host != "127.0.0.1" &&
      options.http.host != "localhost" && options.http.host != "::1")
    say("anyone who reaches " + address +
        " can use the model: consider --api-key");
  Expected<std::unique_ptr<ServedModel>> model = load();
  if (!model)
    return Outcome::ofFlags(model.takeStatus());
  const std::string name = (*model)->names.front();
  http->catchSignals();
  api.serve(std::move(*model), *http);
  say("ready after " + formatNumber(watch.milliseconds() / 1000, 2) +
      " s: model '" + name + "' on " + address);
  http->waitForSignal();
  say("shutting down; waiting at most " + std::to_string(options.drainTimeout) +
      " s for requests");
  const bool wereAnswered =
      api.shutDown(*http, std::chrono::seconds(options.drainTimeout));
  http.reset();
  say(wereAnswered ? "all requests were answered"
                   : "the remaining requests were cancelled");
  return Status::ok();
}

static void addNetworkOptions(Command command, ServeOptions &options) {
  addOption(command, "--host", options.http.host,
            "address to listen on; 0.0.0.0: all (default: 127.0.0.1)");
  addOption(command, "--port", options.http.port,
            "port to listen on; 0: any free one (default: 8080)")
      .check(atLeast(0));
  addOption(command, "--api-key", options.http.apiKeys,
            "key that requests must have; several may be given")
      .separatedByCommas()
      .check(notEmpty());
  addOption(command, "--cors-origin", options.http.corsOrigins,
            "origin whose pages may use the server; *: all")
      .separatedByCommas()
      .check(notEmpty());
  addOption(command, "--tls-cert", options.http.tlsCertificate,
            "certificate (chain) for https, in PEM", "FILE");
  addOption(command, "--tls-key", options.http.tlsKey,
            "private key of the certificate, in PEM", "FILE");
}

static void addLimitOptions(Command command, ServeOptions &options) {
  addOption(command, "--max-num-seqs", options.engine.maxRunning,
            "sequences that are computed at once (default: as many as a step "
            "takes)")
      .check(atLeast(0));
  addOption(command, "--max-slowdown", options.engine.maxSlowdown,
            "how many times as long as without new prompts a step may take "
            "that generates text; inf: no limit (default: 1.75)",
            "FACTOR")
      .check(atLeast(1));
  addOption(command, "--max-waiting-requests",
            options.engine.maxWaitingRequests,
            "requests that may wait; more are refused (default: 1024)")
      .check(atLeast(1));
  addOption(command, "--max-waiting-tokens", options.engine.maxWaitingTokens,
            "tokens of their prompts (default: 1048576)")
      .check(atLeast(1));
  addOption(command, "--max-body", options.maxBodyMiB,
            "size of a request in MiB (default: 16)")
      .check(inRange(1, 1024));
  addOption(command, "--max-connections", options.maxConnections,
            "connections at once (default: 2048)")
      .check(atLeast(1));
  addOption(command, "--stream-buffer", options.streamBufferKiB,
            "KiB of a stream that wait for a slow client, before it is cut off "
            "(default: 1024)")
      .check(inRange(1, 1 << 20));
  addOption(command, "--stream-ping", options.streamPing,
            "seconds after which a silent stream gets a comment (default: 15)")
      .check(inRange(1, 86400));
  addOption(command, "--read-timeout", options.readTimeout,
            "seconds in which a request must be received (default: 60)")
      .check(inRange(1, 86400));
  addOption(command, "--write-timeout", options.writeTimeout,
            "seconds in which a client must take what is sent (default: 60)")
      .check(inRange(1, 86400));
  addOption(command, "--request-timeout", options.requestTimeout,
            "seconds after which a request is given up; 0, the default: never")
      .check(inRange(0, 31536000));
  addOption(command, "--drain-timeout", options.drainTimeout,
            "seconds that SIGTERM leaves to requests (default: 30)")
      .check(inRange(0, 86400));
}

void cli::addServeCommand(CommandLine &line) {
  auto options = std::make_shared<ServeOptions>();
  Command command = line.add(
      "serve", "Answer requests over HTTP, with OpenAI's API",
      "llmir serve models/demo --port 8080\n"
      "  curl localhost:8080/v1/completions -H 'Content-Type: "
      "application/json' \\\n"
      "    -d '{\"prompt\": \"In the beginning\", \"max_tokens\": 20}'");
  addModelOptions(command, options->model);
  addNetworkOptions(command, *options);
  addOption(command, "--served-model-name", options->names,
            "name of the model in requests; several may be given (default: "
            "that of its directory or file)")
      .check(notEmpty());
  addLimitOptions(command, *options);
  addOption(command, "-n,--max-tokens", options->maxTokens,
            "maximum tokens of requests without max_tokens (default: that of "
            "each API)")
      .check(atLeast(1));
  addSamplingOptions(command, options->sampling, /*otherwise=*/"1");
  addExecutionOptions(command, options->execution);
  addSharedCacheOption(command, options->execution);
  addTemplateOptions(command, options->chatTemplate);
  addOption(command, "--tool-call-parser", options->toolCallParser,
            "how the model writes calls of tools: auto (by its chat template), "
            "none, or a name of vLLM's");
  addOption(command, "--reasoning-parser", options->reasoningParser,
            "how the model writes its reasoning: auto, none, or a name");
  addOption(command, "--log-format", options->logFormat,
            "text or json: one line per request, without its text")
      .check(oneOf({"text", "json"}));
  line.onRun(command, withModel(options->model.model,
                                [options] { return Serve(*options)(); }));
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/ApiServer.h"

#include "Apis.h"
#include "CacheSalts.h"
#include "Embeddings.h"
#include "llmir/Server/HttpTarget.h"
#include "llmir/Server/WebPage.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <deque>

namespace llmir {

using namespace server;

using ExchangePtr = std::shared_ptr<HttpExchange>;

/// Before the name of a model.
static constexpr std::string_view modelsPath = "/v1/models/";
/// Steps that are remembered for the page.
static constexpr size_t mostSteps = 256;
/// Blocks that are described one by one.
static constexpr size_t mostBlocks = 65536;

struct ApiServer::State {
  explicit State(std::string version) : version(std::move(version)) {}

  ServedModel *readyModel(HttpExchange &exchange);
  template <typename Action>
  void withBody(const ExchangePtr &exchange, Action action);
  void answerWith(const ExchangePtr &exchange,
                  Expected<Json> (*read)(const RequestBody &, ServedModel &));
  HttpRoute get(const char *path, void (State::*handler)(const ExchangePtr &));
  HttpRoute post(const char *path, void (State::*handler)(const ExchangePtr &));

  void answerHealth(const ExchangePtr &exchange);
  void answerVersion(const ExchangePtr &exchange);
  void answerModels(const ExchangePtr &exchange);
  void answerModel(const ExchangePtr &exchange);
  void answerMetrics(const ExchangePtr &exchange);
  void answerEngine(const ExchangePtr &exchange);
  void answerPage(const ExchangePtr &exchange);
  void tokenize(const ExchangePtr &exchange);
  void detokenize(const ExchangePtr &exchange);
  void applyTemplate(const ExchangePtr &exchange);
  void embed(const ExchangePtr &exchange);
  void complete(const ExchangePtr &exchange) {
    generate(exchange, readCompletion);
  }
  void chat(const ExchangePtr &exchange) { generate(exchange, readChat); }
  void respond(const ExchangePtr &exchange) {
    generate(exchange, readResponse);
  }
  void generateNatively(const ExchangePtr &exchange) {
    generate(exchange, readGenerate);
  }

  using PlanReader = Expected<GenerationPlan> (*)(RequestBody &, ServedModel &);
  void generate(const ExchangePtr &exchange, PlanReader read);

  Json modelJson(const std::string &name, const ServedModel &model) const;
  Json engineJson(ServedModel &model, bool withBlocks);

  const std::string version;
  const Clock::time_point start = Clock::now();
  const std::time_t startTime = std::time(nullptr);

  std::mutex stepsMutex; ///< Of the following.
  std::deque<StepRecord> steps;

  const CacheSalts salts;
  Embeddings embeddings;
  std::atomic<ServerMetrics *> metrics{nullptr}; ///< Null before `model`.
  std::atomic<ServedModel *> model{nullptr};     ///< Null: it is being loaded.
  std::unique_ptr<ServerMetrics> ownedMetrics;
  std::unique_ptr<ServedModel> ownedModel; ///< Its engine uses the others.
};

//===----------------------------------------------------------------------===//
// What requests have in common
//===----------------------------------------------------------------------===//

/// The model; if it is not ready, the request is answered.
ServedModel *ApiServer::State::readyModel(HttpExchange &exchange) {
  ServedModel *ready = model;
  if (!ready)
    answerError(exchange,
                {503, "the model is being loaded", "loading_model", ""});
  return ready;
}

static ApiError noSuchModel(const std::string &name, const ServedModel &model) {
  return {404,
          "there is no model " + name + "; this server has '" +
              model.names.front() + "'",
          "model_not_found", "model"};
}

static bool hasName(const ServedModel &model, const std::string &name) {
  return std::find(model.names.begin(), model.names.end(), name) !=
         model.names.end();
}

/// The object of a request for this model; otherwise the request is answered.
static std::optional<RequestBody> bodyFor(HttpExchange &exchange,
                                          const ServedModel &model) {
  Expected<RequestBody> body = parseBody(exchange.request().body);
  if (!body) {
    ApiError error = ApiError::of(body.status());
    if (error.status == 400) {
      error.code = "invalid_json";
      error.param.clear();
    }
    answerError(exchange, error);
    return std::nullopt;
  }
  const Json *name = body->reader().find("model");
  if (name && !name->is_string()) {
    answerError(exchange, body->reader().unexpected("model", "a text"));
    return std::nullopt;
  }
  if (name && !hasName(model, name->get_ref<const std::string &>())) {
    answerError(exchange, noSuchModel(describeJson(*name), model));
    return std::nullopt;
  }
  return std::move(*body);
}

/// Calls action(body, model), unless the request is answered before.
template <typename Action>
void ApiServer::State::withBody(const ExchangePtr &exchange, Action action) {
  ServedModel *ready = readyModel(*exchange);
  if (!ready)
    return;
  if (std::optional<RequestBody> body = bodyFor(*exchange, *ready))
    action(*body, *ready);
}

void ApiServer::State::answerWith(const ExchangePtr &exchange,
                                  Expected<Json> (*read)(const RequestBody &,
                                                         ServedModel &)) {
  withBody(exchange, [&](const RequestBody &body, ServedModel &ready) {
    Expected<Json> answer = read(body, ready);
    if (!answer)
      return answerError(*exchange, answer.status());
    answerJson(*exchange, *answer);
  });
}

static ApiError notForThisModel(bool generates) {
  return {400,
          generates ? "the model generates text; it has no embeddings"
                    : "the model yields embeddings; it generates no text",
          "wrong_kind_of_model", "model"};
}

void ApiServer::State::generate(const ExchangePtr &exchange, PlanReader read) {
  withBody(exchange, [&](RequestBody &body, ServedModel &ready) {
    if (!ready.engine)
      return answerError(*exchange, notForThisModel(/*generates=*/false));
    Expected<GenerationPlan> plan = read(body, ready);
    if (!plan)
      return answerError(*exchange, plan.status());
    plan->fields.request.salt =
        salts.of(exchange->request().authorization, plan->cacheSalt);
    startGeneration(exchange, ready, *metrics, std::move(*plan));
  });
}

//===----------------------------------------------------------------------===//
// Other routes for the model
//===----------------------------------------------------------------------===//

void ApiServer::State::embed(const ExchangePtr &exchange) {
  withBody(exchange, [&](const RequestBody &body, ServedModel &ready) {
    if (!ready.embedder)
      return answerError(*exchange, notForThisModel(/*generates=*/true));
    embeddings.answer(*exchange, body, ready);
  });
}

static Status noTokenizer() {
  return Status(StatusCode::InvalidArgument, "the model has no tokenizer");
}

static Expected<Json> tokensOf(const RequestBody &body, ServedModel &model) {
  if (!model.tokenizer)
    return noTokenizer();
  const JsonReader reader = body.reader();
  LLMIR_RETURN_IF_ERROR(
      reader.checkKeys({"model", "prompt", "content", "add_special_tokens",
                        "add_special", "return_token_strs", "messages", "tools",
                        "add_generation_prompt", "chat_template_kwargs"}));
  std::string text;
  bool addsSpecial = false, withTexts = false;
  LLMIR_ASSIGN_OR_RETURN(withTexts,
                         reader.booleanOr("return_token_strs", false));
  if (reader.has("messages")) {
    LLMIR_ASSIGN_OR_RETURN(
        text, renderMessages(body.ordered, requestName, model.prompts));
  } else {
    LLMIR_ASSIGN_OR_RETURN(
        text, reader.string(reader.has("content") ? "content" : "prompt"));
    LLMIR_ASSIGN_OR_RETURN(addsSpecial,
                           reader.booleanOr(reader.has("add_special")
                                                ? "add_special"
                                                : "add_special_tokens",
                                            !reader.has("content")));
  }
  EncodeOptions options;
  options.addSpecialTokens = addsSpecial;
  Expected<std::vector<int32_t>> ids = model.tokenizer->encode(text, options);
  if (!ids)
    return ids.takeStatus();
  Json answer = {{"count", ids->size()},
                 {"max_model_len", model.contextLength()},
                 {"tokens", *ids}};
  if (!withTexts)
    return answer;
  Json &texts = answer["token_strs"] = Json::array();
  for (int32_t id : *ids)
    texts.push_back(std::string(model.tokenizer->tokenText(id)));
  return answer;
}

static Expected<Json> textOf(const RequestBody &body, ServedModel &model) {
  if (!model.tokenizer)
    return noTokenizer();
  const JsonReader reader = body.reader();
  LLMIR_RETURN_IF_ERROR(reader.checkKeys({"model", "tokens"}));
  std::vector<int32_t> ids;
  LLMIR_ASSIGN_OR_RETURN(ids, readIds(reader, "tokens"));
  LLMIR_RETURN_IF_ERROR(model.tokenizer->checkIds(ids));
  std::string text = model.tokenizer->decode(ids);
  return Json{{"prompt", text}, {"content", text}}; // vLLM's and llama.cpp's.
}

static Expected<Json> renderedText(const RequestBody &body,
                                   ServedModel &model) {
  LLMIR_RETURN_IF_ERROR(body.reader().checkKeys(
      {"model", "messages", "tools", "documents", "chat_template_kwargs",
       "add_generation_prompt", "reasoning_effort"}));
  std::string text;
  LLMIR_ASSIGN_OR_RETURN(
      text, renderMessages(body.ordered, requestName, model.prompts));
  return Json{{"prompt", text}};
}

void ApiServer::State::tokenize(const ExchangePtr &exchange) {
  answerWith(exchange, tokensOf);
}
void ApiServer::State::detokenize(const ExchangePtr &exchange) {
  answerWith(exchange, textOf);
}
void ApiServer::State::applyTemplate(const ExchangePtr &exchange) {
  answerWith(exchange, renderedText);
}

//===----------------------------------------------------------------------===//
// The server itself
//===----------------------------------------------------------------------===//

void ApiServer::State::answerHealth(const ExchangePtr &exchange) {
  if (readyModel(*exchange))
    answerJson(*exchange, {{"status", "ok"}});
}

void ApiServer::State::answerVersion(const ExchangePtr &exchange) {
  answerJson(*exchange, {{"version", version}});
}

Json ApiServer::State::modelJson(const std::string &name,
                                 const ServedModel &model) const {
  return {{"id", name},
          {"object", "model"},
          {"created", startTime},
          {"owned_by", "llmir"},
          {"root", model.info().modelName},
          {"max_model_len", model.contextLength()}};
}

void ApiServer::State::answerModels(const ExchangePtr &exchange) {
  ServedModel *ready = readyModel(*exchange);
  if (!ready)
    return;
  Json data = Json::array();
  for (const std::string &name : ready->names)
    data.push_back(modelJson(name, *ready));
  answerJson(*exchange, {{"object", "list"}, {"data", std::move(data)}});
}

void ApiServer::State::answerModel(const ExchangePtr &exchange) {
  ServedModel *ready = readyModel(*exchange);
  if (!ready)
    return;
  const std::string name = percentDecoded(
      std::string_view(exchange->request().path).substr(modelsPath.size()));
  if (!hasName(*ready, name))
    return answerError(*exchange, noSuchModel(describeJson(name), *ready));
  answerJson(*exchange, modelJson(name, *ready));
}

void ApiServer::State::answerMetrics(const ExchangePtr &exchange) {
  ServedModel *ready = readyModel(*exchange);
  if (!ready)
    return;
  const EngineStatistics statistics =
      ready->engine ? ready->engine->statistics() : EngineStatistics();
  exchange->answer(200, "text/plain; version=0.0.4; charset=utf-8",
                   metrics.load()->text(statistics, ready->info().kvBlockSize));
}

Json ApiServer::State::engineJson(ServedModel &model, bool withBlocks) {
  const EngineStatistics counts = model.engine->statistics();
  Json stepList = Json::array();
  {
    std::lock_guard<std::mutex> lock(stepsMutex);
    for (const StepRecord &step : steps)
      stepList.push_back({{"ms", step.milliseconds},
                          {"tokens", step.tokens},
                          {"sequences", step.sequences}});
  }
  Json result = {
      {"model", model.names.front()},
      {"context_length", model.contextLength()},
      {"max_running", model.engine->maxRunning()},
      {"uptime_s", std::chrono::duration<double>(Clock::now() - start).count()},
      {"requests",
       {{"running", counts.running},
        {"waiting", counts.waiting},
        {"waiting_tokens", counts.waitingTokens},
        {"finished", counts.finished},
        {"preemptions", counts.preemptions}}},
      {"tokens",
       {{"prompt", counts.promptTokens},
        {"generated", counts.generatedTokens},
        {"cached", counts.cache.foundTokens}}},
      {"cache",
       {{"block_size", model.info().kvBlockSize},
        {"blocks", counts.cache.numBlocks},
        {"free", counts.cache.freeBlocks},
        {"idle", counts.cache.idleBlocks},
        {"used", counts.cache.usedBlocks},
        {"evicted", counts.cache.evictedBlocks},
        {"windows",
         {{"blocks", counts.cache.windowBlocks},
          {"free", counts.cache.freeWindowBlocks},
          {"idle", counts.cache.idleWindowBlocks},
          {"used", counts.cache.usedWindowBlocks},
          {"evicted", counts.cache.evictedWindowBlocks}}}}},
      {"steps", std::move(stepList)}};
  if (withBlocks) {
    std::vector<int32_t> uses = model.engine->blockUses();
    uses.resize(std::min(uses.size(), mostBlocks));
    result["blocks"] = std::move(uses);
  }
  return result;
}

void ApiServer::State::answerEngine(const ExchangePtr &exchange) {
  ServedModel *ready = readyModel(*exchange);
  if (!ready)
    return;
  if (!ready->engine)
    return answerError(*exchange, notForThisModel(/*generates=*/false));
  const std::string query = "&" + exchange->request().query + "&";
  answerJson(*exchange,
             engineJson(*ready, query.find("&blocks=1&") != std::string::npos));
}

void ApiServer::State::answerPage(const ExchangePtr &exchange) {
  const Span<const char> page = webPage();
  if (page.empty())
    return answerError(*exchange, {404, "this llmir was built without its page",
                                   "not_found", ""});
  exchange->answer(200, "text/html; charset=utf-8",
                   std::string(page.data(), page.size()),
                   {{"X-Frame-Options", "DENY"}});
}

HttpRoute ApiServer::State::get(const char *path,
                                void (State::*handler)(const ExchangePtr &)) {
  return {"GET", path, [this, handler](const ExchangePtr &exchange) {
            (this->*handler)(exchange);
          }};
}

HttpRoute ApiServer::State::post(const char *path,
                                 void (State::*handler)(const ExchangePtr &)) {
  HttpRoute route = get(path, handler);
  route.method = "POST";
  route.takesLong = true;
  return route;
}

ApiServer::ApiServer(std::string version)
    : state(std::make_unique<State>(std::move(version))) {}
ApiServer::~ApiServer() = default;

std::vector<HttpRoute> ApiServer::routes() {
  State &s = *state;
  HttpRoute health = s.get("/health", &State::answerHealth);
  health.needsKey = false;
  // A file without anything that a key protects.
  HttpRoute page = s.get("/", &State::answerPage);
  page.needsKey = false;
  HttpRoute metrics = s.get("/metrics", &State::answerMetrics);
  metrics.answersWhileDraining = true;
  HttpRoute engine = s.get("/engine", &State::answerEngine);
  engine.answersWhileDraining = true;
  engine.takesLong = true;
  return {health,
          page,
          metrics,
          engine,
          s.get("/ping", &State::answerHealth),
          s.get("/version", &State::answerVersion),
          s.get("/v1/models", &State::answerModels),
          s.get("/v1/models/*", &State::answerModel),
          s.post("/v1/completions", &State::complete),
          s.post("/v1/chat/completions", &State::chat),
          s.post("/v1/responses", &State::respond),
          s.post("/v1/embeddings", &State::embed),
          s.post("/generate", &State::generateNatively),
          s.post("/tokenize", &State::tokenize),
          s.post("/detokenize", &State::detokenize),
          s.post("/apply-template", &State::applyTemplate)};
}

std::function<void(const StepRecord &)> ApiServer::stepObserver() {
  return [this](const StepRecord &step) {
    if (ServerMetrics *metrics = state->metrics)
      metrics->observeStep(step);
    std::lock_guard<std::mutex> lock(state->stepsMutex);
    state->steps.push_back(step);
    if (state->steps.size() > mostSteps)
      state->steps.pop_front();
  };
}

void ApiServer::serve(std::unique_ptr<ServedModel> model, HttpServer &http) {
  model->runLater = [&http](std::function<void()> task) {
    http.runOnWorker(std::move(task));
  };
  state->ownedMetrics = std::make_unique<ServerMetrics>(model->names.front(),
                                                        model->contextLength());
  state->ownedModel = std::move(model);
  state->metrics = state->ownedMetrics.get();
  state->model = state->ownedModel.get();
}

bool ApiServer::shutDown(HttpServer &http, std::chrono::milliseconds limit) {
  const bool wereAnswered = http.drain(limit);
  state->embeddings.stop();
  const ServedModel *model = state->model;
  if (model && model->engine) {
    model->engine->cancelAll();
    // Then its thread uses no connection any more.
    model->engine->drain();
  }
  http.drain(std::chrono::seconds(1));
  return wereAnswered;
}

} // namespace llmir

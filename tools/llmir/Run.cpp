//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir run: continues a prompt.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"
#include "Ids.h"
#include "LoadedModel.h"
#include "ModelResolver.h"
#include "Profile.h"
#include "StandardInput.h"
#include "TemplateOptions.h"

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Checkpoint/GGUF.h"
#include "llmir/Serving/Generator.h"
#include "llmir/Support/Json.h"

#include <memory>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct RunOptions {
  ModelRequest model;
  std::optional<std::string> prompt;
  std::string promptIds;
  std::optional<int64_t> maxTokens;
  SamplingRequest sampling;
  ExecutionRequest execution;
  bool json = false;
  std::string profile;
  bool chat = false; ///< The prompt is a question.
  std::optional<std::string> system;
  TemplateRequest chatTemplate;
};

/// One invocation of `llmir run`; each phase stores its result here.
class Run {
public:
  explicit Run(const RunOptions &options) : options(options) {}
  Outcome operator()();

private:
  Status checkFlags();
  Status readPrompt();
  Status checkTokenizer() const;
  Status load();
  Status encodePrompt();
  Outcome checkChatFlags() const;
  Status noTokenizer() const;
  Expected<GenerateResult> generateText();
  void report(const GenerateResult &result);
  void noteFullContext(const GenerateResult &result) const;
  Status writeProfile();

  const RunOptions &options;
  ResolvedModel model;
  LoadedModel loaded;
  std::unique_ptr<Engine> engine;
  std::string promptText; ///< Empty if ids or nothing was given.
  std::vector<int32_t> prompt;
  std::string text; ///< The generated text.
  double loadMs = 0;
  Profile profile;
};

} // namespace

/// Checks the flags alone, before the model is compiled or loaded.
Status Run::checkFlags() {
  LLMIR_RETURN_IF_ERROR(validateSamplingParams(options.sampling.params({})));
  Expected<std::vector<int32_t>> ids =
      parseIds(options.promptIds, "--prompt-ids");
  if (!ids)
    return ids.takeStatus();
  prompt = std::move(*ids);
  return Status::ok();
}

/// Reads PROMPT, or else standard input without its trailing newline, which
/// `echo` adds.
Status Run::readPrompt() {
  if (options.prompt || !options.promptIds.empty() || !hasPipedInput()) {
    promptText = options.prompt.value_or("");
    return Status::ok();
  }
  Expected<std::string> piped = readStandardInput();
  if (!piped)
    return piped.takeStatus();
  promptText = std::move(*piped);
  if (!promptText.empty() && promptText.back() == '\n')
    promptText.pop_back();
  return Status::ok();
}

Status Run::noTokenizer() const {
  return Status(StatusCode::NotFound,
                "'" + options.model.model + "' has no tokenizer",
                "give the prompt as ids: --prompt-ids 1,2,3");
}

/// Rejects a text prompt for a checkpoint without a tokenizer before compiling,
/// which may take long. Other models are checked when they are opened.
Status Run::checkTokenizer() const {
  if (promptText.empty())
    return Status::ok();
  Expected<ModelKind> kind = modelKind(options.model.model);
  if (!kind)
    return kind.takeStatus();
  if (*kind == ModelKind::HuggingFaceFolder) {
    if (hasTokenizer(options.model.model))
      return Status::ok();
    Expected<Checkpoint> opened = Checkpoint::open(options.model.model);
    return opened ? noTokenizer() : opened.takeStatus();
  }
  if (*kind != ModelKind::GGUF)
    return Status::ok();
  Expected<GGUFFile> file = GGUFFile::open(options.model.model);
  if (!file)
    return file.takeStatus();
  return hasTokenizer(file->metadata()) ? Status::ok() : noTokenizer();
}

Status Run::load() {
  Profile::Phase resolving = profile.begin("compile");
  Expected<ResolvedModel> resolved = resolveModel(options.model);
  if (!resolved)
    return resolved.takeStatus();
  if (resolved->compiled)
    profile.end(resolving);
  model = std::move(*resolved);

  Stopwatch watch;
  Profile::Phase loading = profile.begin("load");
  LLMIR_ASSIGN_OR_RETURN(
      loaded, loadModel(model, options.model.level, options.execution));
  loadMs = watch.milliseconds();
  profile.end(loading);
  if (!options.profile.empty())
    return loaded.executor->startTrace();
  return Status::ok();
}

/// The given ids, or those of the text or of the question; without any, the BOS
/// token.
Status Run::encodePrompt() {
  if (!options.promptIds.empty())
    return Status::ok();
  if (!loaded.tokenizer && (options.chat || !promptText.empty()))
    return noTokenizer();
  PromptModel prompts =
      promptModel(*model.artifact, loaded.tokenizer, options.chatTemplate);
  if (options.chat) {
    if (!prompts.chat)
      return prompts.chat.takeStatus();
    LLMIR_ASSIGN_OR_RETURN(
        promptText, prompts.chat->render(
                        ChatPrompt::conversation(options.system, promptText)));
  }
  if (loaded.tokenizer)
    LLMIR_ASSIGN_OR_RETURN(
        prompt, llmir::encodePrompt(promptText,
                                    /*addsSpecialTokens=*/!options.chat,
                                    "the prompt", prompts));
  else if (prompts.bosToken >= 0)
    prompt.push_back(static_cast<int32_t>(prompts.bosToken));
  if (prompt.empty())
    return Status(StatusCode::InvalidArgument,
                  "the prompt is empty, and the model has no token that begins "
                  "a text",
                  "give a PROMPT or --prompt-ids");
  return Status::ok();
}

Expected<GenerateResult> Run::generateText() {
  Request request;
  request.prompt = prompt;
  request.sampling = options.sampling.params(engine->info().generation);
  request.maxTokens = options.maxTokens.value_or(-1);
  request.acceptsNaN = true;
  const Tokenizer *tokenizer = loaded.tokenizer ? &*loaded.tokenizer : nullptr;
  auto style = std::make_shared<AnswerTextOptions>();
  style->continuesText = continuesText(tokenizer, prompt);
  AnswerText answer(tokenizer, std::move(style));
  auto show = [&](const std::string &piece) {
    if (!options.json && !piece.empty())
      printNow(piece);
    text += piece;
  };
  auto showId = [&](int32_t id, bool isFirst) { // Without a tokenizer.
    if (!options.json)
      printNow((isFirst ? "" : ",") + std::to_string(id));
  };
  Profile::Phase step = profile.begin("prefill");
  return generate(
      *engine, std::move(request), [&](const RequestUpdate &update) {
        for (int32_t id : update.tokens) {
          profile.end(step);
          step = profile.begin("decode");
          if (tokenizer)
            show(answer.add(id, update.finishReason == FinishReason::Stop));
          else
            showId(id, /*isFirst=*/update.generatedTokens == 1);
        }
        if (update.finishReason)
          show(answer.finish());
      });
}

/// Writes the trace to the file and the table to standard error.
Status Run::writeProfile() {
  engine->drain();
  Executor &executor = engine->executor();
  executor.stopTrace();
  profile.addSteps(executor);
  StepCost needs = tracedNeeds(executor);
  auto meter = LimitMeter::create(executor);
  if (!meter)
    return meter.takeStatus();
  noteLines("profile of the steps\n" +
            profileTable(executor, (*meter)->measure(needs)));
  return profile.write(options.profile);
}

void Run::report(const GenerateResult &result) {
  auto generated = static_cast<int64_t>(result.ids.size());
  if (options.json) {
    Json object = {{"prompt_ids", prompt},
                   {"ids", result.ids},
                   {"text", loaded.tokenizer ? Json(text) : Json(nullptr)},
                   {"finish_reason", finishReasonName(result.finishReason)},
                   {"timings",
                    {{"compile_ms", model.compileMs},
                     {"load_ms", loadMs},
                     {"prefill_ms", result.prefillMilliseconds},
                     {"decode_ms", result.decodeMilliseconds},
                     {"prompt_tokens", result.promptTokens},
                     {"generated_tokens", generated}}}};
    if (const std::string &where = engine->executor().placement();
        !where.empty())
      object["placement"] = where;
    print(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    return;
  }
  if (text.empty() || text.back() != '\n')
    print("\n");
  printNow({}); // Before the note below.
  auto rate = [](double tokens, double ms) {
    return ms > 0 && tokens > 0
               ? ", " + formatNumber(tokens * 1000 / ms, 1) + " tokens/s"
               : "";
  };
  std::string line;
  if (model.compiled)
    line = "compiled in " + formatNumber(model.compileMs / 1000, 2) + " s, ";
  line += "loaded in " + formatNumber(loadMs, 0) + " ms; prompt " +
          std::to_string(result.promptTokens) + " tokens" +
          rate(static_cast<double>(result.promptTokens),
               result.prefillMilliseconds) +
          "; generated " + std::to_string(generated) + " tokens" +
          rate(static_cast<double>(generated - 1), result.decodeMilliseconds);
  note(line);
}

/// Says why there are fewer tokens than were asked for.
void Run::noteFullContext(const GenerateResult &result) const {
  const auto generated = static_cast<int64_t>(result.ids.size());
  const int64_t context = engine->contextLength();
  if (result.finishReason != FinishReason::Length ||
      generated >= options.maxTokens.value_or(0))
    return;
  std::string text = "generated " + std::to_string(generated) + " of " +
                     std::to_string(*options.maxTokens) +
                     " tokens: the context of " + std::to_string(context) +
                     " tokens is full";
  if (context < engine->info().contextLength)
    text +=
        "; --ctx can be up to " + std::to_string(engine->info().contextLength);
  note(text);
}

Outcome Run::checkChatFlags() const {
  const bool hasChatFlags =
      options.system || !options.chatTemplate.file.empty() ||
      options.chatTemplate.bos || options.chatTemplate.eos;
  if (hasChatFlags && !options.chat)
    return Outcome::usage("--system, --template, --bos and --eos belong to "
                          "--chat",
                          "add --chat");
  if (options.chat && !options.promptIds.empty())
    return Outcome::usage("--chat and --prompt-ids exclude each other",
                          "give the question as PROMPT");
  return Status::ok();
}

Outcome Run::operator()() {
  if (Outcome chat = checkChatFlags(); !chat.status)
    return chat;
  if (options.prompt && !options.promptIds.empty())
    return Outcome::usage("PROMPT and --prompt-ids exclude each other",
                          "give one of them");
  if (Status flags = checkFlags(); !flags)
    return Outcome::usage(flags.cause(), flags.advice());
  LLMIR_RETURN_IF_ERROR(readPrompt());
  LLMIR_RETURN_IF_ERROR(checkTokenizer());
  if (Status opened = load(); !opened)
    return Outcome::ofFlags(opened);
  LLMIR_RETURN_IF_ERROR(encodePrompt());
  auto created = Engine::create(std::move(loaded.executor));
  if (!created)
    return created.takeStatus();
  engine = std::move(*created);
  Expected<GenerateResult> result = generateText();
  if (result.status().code() == StatusCode::OutOfRange) // A long prompt.
    return Status(StatusCode::OutOfRange, result.status().cause(),
                  "shorten the prompt, or use a larger --ctx");
  if (!result)
    return result.takeStatus();
  if (result->firstNaN)
    noteNaN("the text from token " + std::to_string(*result->firstNaN + 1) +
            " on");
  report(*result);
  noteFullContext(*result);
  if (!options.profile.empty())
    return writeProfile();
  return Status::ok();
}

void cli::addRunCommand(CommandLine &line) {
  auto options = std::make_shared<RunOptions>();
  Command command =
      line.add("run", "Continue a prompt",
               "llmir run models/demo \"In the beginning\" -n 100 --temp 0\n"
               "  echo \"In the beginning\" | llmir run models/demo");
  addModelOptions(command, options->model);
  command.addArgument(
      "PROMPT", options->prompt,
      "the text to continue (default: standard input, unless it is "
      "a terminal)");
  addOption(command, "--prompt-ids", options->promptIds,
            "the prompt as token ids: 1,2,3");
  addMaxTokensOption(command, options->maxTokens, "to generate");
  addSamplingOptions(command, options->sampling);
  addExecutionOptions(command, options->execution);
  addFlag(command, "--chat", options->chat,
          "the prompt is a question: render it with the model's chat template, "
          "and print the answer");
  addOption(command, "--system", options->system,
            "instructions for the model, before the question");
  addTemplateOptions(command, options->chatTemplate);
  addJsonFlag(command, options->json);
  addOption(command, "--profile", options->profile,
            "write each worker's timeline to FILE, for ui.perfetto.dev, and "
            "print a summary to standard error",
            "FILE");
  line.onRun(command, withModel(options->model.model,
                                [options] { return Run(*options)(); }));
}

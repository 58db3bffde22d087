//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir chat: a conversation with a model in a terminal, or line by line from
// standard input.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"
#include "Conversation.h"
#include "LineEditor.h"
#include "LoadedModel.h"
#include "TemplateOptions.h"

#include "llmir/ChatOutput/ChatOutput.h"
#include "llmir/Serving/Generator.h"

#include <algorithm>
#include <memory>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct ChatOptions {
  ModelRequest model;
  SamplingRequest sampling;
  ExecutionRequest execution;
  TemplateRequest chatTemplate;
  std::string system;
  int64_t maxTokens = -1;
  bool hideThinking = false;
  bool noHistory = false;
};

/// One session; each command of the user is a method.
class Chat {
public:
  explicit Chat(const ChatOptions &options)
      : options(options), hidesThinking(options.hideThinking) {}
  Outcome operator()();

private:
  struct Command {
    const char *name, *arguments, *description;
    void (Chat::*run)(const std::string &argument);
  };
  static const Command commands[];

  Status open();
  Status talk();
  Expected<LineEditor::Event> readMessage(std::string &message);
  bool runCommand(const std::string &line);
  bool answer();
  Expected<GenerateResult> generateAnswer(const Conversation::Prompt &prompt,
                                          std::string &text);
  void show(const std::vector<ChatDelta> &deltas);
  void setDim(bool dim);
  void noteAnswer(const GenerateResult &result) const;
  int64_t promptTokens() const;

  void help(const std::string &);
  void setSystem(const std::string &text);
  void reset(const std::string &);
  void regenerate(const std::string &);
  void save(const std::string &path);
  void load(const std::string &path);
  void stats(const std::string &);
  void think(const std::string &how);
  void exit(const std::string &) { isDone = true; }

  const ChatOptions &options;
  LoadedModel model;
  PromptModel prompts;
  std::optional<ChatOutputFormat> format; ///< Of reasoning only: no tools.
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Conversation> conversation;
  std::unique_ptr<LineEditor> editor;
  bool hidesThinking, isDone = false;
  bool isDim = false; ///< Of the text on the terminal.
  uint64_t numAnswers = 0;
  GenerateResult last;        ///< The last answer.
  int64_t allTokens = 0;      ///< Generated in this session.
  double allMilliseconds = 0; ///< Of decoding.
};

} // namespace

const Chat::Command Chat::commands[] = {
    {"/help", "", "list the commands", &Chat::help},
    {"/system", " TEXT", "set the system message; without TEXT, remove it",
     &Chat::setSystem},
    {"/reset", "", "begin a new conversation", &Chat::reset},
    {"/regen", "", "answer the last message again", &Chat::regenerate},
    {"/save", " FILE", "write the conversation to a file", &Chat::save},
    {"/load", " FILE", "continue a conversation from a file", &Chat::load},
    {"/stats", "", "show tokens, speed and the use of the context",
     &Chat::stats},
    {"/think", " show|hide", "show or hide what the model thinks",
     &Chat::think},
    {"/exit", "", "end, like Ctrl-D", &Chat::exit},
};

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

void Chat::help(const std::string &) {
  std::string text;
  for (const Command &command : commands) {
    std::string usage = std::string(command.name) + command.arguments;
    text += "  " + usage + std::string(20 - usage.size(), ' ') +
            command.description + "\n";
  }
  noteLines("a line that begins with / is a command, one that begins with // "
            "a message with /\n" +
            text +
            "  A line that ends with \\ continues on the next one. Ctrl-C "
            "stops an answer, Ctrl-D ends.");
}

void Chat::setSystem(const std::string &text) {
  conversation->setSystem(text);
  note(text.empty() ? "there is no system message" : "system message set");
}

void Chat::reset(const std::string &) {
  conversation->reset();
  note("a new conversation");
}

void Chat::regenerate(const std::string &) {
  const Conversation before = *conversation;
  conversation->removeLast("assistant");
  if (!conversation->messages().empty() &&
      conversation->messages().back().role == "user" && answer())
    return;
  if (conversation->messages().empty())
    note("there is no message to answer");
  conversation->restore(before);
}

void Chat::save(const std::string &path) {
  if (path.empty())
    return note("/save needs the name of a file");
  if (Status saved = conversation->save(path); !saved)
    return printFailure(saved);
  note("wrote " + std::to_string(conversation->messages().size()) +
       " messages to '" + path + "'");
}

void Chat::load(const std::string &path) {
  if (path.empty())
    return note("/load needs the name of a file");
  if (Status loaded = conversation->load(path); !loaded)
    return printFailure(loaded);
  note("continuing a conversation of " +
       std::to_string(conversation->messages().size()) + " messages");
}

static std::string rate(double tokens, double milliseconds) {
  return milliseconds > 0 && tokens > 0
             ? formatNumber(tokens * 1000 / milliseconds, 1) + " tokens/s"
             : "no measurement yet";
}

void Chat::stats(const std::string &) {
  noteLines(
      "this session\n"
      "  context    " +
      std::to_string(last.promptTokens +
                     static_cast<int64_t>(last.ids.size())) +
      " of " + std::to_string(engine->contextLength()) +
      " tokens\n"
      "  answers    " +
      std::to_string(numAnswers) + ", " + std::to_string(allTokens) +
      " tokens, " +
      rate(static_cast<double>(allTokens) - static_cast<double>(numAnswers),
           allMilliseconds) +
      "\n"
      "  last one   prompt of " +
      std::to_string(last.promptTokens) + " tokens, of which " +
      std::to_string(last.cachedTokens) + " were in the cache; the rest took " +
      formatNumber(last.prefillMilliseconds, 0) + " ms; " +
      std::to_string(last.ids.size()) + " tokens generated, " +
      rate(static_cast<double>(last.ids.size()) - 1, last.decodeMilliseconds));
}

void Chat::think(const std::string &how) {
  if (how != "show" && how != "hide")
    return note("/think takes 'show' or 'hide'");
  hidesThinking = how == "hide";
}

/// Runs the command of a line; false if the line is a message.
bool Chat::runCommand(const std::string &line) {
  // A file consists of messages only: it must not write others.
  if (!editor->isInteractive() || line.empty() || line[0] != '/' ||
      line.compare(0, 2, "//") == 0)
    return false;
  const size_t space = line.find(' ');
  const std::string name = line.substr(0, space);
  const size_t start = line.find_first_not_of(' ', space);
  const std::string argument =
      space == std::string::npos || start == std::string::npos
          ? ""
          : line.substr(start);
  for (const Command &command : commands)
    if (name == command.name) {
      (this->*command.run)(argument);
      return true;
    }
  note("there is no command '" + name + "'; /help lists them");
  return true;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// Text for a terminal, which control characters could reprogram.
static std::string withoutControls(std::string_view text) {
  std::string safe;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool isC1 = byte == 0xc2 && i + 1 < text.size() &&
                      static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (isC1)
      ++i;
    if (isC1 || (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f)
      safe += "\uFFFD";
    else
      safe += text[i];
  }
  return safe;
}

void Chat::setDim(bool dim) {
  if (outputIsTerminal() && dim != isDim)
    printNow(dim ? "\x1b[2m" : "\x1b[22m");
  isDim = dim;
}

void Chat::show(const std::vector<ChatDelta> &deltas) {
  const bool terminal = outputIsTerminal();
  for (const ChatDelta &delta : deltas) {
    const bool isThinking = delta.kind == ChatDelta::Kind::Reasoning;
    if (isThinking && hidesThinking)
      continue;
    setDim(isThinking);
    printNow(terminal ? withoutControls(delta.text) : delta.text);
  }
}

Expected<GenerateResult>
Chat::generateAnswer(const Conversation::Prompt &prompt, std::string &text) {
  auto style = std::make_shared<AnswerTextOptions>();
  style->continuesText = true;
  style->keepsSpecialToken = [&](std::string_view token) {
    return format->isMarker(token);
  };
  AnswerText answer(&*model.tokenizer, std::move(style));
  ChatOutputParser parser(*format, prompt.text);
  auto take = [&](const std::string &piece) {
    text += piece;
    show(parser.feed(piece));
  };
  Request request;
  request.prompt = prompt.ids;
  request.sampling = options.sampling.params(engine->info().generation);
  request.sampling.seed += numAnswers;
  request.maxTokens = options.maxTokens;
  request.acceptsNaN = true;
  std::optional<InterruptScope> scope; // Ctrl-C ends a batch.
  if (editor->isInteractive()) {
    scope.emplace();
    request.isCancelled = InterruptScope::pending;
  }
  auto result =
      generate(*engine, std::move(request), [&](const RequestUpdate &update) {
        for (int32_t id : update.tokens)
          take(answer.add(id, update.finishReason == FinishReason::Stop));
      });
  take(answer.finish());
  show(parser.finish());
  setDim(false);
  print("\n");
  printNow({});
  return result;
}

/// Tokens that a prompt may have, so that there is room for an answer.
int64_t Chat::promptTokens() const {
  const int64_t context = engine->contextLength();
  return context - std::min<int64_t>(1024, context / 4);
}

/// Answers the last message; if there is no answer, it is removed, and this
/// returns false.
bool Chat::answer() {
  auto forget = [&] {
    conversation->removeLast("user");
    return false;
  };
  Expected<Conversation::Prompt> prompt = conversation->prompt(promptTokens());
  if (!prompt) {
    printFailure(prompt.status());
    return forget();
  }
  if (prompt->dropped > 0)
    note("the context is full: the oldest " + std::to_string(prompt->dropped) +
         " messages are no longer seen by the model");
  std::string text;
  Expected<GenerateResult> result = generateAnswer(*prompt, text);
  if (!result) {
    printFailure(result.status());
    return forget();
  }
  if (text.empty() && result->finishReason == FinishReason::Cancelled) {
    note("stopped before the answer; the message is forgotten");
    return forget();
  }
  conversation->add("assistant", text);
  noteAnswer(*result);
  ++numAnswers;
  allTokens += static_cast<int64_t>(result->ids.size());
  allMilliseconds += result->decodeMilliseconds;
  last = std::move(*result);
  return true;
}

void Chat::noteAnswer(const GenerateResult &result) const {
  if (result.firstNaN)
    noteNaN("the answer from token " + std::to_string(*result.firstNaN + 1) +
            " on");
  if (result.finishReason == FinishReason::Cancelled)
    note("stopped; the conversation goes on");
  if (result.finishReason == FinishReason::Length &&
      static_cast<int64_t>(result.ids.size()) != options.maxTokens)
    note("the answer ends here: the context of " +
         std::to_string(engine->contextLength()) + " tokens is full");
}

//===----------------------------------------------------------------------===//
// The session
//===----------------------------------------------------------------------===//

Status Chat::open() {
  Expected<ResolvedModel> resolved = resolveModel(options.model);
  if (!resolved)
    return resolved.takeStatus();
  ExecutionRequest execution = options.execution;
  execution.cacheUse = CacheUse::Turns;
  LLMIR_ASSIGN_OR_RETURN(model,
                         loadModel(*resolved, options.model.level, execution));
  if (!model.tokenizer)
    return Status(StatusCode::NotFound,
                  "'" + options.model.model + "' has no tokenizer",
                  "a conversation needs one");
  prompts = promptModel(*model.artifact, model.tokenizer, options.chatTemplate);
  if (!prompts.chat)
    return prompts.chat.takeStatus();
  LLMIR_ASSIGN_OR_RETURN(
      format, ChatOutputFormat::choose(prompts.chat->source(/*hasTools=*/false),
                                       "none", "auto"));
  LLMIR_RETURN_IF_ERROR(prompts.chat->check());
  LLMIR_ASSIGN_OR_RETURN(engine, Engine::create(std::move(model.executor)));
  return Status::ok();
}

/// Reads a message or command; a line that ends with a backslash continues.
Expected<LineEditor::Event> Chat::readMessage(std::string &message) {
  message.clear();
  std::string line;
  for (const char *prompt = "> ";; prompt = ". ") {
    Expected<LineEditor::Event> event = editor->read(prompt, line);
    if (event && *event == LineEditor::Event::End && !message.empty())
      return LineEditor::Event::Line; // The last line was to be continued.
    if (!event || *event != LineEditor::Event::Line)
      return event;
    const bool continues = !line.empty() && line.back() == '\\';
    if (continues)
      line.back() = '\n';
    message += line;
    if (!continues)
      return event;
  }
}

Status Chat::talk() {
  std::string message;
  while (!isDone) {
    Expected<LineEditor::Event> event = readMessage(message);
    if (!event)
      return event.takeStatus();
    if (*event == LineEditor::Event::End)
      break;
    if (*event == LineEditor::Event::Interrupt) {
      note("Ctrl-D or /exit ends the conversation");
      continue;
    }
    if (message.find_first_not_of(" \t\n") == std::string::npos ||
        runCommand(message))
      continue;
    const bool isEscaped = editor->isInteractive() && message[0] == '/';
    conversation->add("user", isEscaped ? message.substr(1) : message);
    answer();
  }
  return Status::ok();
}

Outcome Chat::operator()() {
  if (Status flags = validateSamplingParams(options.sampling.params({}));
      !flags)
    return Outcome::usage(flags.cause(), flags.advice());
  if (Status opened = open(); !opened)
    return Outcome::ofFlags(opened);
  conversation = std::make_unique<Conversation>(prompts);
  conversation->setSystem(options.system);
  editor = std::make_unique<LineEditor>(
      options.noHistory ? std::string() : defaultHistoryFile());
  if (editor->isInteractive())
    note(model.artifact->info().modelName + ", context of " +
         std::to_string(engine->contextLength()) +
         " tokens; /help lists the commands, Ctrl-D ends");
  return talk();
}

void cli::addChatCommand(CommandLine &line) {
  auto options = std::make_shared<ChatOptions>();
  Command command =
      line.add("chat", "Talk with a model",
               "llmir chat model.gguf --system \"You answer briefly.\"\n"
               "  printf 'Hello!\\nWhat is 2 + 2?\\n' | llmir chat model.gguf");
  addModelOptions(command, options->model);
  addOption(command, "--system", options->system, "the system message", "TEXT");
  addMaxTokensOption(command, options->maxTokens, "of an answer");
  addSamplingOptions(command, options->sampling);
  addExecutionOptions(command, options->execution);
  addTemplateOptions(command, options->chatTemplate);
  addFlag(command, "--hide-thinking", options->hideThinking,
          "do not show what the model thinks before it answers");
  addFlag(command, "--no-history", options->noHistory,
          "do not keep the lines for the editor's history");
  line.onRun(command, withModel(options->model.model,
                                [options] { return Chat(*options)(); }));
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir tokenize: converts text to ids and back, once or line by line.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"
#include "Ids.h"
#include "JsonLines.h"
#include "ModelResolver.h"
#include "ModelTokenizer.h"
#include "StandardInput.h"
#include "TemplateOptions.h"

#include "llmir/Server/RequestReader.h"
#include "llmir/Support/Json.h"

#include <limits>
#include <memory>
#include <new>
#include <optional>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct TokenizeOptions {
  std::string model;
  std::optional<std::string> text, decode;
  bool jsonLines = false;
  bool noSpecialTokens = false;
  bool skipSpecialTokens = false;
  TemplateRequest chat;
};

/// What lines of requests need.
struct LineModel {
  const TokenizeOptions &options;
  const Tokenizer &tokenizer;
  std::optional<ChatPrompt> chat; ///< Opened for the first conversation.

  Status openChat();
};

} // namespace

//===----------------------------------------------------------------------===//
// One JSON object per line
//===----------------------------------------------------------------------===//

static Expected<std::string> decodeIds(const Tokenizer &tokenizer,
                                       const std::vector<int32_t> &ids,
                                       bool skipSpecialTokens) {
  LLMIR_RETURN_IF_ERROR(tokenizer.checkIds(ids));
  return tokenizer.decode(ids, skipSpecialTokens);
}

static Expected<Json> encodeRequest(const Tokenizer &tokenizer,
                                    const JsonReader &request) {
  Expected<std::string> text = request.string("text");
  if (!text)
    return text.takeStatus();
  Expected<bool> addSpecial = request.booleanOr("add_special_tokens", true);
  if (!addSpecial)
    return addSpecial.takeStatus();
  // The text itself, without the ids that encoding adds around it.
  EncodeOptions bare;
  bare.addSpecialTokens = false;
  Expected<std::vector<int32_t>> own = tokenizer.encode(*text, bare);
  if (!own)
    return own.takeStatus().withContext(request.file());
  Expected<std::string> decoded =
      decodeIds(tokenizer, *own, /*skipSpecialTokens=*/false);
  if (!decoded)
    return decoded.takeStatus().withContext(request.file());
  if (!*addSpecial)
    return Json{{"ids", *own}, {"decoded", std::move(*decoded)}};
  Expected<std::vector<int32_t>> ids = tokenizer.encode(*text);
  if (!ids)
    return ids.takeStatus().withContext(request.file());
  return Json{{"ids", *ids}, {"decoded", std::move(*decoded)}};
}

static Expected<Json> decodeRequest(const Tokenizer &tokenizer,
                                    const JsonReader &request) {
  Expected<std::vector<int32_t>> ids = readIds(request, "ids");
  if (!ids)
    return ids.takeStatus();
  Expected<bool> skip = request.booleanOr("skip_special_tokens", false);
  if (!skip)
    return skip.takeStatus();
  Expected<std::string> decoded = decodeIds(tokenizer, *ids, *skip);
  if (!decoded)
    return decoded.takeStatus().withContext(request.file());
  return Json{{"decoded", std::move(*decoded)}};
}

Status LineModel::openChat() {
  if (chat)
    return Status::ok();
  Expected<ModelTemplates> templates = openTemplates(options.model);
  if (!templates)
    return templates.takeStatus();
  Expected<ChatPrompt> created =
      ChatPrompt::create(std::move(*templates), options.chat, &tokenizer);
  if (!created)
    return created.takeStatus();
  chat = std::move(*created);
  return Status::ok();
}

/// Renders the line's conversation; its keys are the template's variables.
static Expected<Json> renderRequest(LineModel &model, const std::string &line,
                                    const std::string &where) {
  Expected<OrderedJson> variables = parseOrderedJson(line, where);
  if (!variables)
    return variables.takeStatus();
  if (!variables->at("messages").is_array())
    return Status(StatusCode::InvalidArgument,
                  where + ": 'messages' is not an array",
                  "give a list of {\"role\": …, \"content\": …}");
  LLMIR_RETURN_IF_ERROR(model.openChat());
  Expected<std::string> text = model.chat->render(std::move(*variables));
  if (!text)
    return text.takeStatus().withContext(where);
  EncodeOptions bare;
  bare.addSpecialTokens = false;
  Expected<std::vector<int32_t>> ids = model.tokenizer.encode(*text, bare);
  if (!ids)
    return ids.takeStatus().withContext(where);
  return Json{{"rendered", std::move(*text)}, {"ids", std::move(*ids)}};
}

static Expected<Json> answerLine(LineModel &model, const std::string &line,
                                 const std::string &where) {
  const Tokenizer &tokenizer = model.tokenizer;
  Expected<Json> json = parseJson(line, where);
  if (!json)
    return json.takeStatus();
  Expected<JsonReader> request = JsonReader::of(*json, where);
  if (!request)
    return request.takeStatus();
  if (request->has("text") && request->has("ids"))
    return Status(StatusCode::InvalidArgument,
                  where + ": the object has both 'text' and 'ids'",
                  "give one of them");
  if (request->has("text")) {
    LLMIR_RETURN_IF_ERROR(request->checkKeys({"text", "add_special_tokens"}));
    return encodeRequest(tokenizer, *request);
  }
  if (request->has("ids")) {
    LLMIR_RETURN_IF_ERROR(request->checkKeys({"ids", "skip_special_tokens"}));
    return decodeRequest(tokenizer, *request);
  }
  if (request->has("messages"))
    return renderRequest(model, line, where);
  return Status(StatusCode::InvalidArgument,
                where + ": the object has neither 'text', 'ids' nor 'messages'",
                "give one of them");
}

static std::string failureText(const Status &failure) {
  return jsonLine({{"error", jsonError(failure)}});
}

/// The answer, or a failure.
static std::string answerOrFailure(LineModel &model, const std::string &line,
                                   const std::string &where) {
  try {
    Expected<Json> answer = answerLine(model, line, where);
    return answer ? jsonLine(*answer) : failureText(answer.status());
  } catch (const std::bad_alloc &) {
    return failureText(Status(StatusCode::ResourceExhausted,
                              where + ": not enough memory for the answer",
                              "give less at once"));
  }
}

/// Answers every line; a failing line does not end the loop.
static Status answerLines(LineModel model) {
  // A file that cannot be read concerns all lines.
  if (!model.options.chat.file.empty())
    LLMIR_RETURN_IF_ERROR(model.openChat());
  LineReader input;
  std::string line;
  for (int64_t number = 1;; ++number) {
    if (!input.hasNext())
      printNow({}); // Interactive users expect each answer at once.
    Expected<bool> any = input.next(line);
    if (any && *any)
      print(answerOrFailure(model, line, "line " + std::to_string(number)));
    else if (!any && any.status().code() == StatusCode::ResourceExhausted)
      print(failureText(any.status()));
    else
      return any.takeStatus();
  }
}

static Outcome tokenize(const TokenizeOptions &options) {
  int modes =
      options.text.has_value() + options.decode.has_value() + options.jsonLines;
  if (modes != 1)
    return Outcome::usage(modes == 0
                              ? "neither TEXT, --decode nor --jsonl was given"
                              : "TEXT, --decode and --jsonl exclude each "
                                "other",
                          "see `llmir tokenize --help`");
  const TemplateRequest &chat = options.chat;
  if (!options.jsonLines && (!chat.file.empty() || chat.bos || chat.eos))
    return Outcome::usage("--template, --bos and --eos belong to --jsonl",
                          "give {\"messages\": …} on standard input");
  Expected<Tokenizer> tokenizer = openTokenizer(options.model);
  if (!tokenizer)
    return tokenizer.takeStatus();
  if (options.jsonLines)
    return answerLines({options, *tokenizer, {}});
  if (options.decode) {
    Expected<std::vector<int32_t>> ids = parseIds(*options.decode, "--decode");
    if (!ids)
      return Outcome::usage(ids.status().cause(), ids.status().advice());
    Expected<std::string> text =
        decodeIds(*tokenizer, *ids, options.skipSpecialTokens);
    if (!text)
      return text.takeStatus();
    print(*text + "\n");
    return Status::ok();
  }
  EncodeOptions settings;
  settings.addSpecialTokens = !options.noSpecialTokens;
  Expected<std::vector<int32_t>> ids =
      tokenizer->encode(*options.text, settings);
  if (!ids)
    return ids.takeStatus();
  print(formatIds(*ids) + "\n");
  return Status::ok();
}

void cli::addTokenizeCommand(CommandLine &line) {
  auto options = std::make_shared<TokenizeOptions>();
  Command command = line.add(
      "tokenize", "Convert text to token ids, and back",
      "llmir tokenize models/demo \"In the beginning\"\n"
      "  llmir tokenize models/demo --decode 1,2,3\n"
      "  echo '{\"text\": \"Hello\"}' | llmir tokenize models/demo --jsonl");
  command
      .addArgument("MODEL", options->model,
                   "a model, or a directory or file with only a tokenizer")
      .required();
  command.addArgument("TEXT", options->text, "the text to encode");
  addOption(command, "--decode", options->decode, "token ids to decode: 1,2,3",
            "IDS");
  addJsonLinesFlag(command, options->jsonLines,
                   "{\"text\": …}, {\"ids\": …} or {\"messages\": …}");
  addFlag(command, "--no-special-tokens", options->noSpecialTokens,
          "do not add the tokens that the model expects around a text");
  addFlag(command, "--skip-special-tokens", options->skipSpecialTokens,
          "omit special tokens when decoding");
  addTemplateOptions(command, options->chat);
  line.onRun(command, withModel(options->model,
                                [options] { return tokenize(*options); }));
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir embed: prints the embeddings of texts.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"
#include "EmbedRequest.h"
#include "JsonLines.h"
#include "LoadedModel.h"
#include "ModelResolver.h"
#include "StandardInput.h"

#include "llmir/Serving/Embedder.h"
#include "llmir/Support/Json.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <new>
#include <optional>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct EmbedOptions {
  ModelRequest model;
  ExecutionRequest execution;
  std::vector<std::string> texts;
  bool json = false, jsonLines = false, truncate = false;
};

using Ids = std::vector<int32_t>;

/// The embeddings of some texts, in their order: [texts][size]
struct Embeddings {
  std::vector<float> values;
  size_t size = 0;

  Span<const float> of(size_t text) const {
    return Span<const float>(values.data() + text * size, size);
  }
};

/// A loaded model.
class TextEmbedder {
public:
  static Expected<TextEmbedder> open(const EmbedOptions &options);

  /// The ids of a text; `name` is that of the text in failures.
  Expected<Ids> encode(const std::string &text, const std::string &name) const;
  /// The ids, if the model takes as many of them.
  Expected<Ids> check(Ids ids, const std::string &name) const;
  Expected<Embeddings> embed(const std::vector<Ids> &texts);
  /// The number of texts that are embedded together at most.
  size_t batchSize() const {
    return static_cast<size_t>(model.executor->maxLogitRows());
  }

private:
  TextEmbedder(LoadedModel model, Embedder embedder, bool truncates)
      : model(std::move(model)), embedder(embedder), truncates(truncates) {}

  LoadedModel model;
  Embedder embedder;
  bool truncates;
};

} // namespace

//===----------------------------------------------------------------------===//
// Texts to embeddings
//===----------------------------------------------------------------------===//

Expected<TextEmbedder> TextEmbedder::open(const EmbedOptions &options) {
  Expected<ResolvedModel> resolved = resolveModel(options.model);
  if (!resolved)
    return resolved.takeStatus();
  Expected<LoadedModel> loaded =
      loadModel(*resolved, options.model.level, options.execution);
  if (!loaded)
    return loaded.takeStatus();
  Expected<Embedder> embedder = Embedder::create(*loaded->executor);
  if (!embedder)
    return embedder.takeStatus();
  return TextEmbedder(std::move(*loaded), *embedder, options.truncate);
}

Expected<Ids> TextEmbedder::encode(const std::string &text,
                                   const std::string &name) const {
  if (!model.tokenizer)
    return Status(StatusCode::NotFound,
                  "'" + model.artifact->info().modelName + "' has no tokenizer",
                  "give token ids: --jsonl with {\"ids\": [1, 2, 3]}");
  const Tokenizer &tokenizer = *model.tokenizer;
  Expected<Ids> ids = tokenizer.encode(text);
  if (!ids)
    return ids.takeStatus().withContext(name);
  const Span<const int32_t> before = tokenizer.prefixIds(),
                            after = tokenizer.suffixIds();
  const auto most = static_cast<size_t>(embedder.maxTokens());
  const size_t added = before.size() + after.size();
  // The tokens around a text are kept.
  if (truncates && ids->size() > most && added <= most) {
    ids->resize(most - after.size());
    ids->insert(ids->end(), after.begin(), after.end());
  }
  return check(std::move(*ids), name);
}

Expected<Ids> TextEmbedder::check(Ids ids, const std::string &name) const {
  const auto most = static_cast<size_t>(embedder.maxTokens());
  if (truncates && ids.size() > most)
    ids.resize(most);
  if (ids.empty())
    return Status(StatusCode::InvalidArgument, name + " has no tokens",
                  "give a text that is not empty");
  if (ids.size() > most)
    return Status(StatusCode::OutOfRange,
                  name + " has " + std::to_string(ids.size()) +
                      " tokens; the model takes at most " +
                      std::to_string(most),
                  "shorten the text, or use --truncate to cut off its end");
  return ids;
}

Expected<Embeddings> TextEmbedder::embed(const std::vector<Ids> &texts) {
  Expected<std::vector<float>> values = embedder.embed(texts);
  if (!values)
    return values.takeStatus();
  Embeddings result;
  result.values = std::move(*values);
  result.size = static_cast<size_t>(embedder.size());
  return result;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// The numbers, which determine the f32 values, with a separator; `nan` stands
/// for one that is not a number.
static std::string formatRow(Span<const float> row, const char *separator,
                             const char *nan) {
  std::string text;
  for (float value : row) {
    char number[32];
    std::snprintf(number, sizeof number, "%.9g", static_cast<double>(value));
    if (!text.empty())
      text += separator;
    text += std::isfinite(value) ? number : nan;
  }
  return text;
}

static std::string jsonRow(Span<const float> row) {
  return "[" + formatRow(row, ", ", "null") + "]";
}

static std::string failureLine(const Status &failure) {
  return jsonLine({{"error", jsonError(failure)}});
}

static void noteIfNaN(const Embeddings &embeddings) {
  for (float value : embeddings.values)
    if (std::isnan(value))
      return noteNaN("the embedding");
}

//===----------------------------------------------------------------------===//
// One JSON object per line
//===----------------------------------------------------------------------===//

static Expected<Ids> readRequest(const TextEmbedder &embedder,
                                 const std::string &line,
                                 const std::string &where) {
  Expected<EmbedRequest> request = parseEmbedRequest(line, where);
  if (!request)
    return request.takeStatus();
  return request->text ? embedder.encode(*request->text, where)
                       : embedder.check(std::move(request->ids), where);
}

namespace {
/// Answers lines in their order, several texts at a time.
class LineAnswers {
public:
  explicit LineAnswers(TextEmbedder &embedder) : embedder(embedder) {}

  void add(Expected<Ids> ids);
  /// Prints the answers to the lines since the last call.
  void flush();
  size_t size() const { return failures.size(); }

private:
  TextEmbedder &embedder;
  std::vector<Ids> texts;
  std::vector<Status> failures; ///< Of each line; ok: has a text.
};
} // namespace

void LineAnswers::add(Expected<Ids> ids) {
  failures.push_back(ids ? Status::ok() : ids.takeStatus());
  if (ids)
    texts.push_back(std::move(*ids));
}

void LineAnswers::flush() {
  Expected<Embeddings> embeddings = embedder.embed(texts);
  // A text that fails, by an id outside of the vocabulary, must not affect the
  // others.
  const bool oneByOne = !embeddings;
  size_t text = 0;
  for (Status &failure : failures) {
    if (!failure) {
      print(failureLine(failure));
      continue;
    }
    const size_t number = text++;
    if (oneByOne)
      embeddings = embedder.embed({texts[number]});
    if (!embeddings) {
      print(failureLine(embeddings.status()));
      continue;
    }
    noteIfNaN(*embeddings);
    print("{\"embedding\": " + jsonRow(embeddings->of(oneByOne ? 0 : number)) +
          ", \"tokens\": " + std::to_string(texts[number].size()) + "}\n");
  }
  texts.clear();
  failures.clear();
  printNow({});
}

static Status answerLines(TextEmbedder &embedder) {
  LineReader input;
  LineAnswers answers(embedder);
  std::string line;
  for (int64_t number = 1;; ++number) {
    // Interactive users expect each answer at once.
    if (answers.size() >= embedder.batchSize() || !input.hasNext())
      answers.flush();
    Expected<bool> any = input.next(line);
    if (any && *any) {
      const std::string where = "line " + std::to_string(number);
      answers.add(readRequest(embedder, line, where));
    } else if (!any && any.status().code() == StatusCode::ResourceExhausted) {
      answers.add(any.takeStatus());
    } else {
      answers.flush();
      return any.takeStatus();
    }
  }
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

namespace {
/// Prints the embeddings of texts as lines of numbers, or as one object.
class TextPrinter {
public:
  TextPrinter(TextEmbedder &embedder, bool asObject)
      : embedder(embedder), asObject(asObject) {}

  Status add(const std::string &text, const std::string &name);
  Status finish();

private:
  Status flush();

  TextEmbedder &embedder;
  bool asObject;
  std::vector<Ids> texts;
  std::string rows, tokens; ///< Of the object.
};
} // namespace

Status TextPrinter::add(const std::string &text, const std::string &name) {
  Expected<Ids> ids = embedder.encode(text, name);
  if (!ids)
    return ids.takeStatus();
  texts.push_back(std::move(*ids));
  return texts.size() < embedder.batchSize() ? Status::ok() : flush();
}

Status TextPrinter::flush() {
  Expected<Embeddings> embeddings = embedder.embed(texts);
  if (!embeddings)
    return embeddings.takeStatus();
  noteIfNaN(*embeddings);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!asObject) {
      print(formatRow(embeddings->of(i), " ", "nan") + "\n");
      continue;
    }
    const char *separator = rows.empty() ? "" : ", ";
    rows += separator + jsonRow(embeddings->of(i));
    tokens += separator + std::to_string(texts[i].size());
  }
  texts.clear();
  return Status::ok();
}

Status TextPrinter::finish() {
  LLMIR_RETURN_IF_ERROR(flush());
  if (asObject)
    print("{\"embeddings\": [" + rows + "], \"tokens\": [" + tokens + "]}\n");
  return Status::ok();
}

static Status printTexts(TextEmbedder &embedder, const EmbedOptions &options) {
  TextPrinter printer(embedder, options.json);
  for (size_t i = 0; i < options.texts.size(); ++i)
    LLMIR_RETURN_IF_ERROR(
        printer.add(options.texts[i], "text " + std::to_string(i + 1)));
  if (!options.texts.empty())
    return printer.finish();
  LineReader input;
  std::string line;
  for (int64_t number = 1;; ++number) {
    Expected<bool> any = input.next(line);
    if (!any)
      return any.takeStatus();
    if (!*any)
      return printer.finish();
    LLMIR_RETURN_IF_ERROR(printer.add(line, "line " + std::to_string(number)));
  }
}

static Outcome embed(const EmbedOptions &options) {
  if (options.jsonLines && (options.json || !options.texts.empty()))
    return Outcome::usage(std::string("--jsonl and ") +
                              (options.json ? "--json" : "TEXT") +
                              " exclude each other",
                          "give the texts on standard input, one object per "
                          "line");
  if (options.texts.empty() && !hasPipedInput())
    return Outcome::usage("there is no TEXT",
                          "give texts, or one per line on standard input");
  Expected<TextEmbedder> embedder = TextEmbedder::open(options);
  if (!embedder)
    return Outcome::ofFlags(embedder.takeStatus());
  return options.jsonLines ? answerLines(*embedder)
                           : printTexts(*embedder, options);
}

void cli::addEmbedCommand(CommandLine &line) {
  auto options = std::make_shared<EmbedOptions>();
  Command command =
      line.add("embed", "Print the embeddings of texts",
               "llmir embed models/bge-small \"a text\" \"another one\"\n"
               "  llmir embed models/bge-small < lines.txt > vectors.txt");
  addModelOptions(command, options->model);
  command.addArgument("TEXT", options->texts,
                      "a text (default: each line of standard input)");
  addJsonFlag(command, options->json);
  addJsonLinesFlag(command, options->jsonLines,
                   "{\"text\": …} or {\"ids\": …}");
  addFlag(command, "--truncate", options->truncate,
          "cut off the end of texts that are longer than the context");
  addExecutionOptions(command, options->execution);
  line.onRun(command, withModel(options->model.model,
                                [options] { return embed(*options); }));
}

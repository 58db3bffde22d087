//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir-c/Compiler.h"

#include "llmir/Convert/ConvertModel.h"
#include "llmir/Driver/Compilation.h"
#include "llmir/Export/ExportModel.h"

#include <cstdlib>
#include <cstring>

using namespace llmir;

static std::string textOr(const char *text, const char *fallback) {
  return text ? text : fallback;
}

static Status checkCall(uint32_t version, const char *model) {
  if (version != LLMIR_COMPILER_API_VERSION)
    return Status(StatusCode::InvalidArgument,
                  "the compiler library implements version " +
                      std::to_string(LLMIR_COMPILER_API_VERSION) +
                      " of its interface, the caller version " +
                      std::to_string(version),
                  "install the command and the library of one build");
  if (!model || !*model)
    return Status(StatusCode::InvalidArgument, "no model is specified",
                  "give a Hugging Face model directory or a .gguf file");
  return Status::ok();
}

/// Converts the C options; checks all names.
static Expected<CompilationOptions>
readOptions(const LLMIRCompileOptions &given) {
  if (given.program && (given.context || given.token_budget))
    return Status(StatusCode::InvalidArgument,
                  "context and token budget are given with a program",
                  "leave them out: they are those of the .llmir file");
  if (given.program && given.graph)
    return Status(StatusCode::InvalidArgument,
                  "a program and a graph are given", "give one of them");
  if (given.recipe && given.quantize)
    return Status(StatusCode::InvalidArgument,
                  "both a recipe and a scheme for all projections are given",
                  "give one of them");
  Expected<llmir::mllm::QuantizationRecipe> recipe =
      given.recipe ? llmir::mllm::QuantizationRecipe::parse(given.recipe)
                   : llmir::mllm::QuantizationRecipe::forAllProjections(
                         textOr(given.quantize, "none"));
  if (!recipe)
    return recipe.takeStatus();

  CompilationOptions options;
  options.recipe = std::move(*recipe);
  options.model = given.model;
  options.program = textOr(given.program, "");
  options.graph = textOr(given.graph, "");
  options.output = textOr(given.output, "");
  options.target = textOr(given.target, "native");
  options.kv = textOr(given.kv, "auto");
  options.contextLength = given.context;
  if (given.token_budget != 0)
    options.tokenBudget = given.token_budget;
  options.formOutput = textOr(given.emit_output, "");
  if (given.emit) {
    options.form = formFromName(given.emit);
    if (!options.form)
      return Status(StatusCode::InvalidArgument,
                    std::string("unknown form '") + given.emit + "'",
                    "choose one of " + allFormNames());
  }
  if (given.stop_after) {
    options.stopAfter = stageFromName(given.stop_after);
    if (!options.stopAfter)
      return Status(StatusCode::InvalidArgument,
                    std::string("unknown stage '") + given.stop_after + "'",
                    "choose one of " + allStageNames());
  }
  if (given.progress)
    options.progress = [=](const char *stage, double fraction) {
      given.progress(given.progress_user, stage, fraction);
    };
  return options;
}

static void setMessage(char **message, const std::string &text) {
  if (!message)
    return;
  *message = static_cast<char *>(std::malloc(text.size() + 1));
  if (*message)
    std::memcpy(*message, text.c_str(), text.size() + 1);
}

int llmirCompile(const LLMIRCompileOptions *given, char **message) {
  if (message)
    *message = nullptr;
  if (!given) {
    setMessage(message, "no options are given; pass an LLMIRCompileOptions");
    return 1;
  }
  auto fail = [message](const Status &status, int code) {
    setMessage(message, status.message());
    return code;
  };
  if (Status call = checkCall(given->version, given->model); !call)
    return fail(call, 1);
  Expected<CompilationOptions> options = readOptions(*given);
  if (!options)
    return fail(options.status(), 2);
  Compilation compilation(std::move(*options));
  if (Status checked = compilation.checkOptions(); !checked)
    // An unsupported CPU is not an error of the options.
    return fail(checked, checked.code() == StatusCode::InvalidArgument ? 2 : 1);
  std::string report;
  if (Status status = compilation.run(report); !status)
    return fail(status, 1);
  if (given->stop_after)
    setMessage(message, report);
  return 0;
}

int llmirExport(const LLMIRExportOptions *given, char **message) {
  if (message)
    *message = nullptr;
  if (!given) {
    setMessage(message, "no options are given; pass an LLMIRExportOptions");
    return 1;
  }
  Status status = checkCall(given->version, given->model);
  if (status.isOk()) {
    ExportModelOptions options;
    options.model = given->model;
    options.format = textOr(given->format, "svg");
    options.output = textOr(given->output, "");
    options.sizes.tokens = given->tokens;
    options.weights = textOr(given->weights, "stored");
    options.externalData = given->external_data != 0;
    status = exportModel(options);
  }
  if (status.isOk())
    return 0;
  setMessage(message, status.message());
  return 1;
}

int llmirConvert(const LLMIRConvertOptions *given, char **message) {
  if (message)
    *message = nullptr;
  if (!given) {
    setMessage(message, "no options are given; pass an LLMIRConvertOptions");
    return 1;
  }
  auto fail = [message](const Status &status) {
    setMessage(message, status.message());
    return status.code() == StatusCode::InvalidArgument ? 2 : 1;
  };
  if (Status call = checkCall(given->version, given->model); !call)
    return fail(call);
  ConvertOptions options;
  options.model = given->model;
  options.output = textOr(given->output, "");
  options.type = textOr(given->type, "");
  options.importanceMatrix = textOr(given->importance_matrix, "");
  options.preTokenizer = textOr(given->pre_tokenizer, "");
  options.splitBytes = given->split_bytes;
  options.dryRun = given->dry_run != 0;
  if (given->progress)
    options.progress = [=](const char *stage, double fraction) {
      given->progress(given->progress_user, stage, fraction);
    };
  Expected<Json> report = convertModel(options);
  if (!report)
    return fail(report.status());
  setMessage(message,
             report->dump(-1, ' ', false, Json::error_handler_t::replace));
  return 0;
}

void llmirCompilerFree(char *message) { std::free(message); }

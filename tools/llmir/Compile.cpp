//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir compile: compiles a checkpoint to an artifact, or to an intermediate
// form.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "CompilerLibrary.h"
#include "Console.h"
#include "ModelResolver.h"

#include "llmir/Support/MappedFile.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <memory>
#include <sys/stat.h>
#include <vector>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct CompileFlags {
  std::string model, graph, program, weightsOf, output, emit, stopAfter;
  std::string target = "native", quantize = "none", recipe, kv = "auto";
  int64_t context = 0;
  int64_t tokenBudget = 0;
};

} // namespace

static std::vector<std::string> formNames() {
  return {
#define LLMIR_FORM(Enum, name, stage, doc) name,
#include "llmir/Driver/Stages.def"
  };
}

/// The stages of compilation, ending with the artifact.
static std::vector<std::string> compilerStages() {
  std::vector<std::string> names;
  for (const char *name : {
#define LLMIR_STAGE(Enum, name, doc) name,
#include "llmir/Driver/Stages.def"
       }) {
    names.push_back(name);
    if (names.back() == "artifact")
      break;
  }
  return names;
}

/// The end of the help text, with a line for each stage and form.
static std::string stagesAndForms() {
  std::string text = "\n\nStages:";
  std::vector<std::string> stages = compilerStages();
  auto add = [&text](const std::string &name, const std::string &doc) {
    text += "\n  " + name + std::string(12 - name.size(), ' ') + doc;
  };
#define LLMIR_STAGE(Enum, name, doc)                                           \
  if (std::find(stages.begin(), stages.end(), name) != stages.end())           \
    add(name, doc);
#include "llmir/Driver/Stages.def"
  text += "\n\nForms:";
#define LLMIR_FORM(Enum, name, stage, doc) add(name, doc);
#include "llmir/Driver/Stages.def"
  return text;
}

static const char *orNull(const std::string &text) {
  return text.empty() ? nullptr : text.c_str();
}

/// Checks for either a checkpoint, or a program and the artifact whose weights
/// it uses.
static Outcome checkSource(const CompileFlags &flags) {
  if (flags.program.empty() != flags.weightsOf.empty())
    return Outcome::usage("--program and --weights-of require each other",
                          "give --program FILE --weights-of FILE.llmir");
  if (flags.program.empty() == flags.model.empty())
    return Outcome::usage(flags.model.empty()
                              ? "there is nothing to compile"
                              : "MODEL and --program exclude each other",
                          "give MODEL, or --program and --weights-of");
  const std::string &path =
      flags.program.empty() ? flags.model : flags.weightsOf;
  Expected<ModelKind> kind = modelKind(path);
  if (!kind)
    return kind.takeStatus();
  const bool isArtifact = *kind == ModelKind::Artifact;
  if (flags.program.empty() && isArtifact)
    return Status(StatusCode::InvalidArgument,
                  "'" + path + "' is already compiled",
                  "give the checkpoint that it was made from");
  if (!flags.program.empty() && !isArtifact)
    return Status(StatusCode::InvalidArgument,
                  "'" + path + "' is not a compiled model",
                  "give the .llmir file whose weights the program uses");
  return Status::ok();
}

/// The text of `--recipe`: its value, or the contents of the file of that name.
static Expected<std::string> recipeText(const std::string &given) {
  if (given.find('=') != std::string::npos)
    return given;
  Expected<MappedFile> file = MappedFile::open(given);
  if (!file)
    return file.takeStatus();
  return std::string(file->text());
}

static Outcome compile(const CompileFlags &flags) {
  if (!flags.emit.empty() && !flags.stopAfter.empty())
    return Outcome::usage("--emit and --stop-after exclude each other",
                          "give one of them");
  bool makesArtifact = flags.emit.empty() && (flags.stopAfter.empty() ||
                                              flags.stopAfter == "artifact");
  if (makesArtifact && (flags.output.empty() || flags.output == "-"))
    return Outcome::usage("no output file was given for the artifact",
                          "give -o FILE.llmir, --emit or --stop-after");
  bool toOutput = flags.output.empty() || flags.output == "-";
  if (flags.emit == "obj" && toOutput && outputIsTerminal())
    return Outcome::usage("an object file cannot be written to a terminal",
                          "give -o FILE.o");

  if (Outcome outcome = checkSource(flags); !outcome.status.isOk())
    return outcome;

  std::string recipe;
  if (!flags.recipe.empty()) {
    Expected<std::string> text = recipeText(flags.recipe);
    if (!text)
      return text.takeStatus();
    recipe = std::move(*text);
  }

  LLMIRCompileOptions options = {};
  options.model =
      flags.program.empty() ? flags.model.c_str() : flags.weightsOf.c_str();
  options.program = orNull(flags.program);
  options.graph = orNull(flags.graph);
  options.target = flags.target.c_str();
  if (flags.recipe.empty())
    options.quantize = flags.quantize.c_str();
  else
    options.recipe = recipe.c_str();
  options.kv = flags.kv.c_str();
  options.context = flags.context;
  options.token_budget = flags.tokenBudget;
  options.emit = orNull(flags.emit);
  options.stop_after = orNull(flags.stopAfter);
  if (flags.emit.empty())
    options.output = orNull(flags.output);
  else
    options.emit_output = toOutput ? "-" : flags.output.c_str();

  Stopwatch watch;
  Expected<std::string> report = compileModel(options);
  if (!report)
    return Outcome::ofFlags(report.takeStatus());
  if (!report->empty())
    print(*report + (report->back() == '\n' ? "" : "\n"));
  struct stat info;
  if (flags.emit.empty() && !flags.output.empty() &&
      stat(flags.output.c_str(), &info) == 0)
    note("'" + flags.output +
         "': " + formatBytes(static_cast<double>(info.st_size)) + " in " +
         formatNumber(watch.milliseconds() / 1000, 2) + " s");
  return Status::ok();
}

void cli::addCompileCommand(CommandLine &line) {
  auto flags = std::make_shared<CompileFlags>();
  Command command = line.add("compile", "Compile a checkpoint to an artifact",
                             "llmir compile models/demo -o demo.llmir\n"
                             "  llmir compile models/demo --emit llm\n"
                             "  llmir compile DIRECTORY --graph own.mlir -o "
                             "own.llmir\n"
                             "  llmir compile models/demo -o demo.llmir "
                             "--recipe 'head=q8,*.mlp.*=int4:g128,*=int8'" +
                                 stagesAndForms());
  command.addArgument("MODEL", flags->model, checkpointHelp);
  Flag program = addOption(
      command, "--program", flags->program,
      "compile this program (as 'llmir-translate --disassemble-program' writes "
      "one) instead of a model",
      "FILE");
  addOption(
      command, "--graph", flags->graph,
      "compile this traced model (as written by --emit mllm, or by a program "
      "that traces a custom model); MODEL provides the parameters and the "
      "tokenizer",
      "FILE")
      .excludes(program);
  addOption(command, "--weights-of", flags->weightsOf,
            "with --program: the artifact whose weights, cache, limits and "
            "tokenizer it uses",
            "FILE.llmir");
  addOption(command, "-o,--output", flags->output,
            "output file: the artifact, or the form of --emit (default: "
            "standard output)",
            "FILE");
  addOption(
      command, "--target", flags->target,
      "comma-separated CPU levels of the code: native, x86-64 (all of "
      "them), x86-64-v3, x86-64-v4-bf16, aarch64, …; LEVEL+ is that level "
      "and all that include it")
      .showDefault();
  Flag quantize =
      addOption(
          command, "--quantize", flags->quantize,
          "quantize the projections' weights: none, q8, q4, or int8 or int4 "
          "with :g32, :g64 or :g128, :asym, :a32 (f32 instead of int8 "
          "activations); the output projection gets 8 bits unless :plain-head "
          "is given")
          .showDefault()
          .excludes(program);
  addOption(
      command, "--recipe", flags->recipe,
      "quantize by the names of matrices: a file, or comma-separated "
      "PATTERN=SCHEME rules, of which the first match applies; * matches any "
      "text, the pattern head the output projection; schemes are those of "
      "--quantize",
      "FILE|RULES")
      .excludes(program)
      .excludes(quantize);
  addOption(command, "--kv", flags->kv, "element type of the KV cache")
      .showDefault()
      .excludes(program)
      .check(oneOf({"auto", "f32", "f16", "bf16", "q8"}));
  addOption(command, "--ctx", flags->context,
            "maximum sequence length in tokens (default: the model's own)")
      .excludes(program)
      .check(atLeast(1));
  addOption(command, "--token-budget", flags->tokenBudget,
            "maximum tokens of a step (default: 512; encoders: the context)")
      .excludes(program)
      .check(atLeast(1));
  addOption(command, "--emit", flags->emit,
            "write an intermediate form instead of an artifact", "FORM")
      .check(oneOf(formNames()));
  addOption(command, "--stop-after", flags->stopAfter,
            "stop after a stage and report its result", "STAGE")
      .check(oneOf(compilerStages()));
  line.onRun(command,
             withModel(flags->model, [flags] { return compile(*flags); }));
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Infrastructure shared by the commands of `llmir`: declaration and outcome.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_COMMAND_H
#define LLMIR_TOOLS_LLMIR_COMMAND_H

#include "llmir/Support/Status.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace llmir::cli {

/// The outcome of a command: exit code 0, 1 (failure) or 2 (wrong usage).
struct Outcome {
  Outcome(Status status) : status(std::move(status)) {}
  /// An invalid combination of flags.
  static Outcome usage(std::string cause, std::string advice = {}) {
    Outcome outcome(Status(StatusCode::InvalidArgument, std::move(cause),
                           std::move(advice)));
    outcome.wrongUsage = true;
    return outcome;
  }

  /// The outcome of processing the flags for the model, its compilation and
  /// execution: wrong usage if a flag's value is invalid (InvalidArgument).
  static Outcome ofFlags(Status status) {
    const bool isWrong = status.code() == StatusCode::InvalidArgument;
    Outcome outcome(std::move(status));
    outcome.wrongUsage = isWrong;
    return outcome;
  }

  Status status;
  bool wrongUsage = false;
};

/// The command line: each command registers its flags and its action.
class CommandLine {
public:
  CommandLine();

  /// Adds the command `name`; `example` is appended to its help text.
  CLI::App &add(const std::string &name, const std::string &description,
                const std::string &example);
  /// Sets the action of `command`, called once its flags are parsed.
  void onRun(CLI::App &command, std::function<Outcome()> action);

  /// Parses the arguments and runs the command. Returns the exit code.
  int run(int argc, char **argv);

private:
  int reportUsage(const CLI::ParseError &error);

  CLI::App app;
  std::function<Outcome()> chosen;
};

/// The environment variable for a flag: LLMIR_TOP_K for --top-k. For a flag
/// with several names, the one that is set, otherwise that of the longest name.
std::string environmentName(const std::string &names);

/// Rejects values that are not whole numbers of 64 bits; the parser itself
/// would round, wrap or truncate them.
CLI::Validator wholeNumber(bool isSigned);

/// The type of a single value of a flag that is optional or a list.
template <typename T> struct OneValue {
  using Type = T;
};
template <typename T> struct OneValue<std::optional<T>> {
  using Type = T;
};
template <typename T> struct OneValue<std::vector<T>> {
  using Type = T;
};

/// Rejects an empty text, which is not the same as an absent flag.
CLI::Validator notEmpty();

/// Adds a flag with a value and its environment variable; `variableOf` gives
/// the variable's name if the flag has another meaning in other commands.
/// `form` describes the value in the help text, by default by its type.
template <typename T>
CLI::Option *addOption(CLI::App &command, const std::string &names, T &value,
                       const std::string &description,
                       const std::string &form = {},
                       const std::string &variableOf = {}) {
  std::string variable =
      environmentName(variableOf.empty() ? names : variableOf);
  CLI::Option *option =
      command.add_option(names, value, description)->envname(variable);
  if (!form.empty())
    option->option_text(form + " (Env:" + variable + ")");
  using Type = typename OneValue<T>::Type;
  if constexpr (std::is_integral_v<Type>)
    option->check(wholeNumber(std::is_signed_v<Type>));
  if constexpr (std::is_same_v<T, std::string>)
    option->check(notEmpty());
  return option;
}

/// Rejects values that are not Booleans; needed for flags set by a variable.
CLI::Validator truthValue();

/// Adds a flag without a value.
inline CLI::Option *addFlag(CLI::App &command, const std::string &names,
                            bool &value, const std::string &description) {
  return command.add_flag(names, value, description)
      ->envname(environmentName(names))
      ->check(truthValue());
}

/// Rejects numbers below `least`.
CLI::Validator atLeast(double least);

// Flags that several commands have.

/// --json, of commands whose output is otherwise text.
inline CLI::Option *addJsonFlag(CLI::App &command, bool &value) {
  return addFlag(command, "--json", value, "print one JSON object instead");
}

/// --jsonl; `form` describes a line: "{\"text\": …} or {\"ids\": …}".
inline CLI::Option *addJsonLinesFlag(CLI::App &command, bool &value,
                                     const std::string &form) {
  return addFlag(command, "--jsonl", value,
                 "read one JSON object per line (at most 64 MiB), " + form +
                     ", and write one per line");
}

/// -n, of commands that generate; `what` is limited: "to generate".
template <typename T>
CLI::Option *addMaxTokensOption(CLI::App &command, T &value,
                                const std::string &what) {
  return addOption(command, "-n,--max-tokens", value,
                   "maximum tokens " + what +
                       " (default: until an end token or the context's end)")
      ->check(atLeast(0));
}

void addPullCommand(CommandLine &line);
void addRunCommand(CommandLine &line);
void addBatchCommand(CommandLine &line);
void addServeCommand(CommandLine &line);
void addCompileCommand(CommandLine &line);
void addEmbedCommand(CommandLine &line);
void addTokenizeCommand(CommandLine &line);
void addInspectCommand(CommandLine &line);
void addExportCommand(CommandLine &line);
void addConvertCommand(CommandLine &line);
void addDoctorCommand(CommandLine &line);
void addPerplexityCommand(CommandLine &line);
void addChatCommand(CommandLine &line);
void addBenchCommand(CommandLine &line);
/// Add `serve` and `steps` to the command `bench`.
void addBenchServeCommand(CommandLine &line, CLI::App &bench);
void addBenchStepsCommand(CommandLine &line, CLI::App &bench);
void addCacheCommand(CommandLine &line);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_COMMAND_H

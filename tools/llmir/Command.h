//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the commands of `llmir` share: how one is declared and how it ends.
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

/// How a command ended: exit code 0, 1 (it failed) or 2 (wrong usage).
struct Outcome {
  Outcome(Status status) : status(std::move(status)) {}
  /// A combination of flags that cannot be meant.
  static Outcome usage(std::string cause, std::string advice = {}) {
    Outcome outcome(Status(StatusCode::InvalidArgument, std::move(cause),
                           std::move(advice)));
    outcome.wrongUsage = true;
    return outcome;
  }

  /// What became of the flags that name a model and how it is compiled and run:
  /// wrong usage where a flag's value cannot be (InvalidArgument).
  static Outcome ofFlags(Status status) {
    const bool isWrong = status.code() == StatusCode::InvalidArgument;
    Outcome outcome(std::move(status));
    outcome.wrongUsage = isWrong;
    return outcome;
  }

  Status status;
  bool wrongUsage = false;
};

/// The command line: each command adds itself with its flags and its action.
class CommandLine {
public:
  CommandLine();

  /// A command `name`; `example` ends its help text.
  CLI::App &add(const std::string &name, const std::string &description,
                const std::string &example);
  /// What `command` does once its flags are read.
  void onRun(CLI::App &command, std::function<Outcome()> action);

  /// Reads the arguments and runs the command. Returns the exit code.
  int run(int argc, char **argv);

private:
  int reportUsage(const CLI::ParseError &error);

  CLI::App app;
  std::function<Outcome()> chosen;
};

/// The environment variable that stands for a flag: LLMIR_TOP_K for --top-k.
/// Of a flag with several names, the one that is set, else the longest's.
std::string environmentName(const std::string &names);

/// Refuses what is not a whole number of 64 bits, which the parser itself would
/// round, wrap or cut.
CLI::Validator wholeNumber(bool isSigned);

/// The type of one value of a flag that is optional or a list.
template <typename T> struct OneValue {
  using Type = T;
};
template <typename T> struct OneValue<std::optional<T>> {
  using Type = T;
};
template <typename T> struct OneValue<std::vector<T>> {
  using Type = T;
};

/// Refuses an empty text: it is not the same as a flag that is not given.
CLI::Validator notEmpty();

/// Adds a flag with a value; its environment variable comes with it, that of
/// `variableOf` where the flag means something else in other commands. `form`
/// is what the help text calls the value, by default its type.
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

/// Refuses what is no truth value; a variable gives a flag one.
CLI::Validator truthValue();

/// Adds a flag without value.
inline CLI::Option *addFlag(CLI::App &command, const std::string &names,
                            bool &value, const std::string &description) {
  return command.add_flag(names, value, description)
      ->envname(environmentName(names))
      ->check(truthValue());
}

/// Refuses numbers below `least`.
CLI::Validator atLeast(double least);

void addRunCommand(CommandLine &line);
void addCompileCommand(CommandLine &line);
void addTokenizeCommand(CommandLine &line);
void addInspectCommand(CommandLine &line);
void addExportCommand(CommandLine &line);
void addDoctorCommand(CommandLine &line);
void addPerplexityCommand(CommandLine &line);
void addBenchCommand(CommandLine &line);
void addCacheCommand(CommandLine &line);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_COMMAND_H

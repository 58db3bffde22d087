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

#include <functional>
#include <memory>
#include <string>
#include <vector>

// The parser, CLI11, consists of headers only: no other file includes it, since
// each would compile its own copy.
namespace CLI {
class App;
class Option;
} // namespace CLI

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

/// Rejects values of a flag: adds itself to the flag.
using Check = std::function<void(CLI::Option &)>;

/// Numbers of at least `least`.
Check atLeast(double least);
/// Numbers from `least` to `most`, as the help text says.
Check inRange(int least, int most);
Check inRange(double least, double most);
/// One of some words, which the help text lists.
Check oneOf(std::vector<std::string> words);
/// Not an empty text, which is not the same as an absent flag.
Check notEmpty();

/// A flag or an argument of a command; a copy is the same flag.
class Flag {
public:
  explicit Flag(CLI::Option &option) : option(&option) {}

  Flag check(const Check &check);
  Flag required(bool isRequired = true);
  /// The help text shows the value that the variable has now.
  Flag showDefault();
  /// Not to be given together with the other one.
  Flag excludes(Flag other);
  /// A list is separated by commas, too.
  Flag separatedByCommas();
  /// A list is one argument; the next one does not belong to it.
  Flag isOneArgument();
  /// Numbers may have units: 2G, 500MB, 1MiB.
  Flag hasUnits();
  /// Calls `action` for each value.
  Flag onValue(std::function<void()> action);

private:
  CLI::Option *option;
};

/// A command under construction, to which flags are added; a copy is the same
/// command.
class Command {
public:
  explicit Command(CLI::App &app) : app(&app) {}

  /// Adds a command of this command; `example` is appended to its help text.
  Command addCommand(const std::string &name, const std::string &description,
                     const std::string &example = {});
  /// Running the command without one of its commands is wrong.
  void requireCommand();
  /// The flags of the command to which this one was added can follow it.
  void acceptFlagsOfParent();
  /// Adds an argument without a flag; a list takes all that follow.
  template <typename T>
  Flag addArgument(const std::string &name, T &value,
                   const std::string &description);
  Flag argument(const std::string &name);
  /// Adds a text to the help, before the example.
  void explain(const std::string &text);

  CLI::App &parser() const { return *app; }

private:
  CLI::App *app;
};

/// The command line: each command registers its flags and its action.
class CommandLine {
public:
  CommandLine();
  ~CommandLine();

  /// Adds the command `name`; `example` is appended to its help text.
  Command add(const std::string &name, const std::string &description,
              const std::string &example);
  /// Sets the action of `command`, called once its flags are parsed.
  void onRun(Command command, std::function<Outcome()> action);

  /// Parses the arguments and runs the command. Returns the exit code.
  int run(int argc, char **argv);

private:
  std::unique_ptr<CLI::App> app;
  std::function<Outcome()> chosen;
};

/// Adds a flag with a value and its environment variable: LLMIR_TOP_K for
/// --top-k. `variableOf` gives the variable's name if the flag has another
/// meaning in other commands. `form` describes the value in the help text, by
/// default by its type. T: an integer, float, double or text, std::optional or
/// a list of these; Command.cpp has the list.
template <typename T>
Flag addOption(Command command, const std::string &names, T &value,
               const std::string &description, const std::string &form = {},
               const std::string &variableOf = {});

/// Adds a flag without a value.
Flag addFlag(Command command, const std::string &names, bool &value,
             const std::string &description);

// Flags that several commands have.

/// --json, of commands whose output is otherwise text.
inline Flag addJsonFlag(Command command, bool &value) {
  return addFlag(command, "--json", value, "print one JSON object instead");
}

/// --jsonl; `form` describes a line: "{\"text\": …} or {\"ids\": …}".
inline Flag addJsonLinesFlag(Command command, bool &value,
                             const std::string &form) {
  return addFlag(command, "--jsonl", value,
                 "read one JSON object per line (at most 64 MiB), " + form +
                     ", and write one per line");
}

/// -n, of commands that generate; `what` is limited: "to generate".
template <typename T>
Flag addMaxTokensOption(Command command, T &value, const std::string &what) {
  return addOption(command, "-n,--max-tokens", value,
                   "maximum tokens " + what +
                       " (default: until an end token or the context's end)")
      .check(atLeast(0));
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
void addBenchServeCommand(CommandLine &line, Command bench);
void addBenchStepsCommand(CommandLine &line, Command bench);
void addCacheCommand(CommandLine &line);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_COMMAND_H

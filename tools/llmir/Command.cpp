//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <type_traits>

using namespace llmir;
using namespace llmir::cli;

CommandLine::CommandLine()
    : app(std::make_unique<CLI::App>(
          "llmir: compiles language models to native code and runs them.\n"
          "MODEL is a Hugging Face model directory, a .gguf file, a .llmir "
          "artifact, or a model of the Hub that `llmir pull` downloaded.",
          "llmir")) {
  app->require_subcommand(1);
  app->set_version_flag("--version", "llmir " LLMIR_VERSION);
  app->footer(
      "Every flag has an environment variable, which its help text names: "
      "LLMIR_TEMP=0 is --temp 0."
      "\n`llmir COMMAND --help` shows a command's flags and an example.");
}

CommandLine::~CommandLine() = default;

Command CommandLine::add(const std::string &name,
                         const std::string &description,
                         const std::string &example) {
  return Command(*app).addCommand(name, description, example);
}

void CommandLine::onRun(Command command, std::function<Outcome()> action) {
  // The variables of the other commands' flags must not be read.
  CLI::App &parser = command.parser();
  parser.immediate_callback();
  parser.callback([this, &parser, action = std::move(action)] {
    if (parser.get_subcommands().empty()) // Otherwise theirs is the action.
      chosen = action;
  });
}

/// Reports a wrong usage. Returns the exit code.
static int reportUsage(const CLI::App &app, const CLI::ParseError &error) {
  std::string command = "llmir";
  for (const CLI::App *parsed = &app; !parsed->get_subcommands().empty();) {
    parsed = parsed->get_subcommands().front();
    command += " " + parsed->get_name();
  }
  // Some messages of the parser have several lines.
  std::string cause = error.what();
  for (char &c : cause)
    if (c == '\n')
      c = ' ';
  std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  auto flag =
      std::find_if(unknown.begin(), unknown.end(), [](const std::string &word) {
        return word.size() > 1 && word[0] == '-';
      });
  if (flag != unknown.end())
    cause = "`" + command + "` has no flag " + *flag;
  // The parser also reports a missing command if an unknown one was given.
  else if (error.get_name() == "RequiredError" && !unknown.empty())
    cause = "unexpected '" + unknown.front() + "': " + cause;
  printFailure(Status(StatusCode::InvalidArgument, cause,
                      "see `" + command + " --help`"));
  return 2;
}

/// Reports how a command ended. Returns the exit code.
static int report(Outcome outcome) {
  if (outcome.status.isOk())
    outcome.status = flushOutput();
  if (outcome.status.isOk())
    return 0;
  printFailure(outcome.status);
  return outcome.wrongUsage ? 2 : 1;
}

int CommandLine::run(int argc, char **argv) {
  try {
    app->parse(argc, argv);
  } catch (const CLI::Success &request) { // --help or --version.
    std::ostringstream text;
    app->exit(request, text, text);
    print(text.str());
    return report(Status::ok());
  } catch (const CLI::ParseError &error) {
    return reportUsage(*app, error);
  }
  return report(chosen());
}

/// The environment variable for a flag: LLMIR_TOP_K for --top-k. For a flag
/// with several names, the one that is set, otherwise that of the longest name.
static std::string environmentName(const std::string &names) {
  std::string longest;
  std::istringstream parts(names);
  for (std::string part; std::getline(parts, part, ',');) {
    std::string name = "LLMIR_";
    for (char c : part.substr(part.find_first_not_of('-')))
      name +=
          c == '-'
              ? '_'
              : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (std::getenv(name.c_str()))
      return name;
    if (name.size() > longest.size())
      longest = name;
  }
  return longest;
}

/// Rejects values that are not whole numbers of 64 bits; the parser itself
/// would round, wrap or truncate them.
static CLI::Validator wholeNumber(bool isSigned) {
  return CLI::Validator(
      [isSigned](std::string &text) {
        const char *begin = text.data(), *end = begin + text.size();
        int64_t number;
        uint64_t natural;
        auto [rest, error] = isSigned ? std::from_chars(begin, end, number)
                                      : std::from_chars(begin, end, natural);
        if (error == std::errc() && rest == end)
          return std::string();
        return "'" + text + "' is not a whole number" +
               (isSigned ? "" : " of at least 0") +
               (error == std::errc::result_out_of_range ? " of 64 bits" : "");
      },
      std::string());
}

static Check checkBy(CLI::Validator validator) {
  return [validator = std::move(validator)](CLI::Option &option) {
    option.check(validator);
  };
}

Check cli::notEmpty() {
  return checkBy(CLI::Validator(
      [](std::string &text) {
        return text.empty() ? std::string("the value is empty") : std::string();
      },
      std::string()));
}

/// Rejects values that are not Booleans; needed for flags set by a variable.
static CLI::Validator truthValue() {
  return CLI::Validator(
      [](std::string &text) {
        std::string word = CLI::detail::to_lower(text);
        for (const char *known : {"true", "on", "yes", "enable", "1", "false",
                                  "off", "no", "disable", "0"})
          if (word == known)
            return std::string();
        return "'" + text + "' is neither true nor false";
      },
      std::string());
}

Check cli::atLeast(double least) {
  return checkBy(CLI::Validator(
      [least](std::string &text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= least)
          return std::string();
        std::ostringstream message;
        message << "'" << text << "' is not a number of at least " << least;
        return message.str();
      },
      std::string()));
}

Check cli::inRange(int least, int most) {
  return checkBy(CLI::Range(least, most));
}

Check cli::inRange(double least, double most) {
  return checkBy(CLI::Range(least, most));
}

Check cli::oneOf(std::vector<std::string> words) {
  return checkBy(CLI::IsMember(std::move(words)));
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

Flag Flag::check(const Check &check) {
  check(*option);
  return *this;
}

Flag Flag::required(bool isRequired) {
  option->required(isRequired);
  return *this;
}

Flag Flag::showDefault() {
  option->capture_default_str();
  return *this;
}

Flag Flag::excludes(Flag other) {
  option->excludes(other.option);
  return *this;
}

Flag Flag::separatedByCommas() {
  option->delimiter(',');
  return *this;
}

Flag Flag::isOneArgument() {
  option->allow_extra_args(false);
  return *this;
}

Flag Flag::hasUnits() {
  option->transform(CLI::AsSizeValue(/*kb_is_1000=*/true));
  return *this;
}

Flag Flag::onValue(std::function<void()> action) {
  option->each([action = std::move(action)](const std::string &) { action(); });
  return *this;
}

Command Command::addCommand(const std::string &name,
                            const std::string &description,
                            const std::string &example) {
  CLI::App *command = app->add_subcommand(name, description);
  if (!example.empty())
    command->footer("Example:\n  " + example);
  return Command(*command);
}

void Command::requireCommand() { app->require_subcommand(1); }

void Command::acceptFlagsOfParent() { app->fallthrough(); }

Flag Command::argument(const std::string &name) {
  return Flag(*app->get_option(name));
}

void Command::explain(const std::string &text) {
  app->footer(text + "\n\n" + app->get_footer());
}

template <typename T>
Flag Command::addArgument(const std::string &name, T &value,
                          const std::string &description) {
  return Flag(*app->add_option(name, value, description)->option_text(" "));
}

template Flag Command::addArgument(const std::string &, std::string &,
                                   const std::string &);
template Flag Command::addArgument(const std::string &,
                                   std::optional<std::string> &,
                                   const std::string &);
template Flag Command::addArgument(const std::string &,
                                   std::vector<std::string> &,
                                   const std::string &);

namespace {
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
} // namespace

template <typename T>
Flag cli::addOption(Command command, const std::string &names, T &value,
                    const std::string &description, const std::string &form,
                    const std::string &variableOf) {
  std::string variable =
      environmentName(variableOf.empty() ? names : variableOf);
  CLI::Option *option =
      command.parser().add_option(names, value, description)->envname(variable);
  if (!form.empty())
    option->option_text(form + " (Env:" + variable + ")");
  using Type = typename OneValue<T>::Type;
  if constexpr (std::is_integral_v<Type>)
    option->check(wholeNumber(std::is_signed_v<Type>));
  Flag flag(*option);
  return std::is_same_v<T, std::string> ? flag.check(notEmpty()) : flag;
}

#define LLMIR_INSTANTIATE_OPTION(TYPE)                                         \
  template Flag cli::addOption(Command, const std::string &, TYPE &,           \
                               const std::string &, const std::string &,       \
                               const std::string &);
LLMIR_INSTANTIATE_OPTION(int64_t)
LLMIR_INSTANTIATE_OPTION(uint64_t)
LLMIR_INSTANTIATE_OPTION(double)
LLMIR_INSTANTIATE_OPTION(std::string)
LLMIR_INSTANTIATE_OPTION(std::optional<std::string>)
LLMIR_INSTANTIATE_OPTION(std::optional<int64_t>)
LLMIR_INSTANTIATE_OPTION(std::optional<uint64_t>)
LLMIR_INSTANTIATE_OPTION(std::optional<double>)
LLMIR_INSTANTIATE_OPTION(std::vector<int64_t>)
LLMIR_INSTANTIATE_OPTION(std::vector<double>)
LLMIR_INSTANTIATE_OPTION(std::vector<std::string>)
#undef LLMIR_INSTANTIATE_OPTION

Flag cli::addFlag(Command command, const std::string &names, bool &value,
                  const std::string &description) {
  return Flag(*command.parser()
                   .add_flag(names, value, description)
                   ->envname(environmentName(names))
                   ->check(truthValue()));
}

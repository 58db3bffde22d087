//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <sstream>

using namespace llmir;
using namespace llmir::cli;

CommandLine::CommandLine()
    : app("llmir: compiles language models to native code and runs them.\n"
          "MODEL is a Hugging Face model directory, a .gguf file, a .llmir "
          "artifact, or a model of the Hub that `llmir pull` downloaded.",
          "llmir") {
  app.require_subcommand(1);
  app.set_version_flag("--version", "llmir " LLMIR_VERSION);
  app.footer(
      "Every flag has an environment variable, which its help text names: "
      "LLMIR_TEMP=0 is --temp 0."
      "\n`llmir COMMAND --help` shows a command's flags and an example.");
}

CLI::App &CommandLine::add(const std::string &name,
                           const std::string &description,
                           const std::string &example) {
  CLI::App *command = app.add_subcommand(name, description);
  command->footer("Example:\n  " + example);
  return *command;
}

void CommandLine::onRun(CLI::App &command, std::function<Outcome()> action) {
  // The variables of the other commands' flags must not be read.
  command.immediate_callback();
  command.callback([this, &command, action = std::move(action)] {
    if (command.get_subcommands().empty()) // Otherwise theirs is the action.
      chosen = action;
  });
}

int CommandLine::reportUsage(const CLI::ParseError &error) {
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
    app.parse(argc, argv);
  } catch (const CLI::Success &request) { // --help or --version.
    std::ostringstream text;
    app.exit(request, text, text);
    print(text.str());
    return report(Status::ok());
  } catch (const CLI::ParseError &error) {
    return reportUsage(error);
  }
  return report(chosen());
}

std::string cli::environmentName(const std::string &names) {
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

CLI::Validator cli::wholeNumber(bool isSigned) {
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

CLI::Validator cli::notEmpty() {
  return CLI::Validator(
      [](std::string &text) {
        return text.empty() ? std::string("the value is empty") : std::string();
      },
      std::string());
}

CLI::Validator cli::truthValue() {
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

CLI::Validator cli::atLeast(double least) {
  return CLI::Validator(
      [least](std::string &text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= least)
          return std::string();
        std::ostringstream message;
        message << "'" << text << "' is not a number of at least " << least;
        return message.str();
      },
      std::string());
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Console.h"

#include "llmir/Support/Json.h"
#include "llmir/Support/MessageLine.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace llmir;

static int outputError = 0; // The first errno of writing to standard output.

void cli::print(std::string_view text) {
  // An empty text may have a null address, which must not be passed to fwrite.
  if (outputError == 0 && !text.empty() &&
      std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    outputError = errno ? errno : EIO;
}

void cli::printNow(std::string_view text) {
  print(text);
  if (outputError == 0 && std::fflush(stdout) != 0)
    outputError = errno ? errno : EIO;
}

Status cli::flushOutput() {
  printNow({});
  if (outputError == 0)
    return Status::ok();
  return Status(StatusCode::IoError,
                std::string("standard output: ") + std::strerror(outputError),
                "the output is incomplete");
}

void cli::note(const std::string &message) {
  std::fprintf(stderr, "llmir: %s\n", messageLine(message).c_str());
}

void cli::noteLines(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines += messageLine(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::fprintf(stderr, "llmir: %s", lines.c_str());
}

void cli::noteNaN(const std::string &what) {
  note("the model's logits are NaN, so " + what +
       " is meaningless: the weights contain NaN, or a computation overflows");
}

/// Default advice for failures without specific advice.
static const char *usualAdvice(StatusCode code) {
  switch (code) {
  case StatusCode::InvalidFile:
    return "the file is damaged or of another format: fetch it again";
  case StatusCode::NotFound:
    return "check the path";
  case StatusCode::Unsupported:
    return "see `llmir --help` and the documentation for what is supported";
  case StatusCode::ResourceExhausted:
    return "close other programs, or reduce the request";
  case StatusCode::IncompatibleTarget:
    return "compile the model again on this machine";
  case StatusCode::IoError:
    return "check permissions and free space";
  case StatusCode::Internal:
    return "this is a bug in LLMIR, please report it";
  default:
    return "see `llmir --help`";
  }
}

void cli::printFailure(const Status &status) {
  std::fflush(stdout); // Keeps the order on a terminal.
  std::string line = status.message();
  if (status.advice().empty() && line.find("; ") == std::string::npos)
    line += std::string("; ") + usualAdvice(status.code());
  note(line);
}

bool cli::outputIsTerminal() { return isatty(STDOUT_FILENO); }
bool cli::errorIsTerminal() { return isatty(STDERR_FILENO); }

cli::ProgressBar::ProgressBar() : terminal(errorIsTerminal()) {}

cli::ProgressBar::~ProgressBar() { hide(); }

void cli::ProgressBar::hide() {
  if (shown)
    std::fputs("\r\033[K", stderr);
  shown = false;
}

void cli::ProgressBar::update(std::string_view stage, double fraction) {
  if (!terminal)
    return;
  constexpr int width = 30;
  int filled = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * width + 0.5);
  std::string bar = std::string(static_cast<size_t>(filled), '#') +
                    std::string(static_cast<size_t>(width - filled), '.');
  std::fprintf(stderr, "\r\033[K[%s] %s", bar.c_str(),
               printable(stage, 40).c_str());
  std::fflush(stderr);
  shown = true;
}

std::string cli::formatNumber(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

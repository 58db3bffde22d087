//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Console output: results go to standard output, everything else to standard
// error; progress is shown only on a terminal.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_CONSOLE_H
#define LLMIR_TOOLS_LLMIR_CONSOLE_H

#include "llmir/Support/Status.h"

#include <chrono>
#include <string>
#include <string_view>

namespace llmir::cli {

/// Writes to standard output. A failure is kept and reported by flushOutput().
void print(std::string_view text);
/// Writes to standard output and flushes it.
void printNow(std::string_view text);
/// Flushes, and reports whether everything was written.
Status flushOutput();

/// "llmir: message" on standard error, one line (see messageLine).
void note(const std::string &message);
/// Notes that logits are NaN, so that `what` is meaningless.
void noteNaN(const std::string &what);
/// Like note(), for a table with several lines.
void noteLines(std::string_view text);
/// "llmir: cause; advice" on standard error, one line.
void printFailure(const Status &status);

bool outputIsTerminal();
bool errorIsTerminal();

/// A progress bar on the last line of the terminal, if standard error is one;
/// removed by the destructor.
class ProgressBar {
public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar &) = delete;
  ProgressBar &operator=(const ProgressBar &) = delete;
  void update(std::string_view stage, double fraction);
  /// Removes it until the next update, to make room for a message.
  void hide();

private:
  bool shown = false;
  bool terminal;
};

/// Milliseconds since its construction.
class Stopwatch {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now() - start)
        .count();
  }

private:
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

/// printf's %.*f.
std::string formatNumber(double value, int digits);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_CONSOLE_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Waits for a key or a signal, whichever comes first.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_TERMINALSIGNALS_H
#define LLMIR_TOOLS_LLMIR_TERMINALSIGNALS_H

#include <array>
#include <csignal>

namespace llmir::cli {

/// From its construction to its destruction, signals that concern a program
/// that edits a line (Ctrl-C, Ctrl-Z, a new size, the end) are written to a
/// pipe, in any thread and at any time. So none is lost between a prompt and
/// the read that follows, as one is that only interrupts a read. One object at
/// a time.
class TerminalSignals {
public:
  /// Ignored signals remain ignored.
  TerminalSignals();
  ~TerminalSignals();
  TerminalSignals(const TerminalSignals &) = delete;
  TerminalSignals &operator=(const TerminalSignals &) = delete;

  /// Whether there is a pipe; without one, no signal is caught.
  explicit operator bool() const { return ends[0] >= 0; }

  /// Returns 0 if standard input can be read or has ended; before that, the
  /// number of a signal that has come.
  int wait();

  /// Does what the signal would have done without this object: ends the
  /// process, or stops it and returns when it goes on.
  void passOn(int signal);

private:
  static constexpr std::array<int, 7> caught = {
      SIGINT, SIGTSTP, SIGCONT, SIGWINCH, SIGTERM, SIGHUP, SIGQUIT};
  void install(size_t index);

  int ends[2] = {-1, -1}; ///< Of the pipe: to read and to write.
  std::array<struct sigaction, caught.size()> previous{};
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_TERMINALSIGNALS_H

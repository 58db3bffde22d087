//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads lines from a terminal, with editing and a history (libedit), or from a
// file or a pipe.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_LINEEDITOR_H
#define LLMIR_TOOLS_LLMIR_LINEEDITOR_H

#include "llmir/Support/Status.h"

#include <memory>
#include <string>

namespace llmir::cli {

class LineEditor {
public:
  /// `historyFile` keeps the lines of earlier sessions, readable by the user
  /// only; empty: none. Terminals only.
  explicit LineEditor(const std::string &historyFile);
  ~LineEditor();
  LineEditor(const LineEditor &) = delete;
  LineEditor &operator=(const LineEditor &) = delete;

  enum class Event { Line, Interrupt, End };
  /// Reads a line without its line end. Interrupt: Ctrl-C; End: Ctrl-D on an
  /// empty line, or the end of the input. `prompt` is shown on terminals.
  Expected<Event> read(const std::string &prompt, std::string &line);

  /// Whether the input is a terminal.
  bool isInteractive() const { return terminal != nullptr; }

private:
  struct Terminal;
  struct Input;
  Expected<Event> readInput(std::string &line);

  std::unique_ptr<Terminal> terminal; ///< Null for files and pipes.
  std::unique_ptr<Input> input;
};

/// Catches Ctrl-C from its construction to its destruction: pending() reports
/// it, and the process does not end.
class InterruptScope {
public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;

  /// Whether Ctrl-C was pressed.
  static bool pending();
};

/// "$XDG_STATE_HOME/llmir/chat_history", or in ~/.local/state; empty if there
/// is no home directory.
std::string defaultHistoryFile();

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_LINEEDITOR_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineEditor.h"
#include "StandardInput.h"

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <langinfo.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#ifdef LLMIR_LINE_EDITING
#include <histedit.h>
#endif

using namespace llmir;
using namespace llmir::cli;

//===----------------------------------------------------------------------===//
// Ctrl-C
//===----------------------------------------------------------------------===//

static volatile std::sig_atomic_t interrupted = 0;
static struct sigaction previousAction;

InterruptScope::InterruptScope() {
  interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART: a read that waits for input returns.
  sigaction(SIGINT, &action, &previousAction);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &previousAction, nullptr);
}

bool InterruptScope::pending() { return interrupted != 0; }

//===----------------------------------------------------------------------===//
// The editor
//===----------------------------------------------------------------------===//

struct LineEditor::Input {
  LineReader reader;
};

/// A line of a file or a pipe, or of a terminal without editing.
Expected<LineEditor::Event> LineEditor::readInput(std::string &line) {
  Expected<bool> found = input->reader.next(line);
  if (!found)
    return found.takeStatus();
  return *found ? Event::Line : Event::End;
}

#ifdef LLMIR_LINE_EDITING
struct LineEditor::Terminal {
  EditLine *editor = nullptr;
  History *history = nullptr;
  std::string prompt, file;

  ~Terminal() {
    if (editor)
      el_end(editor);
    if (history)
      history_end(history);
  }
  static char *promptOf(EditLine *editor) {
    Terminal *self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return self->prompt.data();
  }
  void remember(const char *line);
};

static constexpr int historyLines = 1000;

/// Adds the line to the history, and to the file of the following sessions.
void LineEditor::Terminal::remember(const char *line) {
  HistEvent event;
  ::history(history, &event, H_ENTER, line);
  if (file.empty())
    return;
  // The history is a convenience: without the file, there is none next time.
  const mode_t mask = umask(077);
  ::history(history, &event, H_SAVE, file.c_str());
  umask(mask);
}

/// The editor drops characters that the locale does not have.
static void useUTF8() {
  std::setlocale(LC_CTYPE, "");
  if (std::string_view(nl_langinfo(CODESET)) != "UTF-8")
    std::setlocale(LC_CTYPE, "C.UTF-8");
}

LineEditor::LineEditor(const std::string &historyFile) {
  if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
    input = std::make_unique<Input>();
    return;
  }
  terminal = std::make_unique<Terminal>();
  terminal->file = historyFile;
  if (!historyFile.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(
        std::filesystem::path(historyFile).parent_path(), ignored);
  }
  useUTF8();
  // Standard output has results only.
  terminal->editor = el_init("llmir", stdin, stderr, stderr);
  terminal->history = history_init();
  HistEvent event;
  ::history(terminal->history, &event, H_SETSIZE, historyLines);
  ::history(terminal->history, &event, H_SETUNIQUE, 1);
  if (!historyFile.empty())
    ::history(terminal->history, &event, H_LOAD, historyFile.c_str());
  el_set(terminal->editor, EL_CLIENTDATA, terminal.get());
  el_set(terminal->editor, EL_PROMPT, &Terminal::promptOf);
  el_set(terminal->editor, EL_EDITOR, "emacs");
  el_set(terminal->editor, EL_SIGNAL, 1);
  el_set(terminal->editor, EL_HIST, ::history, terminal->history);
  el_set(terminal->editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(terminal->editor, nullptr); // The user's ~/.editrc.
}

LineEditor::~LineEditor() = default;

Expected<LineEditor::Event> LineEditor::read(const std::string &prompt,
                                             std::string &line) {
  if (!terminal)
    return readInput(line);
  InterruptScope scope;
  terminal->prompt = prompt;
  errno = 0;
  int length = 0;
  const char *text = el_gets(terminal->editor, &length);
  if (InterruptScope::pending()) {
    el_reset(terminal->editor);
    std::fputs("\n", stderr);
    return Event::Interrupt;
  }
  if (!text || length <= 0)
    return Event::End;
  line.assign(text, static_cast<size_t>(length));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
    line.pop_back();
  if (!line.empty())
    terminal->remember(line.c_str());
  return Event::Line;
}

#else // Runtime-only builds may lack libedit.
struct LineEditor::Terminal {};

LineEditor::LineEditor(const std::string &) {
  if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
    terminal = std::make_unique<Terminal>();
  input = std::make_unique<Input>();
}

LineEditor::~LineEditor() = default;

Expected<LineEditor::Event> LineEditor::read(const std::string &prompt,
                                             std::string &line) {
  if (terminal)
    std::fputs(prompt.c_str(), stderr);
  return readInput(line);
}
#endif

std::string cli::defaultHistoryFile() {
  const char *state = std::getenv("XDG_STATE_HOME");
  if (state && *state == '/')
    return std::string(state) + "/llmir/chat_history";
  const char *home = std::getenv("HOME");
  if (!home || *home != '/')
    return {};
  return std::string(home) + "/.local/state/llmir/chat_history";
}

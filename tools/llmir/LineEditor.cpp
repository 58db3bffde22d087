//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineEditor.h"
#include "StandardInput.h"
#include "TerminalSignals.h"

#include <atomic>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
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

/// Read by another thread than that of the handler.
static std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);
static struct sigaction previousAction;

InterruptScope::InterruptScope() {
  interrupted = false;
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = true; };
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &previousAction);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &previousAction, nullptr);
}

bool InterruptScope::pending() { return interrupted; }

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
  TerminalSignals *signals = nullptr; ///< While a line is read.
  bool interrupted = false;           ///< By Ctrl-C.

  ~Terminal() {
    if (editor)
      el_end(editor);
    if (history)
      history_end(history);
  }
  static Terminal &of(EditLine *editor) {
    Terminal *self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return *self;
  }
  static char *promptOf(EditLine *editor) { return of(editor).prompt.data(); }
  static int readCharacter(EditLine *editor, wchar_t *character);
  int readByte(char &byte);
  void handle(int signal);
  void remember(const char *line);
};

/// What the editor itself would do about a signal during its read.
void LineEditor::Terminal::handle(int signal) {
  switch (signal) {
  case SIGINT:
    interrupted = true;
    return;
  case SIGWINCH:
    el_resize(editor);
    return;
  default:
    el_set(editor, EL_PREP_TERM, 0);
    if (signal != SIGCONT)
      signals->passOn(signal); // Stops or ends the process, or does nothing.
  }
  el_set(editor, EL_PREP_TERM, 1);
  el_set(editor, EL_REFRESH);
}

/// Returns 1, 0 at the end of the input, -1 on an error or Ctrl-C.
int LineEditor::Terminal::readByte(char &byte) {
  while (true) {
    const int signal = signals->wait();
    if (signal != 0) {
      handle(signal);
      if (interrupted)
        return -1;
      continue;
    }
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count >= 0)
      return static_cast<int>(count);
    if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
      return -1;
  }
}

/// Reads a character for the editor. Bytes that form none are dropped.
int LineEditor::Terminal::readCharacter(EditLine *editor, wchar_t *character) {
  Terminal &self = of(editor);
  std::mbstate_t state{};
  char byte;
  while (true) {
    const int result = self.readByte(byte);
    if (result != 1)
      return result;
    const bool begins = std::mbsinit(&state) != 0;
    size_t bytes = std::mbrtowc(character, &byte, 1, &state);
    if (bytes == static_cast<size_t>(-1)) {
      state = {};
      if (!begins) // It may be the first one of the next character.
        bytes = std::mbrtowc(character, &byte, 1, &state);
    }
    if (bytes == static_cast<size_t>(-1))
      state = {};
    else if (bytes != static_cast<size_t>(-2))
      return 1;
  }
}

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
  el_set(terminal->editor, EL_SIGNAL, 0); // See Terminal::handle().
  el_set(terminal->editor, EL_GETCFN, &Terminal::readCharacter);
  el_set(terminal->editor, EL_HIST, ::history, terminal->history);
  el_set(terminal->editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(terminal->editor, nullptr); // The user's ~/.editrc.
}

LineEditor::~LineEditor() = default;

Expected<LineEditor::Event> LineEditor::read(const std::string &prompt,
                                             std::string &line) {
  if (!terminal)
    return readInput(line);
  TerminalSignals signals;
  if (!signals)
    return Status(StatusCode::ResourceExhausted,
                  std::string("no pipe for signals: ") + std::strerror(errno),
                  "close programs that have many files open");
  terminal->prompt = prompt;
  terminal->signals = &signals;
  terminal->interrupted = false;
  // El_gets would show the prompt first, and then lose a Ctrl-D pressed before
  // the terminal's mode has changed.
  el_set(terminal->editor, EL_PREP_TERM, 1);
  int length = 0;
  const char *text = el_gets(terminal->editor, &length);
  terminal->signals = nullptr;
  if (terminal->interrupted) {
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

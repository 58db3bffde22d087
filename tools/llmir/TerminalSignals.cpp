//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TerminalSignals.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

using namespace llmir::cli;

static volatile std::sig_atomic_t pipeEnd = -1;

static void writeSignal(int signal) {
  const int error = errno;
  const char byte = static_cast<char>(signal);
  // A full pipe has enough to be noticed.
  [[maybe_unused]] const ssize_t written = write(pipeEnd, &byte, 1);
  errno = error;
}

TerminalSignals::TerminalSignals() {
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    ends[0] = ends[1] = -1;
    return;
  }
  pipeEnd = ends[1];
  for (size_t i = 0; i < caught.size(); ++i) {
    sigaction(caught[i], nullptr, &previous[i]);
    install(i);
  }
}

TerminalSignals::~TerminalSignals() {
  if (!*this)
    return;
  for (size_t i = 0; i < caught.size(); ++i)
    sigaction(caught[i], &previous[i], nullptr);
  close(ends[0]);
  close(ends[1]);
}

void TerminalSignals::install(size_t index) {
  if (previous[index].sa_handler == SIG_IGN)
    return;
  struct sigaction action = {};
  action.sa_handler = writeSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(caught[index], &action, nullptr);
}

int TerminalSignals::wait() {
  while (true) {
    pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {ends[0], POLLIN, 0}};
    if (poll(sources, 2, -1) < 0 && errno != EINTR)
      return 0; // The read that follows reports it.
    char byte;
    if (read(ends[0], &byte, 1) == 1)
      return byte;
    if (sources[0].revents != 0)
      return 0;
  }
}

void TerminalSignals::passOn(int signal) {
  for (size_t i = 0; i < caught.size(); ++i)
    if (caught[i] == signal) {
      sigaction(signal, &previous[i], nullptr);
      raise(signal);
      install(i);
    }
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StandardInput.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llmir;

static constexpr size_t pieceBytes = size_t(64) << 10;

bool cli::hasPipedInput() {
  struct stat info;
  return fstat(STDIN_FILENO, &info) == 0 && !isatty(STDIN_FILENO);
}

/// Fills `buffer` with the next input; empty at the end of input.
static Status readPiece(std::vector<char> &buffer) {
  buffer.resize(pieceBytes);
  ssize_t count;
  while ((count = ::read(STDIN_FILENO, buffer.data(), buffer.size())) < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) { // Made non-blocking.
      pollfd input{STDIN_FILENO, POLLIN, 0};
      poll(&input, 1, -1);
    } else if (errno != EINTR) {
      return Status(StatusCode::IoError,
                    std::string("standard input cannot be read: ") +
                        std::strerror(errno),
                    "redirect it from a file or a pipe");
    }
  }
  buffer.resize(static_cast<size_t>(count));
  return Status::ok();
}

Expected<std::string> cli::readStandardInput() {
  std::string text;
  std::vector<char> piece;
  do {
    LLMIR_RETURN_IF_ERROR(readPiece(piece));
    if (piece.size() > maxInputBytes - text.size())
      return Status(StatusCode::OutOfRange,
                    "standard input has more than " +
                        std::to_string(maxInputBytes) + " bytes",
                    "give less at once");
    text.append(piece.data(), piece.size());
  } while (!piece.empty());
  return text;
}

bool cli::LineReader::hasNext() const {
  return begin < buffer.size() &&
         std::memchr(&buffer[begin], '\n', buffer.size() - begin);
}

/// Appends; clears the line if there is not enough memory.
static bool appendTo(std::string &line, const char *bytes, size_t count) {
  try {
    line.append(bytes, count);
    return true;
  } catch (const std::bad_alloc &) {
    line = std::string();
    return false;
  }
}

Expected<bool> cli::LineReader::next(std::string &line) {
  line.clear();
  ++number;
  const std::string name = "line " + std::to_string(number);
  bool fits = true, ended = false;
  for (size_t bytes = 0; !ended;) {
    if (begin == buffer.size()) {
      begin = 0;
      LLMIR_RETURN_IF_ERROR(readPiece(buffer));
      if (buffer.empty() && bytes == 0)
        return false;
      if (buffer.empty())
        break; // The last line, without a line end.
    }
    auto from = buffer.begin() + static_cast<ptrdiff_t>(begin);
    auto end = std::find(from, buffer.end(), '\n');
    const auto count = static_cast<size_t>(end - from);
    if (count > maxLineBytes - bytes)
      return Status(StatusCode::OutOfRange,
                    "standard input: " + name + " has more than " +
                        std::to_string(maxLineBytes) + " bytes",
                    "give one JSON object per line");
    fits = fits && appendTo(line, &buffer[begin], count);
    bytes += count;
    begin += count;
    ended = end != buffer.end();
    begin += ended;
  }
  if (fits)
    return true;
  return Status(StatusCode::ResourceExhausted, name + ": not enough memory",
                "give less at once");
}

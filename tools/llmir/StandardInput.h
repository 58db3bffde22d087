//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Standard input, which anybody may feed: failures are failures, and nothing
// is read without end.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_STANDARDINPUT_H
#define LLMIR_TOOLS_LLMIR_STANDARDINPUT_H

#include "llmir/Support/Status.h"

#include <cstddef>
#include <string>
#include <vector>

namespace llmir::cli {

/// Longest line of a LineReader.
inline constexpr size_t maxLineBytes = size_t(64) << 20;
/// Longest input that is read as a whole: as much as a tokenizer takes.
inline constexpr size_t maxInputBytes = size_t(256) << 20;

/// Whether a file, a pipe or the like can be read: standard input is open and
/// is not a terminal.
bool hasPipedInput();

/// All of standard input. IoError where it cannot be read, OutOfRange where it
/// is longer than maxInputBytes.
Expected<std::string> readStandardInput();

/// Standard input by lines.
class LineReader {
public:
  /// Reads the next line, without its end; false after the last one. IoError
  /// where standard input cannot be read, OutOfRange where the line is longer
  /// than maxLineBytes: nothing can be read after either. ResourceExhausted
  /// where memory is too small for the line: the next one can be read. The last
  /// two name the line's number.
  Expected<bool> next(std::string &line);
  /// Whether next() gives a line at once, without waiting for input.
  bool hasNext() const;

private:
  std::vector<char> buffer; ///< What was read last …
  size_t begin = 0;         ///< … and what of it is not yet given.
  size_t number = 0;        ///< Of lines given.
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_STANDARDINPUT_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Standard input, which is untrusted: errors are reported, and the amount read
// is limited.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_STANDARDINPUT_H
#define LLMIR_TOOLS_LLMIR_STANDARDINPUT_H

#include "llmir/Support/Status.h"

#include <cstddef>
#include <string>
#include <vector>

namespace llmir::cli {

/// Maximum length of a line of LineReader.
inline constexpr size_t maxLineBytes = size_t(64) << 20;
/// Maximum length of an input that is read at once: the tokenizer's limit.
inline constexpr size_t maxInputBytes = size_t(256) << 20;

/// Whether standard input is a file, a pipe or the like: it is open and not a
/// terminal.
bool hasPipedInput();

/// All of standard input. IoError if it cannot be read, OutOfRange if it
/// exceeds maxInputBytes.
Expected<std::string> readStandardInput();

/// Reads standard input line by line.
class LineReader {
public:
  /// Reads the next line, without its line end; false after the last one.
  /// IoError if standard input cannot be read, OutOfRange if the line exceeds
  /// maxLineBytes: nothing can be read after either. ResourceExhausted if there
  /// is not enough memory for the line: the next one can be read. The last two
  /// name the line's number.
  Expected<bool> next(std::string &line);
  /// Whether next() can return a line immediately, without waiting for input.
  bool hasNext() const;

private:
  std::vector<char> buffer; ///< The data read last.
  size_t begin = 0;         ///< Start of its unconsumed part.
  size_t number = 0;        ///< Of the last line returned.
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_STANDARDINPUT_H

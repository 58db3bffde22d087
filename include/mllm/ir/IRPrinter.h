//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// IRPrinter: destination and style of printing nodes in the MLLM text format.
//
//   auto printer = IRPrinter();
//   context->topLevelOp()->dump(printer);
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_IRPRINTER_H
#define MLLM_IR_IRPRINTER_H

#include <cstdint>
#include <iosfwd>
#include <string>

namespace mllm {

/// Prints to stdout by default.
class IRPrinter {
public:
  enum Style {
    /// As in MLLM's documentation: kFp32 and kCPU, no attributes, no
    /// parameters.
    DOCUMENT,
    /// The current spelling with all information; parsing it yields the same
    /// IR.
    FULL,
    /// MLIR's assembly format, which llmir-opt reads.
    MLIR,
  };

  IRPrinter();
  explicit IRPrinter(std::ostream &output, Style style = DOCUMENT)
      : output(&output), printedStyle(style) {}

  IRPrinter &setStyle(Style style) {
    printedStyle = style;
    return *this;
  }
  Style style() const { return printedStyle; }

  /// Sets the number of the first value (default: 0).
  IRPrinter &setFirstNumber(int64_t number) {
    first = number;
    return *this;
  }
  int64_t firstNumber() const { return first; }

  void print(const std::string &text);

private:
  std::ostream *output;
  Style printedStyle = DOCUMENT;
  int64_t first = 0;
};

namespace ir {
using ::mllm::IRPrinter;
} // namespace ir

} // namespace mllm

#endif // MLLM_IR_IRPRINTER_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory in which a model runs whose memory is planned (mllm-plan-memory).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_INTERPRETER_ARENA_H
#define LLMIR_LIB_INTERPRETER_ARENA_H

#include "llmir/Reference/Tensor.h"

#include "llvm/ADT/DenseMap.h"

#include <array>

namespace llmir::interpreter {

/// Lines of planned memory, and the number of the value that was written there.
struct Place {
  int64_t begin = 0, end = 0;
  int64_t value = 0; ///< 0: it lies in no planned memory.
};

/// Holds the elements of values as they are stored, in lines of kLineBytes.
/// Lines that nothing was written to take no memory, whatever a plan says.
class Arena {
public:
  /// A number for a value that is about to be written.
  int64_t newValue() { return ++numValues; }
  /// The value whose elements the line holds; 0 = none.
  int64_t holderOf(int64_t line) const;
  /// Writes the elements to the place, which ends where they do.
  void write(Place &place, const reference::Tensor &tensor);
  /// The elements that are there now, whichever value wrote them; shape and
  /// type are the tensor's.
  void read(const Place &place, reference::Tensor &tensor) const;
  void release(const Place &place);
  /// The bytes up to the end of the last line that was ever written.
  int64_t bytes() const;

private:
  struct Line {
    int64_t value = 0;
    std::array<uint8_t, 64> bytes = {};
  };
  llvm::DenseMap<int64_t, Line> lines;
  int64_t numValues = 0, lastLine = -1;
};

} // namespace llmir::interpreter

#endif // LLMIR_LIB_INTERPRETER_ARENA_H

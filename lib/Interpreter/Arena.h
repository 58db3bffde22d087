//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory of a model with a memory plan (mllm-plan-memory).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_INTERPRETER_ARENA_H
#define LLMIR_LIB_INTERPRETER_ARENA_H

#include "llmir/Reference/Tensor.h"

#include "llvm/ADT/DenseMap.h"

#include <array>

namespace llmir::interpreter {

/// Lines of planned memory, and the id of the value written there.
struct Place {
  int64_t begin = 0, end = 0;
  int64_t value = 0; ///< 0: not in planned memory.
};

/// Holds the elements of values in their stored form, in lines of kLineBytes.
/// Lines are allocated on first write.
class Arena {
public:
  /// Returns a new value id.
  int64_t newValue() { return ++numValues; }
  /// The id of the value in the line; 0: none.
  int64_t holderOf(int64_t line) const;
  /// Writes the elements to the place, whose end is set accordingly.
  void write(Place &place, const reference::Tensor &tensor);
  /// Reads the current contents into a tensor of given shape and type.
  void read(const Place &place, reference::Tensor &tensor) const;
  void release(const Place &place);
  /// The size in bytes up to the last line written.
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

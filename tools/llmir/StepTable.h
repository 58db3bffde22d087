//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How long the steps of a model take, measured on a grid, and what the
// scheduler needs to know of the model; a file of JSON.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_STEPTABLE_H
#define LLMIR_TOOLS_LLMIR_STEPTABLE_H

#include "llmir/Runtime/Executor.h"
#include "llmir/Support/Json.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace llmir::cli {

struct StepTable {
  std::string model;
  int64_t threads = 0, vocabulary = 0, contextLength = 0;
  int64_t tokenBudget = 0, logitRows = 0;
  int64_t blockSize = 0, blocks = 0; ///< Of the KV cache.

  /// The grid, ascending: tokens of prompts in a step, from 0; sequences that
  /// decode one token each, from 0; and tokens before those, of each sequence.
  std::vector<int64_t> prompts, sequences, depths;
  /// [prompts][sequences][depths]; 0 for nothing.
  std::vector<double> milliseconds;

  /// Interpolated linearly between the points of the grid; beyond them, as
  /// between the last two.
  double stepMilliseconds(double prompt, double decoding, double depth) const;

  /// Measures the grid, whose lists are set: the median of `repetitions` of a
  /// step, with the choice of tokens at temperature 1. `progress` is called
  /// with the part that is done. Fails with OutOfRange for a grid that the
  /// model has no room for, Unsupported for layers that keep a state, which
  /// cannot go back, or as Executor::step does.
  Status measure(Executor &executor, int64_t repetitions,
                 const std::function<void(double)> &progress);

  Json toJson() const;
  /// Fails with InvalidFile for files that toJson() would not write.
  static Expected<StepTable> read(const std::string &path);

private:
  size_t place(size_t prompt, size_t decoding, size_t depth) const {
    return (prompt * sequences.size() + decoding) * depths.size() + depth;
  }
  Status check() const;
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_STEPTABLE_H

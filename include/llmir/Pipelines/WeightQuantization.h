//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What --quantize asks for.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_PIPELINES_WEIGHTQUANTIZATION_H
#define LLMIR_PIPELINES_WEIGHTQUANTIZATION_H

#include "llmir/Support/Status.h"

#include <string>

namespace llmir {

/// How the weights of projections are quantized while compiling.
struct WeightQuantization {
  std::string scheme;           ///< Of -llm-quantize; empty: not at all.
  bool byteActivations = false; ///< Their inputs are int8 as well.

  /// "none"; "int8" or "int4", then perhaps, in any order, ":g32", ":g64" or
  /// ":g128" for the group, ":asym" for zero points and ":a8" or ":a32" for
  /// inputs of int8, as by default, or f32; "q8" and "q4" stand for groups
  /// of 32.
  static Expected<WeightQuantization> fromName(const std::string &name);
};

} // namespace llmir

#endif // LLMIR_PIPELINES_WEIGHTQUANTIZATION_H

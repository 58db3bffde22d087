//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One case for each layer and each function of tensors.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_FRONTEND_LAYERCASES_H
#define LLMIR_TEST_FRONTEND_LAYERCASES_H

#include "Tracing.h"

namespace llmir::test {

struct LayerCase {
  std::string name;
  Function::Body body;
  std::vector<Tensor> inputs;
  /// Parts of the trace's text: the options of the call.
  std::vector<std::string> mentions;
  /// The error that the compiler may report; empty if it must compile.
  std::string gap;
};

inline void PrintTo(const LayerCase &each, std::ostream *output) {
  *output << each.name;
}

std::vector<LayerCase> layerCases();

} // namespace llmir::test

#endif // LLMIR_TEST_FRONTEND_LAYERCASES_H

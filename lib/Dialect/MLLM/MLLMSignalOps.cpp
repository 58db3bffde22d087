//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of audio: short-time Fourier transforms.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMSignalOps.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMSignalOps.cpp.inc"

void MLLMDialect::addSignalOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMSignalOps.cpp.inc"
      >();
}

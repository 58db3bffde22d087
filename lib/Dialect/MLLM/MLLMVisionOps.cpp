//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions and what goes with them.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMVisionOps.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMVisionOps.cpp.inc"

void MLLMDialect::addVisionOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMVisionOps.cpp.inc"
      >();
}

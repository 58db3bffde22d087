//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Export/BuildGraph.h"

#include "mllm/ir/MLIR.h"

llmir::Expected<mllm::ir::Graph>
mllm::ir::buildGraph(IRContext &context, const GraphOptions &options) {
  return llmir::buildGraph(getModule(context), options);
}

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers: projections, norms, activations over rows.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMNNOPS_H
#define LLMIR_DIALECT_MLLM_MLLMNNOPS_H

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

#include "mlir/IR/PatternMatch.h"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMNNOps.h.inc"

#endif // LLMIR_DIALECT_MLLM_MLLMNNOPS_H

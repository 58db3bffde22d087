//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The control-flow level.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMCFOPS_H
#define LLMIR_DIALECT_MLLM_MLLMCFOPS_H

#include "llmir/Dialect/MLLM/MLLMDialect.h"
#include "llmir/Dialect/MLLM/MLLMGraphOps.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMCFOps.h.inc"

#endif // LLMIR_DIALECT_MLLM_MLLMCFOPS_H

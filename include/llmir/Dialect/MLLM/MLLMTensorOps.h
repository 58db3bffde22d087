//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor level: parameters, constants and memory.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMTENSOROPS_H
#define LLMIR_DIALECT_MLLM_MLLMTENSOROPS_H

#include "llmir/Dialect/MLLM/MLLMDialect.h"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMTensorOps.h.inc"

#endif // LLMIR_DIALECT_MLLM_MLLMTENSOROPS_H

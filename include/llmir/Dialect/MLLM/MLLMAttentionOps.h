//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions, caches and attention.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMATTENTIONOPS_H
#define LLMIR_DIALECT_MLLM_MLLMATTENTIONOPS_H

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMAttentionOps.h.inc"

#endif // LLMIR_DIALECT_MLLM_MLLMATTENTIONOPS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers: mixtures of experts.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMEXPERTOPS_H
#define LLMIR_DIALECT_MLLM_MLLMEXPERTOPS_H

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMExpertOps.h.inc"

#endif // LLMIR_DIALECT_MLLM_MLLMEXPERTOPS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions and resampling.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMVISIONOPS_H
#define LLMIR_DIALECT_MLLM_MLLMVISIONOPS_H

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"
#include "llmir/Dialect/MLLM/ShapeRules.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMVisionOps.h.inc"

#endif // LLMIR_DIALECT_MLLM_MLLMVISIONOPS_H

//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data movement ops: views, permutations, concatenations and splits.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMSHAPEOPS_H
#define LLMIR_DIALECT_MLLM_MLLMSHAPEOPS_H

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMShapeOps.h.inc"

#endif // LLMIR_DIALECT_MLLM_MLLMSHAPEOPS_H

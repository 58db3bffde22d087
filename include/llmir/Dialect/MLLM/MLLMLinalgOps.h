//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All ops of the linalg level.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMLINALGOPS_H
#define LLMIR_DIALECT_MLLM_MLLMLINALGOPS_H

#include "llmir/Dialect/MLLM/MLLMAttentionOps.h"
#include "llmir/Dialect/MLLM/MLLMElementwiseOps.h"
#include "llmir/Dialect/MLLM/MLLMIndexOps.h"
#include "llmir/Dialect/MLLM/MLLMNNOps.h"
#include "llmir/Dialect/MLLM/MLLMShapeOps.h"
#include "llmir/Dialect/MLLM/MLLMSignalOps.h"
#include "llmir/Dialect/MLLM/MLLMVisionOps.h"

#endif // LLMIR_DIALECT_MLLM_MLLMLINALGOPS_H

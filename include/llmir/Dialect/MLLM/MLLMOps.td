//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attributes and ops of all levels, for tools that need all of them
// (reference pages, coverage tables). C++ is generated from the file of each
// level.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMOPS
#define LLMIR_DIALECT_MLLM_MLLMOPS

include "llmir/Dialect/MLLM/MLLMGraphOps.td"
include "llmir/Dialect/MLLM/MLLMCFOps.td"
include "llmir/Dialect/MLLM/MLLMTensorOps.td"
include "llmir/Dialect/MLLM/MLLMElementwiseOps.td"
include "llmir/Dialect/MLLM/MLLMShapeOps.td"
include "llmir/Dialect/MLLM/MLLMIndexOps.td"
include "llmir/Dialect/MLLM/MLLMNNOps.td"
include "llmir/Dialect/MLLM/MLLMExpertOps.td"
include "llmir/Dialect/MLLM/MLLMAttentionOps.td"
include "llmir/Dialect/MLLM/MLLMStateOps.td"
include "llmir/Dialect/MLLM/MLLMVisionOps.td"
include "llmir/Dialect/MLLM/MLLMSignalOps.td"
include "llmir/Dialect/MLLM/MLLMProgramOps.td"
include "llmir/Dialect/MLLM/Kernels/RowKernels.td"
include "llmir/Dialect/MLLM/Kernels/MatmulKernels.td"
include "llmir/Dialect/MLLM/Kernels/CacheKernels.td"
include "llmir/Dialect/MLLM/Kernels/ExpertKernels.td"
include "llmir/Dialect/MLLM/Kernels/NestKernels.td"
include "llmir/Dialect/MLLM/Kernels/QuantKernels.td"
include "llmir/Dialect/MLLM/Kernels/StateKernels.td"

#endif // LLMIR_DIALECT_MLLM_MLLMOPS

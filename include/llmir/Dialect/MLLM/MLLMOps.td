//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of every level, in one file for the generators.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMOPS
#define LLMIR_DIALECT_MLLM_MLLMOPS

include "llmir/Dialect/MLLM/MLLMGraphOps.td"
include "llmir/Dialect/MLLM/MLLMCFOps.td"
include "llmir/Dialect/MLLM/MLLMTensorOps.td"
include "llmir/Dialect/MLLM/MLLMLinalgOps.td"
include "llmir/Dialect/MLLM/MLLMProgramOps.td"

#endif // LLMIR_DIALECT_MLLM_MLLMOPS

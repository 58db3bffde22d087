//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole `mllm` dialect: modules, layers and parameters of a model. Ops are
// documented in the .td file of their level.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLM_H
#define LLMIR_DIALECT_MLLM_MLLM_H

#include "llmir/Dialect/MLLM/MLLMCFOps.h"
#include "llmir/Dialect/MLLM/MLLMGraphOps.h"
#include "llmir/Dialect/MLLM/MLLMLinalgOps.h"
#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Dialect/MLLM/MLLMTensorOps.h"
#include "llmir/Dialect/MLLM/ModelFacts.h"

#endif // LLMIR_DIALECT_MLLM_MLLM_H

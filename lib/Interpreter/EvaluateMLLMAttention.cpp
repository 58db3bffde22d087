//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of positions, caches and attention: MLLMAttentionOps.td.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLMAttentionOps.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

void llmir::interpreter::addMLLMAttentionEvaluators(EvaluatorTable &) {}

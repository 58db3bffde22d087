//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of ops of audio: MLLMSignalOps.td.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLMSignalOps.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

void llmir::interpreter::addMLLMSignalEvaluators(EvaluatorTable &) {}

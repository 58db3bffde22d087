//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of MLLMSignalOps.td: short-time Fourier transforms.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLMSignalOps.h"
#include "llmir/Reference/Signal.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

template <typename OpT> static reference::STFTParams paramsOf(OpT op) {
  reference::STFTParams params;
  params.frame = static_cast<int64_t>(op.getNFft());
  params.hop = static_cast<int64_t>(op.getHopLength());
  if (params.hop == 0)
    params.hop = std::max<int64_t>(1, params.frame / 4);
  params.onesided = op.getOnesided();
  params.center = op.getCenter();
  params.normalized = op.getNormalized();
  return params;
}

static LogicalResult evaluateSTFT(mllm::STFTOp op, Evaluation &e) {
  using reference::PadMode;
  reference::STFTParams params = paramsOf(op);
  params.padMode = llvm::StringSwitch<PadMode>(op.getPadMode())
                       .Case("constant", PadMode::Constant)
                       .Case("replicate", PadMode::Replicate)
                       .Case("circular", PadMode::Circular)
                       .Default(PadMode::Reflect);
  return e.setChecked(
      op, stft(e.tensor(op.getX()), e.tensor(op.getWindow()), params));
}

static LogicalResult evaluateISTFT(mllm::ISTFTOp op, Evaluation &e) {
  const int64_t length =
      op.getLength() ? static_cast<int64_t>(*op.getLength()) : -1;
  return e.setChecked(op, istft(e.tensor(op.getX()), e.tensor(op.getWindow()),
                                paramsOf(op), length));
}

void llmir::interpreter::addMLLMSignalEvaluators(EvaluatorTable &table) {
  table.add(evaluateSTFT);
  table.add(evaluateISTFT);
}
